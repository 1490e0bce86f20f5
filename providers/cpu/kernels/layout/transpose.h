// Moving elements: transposition and copies between strided layouts, for elements of 1, 2, 4, 8 or 16 bytes.
#pragma once

#include <cstdint>

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu::kernels {

constexpr int kMaxCopyRank = 32;

/**
 * dst[..., i_perm, ...]: dst has dims dims[perm[0]], dims[perm[1]], ...; src and dst are contiguous and do not overlap.
 * `perm` is a permutation of 0..rank-1; rank may be 0; `element_size` may be any positive number of bytes.
 */
void transpose(base::ThreadPool* pool, int64_t element_size, int rank, const int64_t* dims, const int* perm,
               const void* src, void* dst);

/**
 * Copies dims[0] x ... x dims[rank-1] elements; strides count elements, may be 0 or negative in src, and must place
 * each element of dst once. src and dst point at the element of index 0 and do not overlap. Throws base::Error where
 * rank exceeds kMaxCopyRank.
 */
void copy_strided(base::ThreadPool* pool, int64_t element_size, int rank, const int64_t* dims, const void* src,
                  const int64_t* src_strides, void* dst, const int64_t* dst_strides);

/** Each of rows x columns elements becomes row_times x column_times. */
struct Repetition {
  int64_t columns, row_times, column_times;
};
/** The rows [begin, end) of x, repeated in y, whose row 0 is the first of x's row 0. Elements of 1, 2, 4 or 8 bytes. */
void repeat_elements(int64_t element_size, const Repetition& repetition, const void* x, int64_t begin, int64_t end,
                     void* y);

}  // namespace ortolan::cpu::kernels
