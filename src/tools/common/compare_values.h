// Comparing values: what test data expects with what a run gave.
#pragma once

#include <string>

#include "value.h"

namespace ortolan::tools {

struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-5;
  double share = 0;  // of the elements of a tensor that may miss
};

// Empty when equal: same kinds, types and shapes; floats within |a-e| <= absolute + relative * |e|; integers, strings,
// NaN and infinities exactly. Otherwise what differs first, in words.
std::string difference(const Value& expected, const Value& actual, const Tolerance& tolerance);

// How far apart two values are, for measuring: over all numbers in them.
struct Distance {
  double absolute = 0;     // greatest |a-b|
  double relative = 0;     // that, divided by the greatest |b|
  double largest = 0;      // greatest |b|
  size_t mismatches = 0;   // integers, strings, NaN or infinities that differ
  bool comparable = true;  // same structure
};
Distance distance(const Value& a, const Value& b);

}  // namespace ortolan::tools
