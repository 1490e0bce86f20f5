// Packed right operands of fp32 products: their layout, and which of them 16 bits hold.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_product.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kTried = 1024;  // elements that are tried at a time

void shorten(PackedElement element, const float* from, int64_t count, uint16_t* to) {
  element == PackedElement::kHalf ? float_to_half(from, to, count) : float_to_bfloat16(from, to, count);
}

bool holds(PackedElement element, const float* values, int64_t count) {
  uint16_t shorts[kTried];
  float back[kTried];
  for (int64_t i = 0; i < count; i += kTried) {
    const int64_t n = std::min(kTried, count - i);
    shorten(element, values + i, n, shorts);
    widen(element, shorts, n, back);
    if (std::memcmp(back, values + i, static_cast<size_t>(n) * sizeof(float)) != 0) return false;
  }
  return true;
}

bool holds_rows(base::ThreadPool* pool, PackedElement element, int64_t rows, int64_t columns, const float* b,
                int64_t ldb) {
  std::atomic<bool> all = true;
  base::parallel_for(pool, rows, least_items(kPackNs * static_cast<double>(columns)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end && all; ++row) {
      if (!holds(element, b + row * ldb, columns)) all = false;
    }
  });
  return all;
}

PackedElement shortest_of(base::ThreadPool* pool, int64_t rows, int64_t columns, const float* b, int64_t ldb) {
  for (PackedElement element : {PackedElement::kBfloat16, PackedElement::kHalf}) {
    if (holds_rows(pool, element, rows, columns, b, ldb)) return element;
  }
  return PackedElement::kFloat;
}

// Where B is, and how its panels are to be stored.
struct Packing {
  int64_t k;
  const PanelSplit& split;
  const float* b;
  int64_t ldb;
  bool trans_b;
  PackedElement element;
  const GemmF32Kernels& kernels;
};

void pack_panels(base::ThreadPool* pool, const Packing& p, AlignedBuffer& buffer) {
  const double panel_ns = kPackNs * static_cast<double>(p.k) * static_cast<double>(p.split.width(0));
  base::parallel_for(pool, p.split.count(), least_items(panel_ns), [&](int64_t begin, int64_t end) {
    for (int64_t panel = begin; panel < end; ++panel) {
      const int64_t column = p.split.first_column(panel), width = p.split.width(panel), size = p.k * width;
      const bool floats = p.element == PackedElement::kFloat;
      const Scratch<float> wide(floats ? 0 : size);
      float* to = floats ? buffer.as<float>() + column * p.k : wide.data();
      const auto pack = p.trans_b ? p.kernels.pack_panel_transposed : p.kernels.pack_panel;
      pack(p.trans_b ? p.b + column * p.ldb : p.b + column, p.ldb, p.k, p.split.columns(panel), width, to);
      if (!floats) shorten(p.element, to, size, buffer.as<uint16_t>() + column * p.k);
    }
  });
}

}  // namespace

PackedMatrix::PackedMatrix() = default;
PackedMatrix::~PackedMatrix() = default;
PackedMatrix::PackedMatrix(PackedMatrix&&) noexcept = default;
PackedMatrix& PackedMatrix::operator=(PackedMatrix&&) noexcept = default;
int64_t PackedMatrix::bytes() const noexcept {
  return storage_ == nullptr ? 0 : static_cast<int64_t>(storage_->buffer.bytes());
}
const void* PackedMatrix::data() const noexcept { return storage_->buffer.as<char>(); }

void widen(PackedElement element, const uint16_t* from, int64_t count, float* to) {
  element == PackedElement::kHalf ? half_to_float(from, to, count) : bfloat16_to_float(from, to, count);
}

GemmRight packed_right(const PackedMatrix& b) {
  GemmRight right;
  right.element = b.element();
  if (right.element == PackedElement::kFloat) {
    right.data = static_cast<const float*>(b.data());
  } else {
    right.shorts = static_cast<const uint16_t*>(b.data());
  }
  return right;
}

PackedMatrix pack_b(base::ThreadPool* pool, int64_t k, int64_t n, const float* b, int64_t ldb, bool trans_b,
                    const GemmF32Kernels* chosen, PackedForm form) {
  PackedMatrix packed;
  packed.kernels_ = chosen != nullptr ? chosen : kernels().gemm_f32;
  packed.k_ = k;
  packed.n_ = n;
  const bool shortens = form == PackedForm::kShortest && n > 1 && k > 0;
  if (shortens) {
    packed.element_ = static_cast<PackedElement>(base::packed_choice(kPackedElements, [&] {
      return static_cast<uint8_t>(shortest_of(pool, trans_b ? n : k, trans_b ? k : n, b, ldb));
    }));
  }
  const PanelSplit split(n, *packed.kernels_);
  const int64_t width = n == 1 ? 1 : split.padded();
  const size_t size = packed.element_ == PackedElement::kFloat ? sizeof(float) : sizeof(uint16_t);
  AlignedBuffer buffer(static_cast<size_t>(k) * width * size, Lifetime::kSession);
  packed.storage_.reset(new PackedMatrix::Storage{std::move(buffer), split});
  if (base::parts_are_kept()) return packed;
  if (n == 1) {
    float* data = packed.storage_->buffer.as<float>();
    for (int64_t i = 0; i < k; ++i) data[i] = read_unaligned(b + (trans_b ? i : i * ldb));
  } else if (n > 0) {
    pack_panels(pool, {k, split, b, ldb, trans_b, packed.element_, *packed.kernels_}, packed.storage_->buffer);
  }
  return packed;
}

}  // namespace ortolan::cpu::kernels
