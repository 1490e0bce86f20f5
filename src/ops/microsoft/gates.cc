// Gates of recent language models: GatedAdd (x + y*gate), GatedRMSNorm (RMS normalisation of each group of `scale`'s
// length, times silu(gate)), LinearAttentionGate (what LinearAttention takes as decay and beta), EngramGate (a value
// let through as far as a key and a query agree).
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void require_fit(const InferContext& context, size_t input, const SymbolicShape& wanted, const char* what) {
  if (!context.has_shape(input) || !wanted.has_rank()) return;
  const SymbolicShape& shape = context.shape(input);
  bool fits = shape.rank() == wanted.rank();
  for (size_t i = 0; fits && i < shape.rank(); ++i) {
    fits = !shape[i].known() || !wanted[i].known() || shape[i].value() == wanted[i].value();
  }
  require(fits, ErrorCode::kInvalidArgument, what, " has shape ", shape, "; it needs ", wanted);
}

void gated_add(InferContext& context) {
  context.require_rank(0, 1, SIZE_MAX);
  require_fit(context, 1, context.shape(0), "Y");
  SymbolicShape gate = context.shape(0);
  if (gate.has_rank()) gate[gate.rank() - 1] = 1;
  require_fit(context, 2, gate, "gate");
  context.set_output_like(0, 0);
}

void gated_rms_norm(InferContext& context) {
  context.require_rank(0, 1, SIZE_MAX);
  context.require_rank(1, 1, 1);
  require_fit(context, 2, context.shape(0), "gate");
  if (context.has_shape(0) && context.has_shape(1)) {
    const SymbolicShape& x = context.shape(0);
    Dim row = x[x.rank() - 1], group = context.shape(1)[0];
    bool fits = !row.known() || !group.known() || (group.value() > 0 && row.value() % group.value() == 0);
    require(fits, ErrorCode::kInvalidArgument, "rows of ", x, " do not split into groups of scale's ", context.shape(1),
            " elements");
  }
  context.set_output_like(0, 0);
}

void linear_attention_gate(InferContext& context) {
  context.require_rank(0, 3, 3);
  Dim heads = context.has_shape(0) ? context.shape(0)[2] : Dim();
  require_fit(context, 1, DimVector{heads}, "dt_bias");
  require_fit(context, 2, DimVector{heads}, "decay_scale");
  require_fit(context, 3, context.shape(0), "b");
  require(!context.has_output(1) || context.has_input(3), ErrorCode::kInvalidGraph,
          "output beta needs input b; connect it, or leave the output out");
  context.set_output_like(0, 0);
  context.set_output(1, context.element(0), context.shape(0));
}

void engram_gate(InferContext& context) {
  context.require_rank(0, 4, 4);
  require_fit(context, 1, context.shape(0), "query");
  if (context.has_shape(0)) {
    const SymbolicShape& key = context.shape(0);
    require_fit(context, 2, DimVector{key[0], key[1], key[3]}, "value");
    for (size_t i : {3, 4})
      require_fit(context, i, DimVector{key[2], key[3]}, i == 3 ? "key_norm_scale" : "query_norm_scale");
  }
  context.set_output_like(0, 0);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "GatedAdd", 1, kLatest, 3, 1, gated_add, {{kTheRest, kFloat32AndHalf, 'T'}}},
    {"com.microsoft", "GatedRMSNorm", 1, kLatest, 3, 1, gated_rms_norm, {{kTheRest, kFloat32AndHalf, 'T'}}},
    {"com.microsoft",
     "LinearAttentionGate",
     1,
     kLatest,
     {3, 4},
     {1, 2},
     linear_attention_gate,
     {{0, kFloat32AndHalf, 'T'}, {1, ElementType::kFloat}, {2, ElementType::kFloat}, {3, kFloat32AndHalf, 'T'}}},
    {"com.microsoft", "EngramGate", 1, kLatest, 5, 1, engram_gate, {{kTheRest, kFloat32AndHalf, 'T'}}},
};

}  // namespace

extern const SchemaTable gates_rows;
constinit const SchemaTable gates_rows(kRows);
}  // namespace ortolan::ops::microsoft
