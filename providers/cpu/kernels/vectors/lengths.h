// Whole numbers: how many elements a block has, and of how many parts a length is made.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

inline int64_t divide_up(int64_t n, int64_t by) { return (n + by - 1) / by; }
inline int64_t round_up(int64_t n, int64_t to) { return divide_up(n, to) * to; }
inline int64_t volume(const int64_t (&dims)[3]) { return dims[0] * dims[1] * dims[2]; }

}  // namespace ortolan::cpu::kernels
