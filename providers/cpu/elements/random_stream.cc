// Normal random numbers in blocks, after G. E. P. Box and M. E. Muller, "A note on the generation of random normal
// deviates" (1958): a radius and an angle, uniform in what they stand for, give two of them.
#include "cpu/elements/random_stream.h"

#include <algorithm>
#include <numbers>

#include "cpu/kernels/elementwise/math_f64.h"
#include "cpu/kernels/elementwise/number_loops.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kPairs = RandomStream::kNormalBlock / 2;

/** y = op(x), over `x`. */
void apply(kernels::MathOp op, std::span<double> x) {
  kernels::unary(op, x.data(), x.data(), static_cast<int64_t>(x.size()));
}

}  // namespace

void RandomStream::normals(int64_t block, std::span<double> to) const {
  double radii[kPairs], cosines[kPairs], sines[kPairs];
  for (int64_t i = 0; i < kPairs; ++i) {
    int64_t index = 2 * (block * kPairs + i);
    radii[i] = 1 - uniform(index);
    cosines[i] = sines[i] = 2 * std::numbers::pi * uniform(index + 1);
  }
  apply(kernels::MathOp::kLog, radii);
  for (double& radius : radii) radius *= -2;
  kernels::unary(kernels::NumberUnary::kSqrt, kernels::Number::kF64, radii, radii, kPairs);
  apply(kernels::MathOp::kCos, cosines);
  apply(kernels::MathOp::kSin, sines);
  size_t half = std::min<size_t>(to.size(), kPairs);
  for (size_t i = 0; i < half; ++i) to[i] = radii[i] * cosines[i];
  for (size_t i = half; i < to.size(); ++i) to[i] = radii[i - half] * sines[i - half];
}

}  // namespace ortolan::cpu
