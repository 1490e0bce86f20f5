// What the functions of the stand-in driver share: codes, contexts, and calls that are counted and can fail.
#pragma once

#include "driver_state.h"

namespace ortolan::gpu::cuda {

constexpr CUresult kInvalidValue = 1, kNotInitialised = 3, kInvalidDevice = 101, kInvalidImage = 200,
                   kInvalidContext = 201, kNoBinaryForGpu = 209, kNotFound = 500;

/** The contexts that this thread has entered. */
std::vector<CUcontext>& entered();

/** Counts a call of the function; the code that it is to give instead of doing its work, else kSuccess. */
CUresult count(const char* function);

/** A call that needs no context. */
template <class Body>
CUresult call(const char* function, Body&& body) {
  DriverState& state = DriverState::get();
  std::lock_guard lock(state.mutex);
  if (CUresult code = count(function)) return code;
  return state.started ? body(state) : kNotInitialised;
}

/** A call within a context, which a sticky error ends. */
template <class Body>
CUresult call_in_context(const char* function, Body&& body) {
  return call(function, [&](DriverState& state) {
    if (entered().empty()) return kInvalidContext;
    return state.sticky != kSuccess ? state.sticky : body(state);
  });
}

inline CUresult enqueue(DriverState& state, CUstream stream, std::function<CUresult()> work) {
  if (stream->captured != nullptr) return stream->captured->push_back(std::move(work)), kSuccess;
  state.add(stream, {std::move(work), nullptr, nullptr});
  return kSuccess;
}

}  // namespace ortolan::gpu::cuda
