// Attention: softmax of scaled products of queries and keys times values, in groups of heads, with masks and a cache of
// keys and values. Opset 24 adds lengths of the cache's filled part, 25 windows.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** How many heads input i has: its second dimension, or at rank 3 the attribute. */
Dim heads(const InferContext& context, size_t i, const char* attribute) {
  if (!context.has_shape(i)) return {};
  if (context.shape(i).rank() == 4) return context.shape(i)[1];
  int64_t heads = context.node().int_or(attribute, 0);
  require(heads > 0, ErrorCode::kInvalidGraph, attribute, " is ", heads,
          "; with inputs of rank 3 it must be a positive number of heads");
  return heads;
}

Dim sequence(const InferContext& context, size_t i) {
  return context.has_shape(i) ? context.shape(i)[context.shape(i).rank() - 2] : Dim();
}

/** The elements of a head of input i. */
Dim head_size(const InferContext& context, size_t i, Dim heads) {
  if (!context.has_shape(i)) return {};
  const SymbolicShape& shape = context.shape(i);
  if (shape.rank() == 4) return shape[3];
  if (!shape[2].known() || !heads.known()) return {};
  require(shape[2].value() % heads.value() == 0, ErrorCode::kInvalidArgument, "input ", i, " of shape ", shape,
          " does not split into ", heads.value(), " heads");
  return shape[2].value() / heads.value();
}

void require_same_element(const InferContext& context, size_t past, size_t fresh) {
  ElementType a = context.element(past), b = context.element(fresh);
  bool same = a == ElementType::kUndefined || b == ElementType::kUndefined || a == b;
  require(same, ErrorCode::kInvalidGraph, "input ", past, " holds ", name_of(a), ", but input ", fresh, " holds ",
          name_of(b), "; they must agree");
}

void attention(InferContext& context) {
  for (size_t i = 0; i < 3; ++i) context.require_rank(i, 3, 4);
  for (size_t i = 4; i < 6; ++i) context.require_rank(i, 4, 4);
  require_same_element(context, 4, 0);
  require_same_element(context, 5, 2);
  require(context.has_input(4) == context.has_input(5), ErrorCode::kInvalidGraph,
          "past_key and past_value must be given together");
  Dim query_heads = heads(context, 0, "q_num_heads"), key_heads = heads(context, 1, "kv_num_heads");
  Dim value_size = head_size(context, 2, heads(context, 2, "kv_num_heads"));
  Dim past = !context.has_input(4) ? Dim(0) : context.has_shape(4) ? context.shape(4)[2] : Dim();
  Dim batch = context.has_shape(0) ? context.shape(0)[0] : Dim(), total = add(past, sequence(context, 1));
  ElementType type = context.element(0), value_type = context.element(2);
  if (!context.has_shape(0)) {
    context.set_output(0, type, {});
  } else if (context.shape(0).rank() == 4) {
    context.set_output(0, type, DimVector{batch, query_heads, sequence(context, 0), value_size});
  } else {
    context.set_output(0, type, DimVector{batch, sequence(context, 0), multiply(query_heads, value_size)});
  }
  context.set_output(1, type, DimVector{batch, key_heads, total, head_size(context, 1, key_heads)});
  context.set_output(2, value_type, DimVector{batch, key_heads, total, value_size});
  context.set_output(3, type, DimVector{batch, query_heads, sequence(context, 0), total});
}

constexpr TypeSet kMaskTypes = kNumericTypes | ElementType::kBool;

constexpr SchemaRow kRows[] = {
    {"",
     "Attention",
     23,
     23,
     {3, 6},
     {1, 4},
     attention,
     {{2, kFloatTypes, 'V'}, {3, kMaskTypes}, {5, kFloatTypes, 'V'}, {kTheRest, kFloatTypes, 'T'}}},
    {"",
     "Attention",
     24,
     kLatest,
     {3, 7},
     {1, 4},
     attention,
     {{2, kFloatTypes, 'V'},
      {3, kMaskTypes},
      {5, kFloatTypes, 'V'},
      {6, ElementType::kInt64},
      {kTheRest, kFloatTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable attention_rows;
constinit const SchemaTable attention_rows(kRows);

}  // namespace ortolan::ops::onnx
