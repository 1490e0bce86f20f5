// What to say where an execution provider is not on the machine; the exported functions that ask for one.
#include "api/providers/absent_providers.h"

#include "api/guard.h"
#include "api/handles.h"
#include "api/plugins/ep_selection.h"
#include "api/providers/bundled_providers.h"
#include "api/providers/cuda_options.h"
#include "api/providers/tensorrt_options.h"
#include "api/tables/tables.h"
#include "base/error.h"

namespace ortolan::api {

void fail_absent_provider(std::string_view name, std::string_view else_do) {
  const BundledProvider* bundled = find_bundled(name);
  if (bundled != nullptr) name = bundled->name;
  std::string how = bundled != nullptr ? base::join(": ", how_to_install(*bundled))
                                       : " and load it with RegisterExecutionProviderLibrary";
  base::fail(base::ErrorCode::kFail, name,
             " execution provider is not available: this library has the CPU provider built in and finds others as "
             "plugin libraries; install a plugin library for ",
             name, how, else_do.empty() ? "" : ", ", else_do, ", or leave the provider out to run on the CPU");
}

}  // namespace ortolan::api

using ortolan::api::fail_absent_provider;
using ortolan::api::guard;
using ortolan::api::ort_api;

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CPU(OrtSessionOptions* options,
                                                                     int use_arena) noexcept {
  return use_arena != 0 ? ort_api().EnableCpuMemArena(options) : ort_api().DisableCpuMemArena(options);
}

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_CUDA(OrtSessionOptions* options,
                                                                      int device_id) noexcept {
  return guard([&] {
    if (!ortolan::api::is_here(*ortolan::api::find_bundled("CUDA"))) fail_absent_provider("CUDA");
    auto settings = ortolan::api::cuda_defaults();
    settings["device_id"] = ortolan::base::join(device_id);
    ortolan::api::append_cuda(ortolan::api::unwrap(options, "options"), std::move(settings));
  });
}

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_ROCM(OrtSessionOptions*, int) noexcept {
  return guard([] { fail_absent_provider("ROCM"); });
}

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_MIGraphX(OrtSessionOptions*, int) noexcept {
  return guard([] { fail_absent_provider("MIGraphX"); });
}

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_Dnnl(OrtSessionOptions*, int) noexcept {
  return guard([] { fail_absent_provider("Dnnl"); });
}

OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_Tensorrt(OrtSessionOptions* options,
                                                                          int device_id) noexcept {
  return guard([&] {
    ortolan::api::append_tensorrt(ortolan::api::unwrap(options, "options"),
                                  {{"device_id", ortolan::base::join(device_id)}});
  });
}
