// One operator of the CPU provider outside any model, for custom operators that call others.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/kernels/packed_weights.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::runtime {

/** Kernels are made at the first call with each combination of input types. Safe to run from several threads. */
class StandaloneOperator {
 public:
  /** Throws kNotImplemented when the opset has no such operator. */
  StandaloneOperator(std::string domain, std::string name, int opset, std::vector<Attribute> attributes,
                     size_t output_count, ThreadPool& threads);
  ~StandaloneOperator();

  /** NULL inputs are left out. An output with a tensor is written in place, where its type and shape fit. */
  void run(const RunServices& services, std::span<const Value* const> inputs, std::span<Value> outputs) const;
  size_t output_count() const { return output_count_; }

 private:
  struct Compiled;
  const Compiled& compiled_for(std::span<const Value* const> inputs) const;
  std::unique_ptr<Graph> make_graph(std::span<const Value* const> inputs) const;

  std::string domain_;
  std::string name_;
  int opset_;
  std::vector<Attribute> attributes_;
  size_t output_count_;
  ThreadPool& threads_;
  std::unique_ptr<ExecutionProvider> cpu_;
  mutable std::mutex mutex_;
  mutable PackedWeightsCache weights_{WeightsKey::kOwner};
  mutable std::map<std::string, std::unique_ptr<Compiled>> compiled_;  // by the inputs' types
};

}  // namespace ortolan::runtime
