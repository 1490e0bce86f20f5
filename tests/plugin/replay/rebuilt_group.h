// A group of nodes rebuilt as a model of its own, through the graph API and the model editor, and run on the CPU.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "example/device.h"
#include "example/host.h"

namespace ortolan::replay {

/** Whether a node can be rebuilt: it has tensors alone, none of strings, and attributes that the API can create. */
bool can_rebuild(const example::Host& host, const OrtNode* node);

/** How many groups were rebuilt, of how many nodes, and how often they ran. */
struct Tally {
  std::atomic<int64_t> groups, nodes, runs;
};
Tally& tally();

class RebuiltGroup : public OrtNodeComputeInfo {
 public:
  RebuiltGroup(const example::Host& host, example::Device& device, const OrtGraph* graph, const OrtNode* fused_node);

 private:
  static OrtStatus* create_state(OrtNodeComputeInfo* self, OrtNodeComputeContext* context, void** state) noexcept;
  static OrtStatus* compute(OrtNodeComputeInfo* self, void* state, OrtKernelContext* context) noexcept;
  static void release_state(OrtNodeComputeInfo* self, void* state) noexcept;
  void run(OrtKernelContext* context) const;

  const example::Host host_;
  example::Device& device_;
  std::unique_ptr<OrtEnv, void (*)(OrtEnv*)> env_;
  std::unique_ptr<OrtSession, void (*)(OrtSession*)> session_;
  std::vector<std::string> inputs_, outputs_;  // of the fused node
};

}  // namespace ortolan::replay
