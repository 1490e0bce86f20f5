// The functions of ortolan.h that are a slot of OrtApi under another name. Which ones, symbols/exports.txt says; their
// parameters come from the slot, and since ortolan.h declares them too, a difference is a compile error.
#include "ortolan.h"

#include <tuple>

#include "api/tables/tables.h"

namespace ortolan::api {
namespace {

/** Result and parameters of a slot's function. */
template <class Pointer>
struct Signature;
template <class R, class... Args>
struct Signature<R(ORT_API_CALL*)(Args...)> {
  using Result = R;
  using Parameters = std::tuple<Args...>;
};
template <class R, class... Args>
struct Signature<R(ORT_API_CALL*)(Args...) noexcept> : Signature<R(ORT_API_CALL*)(Args...)> {};

}  // namespace
}  // namespace ortolan::api

using ortolan::api::ort_api;
using ortolan::api::Signature;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"
#define ORTOLAN_P(name, i) std::tuple_element_t<i, Signature<decltype(OrtApi::name)>::Parameters> a##i
#define ORTOLAN_PARAMETERS_0(name) void
#define ORTOLAN_PARAMETERS_1(name) ORTOLAN_P(name, 0)
#define ORTOLAN_PARAMETERS_2(name) ORTOLAN_PARAMETERS_1(name), ORTOLAN_P(name, 1)
#define ORTOLAN_PARAMETERS_3(name) ORTOLAN_PARAMETERS_2(name), ORTOLAN_P(name, 2)
#define ORTOLAN_PARAMETERS_4(name) ORTOLAN_PARAMETERS_3(name), ORTOLAN_P(name, 3)
#define ORTOLAN_PARAMETERS_5(name) ORTOLAN_PARAMETERS_4(name), ORTOLAN_P(name, 4)
#define ORTOLAN_PARAMETERS_6(name) ORTOLAN_PARAMETERS_5(name), ORTOLAN_P(name, 5)
#define ORTOLAN_PARAMETERS_7(name) ORTOLAN_PARAMETERS_6(name), ORTOLAN_P(name, 6)
#define ORTOLAN_PARAMETERS_8(name) ORTOLAN_PARAMETERS_7(name), ORTOLAN_P(name, 7)
#define ORTOLAN_PARAMETERS_9(name) ORTOLAN_PARAMETERS_8(name), ORTOLAN_P(name, 8)
#define ORTOLAN_PARAMETERS_10(name) ORTOLAN_PARAMETERS_9(name), ORTOLAN_P(name, 9)
#define ORTOLAN_ARGUMENTS_0
#define ORTOLAN_ARGUMENTS_1 a0
#define ORTOLAN_ARGUMENTS_2 ORTOLAN_ARGUMENTS_1, a1
#define ORTOLAN_ARGUMENTS_3 ORTOLAN_ARGUMENTS_2, a2
#define ORTOLAN_ARGUMENTS_4 ORTOLAN_ARGUMENTS_3, a3
#define ORTOLAN_ARGUMENTS_5 ORTOLAN_ARGUMENTS_4, a4
#define ORTOLAN_ARGUMENTS_6 ORTOLAN_ARGUMENTS_5, a5
#define ORTOLAN_ARGUMENTS_7 ORTOLAN_ARGUMENTS_6, a6
#define ORTOLAN_ARGUMENTS_8 ORTOLAN_ARGUMENTS_7, a7
#define ORTOLAN_ARGUMENTS_9 ORTOLAN_ARGUMENTS_8, a8
#define ORTOLAN_ARGUMENTS_10 ORTOLAN_ARGUMENTS_9, a9

extern "C" {
#define ORTOLAN_FLAT(name, count)                                                                               \
  Signature<decltype(OrtApi::name)>::Result ORT_API_CALL Ort##name(ORTOLAN_PARAMETERS_##count(name)) noexcept { \
    return ort_api().name(ORTOLAN_ARGUMENTS_##count);                                                           \
  }
#include "flat_functions.inc"
}
#pragma GCC diagnostic pop
