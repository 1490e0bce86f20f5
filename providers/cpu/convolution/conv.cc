// Conv: geometry, packing, and the call of the kernel.
#include "cpu/convolution/conv.h"

#include "cpu/convolution/convolution_f64.h"
#include "cpu/convolution/windows_nd.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/products/fused_activation.h"
#include "cpu/products/packed_form.h"

namespace ortolan::cpu {
namespace {

std::shared_ptr<const kernels::PackedConvWeights> pack(const KernelInfo& info,
                                                       const ConvolutionAttributes& attributes) {
  const Tensor* weights = info.weights_input(1);
  if (weights == nullptr || weights->type() == ElementType::kDouble || weights->element_count() == 0 ||
      weights->rank() > kMostKernelSpatial + 2) {
    return nullptr;
  }
  ConvForm form{attributes.weight_geometry(weights->shape())};
  form.packing.positions = output_positions(info);
  return packed_conv_weights(info, *weights, form);
}

void check_bias(const Tensor* bias, int64_t channels) {
  require(!bias || bias->element_count() == channels, ErrorCode::kInvalidArgument, "the bias has shape ",
          bias ? bias->shape() : Shape(), "; it needs one value for each of the ", channels, " output channels");
}

/** A 1x1 convolution of one channel a group with the same result shape: over zeros it gives what sums without terms
    do, where there are no input channels. */
kernels::ConvGeometry without_terms(const kernels::ConvGeometry& from) {
  kernels::ConvGeometry g;
  g.batch = from.batch, g.groups = from.groups;
  g.in_channels = from.groups, g.out_channels = from.out_channels;
  for (size_t i = 0; i < 3; ++i) g.in[i] = g.out[i] = from.out[i];
  return g;
}

const float* zeros(KernelContext& context, int64_t count) {
  auto values = context.scratch<float>(count);
  std::fill(values.begin(), values.end(), 0.0f);
  return values.data();
}

}  // namespace

std::shared_ptr<const kernels::PackedConvWeights> packed_conv_weights(const KernelInfo& info, const Tensor& weights,
                                                                      const ConvForm& form) {
  auto pack = [](ThreadPool& threads, const Tensor& w, const ConvForm& f) {
    Tensor floats = floats_to_pack(is_aligned(w.type(), w.raw()) ? w : clone(w));
    return kernels::pack_conv_weights(&threads, f.geometry, floats.data<float>(), f.packing);
  };
  return pack_once(info, weights, "conv_f32", pack, form);
}

Conv::Conv(const KernelInfo& info)
    : attributes_(info, 1, true), activation_(fused_activation(info.node())), weights_(pack(info, attributes_)) {}

KernelReport Conv::report(const KernelContext& context) const {
  const Shape& w = context.input(1).shape();
  if (w.rank() > kMostKernelSpatial + 2) return {join("conv_nd ", window_text(w)), kernels::plain_isa()};
  if (context.input(0).type() == ElementType::kDouble) return {join("conv_f64 ", window_text(w)), kernels::plain_isa()};
  std::string method = weights_ ? weights_->method() : "weights packed in each run";
  return {join("conv_f32 ", method, " ", window_text(w), activation_text(context.node())),
          weights_ ? weights_->isa() : kernels::product_isa()};
}

void Conv::compute(KernelContext& context) const {
  if (context.input(1).rank() > kMostKernelSpatial + 2) return conv_nd(context, attributes_.group(), activation_);
  context.input(0).type() == ElementType::kDouble ? compute_double(context) : compute_float(context);
}

void Conv::compute_float(KernelContext& context) const {
  OutputAs<float> y(context, 0);
  const Tensor& w = context.input(1);
  kernels::ConvGeometry g = attributes_.geometry(context.input(0).shape(), w.shape(), y.shape());
  check_bias(context.input_if(2), g.out_channels);
  if (y.shape().element_count() == 0) return;
  kernels::ConvEpilogue epilogue;
  epilogue.bias = read_input<float>(context, 2);
  epilogue.activation = activation_;
  if (const Tensor* residual = context.input_if(3)) {
    require(residual->shape() == y.shape(), ErrorCode::kInvalidArgument, "Z has shape ", residual->shape(),
            ", the result ", y.shape(), "; they must be equal");
    epilogue.residual = read_as<float>(context, *residual);
  }
  const float *x = read_input<float>(context, 0), *weights = nullptr;
  if (w.element_count() == 0) {
    g = without_terms(g);
    x = zeros(context, Shape{g.batch, g.in_channels, g.in[0], g.in[1], g.in[2]}.element_count());
    weights = zeros(context, g.out_channels);
  } else if (!weights_) {
    weights = read_as<float>(context, w);
  }
  if (weights) {
    kernels::ConvPacking packing;
    packing.positions = g.out[0] * g.out[1] * g.out[2];
    kernels::conv(&context.threads(), g, x, kernels::pack_conv_weights(&context.threads(), g, weights, packing),
                  epilogue, y.data());
  } else {
    kernels::conv(&context.threads(), g, x, *weights_, epilogue, y.data());
  }
  y.finish();
}

void Conv::compute_double(KernelContext& context) const {
  require(activation_.op == kernels::UnaryOp::kIdentity && !context.has_input(3), ErrorCode::kNotImplemented,
          "a fused residual or activation needs float tensors");
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(1);
  const Tensor* bias = context.input_if(2);
  Tensor& y = context.output(0);
  kernels::ConvGeometry g = attributes_.geometry(x.shape(), w.shape(), y.shape());
  check_bias(bias, g.out_channels);
  conv_f64(&context.threads(), g, x.data<double>(), w.data<double>(), bias ? bias->data<double>() : nullptr,
           y.mutable_data<double>());
}

}  // namespace ortolan::cpu
