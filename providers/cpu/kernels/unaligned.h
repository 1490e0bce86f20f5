// Reads of elements that may lie at any address, as weights do in a model's file.
#pragma once

#include <cstring>

namespace ortolan::cpu::kernels {

inline float read_unaligned(const float* p) {
  float value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

}  // namespace ortolan::cpu::kernels
