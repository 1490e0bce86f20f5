// ConvInteger and QLinearConv over exact 32-bit sums. Constant weights are packed once.
#include "base/threads/thread_pool.h"
#include "cpu/convolution/convolution_geometry.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/convolution_int8/depthwise_int8.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/kernels/scratch.h"
#include "cpu/products/packed_form.h"
#include "cpu/quantised/byte_product.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr int64_t kBandRows = 64;  // whose sums stay in the cache until they are bytes

using Packed = std::shared_ptr<const kernels::PackedConvWeightsInt8>;

bool channels_last(const KernelInfo& info) { return info.node().int_or("channels_last", 0) != 0; }

Packed pack(const KernelInfo& info, size_t i, const ConvolutionAttributes& attributes) {
  const Tensor* w = info.weights_input(i);
  if (!w || w->element_count() == 0) return nullptr;
  auto pack_bytes = [](ThreadPool&, const Tensor& bytes, const ConvForm& f, int winograd) {
    return kernels::pack_conv_weights_int8(f.geometry, bytes.raw(), is_signed_byte(bytes), winograd);
  };
  ConvForm form{attributes.weight_geometry(w->shape())};
  int winograd = kernels::winograd_outputs_int8(form.geometry, output_positions(info, channels_last(info) ? 1 : 2));
  return pack_once(info, *w, "conv_int8", pack_bytes, form, winograd);
}

/** One value, or one for each output channel (checked). */
bool per_channel(const Tensor& tensor, int64_t channels, const char* what) {
  int64_t count = tensor.element_count();
  require(count == 1 || count == channels, ErrorCode::kInvalidArgument, what, " has shape ", tensor.shape(),
          "; it must hold one value or ", channels, ", one for each output channel");
  return count > 1;
}

class ByteConvolution : public OpKernel {
 protected:
  ByteConvolution(const KernelInfo& info, size_t weights)
      : attributes_(info, weights), weights_(weights), packed_(pack(info, weights, attributes_)) {}
  KernelReport report(const KernelContext& context) const override {
    std::string method = packed_ ? packed_->method() : "weights packed in each run";
    return {join("conv_int8 ", method, " ", window_text(context.input(weights_).shape())),
            packed_ ? packed_->isa() : kernels::byte_isa()};
  }
  ConstantUse constant_use(size_t i) const override {
    return i == weights_ && packed_ ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  kernels::ConvInt8 operands(const kernels::ConvGeometry& g, const Tensor& x, const Tensor* x_zero,
                             const Tensor* w_zero) const {
    kernels::ConvInt8 result;
    result.x = x.raw();
    result.x_signed = is_signed_byte(x);
    result.x_zero = single_zero_point(x_zero, "x_zero_point");
    if (!w_zero) return result;
    result.w_zero = w_zero->raw();
    result.w_zero_per_channel = per_channel(*w_zero, g.out_channels, "w_zero_point");
    return result;
  }
  /** Calls body(packed weights). */
  template <class Body>
  void with_weights(const kernels::ConvGeometry& g, const Tensor& w, Body&& body) const {
    if (packed_) return body(*packed_);
    body(kernels::pack_conv_weights_int8(g, w.raw(), is_signed_byte(w)));
  }

  ConvolutionAttributes attributes_;

 private:
  size_t weights_;
  Packed packed_;
};

class ConvInteger final : public ByteConvolution {
 public:
  explicit ConvInteger(const KernelInfo& info) : ByteConvolution(info, 1) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    const Tensor& w = context.input(1);
    Tensor& y = context.output(0);
    kernels::ConvGeometry g = attributes_.geometry(x.shape(), w.shape(), y.shape());
    kernels::ConvInt8 in = operands(g, x, context.input_if(2), context.input_if(3));
    if (y.element_count() == 0) return;
    with_weights(g, w, [&](const kernels::PackedConvWeightsInt8& weights) {
      kernels::conv_int8(&context.threads(), g, in, weights, y.mutable_data<int32_t>());
    });
  }
};

class QLinearConv : public ByteConvolution {
 public:
  explicit QLinearConv(const KernelInfo& info) : ByteConvolution(info, 3) {}

  void compute(KernelContext& context) const override { convolve(context, context.input(0), context.output(0)); }

 protected:
  /** The node's convolution of x, channels second, into y. */
  void convolve(KernelContext& context, const Tensor& x, Tensor& y) const {
    kernels::ConvGeometry g = attributes_.geometry(x.shape(), context.input(3).shape(), y.shape());
    if (y.element_count() == 0) return;
    if (kernels::takes_channels_last(g)) return by_channels_last(context, g, x, y);
    kernels::ConvInt8 in = operands(g, x, &context.input(2), &context.input(5));
    kernels::Requantization after = requantization(context, g, y);
    with_weights(g, context.input(3), [&](const kernels::PackedConvWeightsInt8& weights) {
      dispatch<ElementType::kInt8 | ElementType::kUInt8>(y.type(), [&]<class T>(TypeTag<T>) {
        kernels::qlinear_conv<T>(&context.threads(), g, in, weights, after.bias, after.scale, after.scale_per_channel,
                                 after.y_zero, y.mutable_data<T>());
      });
    });
  }

  /** A depthwise convolution of x, with channels last as y has. */
  void convolve_depthwise(KernelContext& context, const kernels::ConvGeometry& g, const Tensor& x, Tensor& y) const {
    kernels::ConvInt8 in = operands(g, x, &context.input(2), &context.input(5));
    kernels::Requantization after = requantization(context, g, y);
    with_weights(g, context.input(3), [&](const kernels::PackedConvWeightsInt8& weights) {
      kernels::depthwise_channels_last(&context.threads(), g, in, weights, after,
                                       static_cast<uint8_t*>(y.mutable_raw()));
    });
  }

  kernels::Requantization requantization(KernelContext& context, const kernels::ConvGeometry& g,
                                         const Tensor& y) const {
    kernels::Requantization after{};
    after.y_zero = single_zero_point(&context.input(7), "y_zero_point");
    after.scale = scales(context, g.out_channels, after.scale_per_channel);
    after.bias = bias(context, g.out_channels);
    after.y_signed = is_signed_byte(y);
    return after;
  }

  /** Moves the channels of `images` images before the other dimensions or, where `back`, behind them. */
  static void exchange(KernelContext& context, int64_t images, int64_t count, int64_t channels, bool back,
                       const void* from, void* to) {
    if (count == 0) return;
    int64_t plane = count / images / channels;
    const int64_t dims[] = {images, back ? channels : plane, back ? plane : channels};
    const int order[] = {0, 2, 1};
    kernels::transpose(&context.threads(), 1, 3, dims, order, from, to);
  }

  static const int32_t* bias(const KernelContext& context, int64_t channels) {
    const Tensor* bias = context.input_if(8);
    require(!bias || bias->element_count() == channels, ErrorCode::kInvalidArgument, "the bias has shape ",
            bias ? bias->shape() : Shape(), "; it needs ", channels, " values");
    return bias ? bias->data<int32_t>() : nullptr;
  }

  /** x_scale * w_scale / y_scale, one value or one a channel. */
  static const float* scales(KernelContext& context, int64_t channels, bool& by_channel) {
    const Tensor& w_scale = context.input(4);
    for (size_t i : {1, 6}) {
      require(context.input(i).element_count() == 1, ErrorCode::kInvalidArgument, i == 1 ? "x_scale" : "y_scale",
              " has shape ", context.input(i).shape(), "; it must hold one value");
    }
    by_channel = per_channel(w_scale, channels, "w_scale");
    int64_t count = w_scale.element_count();
    float* result = context.scratch<float>(count).data();
    float x_scale = *context.input(1).data<float>(), y_scale = *context.input(6).data<float>();
    for (int64_t i = 0; i < count; ++i) result[i] = x_scale * w_scale.data<float>()[i] / y_scale;
    return result;
  }

 private:
  void by_channels_last(KernelContext& context, const kernels::ConvGeometry& g, const Tensor& x, Tensor& y) const {
    Tensor in(x.type(), x.shape(), context.scratch<uint8_t>(x.element_count()).data());
    Tensor out(y.type(), y.shape(), context.scratch<uint8_t>(y.element_count()).data());
    exchange(context, g.batch, x.element_count(), g.in_channels, true, x.raw(), in.mutable_raw());
    convolve_depthwise(context, g, in, out);
    exchange(context, g.batch, y.element_count(), g.out_channels, false, out.raw(), y.mutable_raw());
  }
};

/** With channels last. Kernels of one element are products of matrices; others run with channels second. */
class ChannelsLastQLinearConv final : public QLinearConv {
 public:
  explicit ChannelsLastQLinearConv(const KernelInfo& info)
      : QLinearConv(info), matrix_(info.node().int_or("group", 1) == 1 ? pack_byte_matrix(info, 3, true) : nullptr) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    require(x.rank() >= 3 && x.rank() == y.rank(), ErrorCode::kInvalidArgument, "input ", x.shape(),
            " has no spatial dimensions");
    Tensor in(x.type(), channels_second(x.shape()), context.scratch<uint8_t>(x.element_count()).data());
    Tensor out(y.type(), channels_second(y.shape()), context.scratch<uint8_t>(y.element_count()).data());
    kernels::ConvGeometry g = attributes_.geometry(in.shape(), context.input(3).shape(), out.shape());
    if (is_pointwise(g)) return multiply(context, g, x, y);
    if (kernels::takes_channels_last(g) && y.element_count() > 0) return convolve_depthwise(context, g, x, y);
    exchange(context, x.shape()[0], x.element_count(), x.shape().back(), false, x.raw(), in.mutable_raw());
    convolve(context, in, out);
    exchange(context, y.shape()[0], y.element_count(), y.shape().back(), true, out.raw(), y.mutable_raw());
  }
  ConstantUse constant_use(size_t) const override { return ConstantUse::kElements; }

 private:
  static Shape channels_second(const Shape& shape) {
    Shape result = shape;
    std::rotate(result.begin() + 1, result.end() - 1, result.end());
    return result;
  }

  static bool is_pointwise(const kernels::ConvGeometry& g) {
    bool one = g.groups == 1;
    for (int i = 0; i < 3; ++i) one = one && g.kernel[i] == 1 && g.stride[i] == 1 && g.in[i] == g.out[i];
    return one;
  }

  void multiply(KernelContext& context, const kernels::ConvGeometry& g, const Tensor& x, Tensor& y) const {
    const Tensor& w = context.input(3);
    kernels::ConvInt8 in = operands(g, x, &context.input(2), &context.input(5));
    bool by_channel;
    const float* scale = scales(context, g.out_channels, by_channel);
    const int32_t* added = bias(context, g.out_channels);
    int32_t y_zero = single_zero_point(&context.input(7), "y_zero_point");
    int64_t rows = y.element_count() / std::max<int64_t>(g.out_channels, 1);
    if (y.element_count() == 0) return;
    kernels::ByteMatrix bytes{w.raw(), g.in_channels, true, is_signed_byte(w)};
    kernels::RightInt8 b =
        matrix_ ? kernels::RightInt8(*matrix_) : kernels::RightInt8(g.in_channels, g.out_channels, bytes);
    kernels::ZeroPoints zeros{context.input(2).raw(), false, in.w_zero, in.w_zero_per_channel};
    // Rows of y from `first` on, `count` of them.
    auto finish = [&](ThreadPool* threads, int64_t first, int64_t count, int32_t* sums) {
      const char* from = static_cast<const char*>(x.raw()) + first * g.in_channels;
      kernels::gemm_int8(threads, count, {from, g.in_channels, false, in.x_signed}, b, zeros, sums, g.out_channels);
      dispatch<ElementType::kInt8 | ElementType::kUInt8>(y.type(), [&]<class T>(TypeTag<T>) {
        kernels::requantize<T>(threads, count, g.out_channels, sums, g.out_channels, added, scale, by_channel, y_zero,
                               y.mutable_data<T>() + first * g.out_channels, g.out_channels);
      });
    };
    int64_t bands = rows / kBandRows;
    if (!matrix_ || bands < context.threads().degree()) {
      return finish(&context.threads(), 0, rows, context.scratch<int32_t>(y.element_count()).data());
    }
    context.threads().parallel_for(bands, 1, [&](int64_t begin, int64_t end) {
      const kernels::Scratch<int32_t> sums(2 * kBandRows * g.out_channels);
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i * kBandRows, count = i + 1 == bands ? rows - first : kBandRows;
        finish(nullptr, first, count, sums.data());
      }
    });
  }

  std::shared_ptr<const kernels::PackedMatrixInt8> matrix_;
};

std::unique_ptr<OpKernel> make_any_layout(const KernelInfo& info) {
  if (channels_last(info)) return std::make_unique<ChannelsLastQLinearConv>(info);
  return std::make_unique<QLinearConv>(info);
}

constexpr KernelRow kRows[] = {
    {"", "ConvInteger", 10, kLatest, make_kernel<ConvInteger>},
    {"", "QLinearConv", 10, kLatest, make_kernel<QLinearConv>},
    {"com.microsoft", "QLinearConv", 1, kLatest, make_any_layout},
};

}  // namespace

extern const KernelTable conv_integer_rows;
const KernelTable conv_integer_rows(kRows);
}  // namespace ortolan::cpu::onnx
