// Operators on strings: StringNormalizer, StringConcat, StringSplit, RegexFullMatch, and TfIdfVectorizer, which counts
// n-grams of strings or integers.
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void string_normalizer_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  context.require_rank(0, 1, 2);
  if (!input.has_rank()) return context.set_output(0, ElementType::kString, {});
  require(input.rank() == 1 || !input[0].known() || input[0].is(1), ErrorCode::kInvalidArgument, "the input has shape ",
          input, "; it must be [C] or [1,C]");
  context.set_output(0, ElementType::kString, input.rank() == 1 ? DimVector{Dim{}} : DimVector{Dim(1), Dim{}});
}

void string_split_rule(InferContext& context) {
  SymbolicShape parts;
  if (context.has_shape(0)) {
    DimVector dims = context.shape(0).dims();
    dims.push_back(Dim{});
    parts = dims;
  }
  context.set_output(0, ElementType::kString, parts);
  context.set_output(1, ElementType::kInt64, context.shape(0));
}

void tf_idf_rule(InferContext& context) {
  const auto& places = context.node().ints("ngram_indexes");
  require(!places.empty(), ErrorCode::kInvalidGraph, "ngram_indexes is empty");
  int64_t last = *std::max_element(places.begin(), places.end());
  require(last >= 0 && last < INT64_MAX, ErrorCode::kInvalidGraph, "ngram_indexes holds ", last,
          " as the greatest index");
  context.require_rank(0, 0, 2);
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank()) return context.set_output(0, ElementType::kFloat, {});
  context.set_output(0, ElementType::kFloat,
                     input.rank() == 2 ? DimVector{input[0], Dim(last + 1)} : DimVector{Dim(last + 1)});
}

void regex_full_match_rule(InferContext& context) { context.set_output(0, ElementType::kBool, context.shape(0)); }

constexpr TypeSet kGrams = ElementType::kString | ElementType::kInt32 | ElementType::kInt64;
constexpr SchemaRow kRows[] = {
    {"", "StringNormalizer", 10, kLatest, 1, 1, string_normalizer_rule, {{0, ElementType::kString}}},
    {"", "StringConcat", 20, kLatest, 2, 1, broadcast_inputs, {{kTheRest, ElementType::kString}}},
    {"", "StringSplit", 20, kLatest, 1, 2, string_split_rule, {{0, ElementType::kString}}},
    {"", "RegexFullMatch", 20, kLatest, 1, 1, regex_full_match_rule, {{0, ElementType::kString}}},
    {"", "TfIdfVectorizer", 9, kLatest, 1, 1, tf_idf_rule, {{0, kGrams}}},
};

}  // namespace

extern const SchemaTable text_rows;
const SchemaTable text_rows(kRows);

}  // namespace ortolan::ops::onnx
