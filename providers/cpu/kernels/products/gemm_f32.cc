// fp32 products: packing, the choice of kernel for a shape, and the sharing of work among threads.
#include "cpu/kernels/products/gemm_f32.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/cpu_features.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_division.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {

void set_finish(const Epilogue& e, int64_t row, int64_t column, GemmFinish& g) {
  if (e.bias_kind == BiasKind::kColumn) g.column_bias = e.bias + column;
  if (e.bias_kind == BiasKind::kRow) g.row_bias = e.bias + row;
  if (e.bias_kind == BiasKind::kScalar) g.shift = *e.bias;
  if (e.residual != nullptr) {
    g.residual = e.residual + row * e.residual_stride + column;
    g.residual_stride = e.residual_stride;
  }
  if (e.activation.op == UnaryOp::kRelu) {
    g.clamp = true;
    g.high = std::numeric_limits<float>::infinity();
  } else if (e.activation.op == UnaryOp::kClip) {
    g.clamp = true;
    g.low = e.activation.p0;
    g.high = e.activation.p1;
  }
}

ProductTiles tiles_of(const GemmF32Kernels& kernels) {
  return {.rows = kernels.tile_rows,
          .columns = int64_t{kernels.max_vectors} * kernels.lanes,
          .multiply_ns = multiply_ns(kernels.lanes),
          .longest_sum = kernels.longest_sum};
}

namespace {

constexpr int64_t kPrefetchSlack = 4096;

void activate(Activation activation, float* c, int64_t ldc, int64_t rows, int64_t columns) {
  const auto& vector = *kernels().vector;
  if (activation.op == UnaryOp::kGelu) return vector.gelu_rows(c, ldc, rows, columns, c, ldc, nullptr);
  const auto apply = vector.unary[static_cast<int>(activation.op)];
  for (int64_t i = 0; i < rows; ++i) apply(c + i * ldc, c + i * ldc, columns, activation.p0, activation.p1);
}

// One panel of B: `k` rows from row `first` on, as a kernel takes them.
struct PanelRows {
  const float* data;
  int64_t step;
  Scratch<float> packed = {};  // where it is not there already
};

PanelRows panel_rows(const GemmProduct& p, const PanelSplit& split, int64_t panel, int64_t first, int64_t k) {
  const int64_t column = split.first_column(panel), width = split.width(panel);
  const GemmRight& b = p.b;
  if (b.form == GemmRightForm::kPacked && b.element == PackedElement::kFloat) {
    return {b.data + column * p.k + first * width, width};
  }
  if (b.form == GemmRightForm::kInPlace) {
    if (b.last != nullptr && panel == split.count() - 1) return {b.last + first * width, width};
    return {b.data + first * b.stride + column, b.stride};
  }
  Scratch<float> space(k * width + kPrefetchSlack);
  float* const packed = space.data();
  if (b.form == GemmRightForm::kPacked) {
    widen(b.element, b.shorts + column * p.k + first * width, k * width, packed);
  } else if (b.form == GemmRightForm::kRows) {
    p.kernels.pack_panel(b.data + first * b.stride + column, b.stride, k, split.columns(panel), width, packed);
  } else {
    p.kernels.pack_panel_transposed(b.data + column * b.stride + first, b.stride, k, split.columns(panel), width,
                                    packed);
  }
  return {packed, width, std::move(space)};
}

// Rows of a panel from row `first` on.
struct PanelPart {
  int64_t panel, first;
};

// What the block is to ask memory for meanwhile: a part of a packed B. Below a few tiles of rows there is no time.
void set_next(const GemmProduct& p, const PanelSplit& split, const PanelPart& next, GemmBlock& g) {
  constexpr int64_t kFewestTiles = 4;
  if (p.b.form != GemmRightForm::kPacked || g.rows < kFewestTiles * p.kernels.tile_rows) return;
  const bool is_float = p.b.element == PackedElement::kFloat;
  const int64_t size = is_float ? sizeof(float) : sizeof(uint16_t), width = split.width(next.panel);
  const char* b = is_float ? reinterpret_cast<const char*>(p.b.data) : reinterpret_cast<const char*>(p.b.shorts);
  g.next = b + (split.first_column(next.panel) * p.k + next.first * width) * size;
  g.next_bytes = std::min(k_block(p.k, p.kernels.longest_sum), p.k - next.first) * width * size;
}

// Rows of A as a task multiplies them. `packed`: in blocks of k, each of which is packed as kernels take it.
struct TaskRows {
  int64_t first, count;
  Scratch<float> packed = {};
};

bool packs_left(const GemmProduct& p) {
  constexpr int64_t kFewestPanels = 4;
  if (p.kernels.block == nullptr) return true;
  return p.kernels.packs_left && p.m >= p.kernels.tile_rows &&
         p.n >= kFewestPanels * p.kernels.max_vectors * p.kernels.lanes;
}

int64_t padded_rows(const GemmProduct& p, int64_t rows) {
  return divide_up(rows, p.kernels.tile_rows) * p.kernels.tile_rows;
}

TaskRows task_rows(const GemmProduct& p, int64_t first, int64_t count) {
  if (!packs_left(p)) return {first, count};
  const int64_t tile = p.kernels.tile_rows, depth = k_block(p.k, p.kernels.longest_sum);
  Scratch<float> packed(std::max<int64_t>(1, padded_rows(p, count) * p.k));
  float* to = packed.data();
  for (int64_t k = 0; k < p.k; k += depth) {
    const int64_t columns = std::min(depth, p.k - k);
    for (int64_t row = 0; row < count; row += tile, to += tile * columns) {
      p.kernels.pack_panel_transposed(p.a.data + (first + row) * p.a.stride + k, p.a.stride, columns,
                                      std::min(tile, count - row), tile, to);
    }
  }
  return {first, count, std::move(packed)};
}

void multiply_part(const GemmProduct& p, const PanelSplit& split, const PanelPart& part, const PanelPart* next,
                   const TaskRows& rows) {
  const int64_t column = split.first_column(part.panel);
  GemmBlock g;
  g.k = std::min(k_block(p.k, p.kernels.longest_sum), p.k - part.first);
  const PanelRows b = panel_rows(p, split, part.panel, part.first, g.k);
  const bool is_packed = rows.packed.data() != nullptr;
  g.a = is_packed ? rows.packed.data() + part.first * padded_rows(p, rows.count)
                  : p.a.data + rows.first * p.a.stride + part.first;
  g.lda = is_packed ? g.k : p.a.stride;
  g.b = b.data;
  g.b_step = b.step;
  g.c = p.c + rows.first * p.ldc + column;
  g.ldc = p.ldc;
  g.rows = rows.count;
  g.columns = split.columns(part.panel);
  g.alpha = p.epilogue.alpha;
  g.c_scale = part.first == 0 ? p.epilogue.beta : 1;
  if (next != nullptr && !is_packed) set_next(p, split, *next, g);
  const bool is_last = part.first + g.k >= p.k;
  if (is_last) set_finish(p.epilogue, rows.first, column, g);
  (is_packed ? p.kernels.block_packed_a : p.kernels.block)(split.vectors(part.panel), g);
  if (is_last && !is_clamp(p.epilogue.activation.op)) {
    activate(p.epilogue.activation, g.c, p.ldc, rows.count, g.columns);
  }
}

// The tasks of a division, in the order that is asked for.
class ProductTasks {
 public:
  ProductTasks(const GemmProduct& p, const GridDivision& grid, int64_t l2_bytes)
      : p_(p),
        grid_(grid),
        split_(p.n, p.kernels),
        panels_(divide_up(split_.count(), grid.across)),
        depth_(k_block(p.k, p.kernels.longest_sum)),
        floats_that_stay_(l2_bytes / 2 / static_cast<int64_t>(sizeof(float))) {}

  void run(int64_t task) const {
    const int64_t i = is_backward() ? grid_.tasks() - 1 - task : task, band = i / grid_.across;
    const int64_t height = grid_.height * p_.kernels.tile_rows, row = band * height;
    const TaskRows rows = task_rows(p_, row, band == grid_.down - 1 ? p_.m - row : height);
    const int64_t begin = i % grid_.across * panels_, panels = std::min(panels_, split_.count() - begin);
    const int64_t blocks = std::max<int64_t>(1, divide_up(p_.k, std::max<int64_t>(depth_, 1)));
    const bool goes_across = blocks > 1 && rows.count * p_.k > floats_that_stay_;
    // Panel by panel, or, where the rows of A do not stay in the second-level cache, across all panels with a block of
    // their columns, which does.
    const auto part = [&](int64_t n) {
      const int64_t block = goes_across ? n / panels : n % blocks, panel = goes_across ? n % panels : n / blocks;
      return PanelPart{begin + (is_backward() ? panels - 1 - panel : panel), block * depth_};
    };
    for (int64_t n = 0; n < panels * blocks; ++n) {
      const PanelPart next = part(n + 1);
      multiply_part(p_, split_, part(n), n + 1 < panels * blocks ? &next : nullptr, rows);
    }
  }

 private:
  bool is_backward() const { return p_.order == PanelOrder::kBackward; }

  const GemmProduct& p_;
  const GridDivision& grid_;
  const PanelSplit split_;
  const int64_t panels_;  // of a task
  const int64_t depth_, floats_that_stay_;
};

// Rows that a product has a part of count for how it is computed.
void multiply(base::ThreadPool* pool, const GemmProduct& p, int64_t all_rows) {
  if (multiply_split(pool, p, all_rows)) return;
  const bool is_packed = p.b.form == GemmRightForm::kPacked || p.b.form == GemmRightForm::kInPlace;
  const int64_t l2_bytes = base::cpu_features().l2_bytes;
  ProductTiles tiles = tiles_of(p.kernels);
  tiles.packs_left = packs_left(p);
  const Grid grid = grid_of({p.m, p.n, p.k}, tiles, is_packed, l2_bytes);
  const GridDivision division = divide_grid(grid, threads_of(pool));
  const ProductTasks tasks(p, division, l2_bytes);
  base::parallel_for(pool, division.tasks(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) tasks.run(task);
  });
}

// The product of one row and a packed matrix.
void multiply_row(base::ThreadPool* pool, const GemmProduct& p, const PanelSplit& split) {
  GemmBlock row;
  row.a = p.a.data;
  row.c = p.c;
  row.lda = row.ldc = 0;
  row.rows = 1;
  row.columns = p.n;
  row.k = p.k;
  row.alpha = p.epilogue.alpha;
  row.c_scale = p.epilogue.beta;
  set_finish(p.epilogue, 0, 0, row);
  const bool backward = p.order == PanelOrder::kBackward, clamps = is_clamp(p.epilogue.activation.op);
  const int64_t panels = split.count();
  const void* data = p.b.element == PackedElement::kFloat ? static_cast<const void*>(p.b.data) : p.b.shorts;
  auto multiply_some = [&](int64_t begin, int64_t end) {
    if (backward) std::tie(begin, end) = std::pair(panels - end, panels - begin);
    p.kernels.row_panels(p.b.element, data, split, begin, end, backward, row);
    if (clamps) return;
    const int64_t first = split.first_column(begin), last = split.first_column(end - 1) + split.columns(end - 1);
    activate(p.epilogue.activation, p.c + first, 0, 1, last - first);
  };
  const double panel_ns = row_ns(split.width(0), p.k, p.kernels.lanes, p.b.element == PackedElement::kFloat ? 4 : 2);
  if (panel_ns * static_cast<double>(panels) < kGoodTaskNs) return multiply_some(0, panels);
  base::parallel_for(pool, panels, least_items(panel_ns), multiply_some);
}

// A, or, where it is stored K x M, A as M x K in `space`.
GemmLeft left(int64_t m, int64_t k, const float* a, int64_t lda, bool trans_a, const GemmF32Kernels& kernels,
              Scratch<float>& space) {
  if (!trans_a) return {a, lda};
  if (m == 1 && lda == 1) return {a, k};
  space = Scratch<float>(std::max<int64_t>(m * k, 1));
  kernels.pack_panel_transposed(a, lda, m, k, k, space.data());
  return {space.data(), k};
}

// Finishes `count` sums that lie one after the other; they are one row or one column (`along_rows`) of the result.
void finish_line(const Epilogue& e, bool along_rows, int64_t first, int64_t count, float* sums, float* c,
                 int64_t c_step) {
  const bool per_element = e.bias_kind == (along_rows ? BiasKind::kRow : BiasKind::kColumn);
  const int64_t residual_step = along_rows ? e.residual_stride : 1;
  for (int64_t i = 0; i < count; ++i) {
    float v = e.alpha * sums[i];
    if (e.beta != 0) v += e.beta * c[(first + i) * c_step];
    if (e.bias_kind != BiasKind::kNone) v += e.bias[per_element ? first + i : 0];
    if (e.residual != nullptr) v += e.residual[(first + i) * residual_step];
    sums[i] = v;
  }
  if (e.activation.op != UnaryOp::kIdentity) activate(e.activation, sums, count, 1, count);
  for (int64_t i = 0; i < count; ++i) c[(first + i) * c_step] = sums[i];
}

// A product with one row or one column, as rows of a matrix times a vector.
void matrix_times_vector(base::ThreadPool* pool, const GemmF32Kernels& kernels, const float* matrix, int64_t stride,
                         int64_t rows, int64_t k, const float* x, const Epilogue& epilogue, bool along_rows, float* c,
                         int64_t c_step) {
  constexpr int64_t kAtOnce = 256;
  const int64_t least = least_items(row_ns(1, k, kernels.lanes, 4));
  base::parallel_for(pool, rows, std::max<int64_t>(4, least), [&](int64_t begin, int64_t end) {
    alignas(64) float sums[kAtOnce];
    for (int64_t row = begin; row < end; row += kAtOnce) {
      const int64_t count = std::min(kAtOnce, end - row);
      kernels.matrix_vector(matrix + row * stride, stride, count, k, x, sums);
      finish_line(epilogue, along_rows, row, count, sums, c, c_step);
    }
  });
}

// A narrow last panel is packed, in `space`.
GemmRight right_in_place(int64_t n, int64_t k, const float* b, int64_t ldb, const GemmF32Kernels& kernels,
                         Scratch<float>& space) {
  const PanelSplit split(n, kernels);
  const int64_t last = split.count() - 1;
  if (split.columns(last) == split.width(last)) return {b, GemmRightForm::kInPlace, ldb};
  space = Scratch<float>(std::max<int64_t>(k, 1) * split.width(last));
  kernels.pack_panel(b + split.first_column(last), ldb, k, split.columns(last), split.width(last), space.data());
  return {b, GemmRightForm::kInPlace, ldb, space.data()};
}

// A residual that is C itself counts as what C holds before: sums in several blocks of k are written over it.
Epilogue settled(Epilogue epilogue, const float* c) {
  if (epilogue.residual != c || c == nullptr) return epilogue;
  epilogue.residual = nullptr;
  epilogue.beta += 1;
  return epilogue;
}

}  // namespace

void gemm(base::ThreadPool* pool, int64_t m, const float* a, int64_t lda, bool trans_a, const PackedMatrix& b, float* c,
          int64_t ldc, const Epilogue& given, PanelOrder order) {
  if (m == 0 || b.n() == 0) return;
  const Epilogue epilogue = settled(given, c);
  Scratch<float> turned;
  const GemmLeft rows = left(m, b.k(), a, lda, trans_a, b.kernels(), turned);
  if (b.n() == 1) {
    const auto* x = static_cast<const float*>(b.data());
    return matrix_times_vector(pool, b.kernels(), rows.data, rows.stride, m, b.k(), x, epilogue, true, c, ldc);
  }
  const GemmProduct product{m, b.n(), b.k(), rows, packed_right(b), c, ldc, epilogue, b.kernels(), order};
  if (m == 1) return multiply_row(pool, product, b.storage_->split);
  multiply(pool, product, m);
}

void multiply_plain(base::ThreadPool* pool, const PlainProduct& g, const Epilogue& given, const GemmF32Kernels* chosen,
                    int64_t all_rows) {
  const Epilogue epilogue = settled(given, g.c);
  const GemmF32Kernels& best = chosen != nullptr ? *chosen : *kernels().gemm_f32;
  Scratch<float> turned, last;
  const GemmLeft rows = left(g.m, g.k, g.a, g.lda, g.trans_a, best, turned);
  if (g.n == 1 && (g.trans_b || g.ldb == 1)) {
    matrix_times_vector(pool, best, rows.data, rows.stride, g.m, g.k, g.b, epilogue, true, g.c, g.ldc);
  } else if (all_rows == 1 && g.trans_b) {
    matrix_times_vector(pool, best, g.b, g.ldb, g.n, g.k, rows.data, epilogue, false, g.c, 1);
  } else {
    const bool in_place = !g.trans_b && all_rows <= 2 * best.tile_rows;
    const GemmRight b = in_place ? right_in_place(g.n, g.k, g.b, g.ldb, best, last)
                                 : GemmRight{g.b, g.trans_b ? GemmRightForm::kColumns : GemmRightForm::kRows, g.ldb};
    multiply(pool, {g.m, g.n, g.k, rows, b, g.c, g.ldc, epilogue, best}, all_rows);
  }
}

void gemm(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, const float* a, int64_t lda, bool trans_a,
          const float* b, int64_t ldb, bool trans_b, float* c, int64_t ldc, const Epilogue& epilogue,
          const GemmF32Kernels* chosen) {
  if (m == 0 || n == 0) return;
  multiply_plain(pool, {m, n, k, a, lda, trans_a, b, ldb, trans_b, c, ldc}, epilogue, chosen, m);
}

}  // namespace ortolan::cpu::kernels
