// ConvTranspose and com.microsoft's form of it whose pads are input 2, for all floating-point types; 16-bit floats
// compute in float.
#include "cpu/convolution_f64.h"
#include "cpu/convolution_geometry.h"
#include "cpu/float_tensors.h"
#include "cpu/fused_activation.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/windows_nd.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class ConvTranspose final : public OpKernel {
 public:
  explicit ConvTranspose(const KernelInfo& info)
      : node_(&info.node()),
        activation_(fused_activation(info.node())),
        dynamic_(!info.node().domain.empty()),
        constant_(info.constant_input(1)) {
    if (constant_) attributes_ = attributes_for(constant_->shape());
  }
  void compute(KernelContext& context) const override;
  KernelReport report(const KernelContext& context) const override {
    const Shape& w = context.input(1).shape();
    std::string window = window_text(w) + activation_text(context.node());
    if (w.rank() > kMostKernelSpatial + 2) return {"conv_transpose_nd " + window, kernels::plain_isa()};
    if (context.input(0).type() == ElementType::kDouble) return {"conv_transpose_f64 " + window, kernels::plain_isa()};
    return {"conv_transpose_f32 " + window, kernels::float_isa()};
  }

 private:
  ops::ConvTransposeAttributes attributes_for(const Shape& w) const {
    require(w.rank() >= 3, ErrorCode::kInvalidArgument, "the weights ", w, " must have rank 3 or more");
    std::vector<int64_t> kernel(w.begin() + 2, w.end());
    return ops::conv_transpose_attributes(*node_, kernel.size(), kernel);
  }
  kernels::ConvGeometry geometry(const KernelContext& context, const Shape& y) const;
  ops::ConvTransposeAttributes run_attributes(const KernelContext& context) const;
  size_t bias_input() const { return dynamic_ ? 3 : 2; }
  void compute_float(KernelContext& context, const kernels::ConvGeometry& g) const;

  const Node* node_;
  kernels::Activation activation_;
  bool dynamic_;  // pads are input 2
  const Tensor* constant_;
  std::optional<ops::ConvTransposeAttributes> attributes_;
};

kernels::ConvGeometry ConvTranspose::geometry(const KernelContext& context, const Shape& y) const {
  const Shape &x = context.input(0).shape(), &w = context.input(1).shape();
  if (attributes_ && !dynamic_) return transposed_geometry(*attributes_, x, w, y);
  return transposed_geometry(run_attributes(context), x, w, y);
}

ops::ConvTransposeAttributes ConvTranspose::run_attributes(const KernelContext& context) const {
  ops::ConvTransposeAttributes attributes = attributes_ ? *attributes_ : attributes_for(context.input(1).shape());
  if (const Tensor* pads = dynamic_ ? context.input_if(2) : nullptr) ops::set_pads(attributes, to_int64s(*pads));
  return attributes;
}

void ConvTranspose::compute(KernelContext& context) const {
  const Tensor& x = context.input(0);
  const Tensor& w = context.input(1);
  const Tensor* bias = context.input_if(bias_input());
  Tensor& y = context.output(0);
  if (w.rank() > kMostKernelSpatial + 2) {
    return conv_transpose_nd(context, run_attributes(context), bias_input(), activation_);
  }
  kernels::ConvGeometry g = geometry(context, y.shape());
  require(!bias || bias->element_count() == g.out_channels, ErrorCode::kInvalidArgument, "the bias has shape ",
          bias ? bias->shape() : Shape(), "; it needs one value for each of the ", g.out_channels, " output channels");
  if (y.element_count() == 0) return;
  if (x.type() != ElementType::kDouble) return compute_float(context, g);
  conv_transpose_f64(&context.threads(), g, x.data<double>(), w.data<double>(), bias ? bias->data<double>() : nullptr,
                     y.mutable_data<double>());
}

void ConvTranspose::compute_float(KernelContext& context, const kernels::ConvGeometry& g) const {
  OutputAs<float> y(context, 0);
  kernels::ConvEpilogue epilogue;
  epilogue.bias = read_input<float>(context, bias_input());
  epilogue.activation = activation_;
  kernels::conv_transpose(&context.threads(), g, read_input<float>(context, 0), read_input<float>(context, 1), epilogue,
                          y.data());
  y.finish();
}

constexpr KernelRow kRows[] = {
    {"", "ConvTranspose", 1, kLatest, make_kernel<ConvTranspose>, {{0, kFloatTypes}}},
    {"com.microsoft", "ConvTransposeWithDynamicPads", 1, kLatest, make_kernel<ConvTranspose>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable conv_transpose_rows;
const KernelTable conv_transpose_rows(kRows);
}  // namespace ortolan::cpu::onnx
