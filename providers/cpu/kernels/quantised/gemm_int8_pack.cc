// Packing for products of bytes: panels of the right operand, rows of the left one, with shifts into the kernels'
// types.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

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

constexpr int64_t kInt8PrefetchSlack = 4096;

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
  const bool neighbours = step == 1;
  if (neighbours && kernels.group == 2) {
    total = kernels.widen_row(bytes + start, k, a.is_signed, reinterpret_cast<int16_t*>(to));
  } else if (neighbours) {
    total = copy_and_sum(bytes + start, k, a.is_signed ? 0x80 : 0, to);
    if (a.is_signed ? shift == 0 : shift != 0) {  // the kernel's bytes have signs
      for (int64_t i = 0; i < k; ++i) to[i] ^= 0x80;
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
  std::memset(to + used, 0, kernels.groups(k) * 4 - used);
  *sum = total;
}

}  // namespace

void pack_panel(const GemmInt8Kernels& kernels, const PanelSplit& split, int64_t panel, int64_t k, const ByteMatrix& b,
                int32_t* packed, int32_t* sums) {
  const int64_t column = split.first_column(panel), columns = split.columns(panel), width = split.width(panel);
  const auto* bytes = static_cast<const uint8_t*>(b.data) + (b.transposed ? column * b.stride : column);
  const bool flip = kernels.b_shift(b.is_signed) != 0;
  const int64_t whole = b.transposed ? 0 : k / kernels.group;
  kernels.pack_rows(split.vectors(panel), {bytes, b.stride, whole, columns, b.is_signed, flip}, packed, sums);
  packed += whole * width;
  // Elements past the last k must become 0 after the shift, so they start as the shift.
  uint8_t gathered[4][kMostColumns], nothing[kMostColumns];
  std::memset(nothing, flip ? 128 : 0, sizeof nothing);
  for (int64_t i = whole * kernels.group; i < k; i += kernels.group, packed += width) {
    const uint8_t* rows[4];
    for (int r = 0; r < kernels.group; ++r) {
      rows[r] = i + r >= k ? nothing : b.transposed ? gathered[r] : bytes + (i + r) * b.stride;
      if (i + r >= k || !b.transposed) continue;
      for (int64_t c = 0; c < columns; ++c) gathered[r][c] = bytes[c * b.stride + i + r];
    }
    kernels.pack_group(rows, columns, b.is_signed, flip, packed, sums);
    std::fill(packed + columns, packed + width, 0);
  }
  const int64_t used = (k + kernels.group - 1) / kernels.group, groups = kernels.groups(k);
  std::fill_n(packed, (groups - used) * width, 0);
  if (kernels.pair_columns != nullptr) kernels.pair_columns(split.vectors(panel), groups, packed - used * width);
}

int64_t left_row_bytes(const GemmInt8Kernels& kernels, int64_t k) {
  return (kernels.head_words(k) + kernels.groups(k)) * 4;
}

int64_t left_bytes(const GemmInt8Kernels& kernels, int64_t rows, int64_t k) {
  return round_up(rows, kernels.rows_together()) * (left_row_bytes(kernels, k) + static_cast<int64_t>(sizeof(int32_t)));
}

LeftInt8 left_at(const GemmInt8Kernels& kernels, int64_t rows, int64_t k, bool is_signed, const void* copy) {
  const auto* bytes = static_cast<const uint8_t*>(copy);
  const int64_t stride = left_row_bytes(kernels, k);
  const uint8_t* sums = bytes + round_up(rows, kernels.rows_together()) * stride;
  return {bytes + kernels.head_words(k) * 4, stride, reinterpret_cast<const int32_t*>(sums),
          kernels.a_shift(is_signed)};
}

void join_left_rows(const GemmInt8Kernels& kernels, int64_t k, int64_t rows, uint8_t* to) {
  constexpr int64_t kEight = 8;
  if (kernels.rows_together() == 1) return;
  const int64_t bytes = left_row_bytes(kernels, k);
  if (rows == 1) std::memset(to + bytes, 0, bytes);
  const Scratch<uint8_t> first(bytes);
  std::memcpy(first.data(), to, bytes);
  for (int64_t i = 0; i < bytes; i += kEight) {
    std::memmove(to + 2 * i + kEight, to + bytes + i, kEight);
    std::memcpy(to + 2 * i, first.data() + i, kEight);
  }
}

bool pack_left_row(const GemmInt8Kernels& kernels, int64_t k, const ByteMatrix& a, int64_t row, uint8_t* to,
                   int32_t* sum) {
  const int64_t head = kernels.head_words(k) * 4;
  std::memset(to, 0, head);
  copy_left_row(kernels, k, a, row, to + head, sum);
  return kernels.spread_row == nullptr || kernels.spread_row(kernels.groups(k), reinterpret_cast<int32_t*>(to + head));
}

LeftInt8 pack_left(base::ThreadPool* pool, const GemmInt8Kernels& kernels, int64_t rows, int64_t k, const ByteMatrix& a,
                   void* to) {
  auto* data = static_cast<uint8_t*>(to);
  const int64_t stride = left_row_bytes(kernels, k);
  const LeftInt8 left = left_at(kernels, rows, k, a.is_signed, to);
  auto* sums = const_cast<int32_t*>(left.row_sums);
  const int64_t together = kernels.rows_together();
  const double rows_ns = static_cast<double>(together * k) * (a.transposed ? kStrideNs : kPackByteNs);
  base::parallel_for(pool, divide_up(rows, together), least_items(rows_ns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin * together; row < std::min(rows, end * together); row += together) {
      const int64_t last = std::min(rows, row + together);
      for (int64_t i = row; i < last; ++i) pack_left_row(kernels, k, a, i, data + i * stride, sums + i);
      join_left_rows(kernels, k, last - row, data + row * stride);
    }
  });
  return left;
}

bool pack_panels(base::ThreadPool* pool, const GemmInt8Kernels& kernels, const PanelSplit& split, int64_t k,
                 const ByteMatrix& b, int32_t* packed, int32_t* sums) {
  std::atomic<bool> suits{true};
  const int64_t step = kernels.panel_groups(k);
  const double panel_ns = static_cast<double>(k * split.width(0)) * (b.transposed ? kStrideNs : kPackByteNs);
  base::parallel_for(pool, split.count(), least_items(panel_ns), [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end && suits.load(std::memory_order_relaxed); ++panel) {
      const int64_t column = split.first_column(panel);
      std::fill_n(sums + column, split.width(panel), 0);
      pack_panel(kernels, split, panel, k, b, packed + column * step, sums + column);
      if (kernels.spread_large == nullptr) continue;
      if (kernels.spread_large(split.vectors(panel), kernels.groups(k), packed + column * step)) continue;
      suits.store(false, std::memory_order_relaxed);
    }
  });
  return suits.load();
}

namespace {

/** Packs B for those kernels; false where it does not suit them. */
bool pack_for(base::ThreadPool* pool, const GemmInt8Kernels& kernels, const ByteMatrix& b,
              PackedMatrixInt8::Storage& s) {
  s.kernels = &kernels;
  s.shift = kernels.b_shift(b.is_signed);
  const PanelSplit split = s.split();
  const int64_t words = kernels.panel_groups(s.k) * split.padded();
  s.data = AlignedBuffer(static_cast<size_t>(words) * 4 + kInt8PrefetchSlack, Lifetime::kSession);
  s.sums = AlignedBuffer(static_cast<size_t>(split.padded()) * 4, Lifetime::kSession);
  if (base::parts_are_kept()) return true;
  return pack_panels(pool, kernels, split, s.k, b, s.data.as<int32_t>(), s.sums.as<int32_t>());
}

}  // namespace

PackedMatrixInt8 pack_b_int8(base::ThreadPool* pool, int64_t k, int64_t n, const ByteMatrix& b,
                             const GemmInt8Kernels* chosen) {
  const GemmInt8Kernels& any = chosen != nullptr ? *chosen : *kernels().gemm_int8;
  PackedMatrixInt8 packed;
  packed.storage_ = std::make_unique<PackedMatrixInt8::Storage>();
  auto& s = *packed.storage_;
  s.k = k;
  s.n = n;
  s.is_signed = b.is_signed;
  const auto pack = [&](const GemmInt8Kernels& kernels) { return pack_for(pool, kernels, b, s); };
  pack_suitable(any.of_weights, any, pack);
  return packed;
}

}  // namespace ortolan::cpu::kernels
