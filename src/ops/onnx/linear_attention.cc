// LinearAttention: attention through a recurrent state, a matrix for each head, that each token updates by one of four
// rules. CausalConvWithState: the depthwise convolution over present and past positions that goes before it.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** What one head has of a row of `size` elements. */
Dim head_size(Dim size, int64_t heads, const char* what) {
  if (!size.known()) return {};
  require(size.value() % heads == 0, ErrorCode::kInvalidArgument, "rows of ", what, " have ", size.value(),
          " elements, which do not split into ", heads, " heads");
  return size.value() / heads;
}

void check_rule(const InferContext& context) {
  std::string_view rule = context.node().string_or("update_rule", "gated_delta");
  bool decays = rule == "gated" || rule == "gated_delta", corrects = rule == "delta" || rule == "gated_delta";
  require(decays || corrects || rule == "linear", ErrorCode::kInvalidGraph, "update_rule is '", rule,
          "'; it must be linear, gated, delta or gated_delta");
  require(context.has_input(4) == decays, ErrorCode::kInvalidGraph, "update_rule '", rule,
          decays ? "' needs input decay" : "' has no use for input decay; leave it out");
  require(context.has_input(5) == corrects, ErrorCode::kInvalidGraph, "update_rule '", rule,
          corrects ? "' needs input beta" : "' has no use for input beta; leave it out");
}

void linear_attention(InferContext& context) {
  int64_t query_heads = context.node().int_of("q_num_heads"), heads = context.node().int_of("kv_num_heads");
  require(heads > 0 && query_heads > 0 && query_heads % heads == 0, ErrorCode::kInvalidGraph, "q_num_heads is ",
          query_heads, " and kv_num_heads ", heads, "; both must be positive, the first a multiple of the second");
  check_rule(context);
  for (size_t i : {0, 1, 2, 4, 5}) context.require_rank(i, 3, 3);
  context.require_rank(3, 4, 4);
  Dim batch, tokens, key_size, value_size;
  if (context.has_shape(0)) {
    batch = context.shape(0)[0], tokens = context.shape(0)[1];
    key_size = head_size(context.shape(0)[2], query_heads, "query");
  }
  if (context.has_shape(2)) value_size = head_size(context.shape(2)[2], heads, "value");
  context.set_output(0, context.element(0), DimVector{batch, tokens, multiply(value_size, query_heads)});
  ElementType state = context.element(context.has_input(3) ? 3 : 0);
  context.set_output(1, state, DimVector{batch, heads, key_size, value_size});
}

void causal_conv(InferContext& context) {
  context.require_rank(0, 3, 3);
  context.require_rank(1, 3, 3);
  context.require_rank(2, 1, 1);
  context.require_rank(3, 3, 3);
  std::string_view activation = context.node().string_or("activation", "none");
  require(activation == "none" || activation == "silu" || activation == "swish", ErrorCode::kInvalidGraph,
          "activation is '", activation, "'; it must be none, silu or swish");
  Dim batch, channels, carried;
  if (context.has_shape(0)) batch = context.shape(0)[0], channels = context.shape(0)[1];
  if (context.has_shape(1)) {
    Dim kernel = context.shape(1)[2];
    require(!kernel.known() || kernel.value() > 0, ErrorCode::kInvalidArgument, "the weights ", context.shape(1),
            " have no taps; their last dimension must be positive");
    if (kernel.known()) carried = kernel.value() - 1;
  }
  context.set_output(0, context.element(0), context.shape(0));
  context.set_output(1, context.element(0), DimVector{batch, channels, carried});
}

constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;
constexpr SchemaRow kRows[] = {
    {"", "LinearAttention", 27, kLatest, {3, 6}, {1, 2}, linear_attention, {{3, kTypes}, {kTheRest, kTypes, 'T'}}},
    {"", "CausalConvWithState", 27, kLatest, {2, 4}, {1, 2}, causal_conv, {{kTheRest, kTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable linear_attention_rows;
constinit const SchemaTable linear_attention_rows(kRows);

}  // namespace ortolan::ops::onnx
