// If runs one of two subgraphs; Loop runs its body while a condition holds; Scan runs its body once for each slice of
// some inputs (opset 8: within each entry of a batch) and stacks slices of outputs.
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void require_count(std::string_view what, size_t have, size_t wanted) {
  require(have == wanted, ErrorCode::kInvalidGraph, what, " has ", have, " outputs, but the node has ", wanted);
}

void if_rule(InferContext& context) {
  std::vector<TypeInfo> then_types = context.infer_subgraph("then_branch", {});
  std::vector<TypeInfo> else_types = context.infer_subgraph("else_branch", {});
  require_count("then_branch", then_types.size(), context.output_count());
  require_count("else_branch", else_types.size(), context.output_count());
  for (size_t i = 0; i < then_types.size(); ++i) context.set_type(i, common(then_types[i], else_types[i]));
}

/** A loop's state may change its shape from one iteration to the next. */
TypeInfo without_shape(TypeInfo type) {
  type.shape = {};
  if (type.contained) type.contained = std::make_shared<TypeInfo>(without_shape(*type.contained));
  return type;
}

/** The type of `count` slices of type `slice` put together along `axis`. */
TypeInfo stacked(TypeInfo slice, Dim count, int64_t axis) {
  if (!slice.shape.has_rank()) return slice;
  DimVector dims = slice.shape.dims();
  size_t position = checked_axis(axis, dims.size() + 1);
  dims.insert(dims.begin() + position, count);
  slice.shape = dims;
  return slice;
}

/** What the body gets as its input `i`, one number: with as many dimensions, all 1, as the body states. */
TypeInfo one_number(const InferContext& context, size_t i, ElementType type) {
  const Graph& body = context.node().graph_of("body");
  bool stated = i < body.inputs.size() && body.inputs[i]->type.shape.has_rank();
  return TypeInfo::of_tensor(type, SymbolicShape(DimVector(stated ? body.inputs[i]->type.shape.rank() : 0, Dim(1))));
}

/** The condition has the shape of the node's own, where that is given. */
TypeInfo body_condition(const InferContext& context) {
  if (!context.has_input(1)) return one_number(context, 1, ElementType::kBool);
  if (!context.has_shape(1)) return TypeInfo::of_tensor(ElementType::kBool);
  return TypeInfo::of_tensor(ElementType::kBool, SymbolicShape(DimVector(context.shape(1).rank(), Dim(1))));
}

bool says_shapes(const TypeInfo& type) {
  return type.shape.has_rank() || (type.contained && says_shapes(*type.contained));
}

/** Whether what `type` says of shapes holds whatever `stated` does; of what containers hold, nothing is taken to. */
bool keeps(const TypeInfo& stated, const TypeInfo& type) {
  if (!says_shapes(stated) || stated.contained) return !says_shapes(stated);
  bool same = type.shape.has_rank() && type.shape.rank() == stated.shape.rank();
  for (size_t i = 0; same && i < stated.shape.rank(); ++i) {
    same = stated.shape[i] == Dim{} || stated.shape[i].same_as(type.shape[i]);
  }
  return same;
}

bool has_loops(Graph& graph) {
  bool found = false;
  for_each_graph(graph, [&](Graph& inner) {
    for (const auto& node : inner.nodes()) found = found || node->op_type == "Loop";
  });
  return found;
}

/** The types of the body's results, which take `types` from one iteration to the next: a state whose shape the body
    keeps has it in all of them. Loops around loops are not looked at so closely, as each level would multiply the
    work. */
std::vector<TypeInfo> body_results(InferContext& context, std::vector<TypeInfo> types) {
  constexpr int kTries = 2;
  size_t states = types.size() - 2;
  for (int i = 0; i < kTries && !has_loops(context.node().graph_of("body")); ++i) {
    std::vector<TypeInfo> results;
    try {
      results = context.infer_subgraph("body", types);
    } catch (const Error&) {
      break;  // of shapes that need not come about
    }
    bool all_kept = true;
    for (size_t state = 0; state < states && state + 1 < results.size(); ++state) {
      if (keeps(types[state + 2], results[state + 1])) continue;
      types[state + 2] = without_shape(types[state + 2]);
      all_kept = false;
    }
    if (all_kept) return results;
  }
  for (size_t i = 2; i < types.size(); ++i) types[i] = without_shape(types[i]);
  return context.infer_subgraph("body", types);
}

void loop_rule(InferContext& context) {
  size_t states = context.input_count() - 2;
  std::vector<TypeInfo> types = {one_number(context, 0, ElementType::kInt64), body_condition(context)};
  for (size_t i = 0; i < states; ++i) types.push_back(context.input_type(i + 2));
  std::vector<TypeInfo> results = body_results(context, types);
  require(results.size() >= states + 1, ErrorCode::kInvalidGraph, "the body has ", results.size(),
          " outputs, but needs the condition and ", states, " states");
  require(context.output_count() <= results.size() - 1, ErrorCode::kInvalidGraph, "the node has ",
          context.output_count(), " outputs, but its body gives ", results.size() - 1);
  for (size_t i = 0; i < context.output_count(); ++i) {
    const TypeInfo& result = results[i + 1];
    context.set_type(i, i < states ? common(context.input_type(i + 2), result) : stacked(result, {}, 0));
  }
}

int64_t item(const std::vector<int64_t>& list, size_t i, const char* name) {
  if (list.empty()) return 0;
  require(i < list.size(), ErrorCode::kInvalidGraph, name, " has ", list.size(), " entries, too few");
  return list[i];
}

/** The type of one slice of `whole` across `axis`; `length` takes the dimension's size. */
TypeInfo slice_type(TypeInfo whole, int64_t axis, Dim& length) {
  if (!whole.shape.has_rank()) return whole;
  DimVector dims = whole.shape.dims();
  size_t position = checked_axis(axis, dims.size(), "scan axis");
  if (dims[position].known() || length == Dim{}) length = dims[position];
  dims.erase(dims.begin() + position);
  whole.shape = dims;
  return whole;
}

void set_scan_outputs(InferContext& context, std::span<const TypeInfo> types, size_t states, Dim length, Dim batch,
                      bool batched) {
  std::vector<TypeInfo> results = context.infer_subgraph("body", types);
  require_count("the body", results.size(), context.output_count());
  require(results.size() >= states, ErrorCode::kInvalidGraph, "the body has ", results.size(), " outputs for ", states,
          " states");
  const auto& axes = context.node().ints("scan_output_axes");
  for (size_t i = 0; i < results.size(); ++i) {
    TypeInfo type = results[i];
    if (i >= states) type = stacked(type, length, batched ? 0 : item(axes, i - states, "scan_output_axes"));
    if (batched) type = stacked(type, batch, 0);
    context.set_type(i, type);
  }
}

size_t scan_count(const InferContext& context, size_t inputs) {
  int64_t scans = context.node().int_of("num_scan_inputs");
  require(scans >= 1 && scans <= static_cast<int64_t>(inputs), ErrorCode::kInvalidGraph, "num_scan_inputs is ", scans,
          ", but the node has ", inputs, " inputs for states and scans");
  return static_cast<size_t>(scans);
}

void scan_rule(InferContext& context) {
  size_t scans = scan_count(context, context.input_count());
  size_t states = context.input_count() - scans;
  const auto& axes = context.node().ints("scan_input_axes");
  Dim length;
  std::vector<TypeInfo> types;
  for (size_t i = 0; i < states; ++i) types.push_back(context.input_type(i));
  for (size_t i = 0; i < scans; ++i) {
    types.push_back(slice_type(context.input_type(states + i), item(axes, i, "scan_input_axes"), length));
  }
  set_scan_outputs(context, types, states, length, {}, false);
}

void batched_scan_rule(InferContext& context) {
  size_t inputs = context.input_count() - 1;
  size_t scans = scan_count(context, inputs);
  Dim batch, length;
  std::vector<TypeInfo> types;
  for (size_t i = 0; i < inputs; ++i) {
    TypeInfo type = slice_type(context.input_type(i + 1), 0, batch);
    types.push_back(i < inputs - scans ? type : slice_type(type, 0, length));
  }
  set_scan_outputs(context, types, inputs - scans, length, batch, true);
}

/** A sequence's element, or the value itself. */
TypeInfo element_of(const TypeInfo& type) {
  return type.kind == ValueKind::kSequence && type.contained ? *type.contained : type;
}

void sequence_map_rule(InferContext& context) {
  std::vector<TypeInfo> types;
  for (size_t i = 0; i < context.input_count(); ++i) types.push_back(element_of(context.input_type(i)));
  std::vector<TypeInfo> results = context.infer_subgraph("body", types);
  require_count("the body", results.size(), context.output_count());
  for (size_t i = 0; i < results.size(); ++i) context.set_type(i, TypeInfo::of_sequence(results[i]));
}

constexpr SchemaRow kRows[] = {
    {"", "If", 1, kLatest, 1, {1, kVariadic}, if_rule, {{0, ElementType::kBool}}},
    {"",
     "Loop",
     1,
     kLatest,
     {2, kVariadic},
     {1, kVariadic},
     loop_rule,
     {{0, ElementType::kInt64}, {1, ElementType::kBool}},
     kStatedShapes},
    {"", "Scan", 8, 8, {2, kVariadic}, {1, kVariadic}, batched_scan_rule, {{0, ElementType::kInt64}}},
    {"", "Scan", 9, kLatest, {1, kVariadic}, {1, kVariadic}, scan_rule},
    {"", "SequenceMap", 17, kLatest, {1, kVariadic}, {1, kVariadic}, sequence_map_rule},
};

}  // namespace

extern const SchemaTable control_flow_rows;
const SchemaTable control_flow_rows(kRows);

}  // namespace ortolan::ops::onnx
