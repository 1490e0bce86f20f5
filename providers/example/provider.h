// A provider: what one session uses of the device.
#pragma once

#include "counters.h"
#include "factory.h"
#include "host.h"
#include "kernels.h"
#include "options.h"

namespace ortolan::example {

class Provider : public OrtEp, private Counted<Live::kProvider> {
 public:
  Provider(const Host& host, Factory& factory, const Options& options);

  const Host& host() const { return host_; }
  const std::string& name() const { return factory_.name(); }
  const Options& options() const { return options_; }
  Device& device() { return factory_.device(); }

 private:
  static const char* ORT_API_CALL get_name(const OrtEp* self) noexcept;
  static OrtStatus* ORT_API_CALL get_capability(OrtEp* self, const OrtGraph* graph,
                                                OrtEpGraphSupportInfo* support) noexcept;
  static OrtStatus* ORT_API_CALL compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes,
                                         size_t count, OrtNodeComputeInfo** infos, OrtNode** context_nodes) noexcept;
  static void ORT_API_CALL release_infos(OrtEp* self, OrtNodeComputeInfo** infos, size_t count) noexcept;
  static OrtStatus* ORT_API_CALL set_dynamic_options(OrtEp* self, const char* const* keys, const char* const* values,
                                                     size_t count) noexcept;
  static OrtStatus* ORT_API_CALL on_run_start(OrtEp* self, const OrtRunOptions* options) noexcept;
  static OrtStatus* ORT_API_CALL on_run_end(OrtEp* self, const OrtRunOptions* options, bool sync) noexcept;
  static OrtStatus* ORT_API_CALL create_allocator(OrtEp* self, const OrtMemoryInfo* memory,
                                                  OrtAllocator** allocator) noexcept;
  static OrtStatus* ORT_API_CALL create_stream(OrtEp* self, const OrtMemoryDevice* memory,
                                               OrtSyncStreamImpl** stream) noexcept;
  static OrtStatus* ORT_API_CALL get_kernel_registry(OrtEp* self, const OrtKernelRegistry** registry) noexcept;
  static OrtStatus* ORT_API_CALL is_concurrent_run_supported(OrtEp* self, bool* supported) noexcept;
  static OrtStatus* ORT_API_CALL sync(OrtEp* self) noexcept;
  static OrtStatus* ORT_API_CALL create_profiler(OrtEp* self, OrtEpProfilerImpl** profiler) noexcept;
  static OrtStatus* ORT_API_CALL on_initialization_end(OrtEp* self) noexcept;
  static OrtStatus* ORT_API_CALL get_default_memory_device(const OrtEp* self, const OrtMemoryDevice** device) noexcept;
  void set_functions();

  const Host host_;
  Factory& factory_;
  const Options options_;
  std::atomic<int> gather_;
  KernelRegistry registry_;
};

}  // namespace ortolan::example
