// Declares one function per slot of the function tables, in namespace ortolan::api, with the slot's own signature. To
// implement a slot, define its function; README.md says more.
#pragma once

#include "onnxruntime_c_api.h"

namespace ortolan::api {

/** The type of the function in a slot. All of ours are noexcept, whether the slot's type says so or not. */
template <class Pointer>
struct SlotFunction;
template <class Result, class... Args>
struct SlotFunction<Result(ORT_API_CALL*)(Args...)> {
  using type = Result(Args...) noexcept;
};
template <class Result, class... Args>
struct SlotFunction<Result(ORT_API_CALL*)(Args...) noexcept> {
  using type = Result(Args...) noexcept;
};

// The types of slots carry warn_unused_result, which template arguments drop.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
// C linkage makes a definition with other parameters an error instead of an overload; the label keeps the names of the
// slots out of the global name space of C.
extern "C" {
#define ORTOLAN_SLOT(table, name, function, slot, since) \
  SlotFunction<decltype(table::name)>::type function __asm__("ortolan_api_" #function);
#include "api_slots.inc"
#undef ORTOLAN_SLOT
}
#pragma GCC diagnostic pop

}  // namespace ortolan::api
