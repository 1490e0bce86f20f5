// Stacks of matrix products as launches: which kernel, which tiles, what is packed.
#pragma once

#include <limits>

#include "gpu/core/graph/fusion.h"

namespace ortolan::gpu {

inline int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
inline int64_t round_up(int64_t a, int64_t b) { return divide_up(a, b) * b; }

/** An operand of a stack of products. Distances are in elements; a stack has outer x inner matrices. */
struct Matrix {
  int input = -1;  // of the node; -1: `memory` holds it
  Memory memory;
  ElementType type = ElementType::kFloat;
  int64_t first = 0;             // the element where the first matrix begins
  int64_t row = 0, column = 0;   // from one row, or column, to the next
  int64_t inner = 0, outer = 0;  // from one matrix of the stack to the next
  std::vector<int32_t> offsets;  // where not empty, row k begins at offsets[k]; the columns lie together, but:
  // Where there are taps, column c begins at columns[c], and the element of row k is there if bit k mod taps of
  // there[c] is set, else it is 0. For multiplies_in_lanes().
  int64_t taps = 0;  // at most 31
  std::vector<int32_t> columns = {}, there = {};
};

/** What a product's values pass before they are stored. */
struct Finish {
  float alpha = 1;
  // beta * addend[m * addend_row + n * addend_column + inner * addend_inner], of the result's type; addend_column is 0
  // or 1 and 0 on grids.
  std::optional<Memory> addend;
  float beta = 1;
  int64_t addend_row = 0, addend_column = 0, addend_inner = 0;
  std::optional<Memory> residual;  // of the result's type, where the result's elements lie
  float low = -std::numeric_limits<float>::infinity(), high = std::numeric_limits<float>::infinity();  // clips
  // After all that. Operand 1 is the addend and 2 the residual, which are not added where a step has them.
  std::vector<ElementwiseStep> steps = {};
  bool steps_have_addend = false, steps_have_residual = false;
};

/** Columns of the product that are places of slices of grid_h rows of grid_w, of which h rows of w are stored. */
struct PlaceGrid {
  int64_t grid_w = 1, w = 1, grid_h = 1, h = 1;
  int64_t stored = 0;  // places in all
};

/** C[outer, inner, m, n] = steps(clip(alpha A B + addend + residual)). Where C is of float16, 16 bits hold the elements
 * of A and B. */
struct Product {
  int64_t m = 0, n = 0, k = 0;  // n counts places where there is a grid
  int64_t outer = 1, inner = 1;
  Matrix a, b;
  Memory c;
  int64_t c_first = 0;                     // the element where the results begin
  int64_t c_row = 0, c_matrix = 0;         // from one row, or matrix, of C to the next; 0: they lie together
  ElementType type = ElementType::kFloat;  // of C
  Finish finish;
  std::optional<PlaceGrid> grid;
  // For devices whose tiles live in registers: A lies as [stack][tile][k][row], panel_height(m) rows a tile, B as
  // [stack][panel][k][column], panel_width(n) columns a panel; what is behind the last row or column may be anything.
  bool a_is_packed = false, b_is_packed = false;
  bool b_has_slack = false;  // behind B's memory lie product_slack() elements that may be read
};

/** Elements that a tile may read behind the last column of B. */
int64_t product_slack(const DeviceTraits& traits);
/** Rows and columns that a tile of a product of m rows and n columns has, where tiles live in registers. */
int64_t panel_height(const DeviceTraits& traits, int64_t m);
int64_t panel_width(const DeviceTraits& traits, int64_t n);
/** Whether the device's items are lanes of a vector, which makes products another way. */
bool multiplies_in_lanes(const DeviceTraits& traits);
/** What n columns cost there, in vectors, where A is a constant and B in rows. */
double columns_cost(const DeviceTraits& traits, int64_t n);

void multiply(Lowering& l, const Product& product);

inline constexpr size_t kMostFinishSteps = 4;

/** The constants and, at the parameters' end, numbers of a finish's steps, for kernels/product_steps.k. */
void add_step_constants(KernelCall& call, const Finish& finish);
void add_step_numbers(KernelCall& call, const Finish& finish);
/** Whether a kernel of planes can do it, which has at most a number for each row to add. */
bool adds_to_rows(const Finish& finish);

/** What makes a product and does steps to it: `launch` gets the product with its finish and c. Until then only its
 * numbers, grid, type and finish matter. It takes what the finish can hold and, where that is given, `fits` agrees to.
 */
Head product_head(const Product& product, std::function<void(Lowering& l, const Product& product)> launch,
                  bool (*fits)(const Finish& finish) = nullptr);

}  // namespace ortolan::gpu
