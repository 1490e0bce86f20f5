// Packing of convolution weights.
#include "cpu/kernels/convolution/conv_f32_weights.h"

#include <algorithm>

#include "base/memory/packed_parts.h"
#include "base/threads/run_scope.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/winograd_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/split_f32_kernels.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {

PackedConvWeights::PackedConvWeights() = default;
PackedConvWeights::~PackedConvWeights() = default;
PackedConvWeights::PackedConvWeights(PackedConvWeights&&) noexcept = default;
PackedConvWeights& PackedConvWeights::operator=(PackedConvWeights&&) noexcept = default;
PackedConvWeights::PackedConvWeights(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
int64_t PackedConvWeights::bytes() const noexcept {
  if (storage_ == nullptr) return 0;
  return static_cast<int64_t>((storage_->tiles != nullptr ? storage_->tiles->tiles : storage_->data).bytes());
}
const char* PackedConvWeights::method() const noexcept {
  if (storage_->tiles != nullptr) return "tiles";
  return storage_->winograd ? "winograd" : storage_->depthwise ? "depthwise" : "direct";
}
const char* PackedConvWeights::isa() const noexcept {
  constexpr const char* kTiles[] = {"amx bf16", "amx bf16x3", "amx bf16x6"};
  if (storage_->tiles != nullptr) return kTiles[storage_->tiles->slices - 1];
  return base::isa_name((storage_->depthwise ? of_plain_vectors(*storage_->kernels) : *storage_->kernels).isa);
}

namespace {

constexpr int64_t kPackedAtOnce = 32768;  // weights worth a thread

// Convolutions with one input channel to a group; 3-D ones take the general way.
bool is_depthwise(const ConvGeometry& g) {
  return g.groups > 1 && g.in_channels == g.groups && g.kernel[0] == 1 && g.stride[0] == 1;
}

// A tile of k columns from `rows` rows that are `stride` apart; missing rows are zero.
void pack_tile(const float* weights, int64_t stride, int64_t rows, int64_t k, int64_t tile, float* packed) {
  if (rows < tile) std::fill_n(packed, tile * k, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    const float* from = weights + r * stride;
    for (int64_t i = 0; i < k; ++i) packed[i * tile + r] = read_unaligned(from + i);
  }
}

// Rows [row, row + tile_rows) of a group: a tile in each block of the sums.
void pack_rows(const PackedConvWeights::Storage& s, int64_t group, int64_t row, const float* weights, float* to) {
  const int64_t depth = s.group_depth * s.taps, tile = s.kernels->tile_rows;
  weights += (group * s.group_rows + row) * depth;
  to += group * s.padded_rows() * depth;
  for (int64_t first = 0; first < s.group_depth; first += s.channels_per_block) {
    const int64_t k = std::min(s.channels_per_block, s.group_depth - first) * s.taps;
    pack_tile(weights + first * s.taps, depth, std::min(tile, s.group_rows - row), k, tile, to + row * k);
    to += s.padded_rows() * k;
  }
}

void pack_dense(base::ThreadPool* pool, const PackedConvWeights::Storage& s, int64_t groups, const float* weights,
                float* to) {
  const int64_t tile = s.kernels->tile_rows, tiles = s.padded_rows() / tile;
  const int64_t grain = kPackedAtOnce / (tile * s.group_depth * s.taps + 1) + 1;
  base::parallel_for(pool, groups * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pack_rows(s, i / tiles, i % tiles * tile, weights, to);
  });
}

size_t data_bytes(const ConvGeometry& g, const PackedConvWeights::Storage& s) {
  constexpr size_t kSlack = 4096;
  if (s.winograd) return static_cast<size_t>(winograd_weights_size(g, *s.kernels)) * sizeof(float) + kSlack;
  const auto depth = static_cast<size_t>(s.group_depth * s.taps);
  if (s.depthwise) return static_cast<size_t>(g.out_channels) * depth * sizeof(float);
  return static_cast<size_t>(g.groups * s.padded_rows()) * depth * sizeof(float) + kSlack;
}

/** Winograd's sums are as exact as plain ones, but are others, and an infinity spreads in them. */
bool may_transform() { return base::fp32_precision() != base::Fp32Precision::kExact; }

}  // namespace

ConvMethod conv_method(const ConvGeometry& g, const ConvPacking& packing) {
  const int slices = std::min(packing.slices, split_slices());
  const GemmF32Kernels& chosen = packing.kernels != nullptr ? *packing.kernels : *kernels().gemm_f32;
  return {packing.kernels == nullptr && suits_split_conv(g, packing.positions, slices) ? slices : 0,
          packing.winograd && chosen.in_winograd && may_transform() &&
              suits_winograd(g, tile_sums(chosen), packing.positions)};
}

PackedConvWeights pack_conv_weights(base::ThreadPool* pool, const ConvGeometry& g, const float* weights,
                                    const ConvPacking& packing) {
  auto storage = std::make_unique<PackedConvWeights::Storage>();
  auto& s = *storage;
  s.kernels = packing.kernels != nullptr ? packing.kernels : kernels().gemm_f32;
  s.group_rows = g.out_channels / g.groups;
  s.group_depth = g.in_channels / g.groups;
  s.taps = volume(g.kernel);
  s.depthwise = is_depthwise(g);
  const int64_t blocks = std::max<int64_t>(1, (s.group_depth * s.taps + kLongestSum - 1) / kLongestSum);
  s.channels_per_block = std::max<int64_t>(1, (s.group_depth + blocks - 1) / blocks);
  const ConvMethod method = conv_method(g, packing);
  s.winograd = method.winograd;
  if (method.slices > 0) s.tiles = pack_split_conv(pool, g, weights, method.slices);
  if (s.tiles != nullptr) return PackedConvWeights(std::move(storage));
  s.data = AlignedBuffer(data_bytes(g, s), Lifetime::kSession);
  if (base::parts_are_kept()) return PackedConvWeights(std::move(storage));
  if (s.winograd) {
    transform_winograd_weights(pool, g, *s.kernels, weights, s.data.as<float>());
  } else if (s.depthwise) {
    const int64_t k = s.group_depth * s.taps;
    if (g.out_channels * k > 0) std::copy(weights, weights + g.out_channels * k, s.data.as<float>());
  } else {
    pack_dense(pool, s, g.groups, weights, s.data.as<float>());
  }
  return PackedConvWeights(std::move(storage));
}

}  // namespace ortolan::cpu::kernels
