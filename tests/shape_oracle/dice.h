// What random nodes are drawn with.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "known_type.h"

namespace shape_oracle {

using Dims = std::vector<int64_t>;

class Dice {
 public:
  explicit Dice(uint32_t seed) : generator_(seed) {}
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(generator_); }
  bool coin(int in = 2) { return between(1, in) == 1; }
  Dims dims(size_t rank, int64_t low = 1, int64_t high = 6) {
    Dims result(rank);
    for (int64_t& dim : result) dim = between(low, high);
    return result;
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<int64_t>(choices.size()) - 1));
  }
  /** An axis of that rank, counted from either end. */
  int64_t axis(size_t rank) { return between(-static_cast<int64_t>(rank), static_cast<int64_t>(rank) - 1); }
  /** Some axes, each once. */
  Dims axes(size_t rank) {
    Dims result;
    for (size_t i = 0; i < rank; ++i) {
      if (coin())
        result.push_back(coin() ? static_cast<int64_t>(i) : static_cast<int64_t>(i) - static_cast<int64_t>(rank));
    }
    std::shuffle(result.begin(), result.end(), generator_);
    return result;
  }
  Dims permutation(size_t rank) {
    Dims result(rank);
    for (size_t i = 0; i < rank; ++i) result[i] = static_cast<int64_t>(i);
    std::shuffle(result.begin(), result.end(), generator_);
    return result;
  }

 private:
  std::mt19937 generator_;
};

/** `dims` as an operand that broadcasts to it: fewer dimensions, some of them 1. */
inline Dims narrowed(Dice& dice, Dims dims) {
  dims.erase(dims.begin(), dims.begin() + dice.between(0, static_cast<int64_t>(dims.size())));
  for (int64_t& dim : dims) dim = dice.coin(3) ? 1 : dim;
  return dims;
}

inline RandomNode node(std::string op, int opset = 17) {
  RandomNode result;
  result.op = std::move(op);
  result.opset = opset;
  return result;
}

}  // namespace shape_oracle
