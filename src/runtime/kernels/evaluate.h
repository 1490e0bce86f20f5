// Computing a node whose inputs are all constant, for constant folding.
#pragma once

#include <optional>
#include <vector>

#include "runtime/providers/execution_provider.h"

namespace ortolan::runtime {

/** Runs single nodes on the CPU provider before a session exists. */
class Evaluator {
 public:
  Evaluator(const ExecutionProvider& cpu, ThreadPool& threads, int64_t max_tensor_bytes,
            size_t max_run_bytes = SIZE_MAX)
      : cpu_(cpu), threads_(threads), max_tensor_bytes_(max_tensor_bytes), max_run_bytes_(max_run_bytes) {}
  /** The node's outputs in order (undefined where the node names none); nothing when it cannot be computed here: an
      input is not constant, no kernel fits, the kernel fails, or it makes something else than tensors. */
  std::optional<std::vector<Tensor>> run(const Node& node) const;

 private:
  const ExecutionProvider& cpu_;
  ThreadPool& threads_;
  int64_t max_tensor_bytes_;
  size_t max_run_bytes_;
};

}  // namespace ortolan::runtime
