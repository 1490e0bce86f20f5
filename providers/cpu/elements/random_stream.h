// Random numbers that depend only on a seed, the number of the run and the element's index.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <random>
#include <span>

#include "graph/graph.h"

namespace ortolan::cpu {

/** One run's numbers: a hash of their index, so threads need no order. */
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed) : seed_(seed) {}

  uint64_t bits(int64_t index) const { return mix(seed_ + 0x9e3779b97f4a7c15u * (static_cast<uint64_t>(index) + 1)); }
  /** In [0, 1). */
  double uniform(int64_t index) const { return static_cast<double>(bits(index) >> 11) * 0x1p-53; }
  /** The normal numbers (mean 0, variance 1) of that block, of which all but the last have kNormalBlock. */
  static constexpr int64_t kNormalBlock = 512;
  void normals(int64_t block, std::span<double> to) const;

  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t seed_;
};

/** The generator of a node: equal `seed` attributes give equal numbers run by run; without one they always differ. */
class RandomSource {
 public:
  explicit RandomSource(const graph::Node& node) {
    if (const graph::Attribute* seed = node.find_attribute("seed")) {
      bool whole = seed->kind() == graph::AttributeKind::kInt;  // Dropout's is an integer
      seed_ = whole ? static_cast<uint64_t>(node.int_or("seed", 0)) : std::bit_cast<uint32_t>(node.float_or("seed", 0));
    } else {
      std::random_device device;
      seed_ = (static_cast<uint64_t>(device()) << 32) | device();
    }
  }
  /** The numbers of the next run. Safe for calls at once. */
  RandomStream next() const {
    uint64_t run = runs_.fetch_add(1, std::memory_order_relaxed);
    return RandomStream(RandomStream::mix(seed_) + RandomStream::mix(~run));
  }

 private:
  uint64_t seed_ = 0;
  mutable std::atomic<uint64_t> runs_{0};
};

}  // namespace ortolan::cpu
