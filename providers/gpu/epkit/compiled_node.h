// A group of nodes that the runtime sees as one.
#pragma once

#include "gpu/epkit/device_context.h"

namespace ortolan::gpu::epkit {

class CompiledNode : public OrtNodeComputeInfo {
 public:
  /** `input_positions`: of the group's inputs among the node's. Constants need not live longer than the call. */
  CompiledNode(const Host& host, DeviceContext& context, Engine& engine, Progress& progress, ProfileRecords& records,
               Graph group, std::vector<int> input_positions);

 private:
  static OrtStatus* ORT_API_CALL create_state(OrtNodeComputeInfo* self, OrtNodeComputeContext* context,
                                              void** state) noexcept;
  static OrtStatus* ORT_API_CALL compute(OrtNodeComputeInfo* self, void* state, OrtKernelContext* context) noexcept;
  static void ORT_API_CALL release_state(OrtNodeComputeInfo* self, void* state) noexcept;

  void run(OrtKernelContext* context);

  const Host host_;
  DeviceContext& context_;
  ProfileRecords& records_;
  const std::vector<int> input_positions_;
  const std::vector<ElementType> input_types_;
  std::unique_ptr<CompiledGroup> group_;
};

}  // namespace ortolan::gpu::epkit
