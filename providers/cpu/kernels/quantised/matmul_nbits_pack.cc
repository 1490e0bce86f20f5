// Packing of narrow weights.
#include <algorithm>
#include <cstring>

#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/matmul_nbits_product.h"
#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr size_t kNBitsSlack = 4096;

// 32 bits of consecutive elements in the kernels' order: element i at bit 8*(i%4) + bits*(i/4).
uint32_t spread_nibbles(uint32_t x) {
  x = (x | x << 8) & 0x00ff00ff;
  return (x | x << 4) & 0x0f0f0f0f;
}
uint32_t spread_crumbs(uint32_t x) {
  x = (x | x << 12) & 0x000f000f;
  return (x | x << 6) & 0x03030303;
}
uint32_t reorder(uint32_t x, int bits) {
  if (bits == 8) return x;
  if (bits == 4) return spread_nibbles(x & 0xffff) | spread_nibbles(x >> 16) << 4;
  return spread_crumbs(x & 0xff) | spread_crumbs(x >> 8 & 0xff) << 2 | spread_crumbs(x >> 16 & 0xff) << 4 |
         spread_crumbs(x >> 24) << 6;
}

void pack_panel_words(const NBitsSource& s, int64_t lanes, int64_t groups, int64_t panel, uint32_t* out) {
  const int64_t bytes = (s.k * s.bits + 7) / 8;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    const int64_t column = panel * lanes + lane;
    const uint8_t* row = s.data + column * s.row_bytes;
    for (int64_t g = 0; g < groups; ++g) {
      uint32_t word = 0;
      const int64_t left = column < s.n ? bytes - 4 * g : 0;
      if (left > 0) std::memcpy(&word, row + 4 * g, static_cast<size_t>(std::min<int64_t>(left, 4)));
      out[g * lanes + lane] = reorder(word, s.bits);
    }
  }
}

/** values[n][blocks] to [panel][block][lanes], with `convert`; columns beyond n become 0. */
template <class T, class U, class F>
AlignedBuffer pack_per_block(const NBitsSource& s, int64_t lanes, const U* values, F convert) {
  const int64_t panels = divide_up(s.n, lanes), blocks = s.blocks();
  AlignedBuffer buffer(static_cast<size_t>(panels * blocks * lanes) * sizeof(T) + kNBitsSlack, Lifetime::kSession);
  if (base::parts_are_kept()) return buffer;
  T* out = buffer.as<T>();
  for (int64_t column = 0; column < panels * lanes; ++column) {
    T* to = out + column / lanes * blocks * lanes + column % lanes;
    for (int64_t b = 0; b < blocks; ++b) to[b * lanes] = column < s.n ? convert(values[column * blocks + b]) : T{};
  }
  return buffer;
}

void set_table(const NBitsSource& s, NBitsMatrix& m) {
  const int middle = 1 << (s.bits - 1);
  for (int i = 0; i < 16; ++i) {
    m.table[i] = s.table != nullptr ? s.table[i] : static_cast<float>(s.bits == 2 ? (i & 3) - middle : i - middle);
  }
  m.has_table = s.table != nullptr;
}

}  // namespace

std::shared_ptr<AlignedBuffer> pack_nbits_words(base::ThreadPool* pool, const NBitsSource& s) {
  const int64_t lanes = kernels().nbits->lanes, panels = divide_up(s.n, lanes), groups = wide_nbits(s.k) * s.bits / 32;
  auto buffer = std::make_shared<AlignedBuffer>(static_cast<size_t>(panels * groups * lanes) * 4 + kNBitsSlack,
                                                Lifetime::kSession);
  if (base::parts_are_kept()) return buffer;
  uint32_t* words = buffer->as<uint32_t>();
  const double panel_ns = static_cast<double>(groups * lanes) * kPackNs;
  base::parallel_for(pool, panels, least_items(panel_ns), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) pack_panel_words(s, lanes, groups, p, words + p * groups * lanes);
  });
  return buffer;
}

NBitsMatrix pack_nbits(base::ThreadPool* pool, const NBitsSource& s, std::shared_ptr<const AlignedBuffer> words) {
  NBitsMatrix m;
  m.kernels = kernels().nbits;
  m.bits = s.bits, m.n = s.n, m.k = s.k, m.block = s.block;
  m.words = words != nullptr ? std::move(words) : pack_nbits_words(pool, s);
  const int middle = 1 << (s.bits - 1);
  m.scales = pack_per_block<float>(s, m.kernels->lanes, s.scales, [](float x) { return x; });
  if (s.zeros != nullptr) {
    m.zeros = pack_per_block<int8_t>(s, m.kernels->lanes, s.zeros,
                                     [&](uint8_t x) { return static_cast<int8_t>(x - middle); });
  } else if (s.zero_values != nullptr) {
    m.zero_values = pack_per_block<float>(s, m.kernels->lanes, s.zero_values,
                                          [&](float x) { return x - static_cast<float>(middle); });
  }
  set_table(s, m);
  return m;
}

}  // namespace ortolan::cpu::kernels
