// The barrier between C++ exceptions and the C API. Every function of the API that can fail runs its body in one of
// these; the one catch is in guard.cc.
#pragma once

#include "api/tables/slots.h"
#include "base/function_ref.h"

namespace ortolan::api {

/** Runs the body. NULL when it returns, a new status when it throws: base::Error keeps its code and text. */
OrtStatus* guard(base::FunctionRef<void()> body) noexcept;

/** For functions that return no status: the body's result, or `fallback` when it throws. */
template <class Result, class Body>
Result guard_or(Result fallback, Body&& body) noexcept {
  ReleaseStatus(guard([&] { fallback = body(); }));
  return fallback;
}

}  // namespace ortolan::api
