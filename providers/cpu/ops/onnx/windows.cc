// HannWindow, HammingWindow, BlackmanWindow and MelWeightMatrix: tables for signal processing.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/threads/polled_loop.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/elements/saturate.h"
#include "cpu/kernels/elementwise/math_f64.h"
#include "cpu/moves/checked_indices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
T as(double value) {
  if constexpr (kIntegerTypes.contains(kTypeOf<T>)) return saturate_cast<T>(value);
  if constexpr (kHalfTypes.contains(kTypeOf<T>)) return T(static_cast<float>(value));
  return static_cast<T>(value);
}

/** Fills a tensor by block(first, count, values), which gives the elements from `first` on as doubles. */
template <class Block>
void fill(Tensor& y, Block&& block) {
  constexpr int64_t kBlock = 256;
  double values[kBlock];
  int64_t count = y.element_count();
  dispatch<kNumericTypes>(y.type(), [&]<class T>(TypeTag<T>) {
    T* out = y.mutable_data<T>();
    base::TerminatePoll poll;
    for (int64_t first = 0; first < count; first += kBlock, out += kBlock) {
      poll.work(8 * kBlock);
      int64_t now = std::min(kBlock, count - first);
      block(first, now, values);
      std::transform(values, values + now, out, as<T>);
    }
  });
}

/** a[0] - a[1] cos(t) + a[2] cos(2 t), t going once around; cos(2 t) is 2 cos(t)^2 - 1. */
class CosineWindow : public OpKernel {
 public:
  CosineWindow(const KernelInfo& info, double a0, double a1, double a2)
      : a0_(a0), a1_(a1), a2_(a2), periodic_(info.node().int_or("periodic", 1) != 0) {}

  void compute(KernelContext& context) const override {
    Tensor& y = context.output(0);
    int64_t size = y.element_count(), around = periodic_ ? size : size - 1;
    fill(y, [&](int64_t first, int64_t count, double* values) {
      for (int64_t i = 0; i < count; ++i) {
        double turn = 2 * std::numbers::pi * static_cast<double>(first + i);
        values[i] = around > 0 ? turn / static_cast<double>(around) : std::numbers::pi;
      }
      kernels::unary(kernels::MathOp::kCos, values, values, count);
      for (int64_t i = 0; i < count; ++i) {
        values[i] = a0_ - a1_ * values[i] + a2_ * (2 * values[i] * values[i] - 1);
      }
    });
  }

 private:
  double a0_, a1_, a2_;
  bool periodic_;
};

class HannWindow final : public CosineWindow {
 public:
  explicit HannWindow(const KernelInfo& info) : CosineWindow(info, 0.5, 0.5, 0) {}
};
class HammingWindow final : public CosineWindow {
 public:
  explicit HammingWindow(const KernelInfo& info) : CosineWindow(info, 25.0 / 46, 21.0 / 46, 0) {}
};
class BlackmanWindow final : public CosineWindow {
 public:
  explicit BlackmanWindow(const KernelInfo& info) : CosineWindow(info, 0.42, 0.5, 0.08) {}
};

/** Triangles, evenly spaced on the mel scale, over the bins of a spectrum. */
class MelWeightMatrix final : public OpKernel {
 public:
  explicit MelWeightMatrix(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    Tensor& y = context.output(0);
    int64_t columns = y.shape()[1];
    if (columns == 0) return;
    std::vector<int64_t> corners = this->corners(context, columns);
    fill(y, [&](int64_t first, int64_t count, double* values) {
      for (int64_t i = first; i < first + count; ++i) {
        const int64_t* corner = &corners[static_cast<size_t>(i % columns)];
        *values++ = triangle(corner[0], corner[1], corner[2], i / columns);
      }
    });
  }

 private:
  static double to_mel(double hertz) { return 2595.0 * std::log10(1.0 + hertz / 700.0); }

  /** Spectrum bins of the triangles' corners: triangle i has corners i, i + 1 and i + 2. */
  static std::vector<int64_t> corners(KernelContext& context, int64_t columns) {
    int64_t length = only_int64(context.input(1), "dft_length"), rate = only_int64(context.input(2), "sample_rate");
    require(rate > 0, ErrorCode::kInvalidArgument, "sample_rate is ", rate, "; it must be positive");
    require(context.input(3).element_count() == 1 && context.input(4).element_count() == 1, ErrorCode::kInvalidArgument,
            "lower_edge_hertz and upper_edge_hertz must hold one value each");
    double low = to_mel(*read_input<double>(context, 3)), high = to_mel(*read_input<double>(context, 4));
    double step = (high - low) / static_cast<double>(columns + 2);
    std::vector<int64_t> result;
    base::TerminatePoll poll;
    for (int64_t i = 0; i < columns + 2; ++i) {
      poll.work(32);
      double hertz = 700.0 * (std::pow(10.0, (static_cast<double>(i) * step + low) / 2595.0) - 1.0);
      result.push_back(
          saturate_cast<int64_t>(std::floor((static_cast<double>(length) + 1) * hertz / static_cast<double>(rate))));
    }
    return result;
  }

  static double triangle(int64_t low, int64_t center, int64_t high, int64_t bin) {
    if (bin < low || bin > high) return 0;
    if (bin == center) return low == center || high >= center ? 1 : 0;
    double at = static_cast<double>(bin);
    if (bin < center) return (at - double(low)) / (double(center) - double(low));
    return bin < high ? (double(high) - at) / (double(high) - double(center)) : 0;
  }
};

constexpr KernelRow kRows[] = {
    {"", "HannWindow", 17, kLatest, make_kernel<HannWindow>},
    {"", "HammingWindow", 17, kLatest, make_kernel<HammingWindow>},
    {"", "BlackmanWindow", 17, kLatest, make_kernel<BlackmanWindow>},
    {"", "MelWeightMatrix", 17, kLatest, make_kernel<MelWeightMatrix>},
};

}  // namespace

extern const KernelTable windows_rows;
const KernelTable windows_rows(kRows);
}  // namespace ortolan::cpu::onnx
