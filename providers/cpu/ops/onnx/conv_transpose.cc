// ConvTranspose and com.microsoft's form of it whose pads are input 2, for all floating-point types; 16-bit floats
// compute in float.
#include "cpu/convolution/convolution_f64.h"
#include "cpu/convolution/convolution_geometry.h"
#include "cpu/convolution/windows_nd.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/convolution/conv_transpose_f32.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/products/fused_activation.h"
#include "cpu/products/packed_form.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

bool spatial_sizes_known(const SymbolicShape& x) {
  bool known = x.has_rank();
  for (size_t i = 2; known && i < x.rank(); ++i) known = x[i].known();
  return known;
}

class ConvTranspose final : public OpKernel {
 public:
  explicit ConvTranspose(const KernelInfo& info)
      : node_(&info.node()), activation_(fused_activation(info.node())), dynamic_(!info.node().domain.empty()) {
    const Tensor* weights = info.weights_input(1);
    if (weights) attributes_ = attributes_for(weights->shape());
    if (weights && suits_packing(info, *weights)) packed_ = pack(info, *weights);
    sizes_are_known_ = spatial_sizes_known(info.input_type(0).shape);
  }
  void compute(KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    return i == 1 && packed_ != nullptr && sizes_are_known_ ? ConstantUse::kNothing : ConstantUse::kElements;
  }
  KernelReport report(const KernelContext& context) const override {
    const Shape& w = context.input(1).shape();
    std::string window = window_text(w) + activation_text(context.node());
    if (w.rank() > kMostKernelSpatial + 2) return {"conv_transpose_nd " + window, kernels::plain_isa()};
    if (context.input(0).type() == ElementType::kDouble) return {"conv_transpose_f64 " + window, kernels::plain_isa()};
    if (packed_ == nullptr) return {"conv_transpose_f32 weights packed in each run " + window, kernels::product_isa()};
    return {join("conv_transpose_f32 ", packed_->method(), " ", window), packed_->isa()};
  }

 private:
  ops::ConvTransposeAttributes attributes_for(const Shape& w) const {
    require(w.rank() >= 3, ErrorCode::kInvalidArgument, "the weights ", w, " must have rank 3 or more");
    std::vector<int64_t> kernel(w.begin() + 2, w.end());
    return ops::conv_transpose_attributes(*node_, kernel.size(), kernel);
  }
  bool suits_packing(const KernelInfo& info, const Tensor& weights) const;
  std::shared_ptr<const kernels::PackedTransposedWeights> pack(const KernelInfo& info, const Tensor& weights) const;
  kernels::ConvGeometry geometry(const KernelContext& context, const Shape& y) const;
  ops::ConvTransposeAttributes run_attributes(const KernelContext& context) const;
  size_t bias_input() const { return dynamic_ ? 3 : 2; }
  void compute_float(KernelContext& context, const kernels::ConvGeometry& g) const;

  const Node* node_;
  kernels::Activation activation_;
  bool dynamic_;  // pads are input 2
  std::optional<ops::ConvTransposeAttributes> attributes_;
  std::shared_ptr<const kernels::PackedTransposedWeights> packed_;  // of constant weights, where runs may use them
  bool sizes_are_known_ = false;                                    // then all runs do
};

/** Sizes like those of a run, where they can be known before one. */
std::optional<kernels::ConvGeometry> expected_geometry(const KernelInfo& info,
                                                       const ops::ConvTransposeAttributes& attributes, const Shape& w) {
  constexpr int64_t kUsual = 32;
  const bool pads_are_fixed = attributes.output_shape.empty() && attributes.window.auto_pad.substr(0, 4) != "SAME";
  const SymbolicShape& known = info.input_type(0).shape;
  Shape x{1, w[0]}, y{1, w[1] * attributes.group};
  for (size_t i = 2; i < w.rank(); ++i) {
    const Dim size = known.has_rank() && known.rank() == w.rank() ? known[i] : Dim();
    if (!size.known() && !pads_are_fixed) return std::nullopt;
    x.push_back(size.known() ? size.value() : kUsual);
    y.push_back(attributes.extent(i - 2, x[i]).size.value());
  }
  return transposed_geometry(attributes, x, w, y);
}

bool ConvTranspose::suits_packing(const KernelInfo& info, const Tensor& weights) const {
  const Shape& w = weights.shape();
  if (dynamic_ || weights.type() == ElementType::kDouble || weights.element_count() == 0) return false;
  if (w.rank() > kMostKernelSpatial + 2 || w[0] % attributes_->group != 0) return false;
  const auto expected = expected_geometry(info, *attributes_, w);
  return expected && kernels::suits_phases(*expected);
}

std::shared_ptr<const kernels::PackedTransposedWeights> ConvTranspose::pack(const KernelInfo& info,
                                                                            const Tensor& weights) const {
  auto pack = [](ThreadPool& threads, const Tensor& w, const ConvForm& f) {
    const Tensor floats = floats_to_pack(is_aligned(w.type(), w.raw()) ? w : clone(w));
    return kernels::pack_conv_transpose_weights(&threads, f.geometry, floats.data<float>());
  };
  return pack_once(info, weights, "conv_transpose_f32", pack,
                   ConvForm{*expected_geometry(info, *attributes_, weights.shape())});
}

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
  ThreadPool* threads = &context.threads();
  const float* x = read_input<float>(context, 0);
  if (packed_ != nullptr && (sizes_are_known_ || kernels::suits_phases(g))) {
    kernels::conv_transpose(threads, g, x, *packed_, epilogue, y.data());
  } else if (const float* w = read_input<float>(context, 1); kernels::suits_phases(g)) {
    const auto packed = kernels::pack_conv_transpose_weights(threads, g, w);
    kernels::conv_transpose(threads, g, x, packed, epilogue, y.data());
  } else {
    kernels::conv_transpose(threads, g, x, w, epilogue, y.data());
  }
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
