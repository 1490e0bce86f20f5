// The functions of OrtEp, each for the API levels that know it: one session's provider.
#pragma once

#include "gpu/epkit/context_node.h"
#include "gpu/epkit/copy_kernels.h"
#include "gpu/epkit/factory.h"
#include "gpu/epkit/graph_reader.h"
#include "gpu/epkit/options.h"

namespace ortolan::gpu::epkit {

class Provider : public OrtEp {
 public:
  /** Works on device `number` of the factory. */
  Provider(const Host& host, Factory& factory, size_t number, const Options& options, const ContextOptions& contexts);

  /** Why it left that node of the graph that it was asked about last; NULL for any other. */
  const char* refusal_reason(const OrtNode* node) const;

 private:
  static const char* ORT_API_CALL get_name(const OrtEp* self) noexcept;
  static OrtStatus* ORT_API_CALL get_capability(OrtEp* self, const OrtGraph* graph,
                                                OrtEpGraphSupportInfo* support) noexcept;
  static OrtStatus* ORT_API_CALL compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes,
                                         size_t count, OrtNodeComputeInfo** infos, OrtNode** context_nodes) noexcept;
  static void ORT_API_CALL release_infos(OrtEp* self, OrtNodeComputeInfo** infos, size_t count) noexcept;
  static OrtStatus* ORT_API_CALL on_run_end(OrtEp* self, const OrtRunOptions* options, bool wait) noexcept;
  static const char* ORT_API_CALL get_compatibility(OrtEp* self, const OrtGraph* graph) noexcept;
  static OrtStatus* ORT_API_CALL create_allocator(OrtEp* self, const OrtMemoryInfo* memory,
                                                  OrtAllocator** allocator) noexcept;
  static OrtStatus* ORT_API_CALL create_stream(OrtEp* self, const OrtMemoryDevice* memory,
                                               OrtSyncStreamImpl** stream) noexcept;
  static OrtStatus* ORT_API_CALL get_kernel_registry(OrtEp* self, const OrtKernelRegistry** registry) noexcept;
  static OrtStatus* ORT_API_CALL is_concurrent_run_supported(OrtEp* self, bool* supported) noexcept;
  static OrtStatus* ORT_API_CALL sync(OrtEp* self) noexcept;
  static OrtStatus* ORT_API_CALL create_profiler(OrtEp* self, OrtEpProfilerImpl** profiler) noexcept;
  static OrtStatus* ORT_API_CALL get_default_memory_device(const OrtEp* self, const OrtMemoryDevice** device) noexcept;

  void set_functions();
  void tell_who_multiplies() const;
  void claim(const OrtGraph* graph, OrtEpGraphSupportInfo* support);
  void take(const std::vector<const OrtNode*>& nodes, bool drops_constants, OrtEpGraphSupportInfo* support) const;
  void take_contexts(ReadGraph& read, OrtEpGraphSupportInfo* support) const;
  void note_refusal(const OrtNode* node, const Node& read, const std::string& reason);
  OrtNodeComputeInfo* compile(const OrtGraph* graph, const OrtNode* fused_node, OrtNode** context_node);
  OrtNodeComputeInfo* restore(const OrtGraph* graph, const OrtNode* fused_node);

  const Host host_;
  Factory& factory_;
  const size_t number_;  // of its device
  DeviceContext& context_;
  const Options options_;
  const ContextOptions context_options_;
  const ContextWriter contexts_;
  Engine& engine_;
  Progress progress_;  // told to the session's log
  ProfileRecords records_;
  CopyKernels copies_;
  std::map<const OrtNode*, std::string> refusals_;  // of the graph that it was asked about last
};

}  // namespace ortolan::gpu::epkit
