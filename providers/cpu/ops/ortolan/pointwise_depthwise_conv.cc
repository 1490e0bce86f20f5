// PointwiseDepthwiseConv: a 1x1 convolution and the depthwise one of its result, whose values between stay in the
// caches where they can.
#include "cpu/convolution/conv.h"
#include "cpu/kernels/convolution/conv_pair_f32.h"
#include "cpu/products/fused_activation.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ortolan {
namespace {

/** Inputs X, filters, weights of the 1x1 convolution, and biases of both; filters and weights are constants. */
class PointwiseDepthwiseConv final : public OpKernel {
 public:
  explicit PointwiseDepthwiseConv(const KernelInfo& info)
      : attributes_(info, 1),
        activation_(fused_activation(info.node())),
        first_activation_(activation_called(info.node().string_or("ortolan.first_activation", "Identity"),
                                            info.node().floats("ortolan.first_activation_params"))),
        weights_(packed_conv_weights(info, constant(info, 1), second_form(info, attributes_))),
        first_weights_(packed_conv_weights(info, constant(info, 2), first_form(info))) {}

  KernelReport report(const KernelContext& context) const override {
    const std::string_view first = context.node().string_or("ortolan.first_activation", "");
    return {join("conv_f32 ", first_weights_->method(), " 1x1", first.empty() ? "" : " + ", first, ", ",
                 weights_->method(), " ", window_text(context.input(1).shape()), activation_text(context.node())),
            first_weights_->isa()};
  }

  ConstantUse constant_use(size_t i) const override {
    return i == 1 || i == 2 ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  void compute(KernelContext& context) const override {
    const Shape &x = context.input(0).shape(), &w = context.input(1).shape(), &first = context.input(2).shape();
    Tensor& y = context.output(0);
    require(x.rank() == 4 && x[1] == first[1], ErrorCode::kInvalidArgument, "input ", x, " does not fit weights ",
            first, "; it needs 4 dimensions and ", first[1], " channels");
    kernels::ConvPair pair{first_geometry(first),
                           attributes_.geometry({x[0], first[0], x[2], x[3]}, w, y.shape()),
                           *first_weights_,
                           *weights_,
                           {bias(context, 4, first[0]), nullptr, first_activation_},
                           {bias(context, 3, w[0]), nullptr, activation_}};
    pair.first.batch = x[0];
    for (size_t i = 1; i < 3; ++i) pair.first.in[i] = pair.first.out[i] = x[i + 1];
    auto between = [&](int64_t floats) { return context.scratch<float>(floats).data(); };
    kernels::conv_pair(&context.threads(), pair, context.input(0).data<float>(), between, y.mutable_data<float>());
  }

 private:
  static const Tensor& constant(const KernelInfo& info, size_t i) {
    const Tensor* weights = info.weights_input(i);
    require(weights != nullptr && weights->rank() == 4 && weights->element_count() > 0, ErrorCode::kNotImplemented,
            "input ", i, " is no constant of 4 dimensions; use two nodes of Conv");
    return *weights;
  }

  static kernels::ConvGeometry first_geometry(const Shape& w) {
    kernels::ConvGeometry g;
    g.in_channels = w[1];
    g.out_channels = w[0];
    return g;
  }

  static ConvForm second_form(const KernelInfo& info, const ConvolutionAttributes& attributes) {
    ConvForm form{attributes.weight_geometry(constant(info, 1).shape())};
    form.packing.positions = output_positions(info);
    return form;
  }

  static ConvForm first_form(const KernelInfo& info) {
    const Shape &w = constant(info, 2).shape(), &filters = constant(info, 1).shape();
    require(w[2] == 1 && w[3] == 1, ErrorCode::kInvalidGraph, "the pointwise weights have shape ", w,
            "; their windows must be 1x1");
    require(filters[0] == w[0] && filters[1] == 1 && info.node().int_or("group", 1) == w[0], ErrorCode::kInvalidGraph,
            "the depthwise weights have shape ", filters, "; they need one filter for each of ", w[0],
            " channels, and as many groups");
    ConvForm form{first_geometry(w)};
    const SymbolicShape& x = info.input_type(0).shape;
    const Dim positions = x.rank() == 4 ? multiply(x[2], x[3]) : Dim();
    form.packing.positions = positions.known() ? positions.value() : 0;
    return form;
  }

  static const float* bias(KernelContext& context, size_t i, int64_t channels) {
    const Tensor* values = context.input_if(i);
    require(!values || values->element_count() == channels, ErrorCode::kInvalidArgument, "input ", i, " has ",
            values ? values->element_count() : 0, " values for ", channels, " channels");
    return values ? values->data<float>() : nullptr;
  }

  ConvolutionAttributes attributes_;
  kernels::Activation activation_, first_activation_;
  std::shared_ptr<const kernels::PackedConvWeights> weights_, first_weights_;
};

constexpr KernelRow kRows[] = {
    {"ortolan", "PointwiseDepthwiseConv", 1, kLatest, make_kernel<PointwiseDepthwiseConv>, {{0, ElementType::kFloat}}},
};

}  // namespace

extern const KernelTable pointwise_depthwise_conv_rows;
const KernelTable pointwise_depthwise_conv_rows(kRows);
}  // namespace ortolan::cpu::ortolan
