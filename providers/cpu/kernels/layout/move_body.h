// Transposition of planes of elements for one instruction set: squares in registers. Included as vec.h is.
#pragma once

#include <utility>

#include "cpu/kernels/layout/move_kernels.h"
#include "cpu/kernels/vectors/vec_transpose.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr int kBlockBytes = 16;
constexpr int kLineBytes = 64;

/** A few neighbours in a row: as many elements as 16 bytes hold. */
template <class E>
struct Block {
  static constexpr int kCount = kBlockBytes / sizeof(E);
  typedef E V __attribute__((vector_size(kBlockBytes)));
  typedef E Loose __attribute__((vector_size(kBlockBytes), aligned(1), may_alias));

  ORTOLAN_INLINE V load(const E* p) { return *reinterpret_cast<const Loose*>(p); }
  ORTOLAN_INLINE void store(E* p, V v) { *reinterpret_cast<Loose*>(p) = v; }
  ORTOLAN_INLINE V load_n(const E* p, int64_t n) {
    V v = {};
    for (int64_t i = 0; i < n; ++i) v[i] = p[i];
    return v;
  }
  ORTOLAN_INLINE void store_n(E* p, int64_t n, V v) {
    for (int64_t i = 0; i < n; ++i) p[i] = v[i];
  }
};

/** a0 b0 a1 b1 ... from the elements `first` on. */
template <size_t kFirst, class V, size_t... I>
ORTOLAN_INLINE V zip(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (I % 2 * sizeof...(I) + I / 2 + kFirst)...);
}

/** Every second element of a, then of b. */
template <size_t kFirst, class V, size_t... I>
ORTOLAN_INLINE V unzip(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (2 * I + kFirst)...);
}

/** Transposes a square of Block<E>::kCount rows. */
template <class E>
ORTOLAN_INLINE void transpose_square(typename Block<E>::V (&rows)[Block<E>::kCount]) {
  constexpr int n = Block<E>::kCount;
  constexpr std::make_index_sequence<n> lanes;
  for (int round = 1; round < n; round *= 2) {
    typename Block<E>::V mixed[n];
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i) {
      mixed[2 * i] = zip<0>(rows[i], rows[i + n / 2], lanes);
      mixed[2 * i + 1] = zip<n / 2>(rows[i], rows[i + n / 2], lanes);
    }
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) rows[i] = mixed[i];
  }
}

/** Element (i, j) of x goes to (j, i) of y, i < rows, j < columns. */
template <class E>
struct Plane {
  const E* x;
  int64_t x_stride, rows, columns;
  E* y;
  int64_t y_stride;

  const E* from(int64_t i, int64_t j) const { return x + i * x_stride + j; }
  E* to(int64_t i, int64_t j) const { return y + j * y_stride + i; }
};

template <class E>
struct Square {
  static constexpr int kRows = Block<E>::kCount, kColumns = Block<E>::kCount;
  ORTOLAN_INLINE void move(const Plane<E>& p, int64_t i, int64_t j) {
    typename Block<E>::V block[kRows];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) block[r] = Block<E>::load(p.from(i + r, j));
    transpose_square<E>(block);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) Block<E>::store(p.to(i, j + c), block[c]);
  }
};

/** Whole vectors of rows. */
struct Tall {
  static constexpr int kRows = kLanes, kColumns = 4;
  ORTOLAN_INLINE void move(const Plane<float>& p, int64_t i, int64_t j) {
    Vf out[4];
    load_transposed(p.from(i, j), p.x_stride, out);
    for (int c = 0; c < 4; ++c) store(p.to(i, j + c), out[c]);
  }
};

/** A plane of at least one tile: whole tiles, the last ones moved back until they fit. A cache line of x is used up
    before the next one. */
template <class Tile, class E>
void transpose_tiles(const Plane<E>& p) {
  constexpr int64_t line = kLineBytes / sizeof(E);
  for (int64_t first = 0; first < p.columns; first += line) {
    const int64_t end = least(p.columns, first + line);
    for (int64_t row = 0; row < p.rows; row += Tile::kRows) {
      const int64_t i = least(row, p.rows - Tile::kRows);
      for (int64_t column = first; column < end; column += Tile::kColumns) {
        Tile::move(p, i, least(column, p.columns - Tile::kColumns));
      }
    }
  }
}

/** Two rows become one of pairs that follow each other. */
template <class E>
void join_pairs(const Plane<E>& p) {
  using B = Block<E>;
  constexpr std::make_index_sequence<B::kCount> lanes;
  int64_t j = 0;
  for (; j + B::kCount <= p.columns; j += B::kCount) {
    const auto a = B::load(p.from(0, j)), b = B::load(p.from(1, j));
    B::store(p.to(0, j), zip<0>(a, b, lanes));
    B::store(p.to(0, j) + B::kCount, zip<B::kCount / 2>(a, b, lanes));
  }
  for (; j < p.columns; ++j) {
    for (int i = 0; i < 2; ++i) *p.to(i, j) = *p.from(i, j);
  }
}

/** Pairs that follow each other become two rows. */
template <class E>
void split_pairs(const Plane<E>& p) {
  using B = Block<E>;
  constexpr std::make_index_sequence<B::kCount> lanes;
  int64_t i = 0;
  for (; i + B::kCount <= p.rows; i += B::kCount) {
    const auto a = B::load(p.from(i, 0)), b = B::load(p.from(i, 0) + B::kCount);
    B::store(p.to(i, 0), unzip<0>(a, b, lanes));
    B::store(p.to(i, 1), unzip<1>(a, b, lanes));
  }
  for (; i < p.rows; ++i) {
    for (int j = 0; j < 2; ++j) *p.to(i, j) = *p.from(i, j);
  }
}

/** Pairs of neighbours of a and b in turns, from the pair `first` on. */
template <size_t kFirst, class V, size_t... I>
ORTOLAN_INLINE V zip_pairs(V a, V b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, (I / 2 % 2 * sizeof...(I) + I / 4 * 2 + I % 2 + 2 * kFirst)...);
}

/** Three of each four elements, in front. */
template <class V, size_t... I>
ORTOLAN_INLINE V without_fourths(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (I < sizeof...(I) / 4 * 3 ? I / 3 * 4 + I % 3 : 0)...);
}

/** Three or four rows become one of columns that follow each other. Of three, each vector is stored whole, and the next
    one mends what is behind. */
template <int kRows, class E>
void join_columns(const Plane<E>& p) {
  using B = Block<E>;
  constexpr int n = B::kCount, together = n / 4;
  constexpr std::make_index_sequence<n> lanes;
  const auto put = [&](E* to, typename B::V v) { B::store(to, kRows == 4 ? v : without_fourths(v, lanes)); };
  int64_t j = 0;
  for (; (j + n) * kRows + (4 - kRows) * together <= p.columns * kRows; j += n) {
    const auto a = B::load(p.from(0, j)), b = B::load(p.from(1, j)), c = B::load(p.from(2, j));
    const auto d = B::load(p.from(kRows - 1, j));
    const auto ab = zip<0>(a, b, lanes), cd = zip<0>(c, d, lanes);
    const auto more_ab = zip<n / 2>(a, b, lanes), more_cd = zip<n / 2>(c, d, lanes);
    E* to = p.to(0, j);
    put(to, zip_pairs<0>(ab, cd, lanes));
    put(to + together * kRows, zip_pairs<n / 4>(ab, cd, lanes));
    put(to + 2 * together * kRows, zip_pairs<0>(more_ab, more_cd, lanes));
    put(to + 3 * together * kRows, zip_pairs<n / 4>(more_ab, more_cd, lanes));
  }
  for (; j < p.columns; ++j) {
    for (int i = 0; i < kRows; ++i) *p.to(i, j) = *p.from(i, j);
  }
}

/** Fewer rows than a block has elements. Where rows of y follow each other, each is stored as a whole block, which the
    next one mends. */
template <class E>
void transpose_flat(const Plane<E>& p) {
  using B = Block<E>;
  constexpr int n = B::kCount;
  const bool dense = p.y_stride == p.rows;
  int64_t j = 0;
  for (; j + n <= p.columns; j += n) {
    typename B::V block[n];
    for (int r = 0; r < n; ++r) block[r] = B::load(p.from(least(r, p.rows - 1), j));
    transpose_square<E>(block);
    for (int c = 0; c < n; ++c) {
      if (dense && (j + c) * p.y_stride + n <= p.columns * p.y_stride) {
        B::store(p.to(0, j + c), block[c]);
      } else {
        B::store_n(p.to(0, j + c), p.rows, block[c]);
      }
    }
  }
  for (; j < p.columns; ++j) {
    for (int64_t i = 0; i < p.rows; ++i) *p.to(i, j) = *p.from(i, j);
  }
}

/** Fewer columns than a block has elements: whole blocks are read while they end within the plane. */
template <class E>
void transpose_narrow(const Plane<E>& p) {
  using B = Block<E>;
  constexpr int n = B::kCount;
  const E* end = p.from(p.rows - 1, p.columns);
  int64_t i = 0;
  for (; i + n <= p.rows; i += n) {
    typename B::V block[n];
    for (int r = 0; r < n; ++r) {
      const E* row = p.from(i + r, 0);
      block[r] = end - row >= n ? B::load(row) : B::load_n(row, p.columns);
    }
    transpose_square<E>(block);
    for (int64_t j = 0; j < p.columns; ++j) B::store(p.to(i, j), block[j]);
  }
  for (; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j) *p.to(i, j) = *p.from(i, j);
  }
}

template <class E>
void transpose_small(const Plane<E>& p) {
  for (int64_t i = 0; i < p.rows; ++i) {
    for (int64_t j = 0; j < p.columns; ++j) *p.to(i, j) = *p.from(i, j);
  }
}

template <class E>
void transpose_plane(const void* x, int64_t x_stride, int64_t rows, int64_t columns, void* y, int64_t y_stride) {
  constexpr int n = Block<E>::kCount;
  const Plane<E> p{static_cast<const E*>(x), x_stride, rows, columns, static_cast<E*>(y), y_stride};
  if constexpr (std::is_same_v<E, float>) {
    if (rows >= Tall::kRows && columns >= Tall::kColumns) return transpose_tiles<Tall>(p);
  }
  if (rows >= n && columns >= n) return transpose_tiles<Square<E>>(p);
  if (rows == 2 && y_stride == 2) return join_pairs(p);
  if constexpr (sizeof(E) <= 2) {
    if (rows == 3 && y_stride == 3) return join_columns<3>(p);
    if (rows == 4 && y_stride == 4) return join_columns<4>(p);
  }
  if (columns == 2 && x_stride == 2) return split_pairs(p);
  if (columns >= n) return transpose_flat(p);
  if (rows >= n) return transpose_narrow(p);
  transpose_small(p);
}

}  // namespace

extern const MoveKernels kMove;
const MoveKernels kMove = {
    {transpose_plane<uint8_t>, transpose_plane<uint16_t>, transpose_plane<float>, transpose_plane<uint64_t>}};

}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
