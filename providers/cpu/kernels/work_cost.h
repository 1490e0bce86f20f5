// Nanoseconds that one core takes for what kernels do, for dividing their work: right within a factor of two.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

constexpr double kTileProductNs = 6.6;  // 16 rows of 32 bfloat16 or 64 bytes times 16 columns of them
constexpr double kTileSplitNs = 0.2;    // an element into slices of bfloat16
constexpr double kTileSumsNs = 200;     // finishing a block of 32 x 32 sums
constexpr double kCopyNs = 0.1;         // 4 bytes that are copied,
constexpr double kRunNs = 2;            // and each run of them
constexpr double kByteReadNs = 0.04;    // a byte of an operand that is not in the nearest cache
constexpr double kFinishNs = 0.1;       // an integer sum that becomes a byte
constexpr double kActivationNs = 0.3;   // an activation of a float
constexpr double kStepNs = 1;           // one pass through a plain loop

/** A multiplication and addition of vectors of so many 32-bit lanes, for each lane. */
inline double multiply_add_ns(int lanes) { return 0.0111 * 16 / lanes; }

}  // namespace ortolan::cpu::kernels
