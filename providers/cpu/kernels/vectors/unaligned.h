// Reads of elements that may lie at any address, as weights do in a model's file.
#pragma once

#include <cstring>

namespace ortolan::cpu::kernels {

// Inlined everywhere: a copy of its own would be that of whichever instruction set the linker meets first.
template <class T>
__attribute__((always_inline)) inline T read_unaligned(const T* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

}  // namespace ortolan::cpu::kernels
