// Samples between the pixels of a plane: neighbours are loaded as pairs, four samples at a time.
#include "cpu/kernels/convolution/plane_mixes.h"

#include <cstring>

namespace ortolan::cpu::kernels {
namespace {

typedef float Quad __attribute__((vector_size(16)));
typedef float QuadLoose __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t QuadMask __attribute__((vector_size(16)));
typedef double TwoPairs __attribute__((vector_size(16)));

constexpr int64_t kQuad = 4;

Quad load(const float* p) { return *reinterpret_cast<const QuadLoose*>(p); }

/** plane[a], plane[a + 1], plane[b], plane[b + 1]. */
Quad load_pairs(const float* plane, int64_t a, int64_t b) {
  double first, second;
  std::memcpy(&first, plane + a, sizeof(first));
  std::memcpy(&second, plane + b, sizeof(second));
  return reinterpret_cast<Quad>(TwoPairs{first, second});
}

/** What has no weight counts nothing, whatever it is. */
Quad weighted(Quad value, Quad weight) {
  return reinterpret_cast<Quad>(reinterpret_cast<QuadMask>(value) & (weight != 0)) * weight;
}

/** Four pairs at `at`, each with its two weights. */
Quad mix_pairs(const float* plane, const int64_t* at, const float* left, const float* right) {
  const Quad low = load_pairs(plane, at[0], at[1]), high = load_pairs(plane, at[2], at[3]);
  return weighted(__builtin_shufflevector(low, high, 0, 2, 4, 6), load(left)) +
         weighted(__builtin_shufflevector(low, high, 1, 3, 5, 7), load(right));
}

}  // namespace

void mix_plane(const PlaneMixes<float>& mixes, const float* plane, float* y) {
  const auto mix = [&](int64_t i) {
    return mix_pairs(plane, mixes.top_left + i, mixes.weights[0] + i, mixes.weights[1] + i) +
           mix_pairs(plane + mixes.width, mixes.top_left + i, mixes.weights[2] + i, mixes.weights[3] + i);
  };
  int64_t i = 0;
  for (; i + kQuad <= mixes.count; i += kQuad) *reinterpret_cast<QuadLoose*>(y + i) = mix(i);
  if (i == mixes.count) return;
  const Quad last = mix(i);
  for (int64_t j = i; j < mixes.count; ++j) y[j] = last[j - i];
}

}  // namespace ortolan::cpu::kernels
