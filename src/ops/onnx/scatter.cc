// Scatter and ScatterElements write single elements at places along one axis, ScatterND slices at index tuples;
// attribute reduction (add, mul from opset 16; max, min from 18) combines them with what is there.
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void scatter_elements_rule(InferContext& context) {
  context.set_output(0, context.element(0), context.shape(0));
  if (!context.has_shape(0)) return;
  context.require_rank(0, 1, kMaxRank);
  size_t rank = context.shape(0).rank();
  checked_axis(context.node().int_or("axis", 0), rank);
  context.require_rank(1, rank, rank);
  context.require_rank(2, rank, rank);
}

void scatter_nd_rule(InferContext& context) {
  context.set_output(0, context.element(0), context.shape(0));
  context.require_rank(0, 1, kMaxRank);
  context.require_rank(1, 1, kMaxRank);
}

constexpr SchemaRow kRows[] = {
    {"", "Scatter", 9, 10, 3, 1, scatter_elements_rule, {{0, kAllTypes, 'T'}, {1, kIndexTypes}, {2, kAllTypes, 'T'}}},
    {"",
     "Scatter",
     11,
     kLatest,
     3,
     1,
     scatter_elements_rule,
     {{0, kAllTypes, 'T'}, {1, kIndexTypes}, {2, kAllTypes, 'T'}},
     kDeprecated},
    {"",
     "ScatterElements",
     11,
     kLatest,
     3,
     1,
     scatter_elements_rule,
     {{0, kAllTypes, 'T'}, {1, kIndexTypes}, {2, kAllTypes, 'T'}}},
    {"",
     "ScatterND",
     11,
     kLatest,
     3,
     1,
     scatter_nd_rule,
     {{0, kAllTypes, 'T'}, {1, ElementType::kInt64}, {2, kAllTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable scatter_rows;
const SchemaTable scatter_rows(kRows);

}  // namespace ortolan::ops::onnx
