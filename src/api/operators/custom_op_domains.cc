// Custom operator domains, and libraries that register their own.
#include <dlfcn.h>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/operators/custom_operators.h"
#include "api/status.h"

namespace ortolan::api {
namespace {

std::shared_ptr<void> open_library(const char* path) {
  void* handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  require(handle != nullptr, ErrorCode::kFail, "cannot load the custom operator library: ", handle ? "" : dlerror());
  return {handle, [](void* library) { dlclose(library); }};
}

RegisterCustomOpsFn registration(void* library, const char* name) {
  auto* function = wrap_symbol<RegisterCustomOpsFn>(dlsym(library, name));
  require(function != nullptr, ErrorCode::kFail, "no function '", name,
          "' is there to register custom operators; a library has to export it");
  return function;
}

void register_library(OrtSessionOptions* options, void* library, const char* function) {
  check_status(registration(library, function)(options, OrtGetApiBase()));
}

}  // namespace

OrtStatus* ORT_API_CALL CreateCustomOpDomain(const char* domain, OrtCustomOpDomain** out) noexcept {
  return guard([&] { give(out, CustomOpDomain{text(domain, "domain"), {}}); });
}

void ORT_API_CALL ReleaseCustomOpDomain(OrtCustomOpDomain* domain) noexcept { release(domain); }

OrtStatus* ORT_API_CALL CustomOpDomain_Add(OrtCustomOpDomain* domain, const OrtCustomOp* op) noexcept {
  return guard([&] {
    CustomOpDomain& core = unwrap(domain, "custom_op_domain");
    require_argument(op, "op");
    core.operators.push_back(op);
  });
}

OrtStatus* ORT_API_CALL AddCustomOpDomain(OrtSessionOptions* options, OrtCustomOpDomain* domain) noexcept {
  return guard([&] {
    auto& known = unwrap(options, "options").custom_operators;
    const CustomOpDomain& core = unwrap(domain, "custom_op_domain");
    auto all = known;
    for (const OrtCustomOp* op : core.operators) all.push_back(CallersOperator::make_from(core.name, *op));
    known = std::move(all);
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsLibrary(OrtSessionOptions* options, const char* library_path,
                                                 void** library_handle) noexcept {
  return guard([&] {
    unwrap(options, "options");
    require_argument(library_handle, "library_handle");
    *library_handle = nullptr;
    auto library = open_library(text(library_path, "library_path"));
    register_library(options, library.get(), "RegisterCustomOps");
    // The caller closes the handle itself, so it gets a reference of its own.
    *library_handle = dlopen(library_path, RTLD_LAZY | RTLD_LOCAL);
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsLibrary_V2(OrtSessionOptions* options, const char* library_name) noexcept {
  return guard([&] {
    auto& core = unwrap(options, "options");
    auto library = open_library(text(library_name, "library_name"));
    core.libraries.push_back(library);
    register_library(options, library.get(), "RegisterCustomOps");
  });
}

OrtStatus* ORT_API_CALL RegisterCustomOpsUsingFunction(OrtSessionOptions* options,
                                                       const char* registration_func_name) noexcept {
  return guard([&] {
    unwrap(options, "options");
    register_library(options, RTLD_DEFAULT, text(registration_func_name, "registration_func_name"));
  });
}

OrtStatus* ORT_API_CALL EnableOrtCustomOps(OrtSessionOptions* options) noexcept {
  return guard([&] {
    unwrap(options, "options");
    fail(ErrorCode::kFail,
         "the operators of onnxruntime-extensions are not part of this library; install that package and load its "
         "library with RegisterCustomOpsLibrary_V2");
  });
}

}  // namespace ortolan::api
