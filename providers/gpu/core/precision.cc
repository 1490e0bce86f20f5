// Which devices can compute in 16 bits.
#include "gpu/core/precision.h"

namespace ortolan::gpu {

std::string refuse_precision(Precision precision, const DeviceTraits& traits, const std::string& half_feature) {
  if (precision != Precision::kHalf) return "";
  if (!traits.has_half_arithmetic) return "it has no 16-bit arithmetic (" + half_feature + ")";
  return traits.kind == DeviceClass::kGpu ? "" : "kernels for processors compute in 32 bits";
}

}  // namespace ortolan::gpu
