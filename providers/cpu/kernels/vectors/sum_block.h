// How sums of fp32 over long rows are divided, so that whoever adds up the parts gets the same.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** Elements whose sum runs in fp32 partial sums; the sums of such blocks are added in fp64. */
inline constexpr int64_t kSumBlock = 4096;

}  // namespace ortolan::cpu::kernels
