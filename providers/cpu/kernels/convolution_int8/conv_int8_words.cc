// Images of bytes as planes of words.
#include "cpu/kernels/convolution_int8/conv_int8_words.h"

#include <algorithm>
#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/scratch.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr double kInterleaveNs = 0.4;  // a word of the image

// The word of so many channels that are all zero points.
int32_t padding_word(const WordPlanes& p, int64_t channels, bool flip) {
  const auto zero = static_cast<uint8_t>(p.operands.x_zero), nothing = static_cast<uint8_t>(flip ? 128 : 0);
  const uint8_t* rows[4];
  for (int r = 0; r < p.kernels.group; ++r) rows[r] = r < channels ? &zero : &nothing;
  int32_t word, ignored = 0;
  p.kernels.pack_group(rows, 1, p.operands.x_signed, flip, &word, &ignored);
  return word;
}

// One plane of words, `group` channels side by side.
void interleave_channels(const WordPlanes& p, const uint8_t* x, int64_t channel, int32_t* scratch, int32_t* to) {
  const GemmInt8Kernels& kernels = p.kernels;
  const int64_t plane = volume(p.g.in);
  const bool flip = kernels.b_shift(p.operands.x_signed) != 0;
  auto* nothing = reinterpret_cast<uint8_t*>(scratch + 2 * plane);
  std::memset(nothing, flip ? 128 : 0, plane);
  const uint8_t* rows[4];
  for (int r = 0; r < kernels.group; ++r) rows[r] = channel + r < p.depth() ? x + (channel + r) * plane : nothing;
  int32_t* words = p.plane() == plane ? to : scratch;
  kernels.pack_group(rows, plane, p.operands.x_signed, flip, words, scratch + plane);
  if (words == to) return;
  std::fill_n(to, p.plane(), padding_word(p, p.depth() - channel, flip));
  const auto& in = p.g.in;
  for (int64_t row = 0; row < in[0] * in[1]; ++row) {
    const int64_t d = row / in[1] + p.g.pad_begin[0], h = row % in[1] + p.g.pad_begin[1];
    std::copy_n(words + row * in[2], in[2], to + (d * p.size[1] + h) * p.size[2] + p.g.pad_begin[2]);
  }
}

}  // namespace

void interleave_images(base::ThreadPool* pool, const WordPlanes& words, int64_t first, int64_t images, int32_t* to) {
  const int64_t planes = words.planes(), plane = volume(words.g.in), padded_plane = words.plane();
  const auto* x = static_cast<const uint8_t*>(words.operands.x) + first * words.g.in_channels * plane;
  const double plane_ns = static_cast<double>(padded_plane) * kInterleaveNs;
  base::parallel_for(pool, images * words.g.groups * planes, least_items(plane_ns), [&](int64_t begin, int64_t end) {
    const Scratch<int32_t> scratch(3 * plane);
    std::fill_n(scratch.data() + plane, plane, 0);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t slab = i / planes, channel = i % planes * words.kernels.group;
      interleave_channels(words, x + slab * words.depth() * plane, channel, scratch.data(), to + i * padded_plane);
    }
  });
}

}  // namespace ortolan::cpu::kernels
