// What the tests of the functions for plugins share: their table, and handles that end themselves.
#pragma once

#include "api_test_support.h"

inline const OrtEpApi& ep_api() {
  static const OrtEpApi* const table = api().GetEpApi();
  return *table;
}

/** A handle that a function of OrtEpApi ends. */
template <class T, auto Release>
class EpHandle {
 public:
  EpHandle() = default;
  explicit EpHandle(T* handle) : handle_(handle) {}
  EpHandle(EpHandle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  EpHandle& operator=(EpHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~EpHandle() { (ep_api().*Release)(handle_); }
  operator T*() const { return handle_; }
  T** out() {
    (ep_api().*Release)(handle_);
    handle_ = nullptr;
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};
using KernelDefBuilder = EpHandle<OrtKernelDefBuilder, &OrtEpApi::ReleaseKernelDefBuilder>;
using KernelDef = EpHandle<OrtKernelDef, &OrtEpApi::ReleaseKernelDef>;
using KernelRegistry = EpHandle<OrtKernelRegistry, &OrtEpApi::ReleaseKernelRegistry>;
using OpSchema = EpHandle<OrtOpSchema, &OrtEpApi::ReleaseOpSchema>;
using ProfilingEvent = EpHandle<OrtProfilingEvent, &OrtEpApi::ReleaseProfilingEvent>;
