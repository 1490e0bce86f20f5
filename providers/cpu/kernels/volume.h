// How many elements a block has.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

inline int64_t volume(const int64_t (&dims)[3]) { return dims[0] * dims[1] * dims[2]; }

}  // namespace ortolan::cpu::kernels
