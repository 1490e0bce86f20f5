// LinearAttention: attention through a recurrent state, a matrix for each head, that each token updates by one of four
// rules. CausalConvWithState: the depthwise convolution over present and past positions that goes before it. In
// com.microsoft both can keep the states after the last `state_window` tokens, in a dimension before the others, where
// the last one is the state that the standard operator has; LinearAttention takes more key than query heads as well,
// and the convolution knows a dilation and activations with the channels last.
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

/** com.microsoft only; elsewhere 0. */
int64_t state_window(const InferContext& context) {
  if (context.node().domain.empty()) return 0;
  int64_t window = context.node().int_or("state_window", 0);
  require(window >= 0 && window <= 8, ErrorCode::kInvalidGraph, "state_window is ", window,
          "; it must lie within [0, 8]");
  return window;
}

void set_state(InferContext& context, ElementType type, DimVector state) {
  int64_t window = state_window(context);
  if (window > 0) state.insert(state.begin(), Dim(window));
  context.require_rank(3, state.size(), state.size());
  context.set_output(1, type, state);
}

void linear_attention(InferContext& context) {
  int64_t query_heads = context.node().int_of("q_num_heads"), heads = context.node().int_of("kv_num_heads");
  bool inverse = !context.node().domain.empty() && query_heads > 0 && heads % query_heads == 0;
  require(heads > 0 && query_heads > 0 && (query_heads % heads == 0 || inverse), ErrorCode::kInvalidGraph,
          "q_num_heads is ", query_heads, " and kv_num_heads ", heads,
          "; both must be positive, the first a multiple of the second");
  check_rule(context);
  for (size_t i : {0, 1, 2, 4, 5}) context.require_rank(i, 3, 3);
  Dim batch, tokens, key_size, value_size;
  if (context.has_shape(0)) {
    batch = context.shape(0)[0], tokens = context.shape(0)[1];
    key_size = head_size(context.shape(0)[2], query_heads, "query");
  }
  if (context.has_shape(2)) value_size = head_size(context.shape(2)[2], heads, "value");
  context.set_output(0, context.element(0),
                     DimVector{batch, tokens, multiply(value_size, std::max(query_heads, heads))});
  ElementType state = context.element(context.has_input(3) ? 3 : 0);
  set_state(context, state, DimVector{batch, heads, key_size, value_size});
}

/** How far back the taps reach; com.microsoft's may stand apart. */
Dim carried_positions(const InferContext& context) {
  int64_t dilation = context.node().domain.empty() ? 1 : context.node().int_or("dilation", 1);
  require(dilation >= 1 && dilation <= INT32_MAX, ErrorCode::kInvalidGraph, "dilation is ", dilation,
          "; it must be positive");
  if (!context.has_shape(1)) return {};
  Dim kernel = context.shape(1)[2];
  require(!kernel.known() || kernel.value() > 0, ErrorCode::kInvalidArgument, "the weights ", context.shape(1),
          " have no taps; their last dimension must be positive");
  return kernel.known() ? Dim(checked_mul(kernel.value() - 1, dilation)) : Dim();
}

void causal_conv(InferContext& context) {
  bool own = !context.node().domain.empty(), channels_last = own && context.node().int_or("channels_last", 0) != 0;
  int64_t ndim = own ? context.node().int_or("ndim", 1) : 1;
  require(ndim == 1, ErrorCode::kNotImplemented, "ndim is ", ndim, "; one spatial dimension is supported");
  context.require_rank(0, 3, channels_last ? SIZE_MAX : 3);
  context.require_rank(1, 3, 3);
  context.require_rank(2, 1, 1);
  std::string_view activation = context.node().string_or("activation", "none");
  require(activation == "none" || activation == "silu" || activation == "swish", ErrorCode::kInvalidGraph,
          "activation is '", activation, "'; it must be none, silu or swish");
  Dim carried = carried_positions(context);
  context.set_output(0, context.element(0), context.shape(0));
  if (!context.has_shape(0)) return context.set_output(1, context.element(0), {});
  DimVector state = context.shape(0).dims();
  state[channels_last ? 1 : 2] = carried;
  set_state(context, context.element(0), state);
}

constexpr SchemaRow kRows[] = {
    {"",
     "LinearAttention",
     27,
     kLatest,
     {3, 6},
     {1, 2},
     linear_attention,
     {{3, kFloat32AndHalf}, {kTheRest, kFloat32AndHalf, 'T'}}},
    {"", "CausalConvWithState", 27, kLatest, {2, 4}, {1, 2}, causal_conv, {{kTheRest, kFloat32AndHalf, 'T'}}},
    {"com.microsoft",
     "LinearAttention",
     1,
     kLatest,
     {3, 6},
     {1, 2},
     linear_attention,
     {{3, kFloat32AndHalf}, {kTheRest, kFloat32AndHalf, 'T'}}},
    {"com.microsoft",
     "CausalConvWithState",
     1,
     kLatest,
     {2, 4},
     {1, 2},
     causal_conv,
     {{kTheRest, kFloat32AndHalf, 'T'}}},
};

}  // namespace

extern const SchemaTable linear_attention_rows;
constinit const SchemaTable linear_attention_rows(kRows);

}  // namespace ortolan::ops::onnx
