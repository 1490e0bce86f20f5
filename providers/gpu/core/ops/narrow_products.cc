// MatMulNBits: a product with weights of 4 or 8 bits, a scale a block.
#include <cstring>

#include "gpu/core/elements/row_items.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

/** n rows of k codes in blocks. */
struct Format {
  int64_t n, k, block, bits;

  explicit Format(const Node& node)
      : n(node.integer("N", 0)),
        k(node.integer("K", 0)),
        block(node.integer("block_size", 0)),
        bits(node.integer("bits", 4)) {}
  int64_t blocks() const { return (k + block - 1) / block; }
  int64_t words() const { return blocks() * block * bits / 32; }  // in a row
  int64_t zero_bytes() const { return (blocks() * bits + 7) / 8; }
};

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  if (!refusal.empty()) return refusal;
  Format format(candidate.node());
  if (format.bits != 4 && format.bits != 8)
    return "its weights have " + std::to_string(format.bits) + " bits; 4 and 8 are taken";
  bool is_power = format.block >= 16 && (format.block & (format.block - 1)) == 0;
  if (!is_power || format.n <= 0 || format.k <= 0) return "N, K or block_size is not what the operator takes";
  if (candidate.has(4)) return "g_idx is given; weights in their order are taken";
  for (size_t i : {2, 5}) {
    if (candidate.has(i) && candidate.type(i) != candidate.type(0))
      return "input " + std::to_string(i) + " is " + type_name(candidate.type(i)) + ", A is " +
             type_name(candidate.type(0)) + "; equal types are taken";
  }
  if (!candidate.has(3) || candidate.type(3) == candidate.type(0)) return "";
  return refuse_unless(candidate, 3, {ElementType::kUint8});
}

enum Zeros { kMiddle, kCodes, kFloats };

Zeros zeros_of(const Lowering& l) {
  if (!l.has(3)) return kMiddle;
  return l.type(3) == ElementType::kUint8 ? kCodes : kFloats;
}

void require_count(const Lowering& l, size_t i, int64_t wanted) {
  if (l.has(i) && l.count(i) != wanted)
    l.fail("input " + std::to_string(i) + " has " + std::to_string(l.count(i)) + " elements; it needs " +
           std::to_string(wanted));
}

void check(const Lowering& l, const Format& format) {
  const Shape& a = l.shape(0);
  if (a.empty() || a.back() != format.k) l.fail("the last dimension of A is not K, " + std::to_string(format.k));
  require_count(l, 1, format.n * format.words() * 4);
  require_count(l, 2, format.n * format.blocks());
  require_count(l, 3, zeros_of(l) == kCodes ? format.n * format.zero_bytes() : format.n * format.blocks());
  require_count(l, 5, format.n);
}

/** Rows of `count` 32-bit words, a place of `lanes` neighbouring rows after another; rows that are missing are 0. */
struct Interleaved {
  int64_t rows, count, lanes;
  int64_t tiles() const { return (rows + lanes - 1) / lanes; }
  size_t bytes() const { return static_cast<size_t>(tiles() * lanes * count) * 4; }
};

/** `word` gives a word by row and place. */
template <class Word>
void interleave(const Interleaved& form, const Word& word, std::byte* to) {
  for (int64_t tile = 0; tile < form.tiles(); tile++) {
    for (int64_t i = 0; i < form.count; i++) {
      for (int64_t lane = 0; lane < form.lanes; lane++, to += 4) {
        int64_t row = tile * form.lanes + lane;
        auto value = row < form.rows ? word(row, i) : 0;
        static_assert(sizeof value == 4);
        std::memcpy(to, &value, 4);
      }
    }
  }
}

/** The zero points, or the middle of the codes, as floats beside the scales. */
Memory packed_zeros(Lowering& l, const Format& f, int64_t lanes, const std::string& layout) {
  Zeros zeros = zeros_of(l);
  size_t from = zeros == kMiddle ? 2 : 3;
  Interleaved form = {f.n, f.blocks(), lanes};
  auto pack = [&](std::span<const std::byte> bytes, std::span<std::byte> to) {
    auto zero = [&](int64_t row, int64_t block) {
      if (zeros == kMiddle) return f.bits == 4 ? 8.0f : 128.0f;
      if (zeros == kFloats) {
        float value;
        std::memcpy(&value, bytes.data() + (row * f.blocks() + block) * 4, 4);
        return value;
      }
      int code = static_cast<int>(bytes[row * f.zero_bytes() + block * f.bits / 8]);
      return static_cast<float>(f.bits == 8 ? code : block % 2 != 0 ? code >> 4 : code & 15);
    };
    interleave(form, zero, to.data());
  };
  return l.packed(from, {layout + " zeros " + std::to_string(zeros), form.bytes(), pack});
}

/** A constant of words, four bytes each, as it stands. */
Memory packed_words(Lowering& l, size_t i, const Format& f, int64_t count, int64_t lanes, const std::string& layout) {
  Interleaved form = {f.n, count, lanes};
  auto pack = [&](std::span<const std::byte> bytes, std::span<std::byte> to) {
    auto word_at = [&](int64_t row, int64_t at) {
      uint32_t word;
      std::memcpy(&word, bytes.data() + (row * count + at) * 4, 4);
      return word;
    };
    interleave(form, word_at, to.data());
  };
  return l.packed(i, {layout, form.bytes(), pack});
}

bool goes_wide(const Lowering& l) {
  bool constant = l.is_constant(1) && l.is_constant(2) && (!l.has(3) || l.is_constant(3));
  return l.traits().kind == DeviceClass::kWide && l.type(0) == ElementType::kFloat && constant;
}

/** Rows of A that a work-item takes together. */
int row_tile(int64_t rows) { return rows == 1 ? 1 : rows <= 4 ? 4 : 8; }

void lower_wide(Lowering& l, const Format& f, int64_t rows, Memory y) {
  int64_t lanes = l.traits().vector_width;
  std::string layout = "nbits " + std::to_string(lanes) + " rows, " + std::to_string(f.bits) + " bits, " +
                       std::to_string(f.n) + " x " + std::to_string(f.k) + ", blocks of " + std::to_string(f.block);
  Memory a = l.input(0), b = packed_words(l, 1, f, f.words(), lanes, layout + " codes");
  Memory scales = packed_words(l, 2, f, f.blocks(), lanes, layout + " scales");
  int tile = row_tile(rows);
  KernelCall call = l.call("matmul_nbits_wide");
  call.group(1).constant("BITS", static_cast<int>(f.bits)).constant("BIAS", l.has(5)).constant("ROWS", tile);
  call.read(a).read(b).read(scales).read(packed_zeros(l, f, lanes, layout)).read(l.has(5) ? l.input(5) : a).write(y);
  call.params(rows, f.n, f.k, f.block, f.blocks(), f.words());
  call.run((f.n + lanes - 1) / lanes, (rows + tile - 1) / tile);
}

void lower(Lowering& l) {
  Format f(l.node());
  check(l, f);
  Shape shape = l.shape(0);
  int64_t rows = element_count(shape, 0, shape.size() - 1);
  shape.back() = f.n;
  Memory y = l.output(0, shape);
  if (goes_wide(l)) return lower_wide(l, f, rows, y);
  int tile = row_tile(rows);
  Memory a = l.input(0), b = l.input(1), scales = l.input(2);
  KernelCall call = l.call("matmul_nbits");
  call.row_group(f.k).constant("HALF", l.type(0) == ElementType::kFloat16);
  call.constant("BITS", static_cast<int>(f.bits)).constant("ZEROS", zeros_of(l)).constant("BIAS", l.has(5));
  call.constant("ROWS", tile).read(a).read(b).read(scales);
  call.read(l.has(3) ? l.input(3) : a).read(l.has(5) ? l.input(5) : a).write(y);
  call.params(rows, f.n, f.k, f.block, f.blocks(), f.words(), f.zero_bytes());
  call.run(f.n, (rows + tile - 1) / tile);
}

constexpr Operator kRows[] = {{"com.microsoft", "MatMulNBits", 1, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> narrow_products_operators() { return kRows; }

}  // namespace ortolan::gpu
