// The two functions that a runtime looks for in a plugin library.
#include <memory>

#include "factory.h"

using ortolan::example::Factory;
using ortolan::example::Path;

extern "C" {

ORT_EXPORT OrtStatus* CreateEpFactories(const char* /*registered_name*/, const OrtApiBase* base,
                                        const OrtLogger* logger, OrtEpFactory** factories, size_t max_factories,
                                        size_t* num_factories) {
  ortolan::example::Host host{};
  try {
    host = ortolan::example::connect(base, logger);
  } catch (const ortolan::example::Failure& failure) {
    return base->GetApi(1)->CreateStatus(failure.code, failure.text.c_str());
  }
  return ortolan::example::guard(host, [&] {
    if (max_factories < 2) ortolan::example::fail(ORT_INVALID_ARGUMENT, "there must be room for two factories");
    auto compiling = std::make_unique<Factory>(host, Path::kCompile, 0);
    auto kernels = std::make_unique<Factory>(host, Path::kKernels, 1);
    factories[0] = compiling.release();
    factories[1] = kernels.release();
    *num_factories = 2;
  });
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}

}  // extern "C"
