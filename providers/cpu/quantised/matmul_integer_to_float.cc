// Products of bytes as floats, finished while they are in the cache.
#include "cpu/quantised/matmul_integer_to_float.h"

#include "cpu/elements/float_tensors.h"
#include "cpu/quantised/dynamic_quantization.h"

namespace ortolan::cpu {

void FloatByteProduct::run_to_floats(KernelContext& context, const StackedProduct& p, const ByteOperands& in,
                                     const FloatFactors& factors) const {
  OutputAs<float> y(context, 0);
  const Tensor *bias = factors.bias, *addend = factors.addend;
  require(!bias || bias->element_count() == p.n, ErrorCode::kInvalidArgument, "the bias has shape ",
          bias ? bias->shape() : Shape(), "; it needs ", p.n, " values, one a column");
  require(!addend || addend->shape() == y.shape(), ErrorCode::kInvalidArgument, "the addend has shape ",
          addend ? addend->shape() : Shape(), ", the result ", y.shape(), "; they must be equal");
  PerLine columns(factors.b_scale, p.n, p.count, "b_scale");
  const float* b_scales = read_as<float>(context, *factors.b_scale);
  std::span<float> scales = context.scratch<float>(columns.single() ? 1 : p.n);
  kernels::SumEpilogue epilogue;
  epilogue.scale = scales.data();
  epilogue.scale_per_column = !columns.single();
  epilogue.activation = factors.activation;
  RangeOutput range(context, 1);
  epilogue.range = range.wanted();
  if (bias) epilogue.bias = read_as<float>(context, *bias);
  const float* addends = addend ? read_as<float>(context, *addend) : nullptr;
  auto epilogue_of = [&](int64_t i) {
    const float* from = b_scales + columns.first(i);
    for (size_t j = 0; j < scales.size(); ++j) scales[j] = factors.a_scale * from[j];
    if (addends) epilogue.residual = addends + i * p.m * p.n, epilogue.residual_stride = p.n;
    return epilogue;
  };
  run(context, p, in, epilogue_of, y.data());
  y.finish();
  range.finish();
}

void MatMulIntegerToFloat::compute(KernelContext& context) const {
  ByteOperands in{&context.input(0), &context.input(1), context.input_if(4), context.input_if(5)};
  const Tensor& a_scale = context.input(2);
  require(a_scale.element_count() == 1, ErrorCode::kInvalidArgument, "a_scale has shape ", a_scale.shape(),
          "; it must hold one value");
  FloatFactors factors{*read_as<float>(context, a_scale), &context.input(3), context.input_if(6), context.input_if(7),
                       activation_};
  run_to_floats(context, stacked_product(in.a->shape(), in.b->shape()), in, factors);
}

}  // namespace ortolan::cpu
