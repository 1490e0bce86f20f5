// How exact products of floats have to be.
#pragma once

#include <cstdint>
#include <string_view>

namespace ortolan::base {

/**
 * kX6: at least as exact as plain fp32 arithmetic, by whatever is fastest; on processors with AMX six products of
 * bfloat16 slices. kExact: plain fp32 arithmetic, with the products and sums that the operator is defined by. kX3,
 * kBf16: three products or one where the processor has AMX, which are less exact (about 16 and 8 bits); on processors
 * with arm64's instruction for it kBf16 computes matrix products by one. Elsewhere as kX6.
 */
enum class Fp32Precision : uint8_t { kX6, kExact, kX3, kBf16 };

/** "x6", "exact", "x3" or "bf16". */
const char* name_of(Fp32Precision precision) noexcept;

/** The precision of that name; "default" is kX6. Throws base::Error for any other text. */
Fp32Precision parse_fp32_precision(std::string_view text);

}  // namespace ortolan::base
