// Samples between the pixels of planes, each a mix of two pairs of neighbours.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** Along one dimension: two neighbours `at` and `at` + 1, of which one may lie outside and then weighs 0. */
template <class C>
struct Neighbours {
  int64_t at;
  C weights[2];
};

/** The two neighbours of a place within [0, size), size > 1, such that both lie inside. */
template <class C>
Neighbours<C> moved_inside(const Neighbours<C>& n, int64_t size) {
  if (n.at < 0) return {0, {n.weights[1], C{}}};
  if (n.at > size - 2) return {size - 2, {C{}, n.weights[0]}};
  return n;
}

/** Up to kMost samples of planes of at least 2 x 2 elements, all of one shape. An element without weight is not looked
    at: it may be infinite. Samples that were never set lie inside, too. */
template <class C>
struct PlaneMixes {
  static constexpr int64_t kMost = 64;
  int64_t count = 0;
  int64_t width = 0;  // of a row
  int64_t top_left[kMost] = {};
  C weights[4][kMost] = {};  // top left, top right, bottom left, bottom right

  /** Sets sample i to neighbours that lie inside. */
  void set(int64_t i, const Neighbours<C>& rows, const Neighbours<C>& columns) {
    top_left[i] = rows.at * width + columns.at;
    for (int k = 0; k < 4; ++k) weights[k][i] = rows.weights[k / 2] * columns.weights[k % 2];
  }
};

/** y[i] = sample i of `plane`. */
void mix_plane(const PlaneMixes<float>& mixes, const float* plane, float* y);

/** Sample i of a plane of any elements; `number` makes a C of one. */
template <class C, class T, class Number>
C mix_one(const PlaneMixes<C>& mixes, int64_t i, const T* plane, Number number) {
  const T *top = plane + mixes.top_left[i], *bottom = top + mixes.width;
  const auto part = [&](int k, const T* at) {
    const C weight = mixes.weights[k][i];
    return weight != 0 ? number(*at) * weight : C{};
  };
  return (part(0, top) + part(1, top + 1)) + (part(2, bottom) + part(3, bottom + 1));
}

/** mix_plane of fp64. */
inline void mix_plane(const PlaneMixes<double>& mixes, const double* plane, double* y) {
  for (int64_t i = 0; i < mixes.count; ++i) y[i] = mix_one(mixes, i, plane, [](double value) { return value; });
}

}  // namespace ortolan::cpu::kernels
