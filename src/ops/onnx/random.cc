// Random tensors: RandomNormal and RandomUniform of a given shape, their …Like forms, Bernoulli, Multinomial.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

ElementType type_or(const InferContext& context, ElementType fallback) {
  int64_t type = context.node().int_or("dtype", static_cast<int64_t>(fallback));
  require(type >= 0 && type < kElementTypeCount, ErrorCode::kInvalidGraph, "attribute dtype is ", type,
          "; set it to the number of an element type, 1 to ", kElementTypeCount - 1);
  return static_cast<ElementType>(type);
}

void random_shape(InferContext& context) {
  DimVector dims;
  require(context.node().has_attribute("shape"), ErrorCode::kInvalidGraph, "attribute shape is missing");
  for (int64_t dim : context.node().ints("shape")) {
    require(dim >= 0, ErrorCode::kInvalidGraph, "attribute shape holds ", dim, "; dimensions must not be negative");
    dims.push_back(dim);
  }
  context.set_output(0, type_or(context, ElementType::kFloat), SymbolicShape(std::move(dims)));
}

void random_like_shape(InferContext& context) {
  context.set_output(0, type_or(context, context.element(0)), context.shape(0));
}

void multinomial_shape(InferContext& context) {
  context.require_rank(0, 2, 2);
  int64_t samples = context.node().int_or("sample_size", 1);
  require(samples > 0, ErrorCode::kInvalidGraph, "attribute sample_size is ", samples, "; it must be positive");
  Dim batch = context.has_shape(0) ? context.shape(0)[0] : Dim{};
  context.set_output(0, type_or(context, ElementType::kInt32), SymbolicShape(DimVector{batch, samples}));
}

constexpr SchemaRow kRows[] = {
    {"", "RandomNormal", 1, kLatest, 0, 1, random_shape, {}, kNonDeterministic},
    {"", "RandomUniform", 1, kLatest, 0, 1, random_shape, {}, kNonDeterministic},
    {"", "RandomNormalLike", 1, kLatest, 1, 1, random_like_shape, {{0, kAllTypes}}, kNonDeterministic},
    {"", "RandomUniformLike", 1, kLatest, 1, 1, random_like_shape, {{0, kAllTypes}}, kNonDeterministic},
    {"", "Bernoulli", 15, kLatest, 1, 1, random_like_shape, {{0, kFloatTypes}}, kNonDeterministic},
    {"", "Multinomial", 7, kLatest, 1, 1, multinomial_shape, {{0, kFloatTypes}}, kNonDeterministic},
};

}  // namespace

extern const SchemaTable random_rows;
constinit const SchemaTable random_rows(kRows);

}  // namespace ortolan::ops::onnx
