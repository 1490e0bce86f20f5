// Lets operators between DequantizeLinear and QuantizeLinear work on the bytes themselves: the sums of products are
// exact integers then, and results differ from those of the detour by the rounding of the detour alone.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "passes/channel_affine.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

constexpr TypeSet kBytes = ElementType::kInt8 | ElementType::kUInt8;
constexpr int kMaxTakesBytes = 12;  // the opset since which Max is defined for them
constexpr std::string_view kMicrosoft = "com.microsoft";

/** Bytes and what they stand for: (byte - zero) * scale. The last two are constants. */
struct Quantized {
  ValueInfo* bytes = nullptr;
  ValueInfo* scale = nullptr;
  ValueInfo* zero = nullptr;  // may be NULL: zero

  ElementType type() const { return bytes->type.element; }
  const Tensor& scales() const { return *scale->stored_constant(); }
  bool is_single() const { return scales().element_count() == 1; }
};

bool is_float_constant(const ValueInfo* value) {
  return value && value->stored_constant() && value->stored_constant()->type() == ElementType::kFloat;
}

/** True for a QuantizeLinear or DequantizeLinear in blocks, or one whose parameters a run could change. */
bool is_plain(const Node& node) {
  const ValueInfo* zero = node.input(2);
  return is_float_constant(node.input(1)) && (!zero || zero->is_fixed()) && node.int_or("block_size", 0) == 0;
}

/** What `value` is dequantised from, by a node of the pass's provider, when that is of one of `types`. */
std::optional<Quantized> dequantized(const ValueInfo* value, TypeSet types, const Graph& graph,
                                     const PassContext& context) {
  Node* node = producer_of(value, "DequantizeLinear", graph);
  if (!node || !may_fuse(*node, context) || !is_plain(*node)) return std::nullopt;
  Quantized result{node->input(0), node->input(1), node->input(2)};
  if (!result.bytes->type.is_tensor() || !types.contains(result.type())) return std::nullopt;
  return result;
}

/** The same for values with one scale. */
std::optional<Quantized> activation(const ValueInfo* value, const Graph& graph, const PassContext& context) {
  auto result = dequantized(value, kBytes, graph, context);
  return result && result->is_single() ? result : std::nullopt;
}

/** The same for constant bytes whose scales belong to the elements of `axis`, or are one. */
std::optional<Quantized> weights(const ValueInfo* value, int64_t axis, const Graph& graph, const PassContext& context) {
  auto result = dequantized(value, kBytes, graph, context);
  if (!result || !result->bytes->is_fixed() || result->is_single()) return result;
  int64_t rank = static_cast<int64_t>(result->bytes->stored_constant()->rank());
  int64_t stated = value->producer->int_or("axis", 1);
  return (stated < 0 ? stated + rank : stated) == axis ? result : std::nullopt;
}

int64_t lowest(ElementType type) { return type == ElementType::kInt8 ? INT8_MIN : 0; }

/** True when the first number that the node can make stands for 0, so that it does what a Relu before it would. */
bool cuts_below_zero(const Node& quantizer) {
  const ValueInfo* zero = quantizer.input(2);
  if (!zero) return true;  // uint8 from 0
  auto element = only_element(zero->stored_constant());
  return element && *element == static_cast<double>(lowest(zero->type.element));
}

/** The QuantizeLinear with one scale that alone uses a value, perhaps behind a Relu. */
struct Quantizer {
  Node* node = nullptr;
  bool needs_relu = false;  // the bytes must still be cut below zero
};

Quantizer quantizer_of(const ValueInfo* value, const PassContext& context) {
  Node* relu = only_user(value, "Relu");
  Node* node = only_user(relu ? relu->output(0) : value, "QuantizeLinear");
  if (!node || !may_fuse(*node, context) || !is_plain(*node)) return {};
  const ValueInfo* y = node->output(0);
  if (!y || !y->type.is_tensor() || !kBytes.contains(y->type.element)) return {};
  if (node->input(1)->stored_constant()->element_count() != 1) return {};
  bool needs_relu = relu && !cuts_below_zero(*node);
  if (relu && !may_fuse(*relu, context)) return {};
  if (needs_relu && relu->opset < kMaxTakesBytes) return {};
  return {node, needs_relu};
}

Quantized result_of(const Node& quantizer) { return {quantizer.output(0), quantizer.input(1), quantizer.input(2)}; }

/** The zero points, of `bytes`' type, made where they were left out. */
ValueInfo* zero_of(const Quantized& q, Graph& graph) {
  if (q.zero) return q.zero;
  Tensor zero(q.type(), q.scales().shape());
  std::memset(zero.mutable_raw(), 0, zero.byte_count());
  return graph.add_initializer(graph.unique_name("zero_point"), std::move(zero));
}

/** A constant float bias in units of the scales' product, which is far below those of the result; NULL where the bias
   is another, or beyond int32. */
ValueInfo* rounded_bias(const ValueInfo& value, const Quantized& x, const Quantized& w, Graph& graph) {
  const Tensor* bias = is_float_constant(&value) ? value.fixed_constant() : nullptr;
  const Tensor& factors = w.scales();
  if (!bias || bias->rank() != 1 || !may_copy(value)) return nullptr;
  if (factors.element_count() != 1 && factors.element_count() != bias->element_count()) return nullptr;
  Tensor sums(ElementType::kInt32, bias->shape());
  for (int64_t i = 0; i < bias->element_count(); ++i) {
    const double unit = *only_element(&x.scales()) * factors.data<float>()[factors.element_count() == 1 ? 0 : i];
    const double sum = std::nearbyint(bias->data<float>()[i] / unit);
    if (!(std::abs(sum) <= INT32_MAX)) return nullptr;
    sums.mutable_data<int32_t>()[i] = static_cast<int32_t>(sum);
  }
  return graph.add_initializer(graph.unique_name(value.name + "_quantized"), std::move(sums));
}

/** The int32 sums that a bias stands for: nothing when there is none. False where it is no constant that can be added
    to sums of products: a float one, or one of the scales' product. */
bool take_bias(const ValueInfo* value, const Quantized& x, const Quantized& w, Graph& graph, const PassContext& context,
               ValueInfo*& sums) {
  sums = nullptr;
  if (!value) return true;
  if (value->is_fixed()) return (sums = rounded_bias(*value, x, w, graph)) != nullptr;
  auto bias = dequantized(value, ElementType::kInt32, graph, context);
  if (!bias || !bias->bytes->is_fixed()) return false;
  const Tensor &have = bias->scales(), &factors = w.scales();
  auto x_scale = only_element(&x.scales());
  for (int64_t i = 0; i < std::max(have.element_count(), factors.element_count()); ++i) {
    double wanted = *x_scale * factors.data<float>()[factors.element_count() == 1 ? 0 : i];
    double stated = have.data<float>()[have.element_count() == 1 ? 0 : i];
    if (!(std::abs(stated - wanted) <= 1e-5 * std::abs(wanted))) return false;
  }
  if (bias->zero) {
    const Tensor& zero = *bias->zero->stored_constant();
    auto bytes = static_cast<const char*>(zero.raw());
    if (std::any_of(bytes, bytes + zero.byte_count(), [](char byte) { return byte != 0; })) return false;
  }
  sums = bias->bytes;
  return true;
}

/** One operator's way to its quantised form: the inputs of that, or nothing when the node is no case of it. */
using Inputs = std::vector<ValueInfo*>;

void append(Inputs& inputs, const Quantized& q, Graph& graph) {
  inputs.insert(inputs.end(), {q.bytes, q.scale, zero_of(q, graph)});
}
void append_parameters(Inputs& inputs, const Quantized& q, Graph& graph) {
  inputs.insert(inputs.end(), {q.scale, zero_of(q, graph)});
}

Inputs conv(const Node& node, const Node& quantizer, const PassContext& context) {
  Graph& graph = node.graph();
  auto x = activation(node.input(0), graph, context);
  auto w = weights(node.input(1), 0, graph, context);
  ValueInfo* bias;
  if (!x || !w || !take_bias(node.input(2), *x, *w, graph, context, bias)) return {};
  Inputs inputs;
  append(inputs, *x, graph);
  append(inputs, *w, graph);
  append_parameters(inputs, result_of(quantizer), graph);
  if (bias) inputs.push_back(bias);
  return inputs;
}

Inputs product(const Node& node, const Node& quantizer, const PassContext& context) {
  Graph& graph = node.graph();
  auto a = activation(node.input(0), graph, context);
  const SymbolicShape& shape = node.input(1)->type.shape;
  auto b = shape.has_rank() && shape.rank() == 2 ? weights(node.input(1), 1, graph, context)
                                                 : activation(node.input(1), graph, context);
  if (!a || !b) return {};
  Inputs inputs;
  append(inputs, *a, graph);
  append(inputs, *b, graph);
  append_parameters(inputs, result_of(quantizer), graph);
  return inputs;
}

Inputs gemm(const Node& node, const Node& quantizer, const PassContext& context) {
  Graph& graph = node.graph();
  auto a = activation(node.input(0), graph, context);
  auto b = weights(node.input(1), node.int_or("transB", 0) ? 0 : 1, graph, context);
  ValueInfo* bias;
  if (node.float_or("alpha", 1) != 1 || node.float_or("beta", 1) != 1 || node.opset < 7 || !a || !b ||
      !take_bias(node.input(2), *a, *b, graph, context, bias)) {
    return {};
  }
  Inputs inputs;
  append(inputs, *a, graph);
  append(inputs, *b, graph);
  inputs.push_back(bias);
  append_parameters(inputs, result_of(quantizer), graph);
  return inputs;
}

/** Operators of one or two quantised inputs. */
Inputs elementwise(const Node& node, const Node& quantizer, const PassContext& context) {
  Graph& graph = node.graph();
  Inputs inputs;
  if (node.opset < 7) return {};  // broadcasting was another
  for (const ValueInfo* value : node.inputs()) {
    auto x = activation(value, graph, context);
    if (!x || x->type() != result_of(quantizer).type()) return {};
    append(inputs, *x, graph);
  }
  append_parameters(inputs, result_of(quantizer), graph);
  return inputs;
}

Inputs concat(const Node& node, const Node& quantizer, const PassContext& context) {
  Graph& graph = node.graph();
  Inputs inputs;
  append_parameters(inputs, result_of(quantizer), graph);
  for (const ValueInfo* value : node.inputs()) {
    auto x = activation(value, graph, context);
    if (!x || x->type() != result_of(quantizer).type()) return {};
    append(inputs, *x, graph);
  }
  return inputs;
}

struct Form {
  std::string_view op;
  std::string_view quantized_op;
  std::string_view domain;
  Inputs (*inputs)(const Node& node, const Node& quantizer, const PassContext& context);
};

constexpr Form kForms[] = {
    {"Conv", "QLinearConv", "", conv},
    {"MatMul", "QLinearMatMul", "", product},
    {"Gemm", "QGemm", kMicrosoft, gemm},
    {"Add", "QLinearAdd", kMicrosoft, elementwise},
    {"Mul", "QLinearMul", kMicrosoft, elementwise},
    {"Sigmoid", "QLinearSigmoid", kMicrosoft, elementwise},
    {"LeakyRelu", "QLinearLeakyRelu", kMicrosoft, elementwise},
    {"AveragePool", "QLinearAveragePool", kMicrosoft, elementwise},
    {"GlobalAveragePool", "QLinearGlobalAveragePool", kMicrosoft, elementwise},
    {"Concat", "QLinearConcat", kMicrosoft, concat},
};

void copy_attributes(const Node& from, Node& to) {
  for (const Attribute& attribute : from.attributes()) to.set_attribute(attribute.name, attribute.value);
}

/** Lets the node's bytes pass a Max with the zero point before they become its output. */
void cut_below(Node& made, ValueInfo* zero, int opset, const PassContext& context) {
  Graph& graph = made.graph();
  ValueInfo* y = made.output(0);
  ValueInfo* uncut = graph.add_value(graph.unique_name(y->name + "_uncut"), y->type);
  made.set_output(0, nullptr);
  made.set_output(0, uncut);
  Node* max = graph.add_node(graph.unique_name(made.name + "_relu"), "Max", "", {uncut, zero}, {y});
  max->provider = made.provider;
  max->opset = opset;
  context.resolve(*max);
}

/** Puts the quantised form in place of the quantiser. */
void replace(const Node& node, const Quantizer& quantizer, const Form& form, Inputs inputs,
             const PassContext& context) {
  ValueInfo* zero = quantizer.node->input(2);
  Node* made = replace_node(*quantizer.node, form.quantized_op, form.domain, std::move(inputs), context);
  made->name = node.name;
  if (quantizer.needs_relu) cut_below(*made, zero, node.opset, context);
  copy_attributes(node, *made);
  if (form.op == "Gemm") made->remove_attribute("beta");
}

bool fuse_form(const Node& node, const PassContext& context) {
  auto form = std::ranges::find(kForms, std::string_view(node.op_type), &Form::op);
  if (form == std::end(kForms) || node.outputs().size() != 1) return false;
  Quantizer quantizer = quantizer_of(node.output(0), context);
  if (!quantizer.node) return false;
  Inputs inputs = form->inputs(node, *quantizer.node, context);
  if (inputs.empty()) return false;
  replace(node, quantizer, *form, std::move(inputs), context);
  return true;
}

/** Operators whose results are elements of their first input, in the opset since which they take bytes. */
struct MovingOp {
  std::string_view op;
  int since;
};
constexpr MovingOp kMovingOps[] = {{"MaxPool", 12},  {"Reshape", 1}, {"Flatten", 9}, {"Transpose", 1}, {"Squeeze", 1},
                                   {"Unsqueeze", 1}, {"Slice", 1},   {"Gather", 1},  {"Expand", 8},    {"Tile", 6}};

/** Moves a dequantiser behind the node that moves its numbers, where a quantiser follows. */
bool move_bytes(Node& node, const PassContext& context) {
  auto mover = std::ranges::find(kMovingOps, std::string_view(node.op_type), &MovingOp::op);
  if (mover == std::end(kMovingOps) || node.opset < mover->since || node.outputs().size() != 1) return false;
  Graph& graph = node.graph();
  auto x = activation(node.input(0), graph, context);
  if (!x || !only_user(node.output(0), "QuantizeLinear")) return false;
  ValueInfo* y = node.output(0);
  ValueInfo* moved = graph.add_value(graph.unique_name(y->name + "_bytes"), y->type);
  moved->type.element = x->type();
  node.set_output(0, nullptr);
  node.set_output(0, moved);
  Inputs inputs{moved, x->scale};
  if (x->zero) inputs.push_back(x->zero);
  Node* dequantizer = graph.add_node(graph.unique_name(node.name + "_dequantize"), "DequantizeLinear", "", inputs, {y});
  const Node& before = *node.input(0)->producer;
  dequantizer->opset = before.opset;
  dequantizer->provider = node.provider;
  copy_attributes(before, *dequantizer);
  context.resolve(*dequantizer);
  node.set_input(0, x->bytes);
  return true;
}

/** Of the scales or zero points of whole tensors. */
bool same_content(const ValueInfo* a, const ValueInfo* b) {
  if (a == b) return true;
  const Tensor *x = a ? a->stored_constant() : nullptr, *y = b ? b->stored_constant() : nullptr;
  return x && y && x->type() == y->type() && x->element_count() == 1 && y->element_count() == 1 &&
         std::memcmp(x->raw(), y->raw(), x->byte_count()) == 0;
}

/** A dequantiser and a quantiser of the same scale and zero point change nothing. */
bool remove_detour(Node& quantizer, const PassContext& context) {
  if (quantizer.op_type != "QuantizeLinear" || !is_plain(quantizer)) return false;
  auto x = activation(quantizer.input(0), quantizer.graph(), context);
  if (!x || x->type() != quantizer.output(0)->type.element || !same_content(x->scale, quantizer.input(1))) return false;
  if (!x->zero != !quantizer.input(2) || !same_content(x->zero, quantizer.input(2))) return false;
  return bypass(quantizer, x->bytes);
}

}  // namespace

bool fuse_quantized(Graph& graph, const PassContext& context) {
  if (!context.find_quantized) return false;
  bool changed = false;
  std::vector<Node*> nodes;
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  for (Node* node : nodes) {
    if (!node->domain.empty() || !may_fuse(*node, context) || !is_used(*node)) continue;
    changed |= fuse_form(*node, context) || move_bytes(*node, context) || remove_detour(*node, context);
  }
  if (changed) graph.remove_unreachable();  // what is no longer read holds constants that would be dequantised
  return changed;
}

}  // namespace ortolan::passes
