// The sums of products of slices for one block of a fp32 product, in tiles. Included as vec.h is, by files *_amx.cc
// only.
#pragma once

#include "cpu/kernels/products/split_slices_body.h"
#include "cpu/kernels/vectors/tile_ops.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

// A product of two slices.
struct SlicePair {
  int left, right;
};

// The products that are summed for each step of k before it goes on to the next.
template <SlicePair... kPairs>
struct SliceSweep {};

// One step's tiles of the right operand: those of a slice lie `half_bytes` apart, their rows `row_bytes`.
struct RightTiles {
  const char* at;
  int64_t slice_bytes, half_bytes, row_bytes;
};

// One product of slices after the other, for one step. Tiles 4 and 5 hold slice kLeft already, 6 and 7 slice kRight.
template <bool kTall, bool kWide, int kLeft, int kRight, SlicePair kPair, SlicePair... kRest, class Beside>
ORTOLAN_INLINE void multiply_step(const char* a, const RightTiles& b, Beside& beside) {
  const char* left = a + kPair.left * kSliceBytes;
  const char* right = b.at + kPair.right * b.slice_bytes;
  if constexpr (kPair.right != kRight) tile_load<6>(right, b.row_bytes);
  if constexpr (kPair.left != kLeft) tile_load<4>(left);
  tile_add_bf16_products<0, 4, 6>();
  beside.fetch(0);
  if constexpr (kWide) {
    if constexpr (kPair.right != kRight) tile_load<7>(right + b.half_bytes, b.row_bytes);
    tile_add_bf16_products<1, 4, 7>();
  }
  beside.fetch(1);
  if constexpr (kTall) {
    if constexpr (kPair.left != kLeft) tile_load<5>(left + kTileBytes);
    tile_add_bf16_products<2, 5, 6>();
    beside.fetch(0);
    if constexpr (kWide) tile_add_bf16_products<3, 5, 7>();
    beside.fetch(1);
  }
  beside.end_product();
  if constexpr (sizeof...(kRest) > 0) multiply_step<kTall, kWide, kPair.left, kPair.right, kRest...>(a, b, beside);
}

template <int kSlices, bool kTall, bool kWide, SlicePair... kPairs, class Steps, class Beside>
ORTOLAN_INLINE void sweep(SliceSweep<kPairs...>, const Steps& steps, Beside& beside) {
  const char* a = steps.left;
  for (int64_t i = 0; i < steps.count; ++i, a += kSlices * kSliceBytes) {
    beside.begin_step(sizeof...(kPairs) * (kTall ? 2 : 1));
    multiply_step<kTall, kWide, -1, -1, kPairs...>(a, steps.right(i), beside);
  }
}

// The products but for the last, small ones first, of 3 or 2 slices of the left operand and those that are kept of the
// right one.
template <int kSlices, int kKept>
constexpr auto small_products() {
  if constexpr (kSlices == 2 && kKept == 2) {
    return SliceSweep<SlicePair{1, 0}, SlicePair{0, 1}>();
  } else if constexpr (kSlices == 2) {
    return SliceSweep<SlicePair{1, 0}>();
  } else if constexpr (kKept == 3) {
    return SliceSweep<SlicePair{2, 0}, SlicePair{1, 0}, SlicePair{1, 1}, SlicePair{0, 1}, SlicePair{0, 2}>();
  } else if constexpr (kKept == 2) {
    return SliceSweep<SlicePair{2, 0}, SlicePair{1, 0}, SlicePair{1, 1}, SlicePair{0, 1}>();
  } else {
    return SliceSweep<SlicePair{2, 0}, SlicePair{1, 0}>();
  }
}

/**
 * Tiles 0 to 3 become the sums over all steps, small products first. Steps: `left`, where the left operand's tiles lie
 * one step after the other, `count`, and right(i), the RightTiles of step i. Beside does other work meanwhile: with
 * begin_step(n) before a step of n pairs of tile products, fetch(0) and fetch(1) in each pair, end_product() after each
 * product of slices.
 */
template <int kSlices, bool kTall, bool kWide, int kKept = kSlices, class Steps, class Beside>
ORTOLAN_INLINE void sum_slices(const Steps& steps, Beside& beside) {
  zero_sums<kTall ? 2 : 1, kWide ? 2 : 1>();
  if constexpr (kSlices > 1) sweep<kSlices, kTall, kWide>(small_products<kSlices, kKept>(), steps, beside);
  sweep<kSlices, kTall, kWide>(SliceSweep<SlicePair{0, 0}>(), steps, beside);
}

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
