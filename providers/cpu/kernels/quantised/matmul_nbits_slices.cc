// Products with narrow weights in tiles of bfloat16: which of them suit, and the sharing of work among threads.
#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "cpu/kernels/quantised/matmul_nbits_product.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kMostBlocks = 8;  // of kSplitRows rows of A whose slices stay in the second-level cache

bool suits(const NBitsMatrix& b) {
  return b.bits <= 4 && !b.has_table && b.zero_values.bytes() == 0 && b.block % kSplitStep == 0 &&
         kSplitLongest % b.block == 0;
}

// Some rows of A and their results.
struct SliceBand {
  int64_t rows;
  const float* a;
  int64_t lda;
  float* c;
  int64_t ldc;

  int64_t blocks() const { return divide_up(rows, kSplitRows); }
};

class SlicedProduct {
 public:
  SlicedProduct(base::ThreadPool* pool, const NBitsMatrix& b, const float* bias)
      : pool_(pool), b_(b), panels_(panels_of(b)), bias_(bias) {}

  void multiply(const SliceBand& band) const {
    uint32_t odd[kMostBlocks] = {};
    for (int64_t first = 0; first < b_.k; first += kSplitLongest) multiply_part(band, first, odd);
    for (int64_t row = 0; row < band.rows; ++row) {
      if ((odd[row / kSplitRows] >> row % kSplitRows & 1) == 0) continue;
      multiply_in_vectors(pool_, 1, band.a + row * band.lda, band.lda, b_, band.c + row * band.ldc, band.ldc, bias_);
    }
  }

 private:
  // Adds what the elements of K from `first` on make. `odd`: rows with Inf or NaN, a bit each.
  void multiply_part(const SliceBand& band, int64_t first, uint32_t* odd) const {
    const int64_t k = std::min(kSplitLongest, b_.k - first), bytes = split_bytes(3, k);
    const Scratch<char> split(band.blocks() * bytes);
    char* const tiles = split.data();
    SplitRange ranges[kMostBlocks];
    base::parallel_for(pool_, band.blocks(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i * kSplitRows;
        const RowSource source{band.a + row * band.lda + first, band.lda, std::min(kSplitRows, band.rows - row), k};
        kernels().split_f32->split_rows(3, source, tiles + i * bytes, &ranges[i]);
        odd[i] |= ranges[i].odd;
      }
    });
    const NBitsSlicedRows rows{tiles, bytes, ranges, band.rows, first, k};
    const float* bias = first + k == b_.k ? bias_ : nullptr;
    const int64_t panels = divide_up(b_.n, b_.kernels->lanes);
    base::parallel_for(pool_, divide_up(panels, kNBitsTilePanels), 4, [&](int64_t begin, int64_t end) {
      const Scratch<char> scratch(kNBitsSliceScratch);
      for (int64_t i = begin; i < end; ++i) {
        const int64_t panel = i * kNBitsTilePanels;
        const int count = static_cast<int>(std::min<int64_t>(kNBitsTilePanels, panels - panel));
        kernels().nbits_slices->multiply(panels_, panel, count, rows, result_at(b_, panel, band.c, band.ldc, bias),
                                         scratch.data());
      }
    });
  }

  base::ThreadPool* pool_;
  const NBitsMatrix& b_;
  const NBitsPanels panels_;
  const float* bias_;
};

}  // namespace

bool multiply_in_slices(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, const NBitsMatrix& b, float* c,
                        int64_t ldc, const float* bias) {
  if (kernels().nbits_slices == nullptr || b.kernels != kernels().nbits || !suits(b)) return false;
  if (gemm_slices(m, b.n, b.k) != 3) return false;
  const int64_t bands = divide_up(m, kMostBlocks * kSplitRows);
  const int64_t rows = divide_up(divide_up(m, bands), kSplitRows) * kSplitRows;
  const SlicedProduct product(pool, b, bias);
  for (int64_t row = 0; row < m; row += rows) {
    product.multiply({std::min(rows, m - row), a + row * lda, lda, c + row * ldc, ldc});
  }
  return true;
}

}  // namespace ortolan::cpu::kernels
