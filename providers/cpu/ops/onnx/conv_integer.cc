// ConvInteger and QLinearConv over exact 32-bit sums. Constant weights are packed once.
#include "cpu/byte_tensors.h"
#include "cpu/convolution_geometry.h"
#include "cpu/float_tensors.h"
#include "cpu/kernels/conv_int8.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

using Packed = std::shared_ptr<const kernels::PackedConvWeightsInt8>;

Packed pack(const KernelInfo& info, size_t i, const ConvolutionAttributes& attributes) {
  const Tensor* w = info.weights_input(i);
  if (!w || w->element_count() == 0) return nullptr;
  kernels::ConvGeometry g = attributes.weight_geometry(w->shape());
  std::string layout = join("conv_int8 ", name_of(w->type()), " ", w->shape(), " g", g.groups, " s",
                            Shape(g.stride, g.stride + 3), " d", Shape(g.dilation, g.dilation + 3));
  auto packed = info.packed_weights().get(*w, layout, [&]() -> std::shared_ptr<void> {
    return std::make_shared<kernels::PackedConvWeightsInt8>(
        kernels::pack_conv_weights_int8(g, w->raw(), is_signed_byte(*w)));
  });
  return std::static_pointer_cast<const kernels::PackedConvWeightsInt8>(packed);
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

class QLinearConv final : public ByteConvolution {
 public:
  explicit QLinearConv(const KernelInfo& info) : ByteConvolution(info, 3) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    const Tensor& w = context.input(3);
    Tensor& y = context.output(0);
    kernels::ConvGeometry g = attributes_.geometry(x.shape(), w.shape(), y.shape());
    kernels::ConvInt8 in = operands(g, x, &context.input(2), &context.input(5));
    int32_t y_zero = single_zero_point(&context.input(7), "y_zero_point");
    bool by_channel;
    const float* scale = scales(context, g.out_channels, by_channel);
    const Tensor* bias = context.input_if(8);
    require(!bias || bias->element_count() == g.out_channels, ErrorCode::kInvalidArgument, "the bias has shape ",
            bias ? bias->shape() : Shape(), "; it needs ", g.out_channels, " values");
    const int32_t* sums = bias ? bias->data<int32_t>() : nullptr;
    if (y.element_count() == 0) return;
    with_weights(g, w, [&](const kernels::PackedConvWeightsInt8& weights) {
      dispatch<ElementType::kInt8 | ElementType::kUInt8>(y.type(), [&]<class T>(TypeTag<T>) {
        kernels::qlinear_conv<T>(&context.threads(), g, in, weights, sums, scale, by_channel, y_zero,
                                 y.mutable_data<T>());
      });
    });
  }

 private:
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
};

constexpr KernelRow kRows[] = {
    {"", "ConvInteger", 10, kLatest, make_kernel<ConvInteger>},
    {"", "QLinearConv", 10, kLatest, make_kernel<QLinearConv>},
};

}  // namespace

extern const KernelTable conv_integer_rows;
const KernelTable conv_integer_rows(kRows);
}  // namespace ortolan::cpu::onnx
