// What one execution of an operator has to do: arithmetic and traffic with memory, from shapes alone.
#pragma once

#include <optional>
#include <span>

#include "graph/graph.h"

namespace ortolan::ops {
using namespace graph;

struct Work {
  /** Arithmetic, as far as the operator has a count: a product and its addition are two; functions of elements, sums,
      normalisation and pooling are one for each element that they read; moving data is none. What is fused into a
      product (bias, activation) does not count, nor does what masks, zeros or a faster algorithm (Winograd's) save. */
  std::optional<int64_t> flops;
  /** Of inputs, weights included, and outputs, each once. Operators that look up rows count as many as they write. */
  int64_t bytes = 0;
};

/** Of a node's execution with these tensors; NULL where an operand is left out or no tensor. Of elements only the total
    sequence length of com.microsoft.GroupQueryAttention is read. */
Work work_of(const Node& node, std::span<const Tensor* const> inputs, std::span<const Tensor* const> outputs);

}  // namespace ortolan::ops
