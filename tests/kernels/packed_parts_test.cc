// Packed forms from kept parts: the weights are not looked at, the parts not written, and results are the same bits.
#include "base/memory/packed_parts.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <tuple>

#include "../thrown_text.h"
#include "base/error.h"
#include "cpu/kernels/convolution/conv_transpose_f32.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/convolution_int8/depthwise_int8.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/quantised/gemm_int8.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"
#include "cpu/kernels/quantised/matmul_nbits.h"
#include "cpu/kernels/recurrent/recurrent_f32.h"
#include "guarded.h"
#include "isa_test.h"
#include "pools.h"

namespace ortolan::cpu::kernels {
namespace {

using base::PackedParts;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/** A copy that nobody can write. */
std::shared_ptr<void> read_only(const PackedParts::Block& block) {
  const size_t bytes = block.bytes;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  std::memcpy(memory, block.data.get(), bytes);
  mprotect(memory, bytes, PROT_READ);
  return {memory, [bytes](void* ended) { munmap(ended, bytes); }};
}

class PackedPartsOf : public IsaTest {
 protected:
  /** `pack` makes a form of weights, or of an address that may not be read; `use` gives what is computed with one. */
  template <class T, class Pack, class Use>
  void expect_kept(const std::vector<T>& weights, size_t choices, Pack pack, Use use) {
    PackedParts parts;
    auto noted = [&] {
      const base::NotesParts noting(parts);
      return pack(weights.data());
    }();
    ASSERT_FALSE(parts.blocks.empty());
    ASSERT_EQ(parts.choices.size(), choices);
    for (PackedParts::Block& block : parts.blocks) block.data = read_only(block);

    const Guarded<T> forbidden({}, Edge::kEnd);
    auto taken = [&] {
      const base::TakesParts taking(parts);
      auto made = pack(static_cast<const T*>(forbidden.get()));
      taking.check_all_taken();
      return made;
    }();
    EXPECT_EQ(use(taken), use(noted));
    expect_refused(parts, pack, static_cast<const T*>(forbidden.get()));
  }

 private:
  template <class Pack, class T>
  void expect_refused(const PackedParts& parts, Pack& pack, const T* weights) {
    const auto refused = [&](const PackedParts& damaged) {
      const base::TakesParts taking(damaged);
      EXPECT_TRUE(test::throws("the file is damaged", [&] {
        pack(weights);
        taking.check_all_taken();
      }));
    };
    for (size_t i = 0; i < parts.blocks.size(); ++i) {
      PackedParts damaged = parts;
      damaged.blocks[i].bytes += 64;
      refused(damaged);
      damaged.blocks.erase(damaged.blocks.begin() + static_cast<ptrdiff_t>(i));
      refused(damaged);
    }
    for (size_t i = 0; i < parts.choices.size(); ++i) {
      PackedParts damaged = parts;
      damaged.choices[i] = 255;
      refused(damaged);
    }
    PackedParts more = parts;
    more.blocks.push_back(more.blocks[0]);
    refused(more);
    if (!parts.choices.empty()) refused({parts.blocks, {}});
  }
};

TEST_P(PackedPartsOf, FloatMatrices) {
  const int64_t m = 40, k = 130, n = 70;
  const std::vector<float> a = normal(m * k);
  std::vector<float> plain = normal(k * n), rounded = plain;
  for (float& x : rounded) x = std::round(x * 16) / 16;
  for (const auto& weights : {plain, rounded}) {
    for (bool transposed : {false, true}) {
      for (PackedForm form : {PackedForm::kFloats, PackedForm::kShortest}) {
        const auto pack = [&](const float* b) {
          return pack_b(&two_threads(), k, n, b, transposed ? k : n, transposed, nullptr, form);
        };
        const auto use = [&](const PackedMatrix& b) {
          std::vector<float> c(static_cast<size_t>(m * n));
          gemm(&two_threads(), m, a.data(), k, false, b, c.data(), n, {});
          return c;
        };
        expect_kept(weights, form == PackedForm::kShortest ? 1 : 0, pack, use);
      }
    }
  }
  const auto pack_column = [&](const float* b) { return pack_b(nullptr, k, 1, b, 1, false); };
  const auto use_column = [&](const PackedMatrix& b) {
    std::vector<float> c(static_cast<size_t>(m));
    gemm(nullptr, m, a.data(), k, false, b, c.data(), 1, {});
    return c;
  };
  expect_kept(normal(k), 0, pack_column, use_column);
}

ConvGeometry square(int64_t channels, int64_t groups, int64_t kernel, int64_t stride, int64_t size) {
  ConvGeometry g;
  g.groups = groups;
  g.in_channels = g.out_channels = channels;
  for (int i : {1, 2}) {
    g.kernel[i] = kernel, g.stride[i] = stride, g.in[i] = size;
    g.pad_begin[i] = kernel / 2;
    g.out[i] = (size + 2 * g.pad_begin[i] - kernel) / stride + 1;
  }
  return g;
}

TEST_P(PackedPartsOf, FloatConvolutions) {
  for (const auto& [channels, groups, kernel, stride] :
       std::initializer_list<std::array<int64_t, 4>>{{64, 1, 1, 1}, {64, 1, 3, 1}, {24, 1, 5, 2}, {32, 32, 3, 1}}) {
    const ConvGeometry g = square(channels, groups, kernel, stride, 28);
    const int64_t outputs = g.out[1] * g.out[2];
    const std::vector<float> x = normal(channels * 28 * 28);
    std::vector<float> weights = normal(channels * channels / groups * kernel * kernel), odd = weights;
    odd[odd.size() / 2] = kInfinity;  // which tiles cannot hold
    const ConvPacking packing{.positions = outputs};
    const bool tiles = conv_method(g, packing).slices > 0;
    for (const auto& values : {weights, odd}) {
      const auto pack = [&](const float* w) { return pack_conv_weights(&two_threads(), g, w, packing); };
      const auto use = [&](const PackedConvWeights& w) {
        std::vector<float> y(static_cast<size_t>(channels * outputs));
        conv(&two_threads(), g, x.data(), w, {}, y.data());
        for (float& value : y) value = std::isnan(value) ? -1 : value;  // one is not equal to itself
        return std::pair(std::string(w.method()), y);
      };
      expect_kept(values, tiles ? 1 : 0, pack, use);
    }
  }
}

TEST_P(PackedPartsOf, TransposedConvolutions) {
  ConvGeometry g;
  g.in_channels = g.out_channels = 32;
  for (int i : {1, 2}) g.kernel[i] = 4, g.stride[i] = 2, g.in[i] = 12, g.out[i] = 24, g.pad_begin[i] = 1;
  const std::vector<float> x = normal(32 * 12 * 12), weights = normal(32 * 32 * 16);
  ASSERT_TRUE(suits_phases(g));
  PackedParts tiles;
  {
    const base::NotesParts noting(tiles);
    pack_conv_transpose_weights(nullptr, g, weights.data());
  }
  const auto pack = [&](const float* w) { return pack_conv_transpose_weights(&two_threads(), g, w); };
  const auto use = [&](const PackedTransposedWeights& w) {
    std::vector<float> y(32 * 24 * 24);
    conv_transpose(&two_threads(), g, x.data(), w, {}, y.data());
    return y;
  };
  expect_kept(weights, tiles.choices.size(), pack, use);
}

TEST_P(PackedPartsOf, ByteMatrices) {
  const int64_t m = 9, k = 77, n = 50;
  std::vector<uint8_t> a(m * k), weights(k * n);
  for (uint8_t& x : a) x = static_cast<uint8_t>(integer(0, 255));
  const auto pack = [&](const uint8_t* b) { return pack_b_int8(&two_threads(), k, n, {b, n, false, true}); };
  const auto use = [&](const PackedMatrixInt8& b) {
    std::vector<int32_t> c(m * n);
    gemm_int8(&two_threads(), m, {a.data(), k, false, false}, b, {}, c.data(), n);
    return c;
  };
  for (int64_t largest : {30, 127}) {  // kernels of weights pack them in another way, which is kept
    for (uint8_t& x : weights) x = static_cast<uint8_t>(integer(-largest, largest));
    weights[5] = 127, weights[5 + n] = 127;
    expect_kept(weights, kernels().gemm_int8->of_weights != nullptr ? 1 : 0, pack, use);
  }
}

// A file may say anything of where groups of large weights belong: other sums, but nothing outside is read.
TEST_P(PackedPartsOf, ByteMatricesOfDamagedFiles) {
  const int64_t m = 9, k = 80, n = 40;
  const Guarded<uint8_t> a(std::vector<uint8_t>(m * k, 3), Edge::kEnd);
  const std::vector<uint8_t> weights(k * n, 5);
  std::vector<int32_t> c(m * n);
  PackedParts parts;
  const PackedMatrixInt8 packed = [&] {
    const base::NotesParts noting(parts);
    return pack_b_int8(nullptr, k, n, {weights.data(), n, false, true});
  }();
  const PackedParts::Block& block = parts.blocks[0];
  for (int32_t number : {-1, INT32_MIN, INT32_MAX, 19, 20, 1000}) {
    std::fill_n(static_cast<int32_t*>(block.data.get()), block.bytes / sizeof number, number);
    gemm_int8(nullptr, m, {a.get(), k, false, false}, packed, {}, c.data(), n);
  }
}

TEST_P(PackedPartsOf, ByteConvolutionsOfDamagedFiles) {
  const ConvGeometry g = square(16, 1, 3, 1, 9);
  const std::vector<uint8_t> x(16 * 81, 255), weights(16 * 16 * 9, 5);
  std::vector<int32_t> y(16 * 81);
  PackedParts parts;
  const PackedConvWeightsInt8 packed = [&] {
    const base::NotesParts noting(parts);
    return pack_conv_weights_int8(g, weights.data(), true);
  }();
  const PackedParts::Block& block = parts.blocks[0];
  for (int32_t number : {-1, INT32_MIN, INT32_MAX, 35, 36, 1000}) {
    std::fill_n(static_cast<int32_t*>(block.data.get()), block.bytes / sizeof number, number);
    conv_int8(nullptr, g, {.x = x.data()}, packed, y.data());
  }
}

TEST_P(PackedPartsOf, ByteConvolutions) {
  for (const auto& [channels, groups, kernel] :
       std::initializer_list<std::array<int64_t, 3>>{{40, 1, 3}, {4, 1, 1}, {64, 64, 3}, {64, 64, 5}}) {
    const ConvGeometry g = square(channels, groups, kernel, 1, 9);
    std::vector<uint8_t> x(channels * 81), weights(channels * channels / groups * kernel * kernel);
    for (auto* values : {&x, &weights}) {
      for (uint8_t& value : *values) value = static_cast<uint8_t>(integer(0, 255));
    }
    for (int form = 0; form < 4; ++form) {  // bytes above 127 are no words of depthwise kernels, nor large ones pairs
      const bool is_signed = form & 1;
      if (form == 2)
        std::transform(weights.begin(), weights.end(), weights.begin(), [](uint8_t w) { return w / 4 + 96; });
      if (form == 3) std::transform(weights.begin(), weights.end(), weights.begin(), [](uint8_t w) { return w - 128; });
      const int winograd = kernel == 3 && groups == 1 ? (is_signed ? 4 : 2) : 0;
      PackedParts noted;
      {
        const base::NotesParts noting(noted);
        pack_conv_weights_int8(g, weights.data(), is_signed, winograd);
      }
      const auto pack = [&](const uint8_t* w) { return pack_conv_weights_int8(g, w, is_signed, winograd); };
      const auto use = [&](const PackedConvWeightsInt8& w) {
        std::vector<int32_t> y(channels * 81);
        conv_int8(&two_threads(), g, {.x = x.data()}, w, y.data());
        std::vector<uint8_t> last(channels * 81);
        const float scale = 0.001F;
        if (takes_channels_last(g)) {
          depthwise_channels_last(&two_threads(), g, {.x = x.data()}, w, {.scale = &scale}, last.data());
        }
        return std::tuple(std::string(w.method()), y, last);
      };
      expect_kept(weights, noted.choices.size(), pack, use);
    }
  }
}

TEST_P(PackedPartsOf, NarrowWeights) {
  const int64_t n = 45, k = 128;
  std::vector<uint8_t> weights(n * k / 2);
  for (uint8_t& x : weights) x = static_cast<uint8_t>(integer(0, 255));
  const std::vector<float> scales = normal(n * k / 32), a = normal(3 * k);
  const auto source = [&](const uint8_t* data) {
    NBitsSource s{4, n, k, 32};
    s.data = data, s.row_bytes = k / 2, s.scales = scales.data();
    return s;
  };
  const auto pack = [&](const uint8_t* data) { return pack_nbits_words(&two_threads(), source(data)); };
  const auto use = [&](const std::shared_ptr<AlignedBuffer>& words) {
    const NBitsMatrix matrix = pack_nbits(nullptr, source(weights.data()), words);
    std::vector<float> c(3 * n);
    matmul_nbits(&two_threads(), 3, a.data(), k, matrix, c.data(), n, nullptr, false);
    return c;
  };
  expect_kept(weights, 0, pack, use);
}

TEST_P(PackedPartsOf, RecurrentCells) {
  const int64_t hidden = 32, rows = 2;
  if (!CellOrder::takes(hidden)) GTEST_SKIP();
  std::vector<float> weights = normal(4 * hidden * hidden), odd = weights;
  odd[5] = kInfinity;
  const std::vector<float> gates = normal(rows * 4 * hidden), h = normal(rows * hidden), c = normal(rows * hidden);
  for (const auto& values : {weights, odd}) {
    const auto pack = [&](const float* r) { return PackedCell(Cell::kLstm, hidden, r); };
    const auto use = [&](const PackedCell& cell) {
      std::vector<float> next_h(rows * hidden), next_c(rows * hidden);
      CellStep step;
      step.rows = rows, step.gates = gates.data(), step.gates_stride = 4 * hidden;
      step.h = h.data(), step.next_h = next_h.data(), step.c = c.data(), step.next_c = next_c.data();
      cell_step(nullptr, cell, step, false);
      for (auto* result : {&next_h, &next_c}) {
        for (float& value : *result) value = std::isnan(value) ? -1 : value;
      }
      return std::tuple(cell.is_finite(), next_h, next_c);
    };
    expect_kept(values, 1, pack, use);
  }
}

ORTOLAN_FOR_EACH_ISA(PackedPartsOf);

}  // namespace
}  // namespace ortolan::cpu::kernels
