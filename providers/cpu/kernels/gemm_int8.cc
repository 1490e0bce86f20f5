// Products of bytes: packing with shifts into the kernels' types, sharing among threads, zero points, requantisation.
#include "cpu/kernels/gemm_int8.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "cpu/kernels/gemm_int8_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {

struct PackedMatrixInt8::Storage {
  const GemmInt8Kernels* kernels;
  int64_t k, n;
  int32_t shift;   // taken from every element
  bool is_signed;  // of the bytes it was made from
  AlignedBuffer data, sums;

  PanelSplit split() const { return PanelSplit(n, *kernels); }
  const int32_t* column_sums() const { return sums.as<int32_t>(); }
};

PackedMatrixInt8::PackedMatrixInt8() = default;
PackedMatrixInt8::~PackedMatrixInt8() = default;
PackedMatrixInt8::PackedMatrixInt8(PackedMatrixInt8&&) noexcept = default;
PackedMatrixInt8& PackedMatrixInt8::operator=(PackedMatrixInt8&&) noexcept = default;
int64_t PackedMatrixInt8::k() const noexcept { return storage_ == nullptr ? 0 : storage_->k; }
int64_t PackedMatrixInt8::n() const noexcept { return storage_ == nullptr ? 0 : storage_->n; }
int64_t PackedMatrixInt8::bytes() const noexcept {
  return storage_ == nullptr ? 0 : static_cast<int64_t>(storage_->data.bytes() + storage_->sums.bytes());
}

namespace {

constexpr double kGrainOps = 2e6, kTileGrainOps = 8e6;
constexpr int64_t kPrefetchSlack = 4096;
constexpr int64_t kBandRows = 128;
constexpr int64_t kMostColumns = 64;  // of a panel
constexpr int64_t kLeastTileRows = 4;

int32_t byte_at(const void* data, int64_t i, bool is_signed) {
  return is_signed ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
}

// One panel: rows of bytes, gathered first where B is stored the other way round.
void pack_panel(const GemmInt8Kernels& kernels, const PanelSplit& split, int64_t panel, int64_t k, const ByteMatrix& b,
                int32_t* packed, int32_t* sums) {
  const int64_t column = split.first_column(panel), columns = split.columns(panel), width = split.width(panel);
  const auto* bytes = static_cast<const uint8_t*>(b.data);
  const bool flip = kernels.b_shift(b.is_signed) != 0;
  // Elements past the last k must become 0 after the shift, so they start as the shift.
  uint8_t gathered[4][64], nothing[64];
  std::memset(nothing, flip ? 128 : 0, sizeof nothing);
  for (int64_t i = 0; i < k; i += kernels.group, packed += width) {
    const uint8_t* rows[4];
    for (int r = 0; r < kernels.group; ++r) {
      rows[r] = i + r >= k ? nothing : b.transposed ? gathered[r] : bytes + (i + r) * b.stride + column;
      if (i + r >= k || !b.transposed) continue;
      for (int64_t c = 0; c < columns; ++c) gathered[r][c] = bytes[(column + c) * b.stride + i + r];
    }
    kernels.pack_group(rows, columns, b.is_signed, flip, packed, sums + column);
    std::fill(packed + columns, packed + width, 0);
  }
  const int64_t used = (k + kernels.group - 1) / kernels.group;
  std::fill_n(packed, (kernels.groups(k) - used) * width, 0);
}

// Copies bytes with `flip` applied to each; returns the sum of what it wrote.
int32_t copy_and_sum(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  constexpr uint64_t kOnes = 0x0101010101010101u, kEven = 0x00ff00ff00ff00ffu;
  constexpr int64_t kMostWords = 64;  // sums in 16 bits that cannot overflow
  int64_t i = 0;
  uint64_t total = 0;
  while (i + 8 <= count) {
    uint64_t sums = 0;
    for (int64_t word = 0; word < kMostWords && i + 8 <= count; ++word, i += 8) {
      uint64_t bytes;
      std::memcpy(&bytes, from + i, 8);
      bytes ^= flip * kOnes;
      std::memcpy(to + i, &bytes, 8);
      sums += (bytes & kEven) + (bytes >> 8 & kEven);
    }
    for (; sums != 0; sums >>= 16) total += sums & 0xffff;
  }
  for (; i < count; ++i) total += to[i] = from[i] ^ flip;
  return static_cast<int32_t>(total);
}

void copy_left_row(const GemmInt8Kernels& kernels, int64_t k, const ByteMatrix& a, int64_t row, uint8_t* to,
                   int32_t* sum) {
  const auto* bytes = static_cast<const uint8_t*>(a.data);
  const int64_t step = a.transposed ? a.stride : 1, start = a.transposed ? row : row * a.stride;
  const int32_t shift = kernels.a_shift(a.is_signed);
  int32_t total = 0;
  const bool neighbours = kernels.group == 4 && step == 1;
  if (neighbours) {
    total = copy_and_sum(bytes + start, k, a.is_signed ? 0x80 : 0, to);
    if (a.is_signed && shift == 0) {
      std::memcpy(to, bytes + start, k);
      total -= static_cast<int32_t>(k * 128);
    }
  }
  for (int64_t i = neighbours ? k : 0; i < k; ++i) {
    const int32_t value = byte_at(bytes, start + i * step, a.is_signed) + shift;
    total += value;
    if (kernels.group == 4) {
      to[i] = static_cast<uint8_t>(value);
    } else {
      const auto half = static_cast<int16_t>(value);
      std::memcpy(to + 2 * i, &half, 2);
    }
  }
  const int64_t used = k * (4 / kernels.group);
  std::memset(to + used, 0, left_row_bytes(kernels, k) - used);
  *sum = total;
}

// Row sums of a left operand that is read in place.
template <class T>
void sum_rows(const T* a, int64_t stride, int64_t rows, int64_t k, int32_t* sums) {
  for (int64_t row = 0; row < rows; ++row) {
    int32_t total = 0;
    for (int64_t i = 0; i < k; ++i) total += a[row * stride + i];
    sums[row] = total;
  }
}

// Zero points as 32-bit integers after a shift; `count` of them where per element, else one.
std::vector<int32_t> shifted(const void* zeros, bool is_signed, bool per_element, int64_t count, int32_t shift) {
  std::vector<int32_t> values(per_element ? count : 1, shift);
  if (zeros == nullptr) return values;
  for (size_t i = 0; i < values.size(); ++i) values[i] += byte_at(zeros, static_cast<int64_t>(i), is_signed);
  return values;
}

bool any_nonzero(const std::vector<int32_t>& values) {
  return std::any_of(values.begin(), values.end(), [](int32_t v) { return v != 0; });
}

int32_t wrapping_product(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) * static_cast<uint32_t>(b));
}

VectorF32Kernels::Unary function_of(Activation activation) {
  return kernels().vector->unary[static_cast<int>(activation.op)];
}

// y = activation(x) of a block whose rows lie side by side; a few rows at a time, so that what stores wait for goes on
// beside the next rows.
void activate(Activation activation, const Int8Block& g, float* y, int64_t ldy) {
  constexpr int64_t kRows = 8;
  const auto apply = function_of(activation);
  auto* x = reinterpret_cast<float*>(g.c);
  for (int64_t row = 0; row < g.rows; row += kRows, x += kRows * g.columns, y += kRows * ldy) {
    const int64_t rows = std::min(kRows, g.rows - row);
    apply(x, x, rows * g.columns, activation.p0, activation.p1);
    for (int64_t i = 0; i < rows; ++i) std::memcpy(y + i * ldy, x + i * g.columns, g.columns * sizeof(float));
  }
}

}  // namespace

int64_t left_row_bytes(const GemmInt8Kernels& kernels, int64_t k) { return kernels.groups(k) * 4; }

int64_t left_bytes(const GemmInt8Kernels& kernels, int64_t rows, int64_t k) {
  return rows * (left_row_bytes(kernels, k) + static_cast<int64_t>(sizeof(int32_t)));
}

LeftInt8 pack_left(const GemmInt8Kernels& kernels, int64_t rows, int64_t k, const ByteMatrix& a, void* to) {
  auto* data = static_cast<uint8_t*>(to);
  const int64_t stride = left_row_bytes(kernels, k);
  auto* sums = reinterpret_cast<int32_t*>(data + rows * stride);
  for (int64_t row = 0; row < rows; ++row) copy_left_row(kernels, k, a, row, data + row * stride, sums + row);
  return {data, stride, sums, kernels.a_shift(a.is_signed)};
}

void correct_block(const GemmInt8Kernels& kernels, int64_t k, const ShiftedZeros& zeros, const int32_t* row_sums,
                   const int32_t* column_sums, int64_t rows, int64_t columns, int32_t* c, int64_t ldc) {
  int32_t adjusted[kMostColumns];
  for (int64_t j = 0; j < columns; ++j) {
    adjusted[j] = static_cast<int32_t>(static_cast<uint32_t>(column_sums[j]) -
                                       static_cast<uint32_t>(k) * static_cast<uint32_t>(zeros.b[j]));
  }
  for (int64_t i = 0; i < rows; ++i) {
    kernels.correct_row(c + i * ldc, columns, zeros.a[zeros.a_per_row ? i : 0], adjusted, row_sums[i], zeros.b);
  }
}

PackedMatrixInt8 pack_b_int8(base::ThreadPool* pool, int64_t k, int64_t n, const ByteMatrix& b,
                             const GemmInt8Kernels* chosen) {
  const GemmInt8Kernels& best = chosen != nullptr ? *chosen : *kernels().gemm_int8;
  PackedMatrixInt8 packed;
  packed.storage_ = std::make_unique<PackedMatrixInt8::Storage>();
  auto& s = *packed.storage_;
  s.kernels = &best;
  s.k = k;
  s.n = n;
  s.is_signed = b.is_signed;
  s.shift = best.b_shift(b.is_signed);
  const PanelSplit split = s.split();
  s.data = AlignedBuffer(static_cast<size_t>(best.groups(k)) * split.padded() * 4 + kPrefetchSlack, Lifetime::kSession);
  s.sums = AlignedBuffer(static_cast<size_t>(split.padded()) * 4, Lifetime::kSession);
  std::fill_n(s.sums.as<int32_t>(), split.padded(), 0);
  const int64_t grain = 65536 / std::max<int64_t>(1, k * split.width(0)) + 1;
  base::parallel_for(pool, split.count(), grain, [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      pack_panel(best, split, panel, k, b, s.data.as<int32_t>() + split.first_column(panel) * best.groups(k),
                 s.sums.as<int32_t>());
    }
  });
  return packed;
}

namespace {

// A product as its blocks see it. Sums become floats where there is an epilogue.
struct Product {
  const PackedMatrixInt8::Storage& b;
  const GemmInt8Kernels& kernels;
  PanelSplit split = b.split();
  int64_t m;
  bool a_signed;  // as the kernels take it
  LeftInt8 left{};
  std::vector<int32_t> a_zeros, b_zeros;  // after the shifts; b_zeros: one a column
  bool a_per_row = false;
  bool needs_row_sums = false;
  int32_t* c = nullptr;
  int64_t ldc = 0;
  const SumEpilogue* epilogue = nullptr;

  Product(int64_t m, const ByteMatrix& a, const PackedMatrixInt8::Storage& b, const ZeroPoints& zero_points);
  void run(base::ThreadPool* pool) const;

 private:
  void set_left(const ByteMatrix& a);
  bool starts_corrected() const { return !a_per_row && !needs_row_sums; }
  bool corrects() const { return !starts_corrected() && (needs_row_sums || any_nonzero(a_zeros)); }
  Int8Block block(int64_t panel, int64_t row) const;
  void correct(const Int8Block& g, int64_t column, int64_t row) const;
  void multiply(int64_t panel, int64_t row) const;
};

Product::Product(int64_t m, const ByteMatrix& a, const PackedMatrixInt8::Storage& b, const ZeroPoints& zero_points)
    : b(b),
      kernels(m < kLeastTileRows ? b.kernels->without_tiles() : *b.kernels),
      m(m),
      a_signed(a.is_signed && kernels.a_signs),
      a_zeros(shifted(zero_points.a, a.is_signed, zero_points.a_per_row, m, kernels.a_shift(a.is_signed))),
      b_zeros(shifted(zero_points.b, b.is_signed, zero_points.b_per_column, b.n, -b.shift)),
      a_per_row(zero_points.a_per_row),
      needs_row_sums(any_nonzero(b_zeros)) {
  b_zeros.resize(split.padded(), zero_points.b_per_column ? 0 : b_zeros[0]);
  set_left(a);
}

void Product::set_left(const ByteMatrix& a) {
  const bool in_place =
      kernels.group == 4 && a.is_signed == a_signed && !a.transposed && b.k % (4 * kernels.filled) == 0;
  if (!in_place) {
    left = pack_left(kernels, m, b.k, a, thread_scratch<uint8_t>(Scratch::kBytes, left_bytes(kernels, m, b.k)));
    return;
  }
  left = {static_cast<const uint8_t*>(a.data), a.stride, nullptr, 0};
  if (!needs_row_sums && !a_per_row) return;
  auto* sums = thread_scratch<int32_t>(Scratch::kSums, m);
  left.row_sums = sums;
  if (needs_row_sums && a_signed) {
    sum_rows(static_cast<const int8_t*>(a.data), a.stride, m, b.k, sums);
  } else if (needs_row_sums) {
    sum_rows(left.data, a.stride, m, b.k, sums);
  } else {
    std::fill_n(sums, m, 0);
  }
}

Int8Block Product::block(int64_t panel, int64_t row) const {
  const int64_t column = split.first_column(panel), groups = b.kernels->groups(b.k);
  const auto* packed = b.data.as<int32_t>() + column * groups;
  Int8Block g{left.data + row * left.stride,
              left.stride,
              packed,
              c + row * ldc + column,
              ldc,
              std::min(kBandRows, m - row),
              split.columns(panel),
              kernels.groups(b.k)};
  g.a_signed = a_signed;
  if (panel + 1 < split.count()) {
    g.next = packed + split.width(panel) * groups;
    g.next_bytes = split.width(panel + 1) * groups * 4;
  }
  return g;
}

void Product::correct(const Int8Block& g, int64_t column, int64_t row) const {
  correct_block(kernels, b.k, {a_zeros.data() + (a_per_row ? row : 0), a_per_row, b_zeros.data() + column},
                left.row_sums + row, b.column_sums() + column, g.rows, g.columns, g.c, g.ldc);
}

void Product::multiply(int64_t panel, int64_t row) const {
  const int64_t column = split.first_column(panel);
  Int8Block g = block(panel, row);
  int32_t start[kMostColumns];
  if (starts_corrected() && a_zeros[0] != 0) {
    for (int64_t j = 0; j < g.columns; ++j) start[j] = wrapping_product(-a_zeros[0], b.column_sums()[column + j]);
    g.start = start;
  }
  if (epilogue == nullptr) {
    kernels.block(split.vectors(panel), g);
    if (corrects()) correct(g, column, row);
    return;
  }
  float scales[kMostColumns];
  const SumEpilogue& e = *epilogue;
  for (int64_t j = 0; j < g.columns; ++j) scales[j] = e.scale[e.scale_per_column ? column + j : 0];
  if (e.bias != nullptr) g.bias = e.bias + column;
  if (e.residual != nullptr) g.residual = e.residual + row * e.residual_stride + column;
  g.residual_stride = e.residual_stride;
  if (!corrects()) g.scale = scales;
  const bool active = e.activation.op != UnaryOp::kIdentity, in_block = active && kernels.activates && !corrects();
  if (in_block) {
    g.activation = function_of(e.activation);
    g.p0 = e.activation.p0, g.p1 = e.activation.p1;
  }
  auto* y = reinterpret_cast<float*>(g.c);
  if (active && !in_block) {
    g.c = thread_scratch<int32_t>(Scratch::kTile, g.rows * g.columns);
    g.ldc = g.columns;
  }
  kernels.block(split.vectors(panel), g);
  if (corrects()) {
    correct(g, column, row);
    g.scale = scales;
    kernels.to_floats(g);
  }
  if (active && !in_block) activate(e.activation, g, y, ldc);
}

void Product::run(base::ThreadPool* pool) const {
  const int64_t bands = (m + kBandRows - 1) / kBandRows, panels = split.count();
  const double ops = 2.0 * static_cast<double>(std::min(m, kBandRows) * split.width(0)) * static_cast<double>(b.k + 1);
  const double grain = kernels.begin != nullptr ? kTileGrainOps : kGrainOps;
  base::parallel_for(pool, panels * bands, static_cast<int64_t>(grain / ops) + 1, [&](int64_t begin, int64_t end) {
    const Int8Blocks blocks(kernels);
    for (int64_t i = begin; i < end; ++i) multiply(i % panels, i / panels * kBandRows);
  });
}

}  // namespace

void gemm_int8(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const PackedMatrixInt8& b,
               const ZeroPoints& zero_points, int32_t* c, int64_t ldc) {
  if (m == 0 || b.n() == 0) return;
  Product product(m, a, *b.storage(), zero_points);
  product.c = c;
  product.ldc = ldc;
  product.run(pool);
}

void gemm_int8_to_float(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const PackedMatrixInt8& b,
                        const ZeroPoints& zero_points, const SumEpilogue& epilogue, float* y, int64_t ldy) {
  if (m == 0 || b.n() == 0) return;
  Product product(m, a, *b.storage(), zero_points);
  product.c = reinterpret_cast<int32_t*>(y);
  product.ldc = ldy;
  product.epilogue = &epilogue;
  product.run(pool);
}

void gemm_int8(base::ThreadPool* pool, int64_t m, int64_t n, int64_t k, const ByteMatrix& a, const ByteMatrix& b,
               const ZeroPoints& zero_points, int32_t* c, int64_t ldc, const GemmInt8Kernels* chosen) {
  if (m == 0 || n == 0) return;
  gemm_int8(pool, m, a, pack_b_int8(pool, k, n, b, chosen), zero_points, c, ldc);
}

template <class T>
void requantize(base::ThreadPool* pool, int64_t m, int64_t n, const int32_t* c, int64_t ldc, const int32_t* bias,
                const float* scale, bool scale_per_column, int32_t zero_point, T* y, int64_t ldy) {
  const auto row = kernels().convert->requantize_row;
  base::parallel_for(pool, m, 16384 / (n + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      row(c + i * ldc, n, bias, scale, scale_per_column, zero_point, std::is_signed_v<T>, y + i * ldy);
    }
  });
}

template void requantize(base::ThreadPool*, int64_t, int64_t, const int32_t*, int64_t, const int32_t*, const float*,
                         bool, int32_t, int8_t*, int64_t);
template void requantize(base::ThreadPool*, int64_t, int64_t, const int32_t*, int64_t, const int32_t*, const float*,
                         bool, int32_t, uint8_t*, int64_t);

void dequantize_sums(base::ThreadPool* pool, int64_t m, int64_t n, const int32_t* c, int64_t ldc, const float* scale,
                     bool scale_per_column, const float* bias, float* y, int64_t ldy) {
  base::parallel_for(pool, m, 16384 / (n + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int32_t* from = c + i * ldc;
      float* to = y + i * ldy;
      if (scale_per_column) {
        for (int64_t j = 0; j < n; ++j) to[j] = static_cast<float>(from[j]) * scale[j];
      } else {
        for (int64_t j = 0; j < n; ++j) to[j] = static_cast<float>(from[j]) * scale[0];
      }
      if (bias == nullptr) continue;
      for (int64_t j = 0; j < n; ++j) to[j] += bias[j];
    }
  });
}

}  // namespace ortolan::cpu::kernels
