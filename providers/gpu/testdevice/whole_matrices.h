// Matrices of units that take them whole, for the kernels that have them: K_MATRIX_MULTIPLY and what goes with it.
#pragma once

#include <vector>

#include "gpu/testdevice/dialect.h"

namespace ortolan::gpu::test {

/** A matrix that units take whole. The first item of a row of the group has it, the others have nothing. */
struct WholeMatrix {
  int rows = 0, columns = 0;
  std::vector<float> elements = {};
  float& at(int row, int column) { return elements[static_cast<size_t>(row) * columns + column]; }
};

inline bool has_matrices(const Item& item) { return item.local[0] == 0; }

/** The matrix of halves, eight to an element of the tile, that begins at `first`; rows, or columns where it is turned,
 * are `step` elements apart. */
template <class Tile>
WholeMatrix load_matrix(const Item& item, Tile& tile, long first, int step, bool is_turned, int rows, int columns) {
  WholeMatrix matrix{rows, columns, std::vector<float>(has_matrices(item) ? static_cast<size_t>(rows) * columns : 0)};
  for (int i = 0; i < static_cast<int>(matrix.elements.size()); i++) {
    const int row = i / columns, column = i % columns;
    const int line = is_turned ? column : row, place = is_turned ? row : column;
    const auto four = tile.load(first + static_cast<long>(line) * step + place / 8);
    const unsigned words[] = {four.x, four.y, four.z, four.w};
    matrix.elements[i] = from_half(words[place % 8 / 2] >> place % 2 * 16 & 0xffffu);
  }
  return matrix;
}

/** Adds the product of a and b to the sum, which is cleared before. */
inline void multiply_matrices(WholeMatrix& sum, WholeMatrix& a, WholeMatrix& b) {
  for (int i = 0; i < static_cast<int>(sum.elements.size()); i++) {
    for (int k = 0; k < a.columns; k++) sum.elements[i] += a.at(i / sum.columns, k) * b.at(k, i % sum.columns);
  }
}

template <class Tile>
void store_matrix(Tile& tile, long first, int step, WholeMatrix& from) {
  for (int i = 0; i < static_cast<int>(from.elements.size()); i++) {
    tile[first + static_cast<long>(i / from.columns) * step + i % from.columns] = from.elements[i];
  }
}

}  // namespace ortolan::gpu::test

// Constants UNIT_ROWS, UNIT_COLUMNS and UNIT_DEPTH say how large they are.
#define K_ZEROS \
  uint4 {}
#define K_MATRICES(rows, columns, depth)
#define K_MATRIX_A WholeMatrix
#define K_MATRIX_B WholeMatrix
#define K_MATRIX_SUM WholeMatrix
#define K_MATRIX_ROW() K_LID(1)
#define K_MATRIX_LANE() K_LID(0)
#define K_MATRIX_CLEAR(sum)       \
  sum = {UNIT_ROWS, UNIT_COLUMNS, \
         std::vector<float>(has_matrices(k_item) ? static_cast<size_t>(UNIT_ROWS) * UNIT_COLUMNS : 0)};
#define K_MATRIX_LOAD_A(to, tile, first, step, is_turned) \
  to = load_matrix(k_item, tile, first, step, is_turned, UNIT_ROWS, UNIT_DEPTH);
#define K_MATRIX_LOAD_B(to, tile, first, step, is_turned) \
  to = load_matrix(k_item, tile, first, step, is_turned, UNIT_DEPTH, UNIT_COLUMNS);
#define K_MATRIX_MULTIPLY(sum, a, b) multiply_matrices(sum, a, b);
#define K_MATRIX_STORE(tile, first, step, from) store_matrix(tile, first, step, from);
