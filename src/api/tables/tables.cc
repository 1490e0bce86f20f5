// Fills the function tables: the function of namespace ortolan::api where one is linked in, a stub where not.
#include "api/tables/tables.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>
#include <type_traits>

#include "api/guard.h"
#include "api/tables/slots.h"
#include "base/error.h"

namespace ortolan::api {

// Weak here and only here: a slot's function that no source defines is NULL.
extern "C" {
#define ORTOLAN_SLOT(table, name, function, slot, since) extern decltype(function) function __attribute__((weak));
#include "api_slots.inc"
#undef ORTOLAN_SLOT
}

namespace {

constexpr OrtApiSlot kSlots[] = {
#define ORTOLAN_SLOT(table, name, function, slot, since) {#table, #name, since, slot, 0},
#include "api_slots.inc"
#undef ORTOLAN_SLOT
};

/** Positions in kSlots. */
enum Row : int {
#define ORTOLAN_SLOT(table, name, function, slot, since) k_##function,
#include "api_slots.inc"
#undef ORTOLAN_SLOT
};

OrtStatus* not_implemented(int row) noexcept {
  const OrtApiSlot& slot = kSlots[row];
  return guard([&] {
    base::fail(base::ErrorCode::kNotImplemented, slot.table, "::", slot.name, " is not implemented by this library");
  });
}

template <class Function, int kRow>
struct Stub;
template <class Result, class... Args, int kRow>
struct Stub<Result(Args...) noexcept, kRow> {
  static Result ORT_API_CALL call(Args...) noexcept {
    if constexpr (std::is_same_v<Result, OrtStatus*>) {
      return not_implemented(kRow);
    } else if constexpr (!std::is_void_v<Result>) {
      return Result{};
    }
  }
};

struct Tables {
  std::tuple<OrtApi, OrtModelEditorApi, OrtCompileApi, OrtInteropApi, OrtModelPackageApi, OrtEpApi> tables{};
  std::array<OrtApiSlot, std::size(kSlots)> coverage{};

  Tables() noexcept {
    std::copy(std::begin(kSlots), std::end(kSlots), coverage.begin());
#define ORTOLAN_SLOT(table, name, function, slot, since) \
  fill<decltype(function), k_##function>(std::get<table>(tables).name, function);
#include "api_slots.inc"
#undef ORTOLAN_SLOT
  }

  template <class Function, int kRow, class Slot>
  void fill(Slot& slot, Function* implementation) noexcept {
    coverage[kRow].implemented = implementation != nullptr;
    slot = implementation != nullptr ? implementation : &Stub<Function, kRow>::call;
  }
};

const Tables& all() noexcept {
  static const Tables tables;
  return tables;
}

}  // namespace

const OrtApi& ort_api() noexcept { return std::get<OrtApi>(all().tables); }
const OrtModelEditorApi& model_editor_api() noexcept { return std::get<OrtModelEditorApi>(all().tables); }
const OrtCompileApi& compile_api() noexcept { return std::get<OrtCompileApi>(all().tables); }
const OrtInteropApi& interop_api() noexcept { return std::get<OrtInteropApi>(all().tables); }
const OrtModelPackageApi& model_package_api() noexcept { return std::get<OrtModelPackageApi>(all().tables); }
const OrtEpApi& ep_api() noexcept { return std::get<OrtEpApi>(all().tables); }
std::span<const OrtApiSlot> coverage() noexcept { return all().coverage; }

}  // namespace ortolan::api
