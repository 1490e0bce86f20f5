// The functions that a runtime looks for in a plugin library, made of a backend.
#pragma once

#include <type_traits>

#include "gpu/epkit/backend.h"
#include "ortolan_ep.h"

namespace ortolan::gpu::epkit {

OrtStatus* create_factory(Backend& (*backend)(), const OrtApiBase* base, const OrtLogger* logger,
                          OrtEpFactory** factories, size_t max_factories, size_t* num_factories) noexcept;
OrtStatus* release_factory(OrtEpFactory* factory) noexcept;
const char* refusal_reason(const OrtEp* ep, const OrtNode* node) noexcept;

}  // namespace ortolan::gpu::epkit

/** Defines the exported functions of a provider library; `backend` returns its gpu::epkit::Backend. */
#define ORTOLAN_EXPORT_PROVIDER(backend)                                                                           \
  extern "C" {                                                                                                     \
  ORT_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger* logger,            \
                                          OrtEpFactory** factories, size_t max_factories, size_t* num_factories) { \
    return ortolan::gpu::epkit::create_factory(backend, base, logger, factories, max_factories, num_factories);    \
  }                                                                                                                \
  ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {                                                  \
    return ortolan::gpu::epkit::release_factory(factory);                                                          \
  }                                                                                                                \
  ORT_EXPORT const char* ORT_API_CALL GetEpRefusalReason(const OrtEp* ep, const OrtNode* node) {                   \
    return ortolan::gpu::epkit::refusal_reason(ep, node);                                                          \
  }                                                                                                                \
  static_assert(std::is_same_v<decltype(&GetEpRefusalReason), GetEpRefusalReasonFn>);                              \
  }
