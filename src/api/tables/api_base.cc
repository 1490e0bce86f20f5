// The way in: OrtGetApiBase, versions, and the slots that lead to the other tables.
#include <cstdio>

#include "api/tables/slots.h"
#include "api/tables/tables.h"
#include "ortolan_version.h"

namespace ortolan::api {

namespace {

const OrtApi* ORT_API_CALL get_api(uint32_t version) noexcept {
  if (version >= 1 && version <= ORT_API_VERSION) {
    return &ort_api();
  }
  std::fprintf(stderr,
               "The requested API version [%u] is not available, only API versions [1, %d] are supported in this build."
               " Current ORT Version is: %s\n",
               version, ORT_API_VERSION, ORTOLAN_VERSION_STRING);
  return nullptr;
}

const char* ORT_API_CALL get_version_string() noexcept { return ORTOLAN_VERSION_STRING; }

constexpr OrtApiBase kApiBase{get_api, get_version_string};

}  // namespace

const char* ORT_API_CALL GetBuildInfoString() noexcept {
#ifdef __OPTIMIZE__
  return "Ortolan " ORTOLAN_VERSION_STRING " (C++ runtime with the ONNX Runtime C API), optimised build";
#else
  return "Ortolan " ORTOLAN_VERSION_STRING " (C++ runtime with the ONNX Runtime C API), debug build";
#endif
}

const OrtModelEditorApi* ORT_API_CALL GetModelEditorApi() noexcept { return &model_editor_api(); }
const OrtCompileApi* ORT_API_CALL GetCompileApi() noexcept { return &compile_api(); }
const OrtInteropApi* ORT_API_CALL GetInteropApi() noexcept { return &interop_api(); }
const OrtModelPackageApi* ORT_API_CALL GetModelPackageApi() noexcept { return &model_package_api(); }
const OrtEpApi* ORT_API_CALL GetEpApi() noexcept { return &ep_api(); }

// There is no training here, and no experimental function: NULL is the documented answer.
const OrtTrainingApi* ORT_API_CALL GetTrainingApi(uint32_t) noexcept { return nullptr; }
OrtExperimentalFnPtr ORT_API_CALL GetExperimentalFunction(const char*) noexcept { return nullptr; }

}  // namespace ortolan::api

const OrtApiBase* ORT_API_CALL OrtGetApiBase(void) noexcept { return &ortolan::api::kApiBase; }

const OrtApiSlot* ORT_API_CALL OrtApiCoverage(size_t* count) noexcept {
  auto slots = ortolan::api::coverage();
  *count = slots.size();
  return slots.data();
}

const char* ORT_API_CALL OrtGetVersionString(void) noexcept { return ORTOLAN_VERSION_STRING; }
