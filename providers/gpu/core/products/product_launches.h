// What the ways to make a product share: launches with their groups, and what all kernels of products are given.
#pragma once

#include "gpu/core/products/product.h"

namespace ortolan::gpu {

enum ColumnsForm { kColumnsPacked = 0, kColumnsInRows = 1, kColumnsByOffsets = 2 };  // B_FORM of kernels

/** A launch with its groups. */
struct TiledLaunch {
  KernelCall call;
  std::array<int64_t, 3> groups;
  void run() { call.run(groups[0], groups[1], groups[2]); }
  int64_t measure() { return call.measure(groups[0], groups[1], groups[2]); }
};

/** How far C's rows lie apart where there is no grid, and its matrices, in elements. */
struct Distances {
  int64_t row, matrix;
};
Distances distances_of_c(const Product& product);
/** The buffers, constants and parameters that all kernels of products share. */
void add_product(Lowering& l, KernelCall& call, const Product& product, const Matrix& a, const Matrix& b);
/** A matrix with its memory. */
Matrix in_memory(Lowering& l, Matrix matrix);
/** Names a product for the tuner. */
std::string problem_of(const Product& product, bool packs_b);

/** Whether 16 bits hold the factors. */
bool has_half_factors(const Product& product);

/** On the device's matrix units; nothing where it has none for the product, or where `plain_time`, which measures our
 * other kernel and is not asked where nothing is tuned, is shorter. */
std::optional<TiledLaunch> on_matrix_units(Lowering& l, const Product& product,
                                           const std::function<int64_t()>& plain_time);

/** For devices whose items are lanes of a vector (product_lanes.k). */
void multiply_in_lanes(Lowering& l, const Product& product);

}  // namespace ortolan::gpu
