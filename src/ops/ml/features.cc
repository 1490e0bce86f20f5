// ai.onnx.ml operators that prepare features: encoders, imputing, scaling, and the ones between maps and tensors.
#include "ops/element_dims.h"
#include "ops/ml/domain.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::ml {
namespace {

constexpr TypeSet kNumbersAndStrings = kNumbers | ElementType::kString;
constexpr TypeSet kLabels = kNumbersAndStrings | ElementType::kInt16;

void array_feature_extractor_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  Dim picks = context.has_shape(1) ? context.shape(1).element_count() : Dim{};
  if (!input.has_rank()) return context.set_output(0, context.element(0), {});
  context.require_rank(0, 1, kMaxRank);
  DimVector dims = input.rank() == 1 ? DimVector{Dim(1), Dim{}} : input.dims();
  dims.back() = picks;
  context.set_output(0, context.element(0), dims);
}

void float_like_first_rule(InferContext& context) { context.set_output(0, ElementType::kFloat, context.shape(0)); }

void cast_map_rule(InferContext& context) {
  std::string_view to = context.node().string_or("cast_to", "TO_FLOAT");
  ElementType type = to == "TO_FLOAT"   ? ElementType::kFloat
                     : to == "TO_INT64" ? ElementType::kInt64
                                        : ElementType::kString;
  require(type != ElementType::kString || to == "TO_STRING", ErrorCode::kInvalidGraph, "cast_to '", to,
          "' is unknown; it must be TO_FLOAT, TO_INT64 or TO_STRING");
  context.set_output(0, type, DimVector{Dim(1), Dim{}});
}

void category_mapper_rule(InferContext& context) {
  ElementType type = context.element(0) == ElementType::kString ? ElementType::kInt64 : ElementType::kString;
  context.set_output(0, type, context.shape(0));
}

void dict_vectorizer_rule(InferContext& context) {
  const TypeInfo& map = context.input_type(0);
  ElementType type = map.contained ? map.contained->element : ElementType::kUndefined;
  size_t words = context.node().strings("string_vocabulary").size() + context.node().ints("int64_vocabulary").size();
  context.set_output(0, type, Shape{1, static_cast<int64_t>(words)});
}

void feature_vectorizer_rule(InferContext& context) {
  Dim rows, columns(0);
  for (size_t i = 0; i < context.input_count(); ++i) {
    const SymbolicShape& shape = context.shape(i);
    if (!shape.has_rank()) {
      columns = Dim{};
      continue;
    }
    context.require_rank(i, 1, kMaxRank);
    Dim own = shape.rank() == 1 ? Dim(1) : shape[0];
    require(!rows.known() || !own.known() || rows == own, ErrorCode::kInvalidArgument, "input ", i, " has shape ",
            shape, ", but earlier inputs have ", rows.known() ? rows.value() : 0, " rows");
    if (own.known() || rows == Dim{}) rows = own;
    Dim width(1);
    for (size_t d = shape.rank() == 1 ? 0 : 1; d < shape.rank(); ++d) width = multiply(width, shape[d]);
    columns = add(columns, width);
  }
  context.set_output(0, ElementType::kFloat, DimVector{rows, columns});
}

ElementType values_type(const Node& node) {
  if (node.has_attribute("values_tensor")) return node.tensor_of("values_tensor").type();
  if (node.has_attribute("values_strings")) return ElementType::kString;
  if (node.has_attribute("values_int64s")) return ElementType::kInt64;
  require(node.has_attribute("values_floats"), ErrorCode::kInvalidGraph,
          "no values are given; set one of values_strings, values_int64s, values_floats, values_tensor");
  return ElementType::kFloat;
}

void label_encoder_rule(InferContext& context) {
  if (context.opset() < 2) return category_mapper_rule(context);
  context.set_output(0, values_type(context.node()), context.shape(0));
}

void one_hot_encoder_rule(InferContext& context) {
  size_t categories = context.node().ints("cats_int64s").size() + context.node().strings("cats_strings").size();
  if (!context.has_shape(0)) return context.set_output(0, ElementType::kFloat, {});
  DimVector dims = context.shape(0).dims();
  dims.push_back(static_cast<int64_t>(categories));
  context.set_output(0, ElementType::kFloat, dims);
}

void zip_map_rule(InferContext& context) {
  ElementType key = context.node().has_attribute("classlabels_strings") ? ElementType::kString : ElementType::kInt64;
  context.set_type(0, TypeInfo::of_sequence(TypeInfo::of_map(key, TypeInfo::of_tensor(ElementType::kFloat, Shape{}))));
}

constexpr SchemaRow kRows[] = {
    {kDomain,
     "ArrayFeatureExtractor",
     1,
     kLatest,
     2,
     1,
     array_feature_extractor_rule,
     {{0, kNumbersAndStrings}, {1, ElementType::kInt64}}},
    {kDomain, "Binarizer", 1, kLatest, 1, 1, same_as_first_input, {{0, kNumbers}}},
    {kDomain, "CastMap", 1, kLatest, 1, 1, cast_map_rule},
    {kDomain,
     "CategoryMapper",
     1,
     kLatest,
     1,
     1,
     category_mapper_rule,
     {{0, ElementType::kString | ElementType::kInt64}}},
    {kDomain, "DictVectorizer", 1, kLatest, 1, 1, dict_vectorizer_rule},
    {kDomain, "FeatureVectorizer", 1, kLatest, {1, kVariadic}, 1, feature_vectorizer_rule, {{kTheRest, kNumbers}}},
    {kDomain, "Imputer", 1, kLatest, 1, 1, same_as_first_input, {{0, kNumbers}}},
    {kDomain, "LabelEncoder", 1, kLatest, 1, 1, label_encoder_rule, {{0, kLabels}}},
    {kDomain, "Normalizer", 1, kLatest, 1, 1, float_like_first_rule, {{0, kNumbers}}},
    {kDomain, "OneHotEncoder", 1, kLatest, 1, 1, one_hot_encoder_rule, {{0, kNumbersAndStrings}}},
    {kDomain, "Scaler", 1, kLatest, 1, 1, float_like_first_rule, {{0, kNumbers}}},
    {kDomain, "ZipMap", 1, kLatest, 1, 1, zip_map_rule, {{0, ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable features_rows;
const SchemaTable features_rows(kRows);

}  // namespace ortolan::ops::ml
