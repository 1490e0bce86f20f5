// A group of nodes compiled into one: a list of operations over numbered values.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "counters.h"
#include "graph.h"
#include "host.h"
#include "tensor.h"

namespace ortolan::example {

class CompiledGroup : public OrtNodeComputeInfo, private Counted<Live::kCompiledGroup> {
 public:
  /** Reads all it needs from the graph, which is gone afterwards; constants are copied to the device. */
  CompiledGroup(const Host& host, Device& device, const OrtGraph* graph, const OrtNode* fused_node);

 private:
  struct Step {
    Operation operation;
    size_t left, right, result;  // numbers of values
  };
  struct State;  // of one session
  static OrtStatus* ORT_API_CALL create_state(OrtNodeComputeInfo* self, OrtNodeComputeContext* context,
                                              void** state) noexcept;
  static OrtStatus* ORT_API_CALL compute(OrtNodeComputeInfo* self, void* state, OrtKernelContext* context) noexcept;
  static void ORT_API_CALL release_state(OrtNodeComputeInfo* self, void* state) noexcept;

  size_t number_of(const OrtValueInfo* value);
  void read_edges(const OrtNode* fused_node);
  void read_constants(const OrtGraph* graph);
  void read_steps(const OrtGraph* graph);
  void run(OrtKernelContext* context) const;

  const Host host_;
  Device& device_;
  std::map<std::string, size_t> numbers_;  // of values by name
  std::vector<size_t> inputs_;             // the fused node's inputs, in its order
  std::map<size_t, size_t> outputs_;       // the fused node's outputs by value
  std::map<size_t, Tensor> constants_;     // by value
  std::vector<Step> steps_;
};

}  // namespace ortolan::example
