// Many fp32 products of one shape, and the sharing of them among threads.
#include "base/cpu_features.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_division.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "cpu/kernels/products/split_f32_kernels.h"

namespace ortolan::cpu::kernels {

namespace {

int64_t batch_offset(const int64_t* offsets, int64_t stride, int64_t i) {
  return offsets != nullptr ? offsets[i] : stride * i;
}

struct Rows {
  int64_t first, count;
};

// Rows of product i.
void multiply_item(base::ThreadPool* pool, const GemmBatch& g, const Epilogue& epilogue, int64_t i, Rows rows,
                   const GemmF32Kernels* chosen) {
  Epilogue own = epilogue;
  const int64_t at = batch_offset(g.offsets_c, g.stride_c, i) + rows.first * g.ldc;
  if (own.residual != nullptr) own.residual += at - rows.first * g.ldc + rows.first * own.residual_stride;
  if (own.bias_kind == BiasKind::kRow) own.bias += rows.first;
  const float* a = g.a + batch_offset(g.offsets_a, g.stride_a, i) + rows.first * (g.trans_a ? 1 : g.lda);
  const float* b = g.b + batch_offset(g.offsets_b, g.stride_b, i);
  multiply_plain(pool, {rows.count, g.n, g.k, a, g.lda, g.trans_a, b, g.ldb, g.trans_b, g.c + at, g.ldc}, own, chosen,
                 g.m);
}

// One B for all and rows that follow each other: a single taller product.
bool is_one_product(const GemmBatch& g, const Epilogue& e) {
  return g.offsets_a == nullptr && g.offsets_b == nullptr && g.offsets_c == nullptr && g.stride_b == 0 && !g.trans_a &&
         g.stride_a == g.m * g.lda && g.stride_c == g.m * g.ldc && e.bias_kind != BiasKind::kRow &&
         (e.residual == nullptr || e.residual_stride == g.ldc);
}

}  // namespace

void gemm_batched(base::ThreadPool* pool, const GemmBatch& g, const Epilogue& epilogue, const GemmF32Kernels* chosen) {
  if (is_one_product(g, epilogue)) {
    gemm(pool, g.m * g.count, g.n, g.k, g.a, g.lda, false, g.b, g.ldb, g.trans_b, g.c, g.ldc, epilogue, chosen);
    return;
  }
  if (g.m == 0 || g.n == 0) return;
  const GemmF32Kernels& best = chosen != nullptr ? *chosen : *kernels().gemm_f32;
  ProductTiles tiles = tiles_of(best);
  if (gemm_slices(g.m, g.n, g.k) != 0) tiles = {kSplitRows, kSplitColumns, multiply_ns(best.lanes)};
  const Grid grid = grid_of({g.m, g.n, g.k}, tiles, false, base::cpu_features().l2_bytes);
  const int64_t parts = parts_of_each(g.count, grid, threads_of(pool));
  if (parts == 0) {
    for (int64_t i = 0; i < g.count; ++i) multiply_item(pool, g, epilogue, i, {0, g.m}, chosen);
    return;
  }
  const int64_t height = divide_up(grid.rows, parts), down = divide_up(grid.rows, height), rows = height * tiles.rows;
  const double part_ns = static_cast<double>(height * grid.columns) * grid.unit_ns;
  base::parallel_for(pool, g.count * down, least_items(part_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % down * rows, count = i % down == down - 1 ? g.m - first : rows;
      multiply_item(nullptr, g, epilogue, i / down, {first, count}, chosen);
    }
  });
}

}  // namespace ortolan::cpu::kernels
