// The names of precisions.
#include "base/fp32_precision.h"

#include "base/error.h"

namespace ortolan::base {
namespace {

constexpr const char* kNames[] = {"x6", "exact", "x3", "bf16"};

}  // namespace

const char* name_of(Fp32Precision precision) noexcept { return kNames[static_cast<int>(precision)]; }

Fp32Precision parse_fp32_precision(std::string_view text) {
  for (int i = 0; i < 4; ++i) {
    if (text == kNames[i]) return static_cast<Fp32Precision>(i);
  }
  require(text == "default", ErrorCode::kInvalidArgument, "fp32 precision '", text,
          "' is unknown; it must be 'x6' (or 'default'), 'exact', 'x3' or 'bf16'");
  return Fp32Precision::kX6;
}

}  // namespace ortolan::base
