// EPContext: a part of a model that an execution provider compiled. It holds the provider's data, or names a file that
// does; only that provider knows what it computes, so the types of its outputs are those that the model states.
#include "ops/infer_context.h"

namespace ortolan::ops::microsoft {
namespace {

void stated_types(InferContext& context) {
  const Node& node = context.node();
  for (size_t i = 0; i < context.output_count(); ++i) {
    if (!context.has_output(i)) continue;
    const ValueInfo& output = *node.outputs()[i];
    bool known = output.type.known() && (!output.type.is_tensor() || output.type.element != ElementType::kUndefined);
    require(known, ErrorCode::kInvalidGraph, "the model does not state the type of output '", output.name,
            "', which nothing else tells; add it to the graph's value_info");
    context.set_type(i, output.type);
  }
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "EPContext", 1, kLatest, {0, kVariadic}, {1, kVariadic}, stated_types},
};

}  // namespace

extern const SchemaTable ep_context_rows;
const SchemaTable ep_context_rows(kRows);
}  // namespace ortolan::ops::microsoft
