// PointwiseDepthwiseConv: Conv with a filter for each channel of what a 1x1 Conv makes of X. Inputs are X, the filters,
// the weights of the 1x1 one, and the biases of both, in that order. Attributes are those of the depthwise one. Its
// activation is ortolan.activation, that of the 1x1 one ortolan.first_activation, with parameters in ..._params.
#include "ops/shape_rules.h"

namespace ortolan::ops::ortolan {
namespace {

void pointwise_depthwise_conv(InferContext& context) {
  constexpr size_t kRank = 4;
  context.require_rank(0, kRank, kRank);
  context.require_rank(1, kRank, kRank);
  if (!context.has_shape(0) || !context.has_shape(1)) return context.set_output(0, context.element(0), {});
  const SymbolicShape &x = context.shape(0), &w = context.shape(1);
  DimVector dims{x[0], w[0], Dim(), Dim()};
  if (w[2].known() && w[3].known()) {
    const int64_t kernel[] = {w[2].value(), w[3].value()};
    const WindowAttributes window = window_attributes(context.node(), 2, kernel);
    for (size_t i = 0; i < 2; ++i) dims[i + 2] = window.output_size(i, x[i + 2]);
  }
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"ortolan",
     "PointwiseDepthwiseConv",
     1,
     kLatest,
     {3, 5},
     1,
     pointwise_depthwise_conv,
     {{kTheRest, ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable pointwise_depthwise_conv_rows;
const SchemaTable pointwise_depthwise_conv_rows(kRows);
}  // namespace ortolan::ops::ortolan
