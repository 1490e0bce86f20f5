// Makes the factory of a library, or says why there is none.
#include "gpu/epkit/exports.h"

#include "gpu/epkit/factory.h"
#include "gpu/epkit/provider.h"

namespace ortolan::gpu::epkit {

OrtStatus* create_factory(Backend& (*backend)(), const OrtApiBase* base, const OrtLogger* logger,
                          OrtEpFactory** factories, size_t max_factories, size_t* num_factories) noexcept {
  Host host;
  try {
    host = connect(base, logger);
  } catch (const Failure& failure) {
    return base->GetApi(1)->CreateStatus(failure.code, failure.text.c_str());
  } catch (const std::exception& error) {
    return base->GetApi(1)->CreateStatus(ORT_FAIL, error.what());
  }
  return guard(host, [&] {
    if (max_factories < 1) fail(ORT_INVALID_ARGUMENT, "there must be room for a factory");
    factories[0] = new Factory(host, backend());
    *num_factories = 1;
  });
}

OrtStatus* release_factory(OrtEpFactory* factory) noexcept {
  delete static_cast<Factory*>(factory);
  return nullptr;
}

const char* refusal_reason(const OrtEp* ep, const OrtNode* node) noexcept {
  return static_cast<const Provider*>(ep)->refusal_reason(node);
}

}  // namespace ortolan::gpu::epkit
