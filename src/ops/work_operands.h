// A node with its tensors, as rules read it that count a node's arithmetic.
#pragma once

#include <span>

#include "graph/graph.h"

namespace ortolan::ops {
using namespace graph;

/** Counts are doubles, exact up to 2^53. A rule that asks for an operand that is missing, or lacks the dimension, gives
    no count. */
struct Operands {
  const Node& node;
  std::span<const Tensor*const> inputs, outputs;

  struct Missing {};
  static const Tensor* at(std::span<const Tensor* const> tensors, size_t i) {
    return i < tensors.size() ? tensors[i] : nullptr;
  }
  const Tensor* in_if(size_t i) const { return at(inputs, i); }
  const Tensor& in(size_t i) const { return needed(at(inputs, i)); }
  const Tensor& out(size_t i) const { return needed(at(outputs, i)); }
  /** Elements of an input, 0 where it is missing, and of an output. */
  double in_count(size_t i) const { return in_if(i) != nullptr ? count_of(*in_if(i)) : 0; }
  double out_count(size_t i) const { return count_of(out(i)); }
  /** Dimension d of an input or output; negative from the end. */
  double in_dim(size_t i, int d) const { return dim_of(in(i), d); }
  double out_dim(size_t i, int d) const { return dim_of(out(i), d); }

  static double count_of(const Tensor& tensor) { return static_cast<double>(tensor.element_count()); }
  static double dim_of(const Tensor& tensor, int d) {
    int rank = static_cast<int>(tensor.rank()), place = d < 0 ? rank + d : d;
    if (place < 0 || place >= rank) throw Missing{};
    return static_cast<double>(tensor.shape()[static_cast<size_t>(place)]);
  }

 private:
  static const Tensor& needed(const Tensor* tensor) {
    if (tensor == nullptr) throw Missing{};
    return *tensor;
  }
};

}  // namespace ortolan::ops
