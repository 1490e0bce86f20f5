// Products on matrix units as PTX defines them: 32 items with neighbouring numbers each hold parts of A (16 rows), of B
// (8 columns) and of the sums, by the tables of mma.sync.m16n8k16 for floats of 16 bits and mma.sync.m16n8k8 for tf32.
// Kinds are as kernels/matrix_units.k has them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "gpu/device/half_float.h"
#include "gpu/testdevice/group.h"

namespace ortolan::gpu::test {

inline constexpr int kUnitItems = 32;

/** The bits of a float with 10 bits behind the point, to nearest, ties away from 0: cvt.rna.tf32.f32. */
inline unsigned rounded_to_tf32(float value) {
  if (std::isnan(value)) return 0x7fffffffu;
  unsigned bits = std::bit_cast<unsigned>(value);
  return std::isinf(value) ? bits : (bits + 0x1000u) & ~0x1fffu;
}

enum UnitKind { kUnitTf32 = 1, kUnitHalves = 2, kUnitBfloats = 3 };

/** An element of a lane's parts: one of two halves of a word, or a word of tf32, whose low bits units do not read. */
inline float unit_element(const unsigned* parts, int element, int kind) {
  if (kind == kUnitTf32) return std::bit_cast<float>(parts[element] & ~0x1fffu);
  const unsigned bits = parts[element / 2] >> element % 2 * 16 & 0xffffu;
  return kind == kUnitHalves ? from_half(bits) : std::bit_cast<float>(bits << 16);
}

/** A[row, k] of the 32 items that begin there: of m16n8k16 rows are element / 2 % 2, k is thread * 2 + element % 2 and
 * 8 more from element 4 on; of m16n8k8 element % 2 and thread, 4 more from element 2 on. */
inline float unit_a(const UnitFactors* items, int row, int k, int kind) {
  const int element = kind != kUnitTf32 ? k % 2 + row / 8 * 2 + k / 8 * 4 : row / 8 + k / 4 * 2;
  const int thread = kind != kUnitTf32 ? k % 8 / 2 : k % 4;
  return unit_element(items[row % 8 * 4 + thread].a, element, kind);
}

/** B[k, column] likewise: of m16n8k16 k is thread * 2 + element % 2 and 8 more from element 2 on. */
inline float unit_b(const UnitFactors* items, int k, int column, int kind) {
  const int element = kind != kUnitTf32 ? k % 2 + k / 8 * 2 : k / 4;
  const int thread = kind != kUnitTf32 ? k % 8 / 2 : k % 4;
  return unit_element(items[column * 4 + thread].b, element, kind);
}

/** The parts of the group's items for that exchange. */
inline UnitFactors* factors_of(Group& group, unsigned exchange) {
  const int* size = group.launch->group_size;
  if (size[0] != kUnitItems) group.fail("rows of a group that uses matrix units have 32 items", "WGX", size[0], 32);
  const size_t items = static_cast<size_t>(size[0]) * size[1];
  group.unit_factors.resize(2 * items);
  return &group.unit_factors[exchange % 2 * items];
}

/** What an item brings to the next exchange, after which all have it. */
template <class Parts>
void offer_factors(Group& group, int item, Parts& a, int i, Parts& b, int j) {
  UnitFactors& factors = factors_of(group, group.exchanges)[item];
  for (int part = 0; part < 4; part++) factors.a[part] = a[i + part];
  for (int part = 0; part < 2; part++) factors.b[part] = b[j + part];
}

/** Adds to the item's four sums: rows thread-group and 8 more, two neighbouring columns of each. */
template <class Sums>
void multiply_factors(Group& group, int item, Sums& sums, int s, int kind) {
  const UnitFactors* items = factors_of(group, group.exchanges - 1) + item / kUnitItems * kUnitItems;
  const int lane = item % kUnitItems;
  for (int element = 0; element < 4; element++) {
    const int row = lane / 4 + element / 2 * 8, column = lane % 4 * 2 + element % 2;
    float sum = sums[s + element];
    for (int k = 0; k < (kind != kUnitTf32 ? 16 : 8); k++)
      sum += unit_a(items, row, k, kind) * unit_b(items, k, column, kind);
    sums[s + element] = sum;
  }
}

/** A signed byte of a lane's words. */
inline int unit_byte(const unsigned* parts, int element) {
  return static_cast<int8_t>(parts[element / 4] >> element % 4 * 8 & 0xffu);
}

/** The same of mma.sync.m16n8k32: k is thread * 4 + element % 4, of A 16 more from element 8 on and rows element / 4 %
 * 2, of B 16 more from element 4 on. Sums wrap. */
template <class Sums>
void multiply_bytes(Group& group, int item, Sums& sums, int s) {
  const UnitFactors* items = factors_of(group, group.exchanges - 1) + item / kUnitItems * kUnitItems;
  const int lane = item % kUnitItems;
  for (int element = 0; element < 4; element++) {
    const int row = lane / 4 + element / 2 * 8, column = lane % 4 * 2 + element % 2;
    auto sum = static_cast<unsigned>(static_cast<int>(sums[s + element]));
    for (int k = 0; k < 32; k++) {
      const int thread = k % 16 / 4;
      sum += static_cast<unsigned>(unit_byte(items[row % 8 * 4 + thread].a, k % 4 + row / 8 * 4 + k / 16 * 8) *
                                   unit_byte(items[column * 4 + thread].b, k % 4 + k / 16 * 4));
    }
    sums[s + element] = static_cast<int>(sum);
  }
}

}  // namespace ortolan::gpu::test
