// Packing of weights of convolutions of bytes.
#include "cpu/kernels/convolution_int8/conv_int8_weights.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/memory/packed_parts.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

PackedConvWeightsInt8::PackedConvWeightsInt8() = default;
PackedConvWeightsInt8::~PackedConvWeightsInt8() = default;
PackedConvWeightsInt8::PackedConvWeightsInt8(PackedConvWeightsInt8&&) noexcept = default;
PackedConvWeightsInt8& PackedConvWeightsInt8::operator=(PackedConvWeightsInt8&&) noexcept = default;
PackedConvWeightsInt8::PackedConvWeightsInt8(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
const void* PackedConvWeightsInt8::depthwise_bytes() const noexcept {
  return storage_->depthwise ? storage_->data.as<void>() : nullptr;
}
bool PackedConvWeightsInt8::is_signed() const noexcept { return storage_->is_signed; }
int64_t PackedConvWeightsInt8::bytes() const noexcept {
  return storage_ == nullptr ? 0
                             : static_cast<int64_t>(storage_->data.bytes()) + storage_->tiles.bytes() +
                                   storage_->winograd.bytes() + storage_->words.bytes();
}
const char* PackedConvWeightsInt8::method() const noexcept {
  if (storage_->depthwise) return "depthwise";
  if (!storage_->winograd.empty()) return "winograd";
  return storage_->tiles.empty() ? "direct" : "tiles";
}
const char* PackedConvWeightsInt8::isa() const noexcept {
  const bool tiles = !storage_->depthwise && !storage_->tiles.empty();
  return base::isa_name(tiles ? kernels().isa : storage_->kernels->isa);
}

int winograd_outputs_int8(const ConvGeometry& g, int64_t positions) {
  if (kernels().tile_conv != nullptr && TileConvWeights::suit(g)) return 0;
  return winograd_int16_outputs(g, kernels().gemm_int8->without_tiles(), positions);
}

namespace {

// fp32 sums of depthwise planes are exact, so those take the fp32 kernel.
bool is_exact_depthwise(const ConvGeometry& g) {
  return g.groups > 1 && g.in_channels == g.groups && g.kernel[0] == 1 && g.stride[0] == 1 &&
         volume(g.kernel) <= kExactTaps;
}

// The bytes of up to `group` channels, each `taps` long, tap by tap; of the channels that are missing nothing is
// written.
void interleave_channels(const uint8_t* channels, int64_t count, int64_t group, int64_t taps, uint8_t* to) {
  if (count == 4 && group == 4) {
    for (int64_t t = 0; t < taps; ++t, to += 4) {
      const uint8_t word[4] = {channels[t], channels[taps + t], channels[2 * taps + t], channels[3 * taps + t]};
      std::memcpy(to, word, 4);
    }
    return;
  }
  for (int64_t c = 0; c < count; ++c) {
    for (int64_t t = 0; t < taps; ++t) to[t * group + c] = channels[c * taps + t];
  }
}

// A row of weights in the order of words: [channel word][tap][channel in the word].
void order_words(const PackedConvWeightsInt8::Storage& s, const uint8_t* weights, uint8_t* to) {
  const int64_t group = s.kernels->group;
  for (int64_t c = 0; c < s.depth; c += group, to += s.taps * group) {
    interleave_channels(weights + c * s.taps, std::min(group, s.depth - c), group, s.taps, to);
  }
}

// False where weights do not suit those kernels.
bool pack_words_for(const GemmInt8Kernels& kernels, const uint8_t* weights, PackedConvWeightsInt8::Storage& s) {
  s.kernels = &kernels;
  s.data = AlignedBuffer(static_cast<size_t>(s.groups * s.group_bytes()), Lifetime::kSession);
  if (base::parts_are_kept()) return true;
  const int64_t k = s.depth_words() * kernels.group, stride = left_row_bytes(kernels, k);
  const int64_t together = kernels.rows_together();
  std::vector<uint8_t> ordered(k, kernels.a_shift(s.is_signed) != 0 ? 128 : 0);  // channels that are missing are 0 then
  for (int64_t group = 0; group < s.groups; ++group) {
    auto* to = s.data.as<uint8_t>() + group * s.group_bytes();
    auto* sums = const_cast<int32_t*>(s.group(group).row_sums);
    for (int64_t row = 0; row < s.group_rows; ++row, weights += s.depth * s.taps, to += stride) {
      order_words(s, weights, ordered.data());
      if (!pack_left_row(kernels, k, {ordered.data(), k, false, s.is_signed}, 0, to, sums + row)) return false;
      const int64_t of_these = row % together + 1;
      if (of_these == together || row + 1 == s.group_rows) {
        join_left_rows(kernels, k, of_these, to - (of_these - 1) * stride);
      }
    }
  }
  return true;
}

}  // namespace

PackedConvWeightsInt8 pack_conv_weights_int8(const ConvGeometry& g, const void* weights, bool is_signed, int winograd,
                                             const GemmInt8Kernels* chosen) {
  auto storage = std::make_unique<PackedConvWeightsInt8::Storage>();
  auto& s = *storage;
  s.kernels = chosen != nullptr ? chosen : &kernels().gemm_int8->without_tiles();
  s.groups = g.groups;
  s.group_rows = g.out_channels / g.groups;
  s.depth = g.in_channels / g.groups;
  s.taps = volume(g.kernel);
  s.is_signed = is_signed;
  s.depthwise = is_exact_depthwise(g);
  const auto* bytes = static_cast<const uint8_t*>(weights);
  if (s.depthwise) {
    s.data = AlignedBuffer(static_cast<size_t>(g.out_channels * s.taps), Lifetime::kSession);
    if (!base::parts_are_kept()) std::copy_n(bytes, g.out_channels * s.taps, s.data.as<uint8_t>());
    if (takes_channels_last(g)) s.words = depthwise_words(g, bytes, is_signed, {});
    return PackedConvWeightsInt8(std::move(storage));
  }
  if (const TileConvKernels* tiles = kernels().tile_conv;
      chosen == nullptr && tiles != nullptr && TileConvWeights::suit(g)) {
    s.tiles = TileConvWeights(g, bytes, is_signed, *tiles);
    return PackedConvWeightsInt8(std::move(storage));
  }
  if (winograd > 0 && s.kernels->group == 2)
    s.winograd = WinogradInt16Weights(g, *s.kernels, bytes, is_signed, winograd);
  if (!s.winograd.empty()) return PackedConvWeightsInt8(std::move(storage));
  const GemmInt8Kernels& any = *s.kernels;
  const auto pack = [&](const GemmInt8Kernels& kernels) { return pack_words_for(kernels, bytes, s); };
  pack_suitable(any.of_rows, any, pack);
  return PackedConvWeightsInt8(std::move(storage));
}

}  // namespace ortolan::cpu::kernels
