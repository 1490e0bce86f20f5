// Tells a DynamicQuantizeLinear the range of what it quantises, where that comes from an operator that can find it
// beside its work.
#include <algorithm>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

/** Which output of an operator, once it is of domain "ortolan", is the range of the first. */
struct Maker {
  std::string_view domain, op;
  size_t range;
};

constexpr Maker kMakers[] = {
    {"com.microsoft", "MatMulIntegerToFloat", 1},
    {"ortolan", "Attention", 4},
    {"", "LayerNormalization", 3},
};

const Maker* maker_of(const Node& node) {
  auto maker = std::ranges::find_if(kMakers, [&](const Maker& maker) {
    return node.op_type == maker.op && (node.domain == maker.domain || node.domain == "ortolan");
  });
  return maker == std::end(kMakers) ? nullptr : maker;
}

/** Output `i` of a node, made where it is missing. */
ValueInfo* output_at(Node& node, size_t i) {
  if (i < node.outputs().size() && node.output(i)) return node.output(i);
  Graph& graph = node.graph();
  while (node.outputs().size() < i) node.set_output(node.outputs().size(), nullptr);
  ValueInfo* value = graph.add_value(graph.unique_name(node.output(0)->name + "_range"));
  value->type = TypeInfo::of_tensor(ElementType::kFloat, SymbolicShape(Shape{2}));
  node.set_output(i, value);
  return value;
}

bool fuse_value_range_at(Node& quantizer, const PassContext& context) {
  ValueInfo* x = quantizer.input(0);
  if (!x || !x->producer || x->graph != &quantizer.graph() || x->type.element != ElementType::kFloat) return false;
  Node& node = *x->producer;
  const Maker* maker = maker_of(node);
  if (!maker || node.output(0) != x || !may_fuse(node, context)) return false;
  make_own(node, context);
  make_own(quantizer, context);
  quantizer.set_input(1, output_at(node, maker->range));
  return true;
}

}  // namespace

bool fuse_ranges(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (is_op(*node, "DynamicQuantizeLinear") && may_fuse(*node, context))
      changed |= fuse_value_range_at(*node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
