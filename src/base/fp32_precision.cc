// The names of precisions, and that of the calling thread.
#include "base/fp32_precision.h"

#include <utility>

#include "base/error.h"

namespace ortolan::base {
namespace {

constinit thread_local Fp32Precision t_precision = Fp32Precision::kX6;
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

Fp32Precision fp32_precision() noexcept { return t_precision; }

ScopedFp32Precision::ScopedFp32Precision(Fp32Precision precision) noexcept
    : before_(std::exchange(t_precision, precision)) {}

ScopedFp32Precision::~ScopedFp32Precision() { t_precision = before_; }

}  // namespace ortolan::base
