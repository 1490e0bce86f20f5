// In how many bits tensors are computed.
#pragma once

#include <string>

#include "gpu/device/device.h"

namespace ortolan::gpu {

enum class Precision {
  kFloat,   // all in 32
  kTf32,    // the same, but libraries of products and matrix units may round factors of float32 to 11 bits of mantissa
  kBfloat,  // the same, to 8 bits, where matrix units take such factors
  kHalf,    // products of float16 tensors in 16 within runs of kHalfRun terms, whose sums are added up in 32; all in 32
            // where the device's matrix units take them
};

inline bool rounds_factors(Precision precision) {
  return precision == Precision::kTf32 || precision == Precision::kBfloat;
}

inline constexpr int kHalfRun = 16;

/** Why a device does not compute so, for people: "it has no 16-bit arithmetic (cl_khr_fp16)", with its API's name of
 * that. Empty: it does. */
std::string refuse_precision(Precision precision, const DeviceTraits& traits, const std::string& half_feature);

}  // namespace ortolan::gpu
