// FlexAttention (ai.onnx.preview): attention whose scores, and probabilities, a subgraph may change.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

ElementType softmax_element(const InferContext& context) {
  ElementType type = context.element(0);
  if (type == ElementType::kUndefined) return type;
  int64_t fallback = static_cast<int64_t>(type == ElementType::kDouble ? type : ElementType::kFloat);
  int64_t precision = context.node().int_or("softmax_precision", fallback);
  require(precision > 0 && precision < kElementTypeCount && kFloatTypes.contains(static_cast<ElementType>(precision)),
          ErrorCode::kInvalidGraph, "softmax_precision is ", precision, "; it must name one of ", kFloatTypes);
  return static_cast<ElementType>(precision);
}

void infer_modifier(const InferContext& context, const char* attribute, const TypeInfo& scores) {
  if (!context.node().has_attribute(attribute)) return;
  size_t count = context.infer_subgraph(attribute, std::span(&scores, 1)).size();
  require(count == 1, ErrorCode::kInvalidGraph, attribute, " has ", count, " outputs; it must have one");
}

void flex_attention(InferContext& context) {
  for (size_t i = 0; i < 3; ++i) context.require_rank(i, 4, 4);
  auto dim = [&](size_t input, size_t i) { return context.has_shape(input) ? context.shape(input)[i] : Dim(); };
  DimVector scores{dim(0, 0), dim(0, 1), dim(0, 2), dim(1, 2)};
  TypeInfo type = TypeInfo::of_tensor(softmax_element(context), scores);
  infer_modifier(context, "score_mod", type);
  infer_modifier(context, "prob_mod", type);
  context.set_output(0, context.element(0), DimVector{dim(0, 0), dim(0, 1), dim(0, 2), dim(2, 3)});
}

constexpr SchemaRow kRows[] = {
    {"ai.onnx.preview", "FlexAttention", 1, kLatest, 3, 1, flex_attention, {{kTheRest, kFloatTypes, 'T'}}}};

}  // namespace

extern const SchemaTable flex_attention_rows;
constinit const SchemaTable flex_attention_rows(kRows);

}  // namespace ortolan::ops::onnx
