// What the files of products with narrow weights share. Internal to the kernels.
#pragma once

#include "cpu/kernels/quantised/matmul_nbits.h"
#include "cpu/kernels/quantised/matmul_nbits_kernels.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

constexpr int64_t kNBitsUnit = 16;
/** K is filled up to a multiple of that. */
inline int64_t wide_nbits(int64_t k) { return round_up(k, kNBitsUnit); }

NBitsPanels panels_of(const NBitsMatrix& b);

/** Where the columns of a panel go. */
NBitsResult result_at(const NBitsMatrix& b, int64_t panel, float* c, int64_t ldc, const float* bias);

/** C = A * B + bias, in vectors of floats. */
void multiply_in_vectors(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                         int64_t ldc, const float* bias);

/** The same in tiles of bfloat16: A in three slices, which are all of it, B's elements less their zeros as they are,
    and the sums of each block times its scale in fp32. False, and nothing done, where it does not suit or would not
    gain. */
bool multiply_in_slices(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                        int64_t ldc, const float* bias);

}  // namespace ortolan::cpu::kernels
