// Experimental operators of opsets 1 to 9. Their arithmetic is done in double.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
double wide(T value) {
  if constexpr (std::is_same_v<T, double>) return value;
  return static_cast<double>(static_cast<float>(value));
}
template <class T>
T round_to(double value) {
  if constexpr (std::is_same_v<T, double>) return value;
  return T(static_cast<float>(value));
}

/** Affine, Scale, ParametricSoftplus, ScaledTanh. */
class ScaledFunction : public OpKernel {
 public:
  explicit ScaledFunction(const KernelInfo& info) {
    const Node& node = info.node();
    alpha_ = node.float_or("alpha", 1);
    beta_ = node.float_or("beta", node.op_type == "Affine" ? 0 : 1);
    if (node.op_type == "ParametricSoftplus") function_ = softplus;
    if (node.op_type == "ScaledTanh") function_ = scaled_tanh;
    if (node.op_type == "Scale") {
      alpha_ = node.float_or("scale", 1);
      beta_ = 0;
    }
  }

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    dispatch<kFloatTypes>(x.type(), [&]<class T>(TypeTag<T>) {
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      const int64_t least = kernels::least_items(kernels::kFunctionNs);
      context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) to[i] = round_to<T>(function_(wide(from[i]), alpha_, beta_));
      });
    });
  }

 private:
  using Function = double (*)(double x, double alpha, double beta);
  static double affine(double x, double alpha, double beta) { return alpha * x + beta; }
  static double scaled_tanh(double x, double alpha, double beta) { return alpha * std::tanh(beta * x); }
  static double softplus(double x, double alpha, double beta) {
    double t = beta * x;
    return alpha * (std::max(t, 0.0) + std::log1p(std::exp(-std::fabs(t))));
  }

  Function function_ = affine;
  double alpha_ = 1, beta_ = 0;
};

/** Multiplies an image by a number and adds one to each channel. */
class ImageScaler : public OpKernel {
 public:
  explicit ImageScaler(const KernelInfo& info)
      : scale_(info.node().float_or("scale", 1)), bias_(info.node().floats("bias")) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    int64_t channels = x.shape()[1], plane = x.shape().count_from(2);
    require(bias_.empty() || static_cast<int64_t>(bias_.size()) == channels, ErrorCode::kInvalidArgument,
            "attribute bias has ", bias_.size(), " entries, but the image has ", channels, " channels");
    dispatch<kFloatTypes>(x.type(), [&]<class T>(TypeTag<T>) {
      const T* from = x.data<T>();
      T* to = y.mutable_data<T>();
      for (int64_t i = 0; i < x.shape()[0] * channels; ++i) {
        double bias = bias_.empty() ? 0 : bias_[static_cast<size_t>(i % channels)];
        for (int64_t j = i * plane; j < (i + 1) * plane; ++j) to[j] = round_to<T>(scale_ * wide(from[j]) + bias);
      }
    });
  }

 private:
  double scale_;
  std::vector<float> bias_;
};

/** Cuts a window out of each plane of an image. */
class Crop : public OpKernel {
 public:
  explicit Crop(const KernelInfo& info) : border_(info.node().ints("border")) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    int64_t in_height = x.shape()[2], in_width = x.shape()[3];
    int64_t height = y.shape()[2], width = y.shape()[3];
    int64_t left = border_[0], top = border_[1];
    require(left + width <= in_width && top + height <= in_height, ErrorCode::kInvalidArgument,
            "the window leaves the image of shape ", x.shape());
    size_t size = bits_of(x.type()) / 8;
    auto* from = static_cast<const char*>(x.raw());
    auto* to = static_cast<char*>(y.mutable_raw());
    for (int64_t row = 0; width > 0 && row < y.shape().count_to(3); ++row) {
      int64_t start = (row / height * in_height + top + row % height) * in_width + left;
      std::memcpy(to + row * width * size, from + start * size, width * size);
    }
  }

 private:
  std::vector<int64_t> border_;
};

/** The values of an attribute as a tensor. */
class GivenTensorFill : public OpKernel {
 public:
  explicit GivenTensorFill(const KernelInfo& info) : values_(info.node().floats("values")) {}

  void compute(KernelContext& context) const override {
    auto y = context.output(0).mutable_span<float>();
    require(values_.size() == y.size(), ErrorCode::kInvalidArgument, "attribute values has ", values_.size(),
            " entries, but the shape ", context.output(0).shape(), " has ", y.size(), " elements");
    std::copy(values_.begin(), values_.end(), y.begin());
  }

 private:
  std::vector<float> values_;
};

constexpr KernelRow kRows[] = {
    {"", "Affine", 1, 9, make_kernel<ScaledFunction>, {{0, kFloatTypes}}, Reuse::kInPlace},
    {"", "ParametricSoftplus", 1, 9, make_kernel<ScaledFunction>, {{0, kFloatTypes}}, Reuse::kInPlace},
    {"", "Scale", 1, 9, make_kernel<ScaledFunction>, {{0, kFloatTypes}}, Reuse::kInPlace},
    {"", "ScaledTanh", 1, 9, make_kernel<ScaledFunction>, {{0, kFloatTypes}}, Reuse::kInPlace},
    {"", "ImageScaler", 1, 9, make_kernel<ImageScaler>, {{0, kFloatTypes}}, Reuse::kInPlace},
    {"", "Crop", 1, 9, make_kernel<Crop>, {{0, kFloatTypes}}},
    {"", "GivenTensorFill", 1, 9, make_kernel<GivenTensorFill>},
};

}  // namespace

extern const KernelTable experimental_rows;
constinit const KernelTable experimental_rows(kRows);

}  // namespace ortolan::cpu::onnx
