// Draws values and nodes that are likely wrong, from the schema rows of all operators.
#include "hostile_draw.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "operator_words.h"
#include "ops/default_attributes.h"
#include "ops/signatures.h"

namespace ortolan::test {
namespace {

using graph::AttributeKind;

constexpr int64_t kExtremeIntegers[] = {
    INT64_MIN, INT64_MIN + 1, INT64_MAX, INT32_MIN, INT32_MAX, int64_t{1} << 32, int64_t{1} << 62, -100, -1, 64, 65536};
constexpr double kExtremeReals[] = {NAN,    INFINITY, -INFINITY, -0.0,  1e30, -1e30, 1e-40,
                                    9.3e18, -1e19,    2.2e9,     255.5, -129, 1e300};
constexpr int64_t kLongDims[] = {5, 7, 8, 16, 17, 33, 65};
constexpr int64_t kMostElements = 20000;
constexpr AttributeKind kDrawnKinds[] = {AttributeKind::kFloat,  AttributeKind::kInt,  AttributeKind::kString,
                                         AttributeKind::kTensor, AttributeKind::kInts, AttributeKind::kFloats,
                                         AttributeKind::kStrings};

const std::string kTexts[] = {"",
                              "a",
                              "b",
                              "a b",
                              "NOTSET",
                              "1",
                              "-2.5e3",
                              "nan",
                              "99999999999999999999",
                              ".*(",
                              "a|",
                              "\xff\xfe",
                              "\xc3\xa9t\xc3\xa9",
                              "\xe6\x97\xa5",
                              std::string("a\0b", 3),
                              std::string(300, 'x'),
                              "bcdefghijklmnopqrstuv %s%n"};

void fill_packed(Tensor& tensor, Draw& draw) {
  auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
  for (size_t i = 0; i < tensor.byte_count(); ++i) bytes[i] = static_cast<uint8_t>(draw.below(256));
  int64_t bits = tensor.element_count() * bits_of(tensor.type()) % 8;
  if (bits != 0) bytes[tensor.byte_count() - 1] &= static_cast<uint8_t>((1 << bits) - 1);
}

template <class T>
T convert(double value) {
  if constexpr (std::is_same_v<T, double>) return value;
  constexpr double kMost = std::numeric_limits<float>::max();
  if (std::isfinite(value)) value = std::clamp(value, -kMost, kMost);
  return T(static_cast<float>(value));
}

/** "seq(tensor(float))" without "seq(" and ")". */
std::string_view inside(std::string_view type, size_t prefix) { return type.substr(prefix, type.size() - prefix - 1); }

}  // namespace

int64_t Draw::integer() {
  if (once_in(mild_ ? 60 : 4)) return one_of(kExtremeIntegers);
  return once_in(4) ? below(12) - 4 : below(4);
}

double Draw::real() {
  if (once_in(mild_ ? 40 : 4)) return one_of(kExtremeReals);
  return once_in(3) ? static_cast<double>(below(9) - 4) : static_cast<double>(below(2001)) / 500 - 2;
}

std::string Draw::text() { return one_of(kTexts); }

Shape Draw::shape() {
  Shape shape;
  int64_t rank = once_in(12) ? below(8) : mild_ ? 1 + below(4) : below(6);
  for (; rank > 0; --rank) shape.push_back(once_in(mild_ ? 25 : 5) ? 0 : 1 + below(4));
  if (once_in(6) && shape.rank() > 0) shape[below(static_cast<int64_t>(shape.rank()))] = one_of(kLongDims);
  return shape;
}

ElementType Draw::type_of(TypeSet types) {
  for (ElementType likely : {ElementType::kFloat, ElementType::kInt64}) {
    if (types.contains(likely) && once_in(3)) return likely;
  }
  std::vector<ElementType> list;
  for (int i = 1; i < kElementTypeCount; ++i) {
    if (types.contains(static_cast<ElementType>(i))) list.push_back(static_cast<ElementType>(i));
  }
  return list.empty() ? ElementType::kFloat : one_of(list);
}

Tensor Draw::tensor(ElementType type, const Shape& shape) {
  Tensor tensor(type, shape);
  if (is_packed(type)) {
    fill_packed(tensor, *this);
    return tensor;
  }
  bool counting = once_in(5);  // 0, 1, 2, …: offsets and indices that fit
  int64_t next = 0;
  dispatch<kPlainTypes | ElementType::kString>(type, [&]<class T>(TypeTag<T>) {
    for (T& value : tensor.mutable_span<T>()) {
      if constexpr (std::is_same_v<T, std::string>) {
        value = text();
      } else if constexpr (std::is_same_v<T, bool>) {
        value = below(2) != 0;
      } else if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(counting ? next++ : integer());
      } else if constexpr (kComplexTypes.contains(kTypeOf<T>)) {
        value = T(static_cast<typename T::value_type>(convert<float>(real())), 1);
      } else {
        value = convert<T>(real());
      }
    }
  });
  return tensor;
}

std::vector<int64_t> Draw::integers() {
  std::vector<int64_t> values(static_cast<size_t>(once_in(4) ? below(9) : one_of(std::vector<int64_t>{1, 2, 2, 4})));
  bool ones = once_in(3), counting = once_in(5);
  for (size_t i = 0; i < values.size(); ++i) values[i] = counting ? static_cast<int64_t>(i) : ones ? 1 : integer();
  return values;
}

AttributeValue Draw::attribute(AttributeKind kind, const std::vector<std::string>& words) {
  auto word = [&] { return words.empty() || once_in(12) ? text() : one_of(words); };
  if (kind == AttributeKind::kUndefined || once_in(40)) kind = one_of(kDrawnKinds);
  switch (kind) {
    case AttributeKind::kFloat:
      return convert<float>(real());
    case AttributeKind::kString:
      return word();
    case AttributeKind::kTensor:
      return tensor(type_of(kAllTypes), shape());
    case AttributeKind::kInts:
      return integers();
    case AttributeKind::kFloats: {
      std::vector<float> values(static_cast<size_t>(below(7)));
      for (float& value : values) value = convert<float>(real());
      return values;
    }
    case AttributeKind::kStrings: {
      std::vector<std::string> values(static_cast<size_t>(below(5)));
      for (std::string& value : values) value = once_in(2) ? text() : word();
      return values;
    }
    default:
      return integer();
  }
}

std::function<void(Graph&)> Draw::subgraph(int opset) {
  return [seed = static_cast<uint32_t>(below(1 << 30)), opset](Graph& graph) {
    Draw draw(seed);
    std::vector<ValueInfo*> values;
    for (int64_t i = draw.below(4); i > 0; --i) {
      ValueInfo* input = graph.add_value(join("inner", values.size()));
      input->is_input = true;
      graph.inputs.push_back(input);
      values.push_back(input);
    }
    values.push_back(graph.add_initializer("flag", tensor_of<bool>({}, {!draw.once_in(3)})));
    values.push_back(graph.add_initializer("number", draw.tensor(draw.type_of(kNumericTypes), draw.shape())));
    if (ValueInfo* outer = graph.find_visible("x0"); outer && draw.once_in(3)) values.push_back(outer);
    for (int64_t i = 0, n = draw.below(4); i < n; ++i) {
      ValueInfo* from = i == 0 && draw.once_in(2) ? graph.find("flag") : draw.one_of(values);
      bool sum = draw.once_in(4);
      ValueInfo* output = graph.add_value(join("result", i));
      std::vector<ValueInfo*> inputs = {from};
      if (sum) inputs.push_back(draw.one_of(values));
      graph.add_node(join("inner node ", i), sum ? "Add" : "Identity", "", inputs, {output})->opset = opset;
      graph.mark_output(output);
    }
  };
}

Value Draw::value_of_type(std::string_view type) {
  if (type.starts_with("optional(")) return value_of_type(inside(type, 9));
  if (type.starts_with("seq(")) {
    std::vector<Value> items;
    for (int64_t n = below(4); n > 0; --n) items.push_back(value_of_type(inside(type, 4)));
    auto sequence = std::make_shared<tensor::Sequence>();
    if (!items.empty()) return make_sequence(std::move(items));
    if (type.starts_with("seq(tensor(")) sequence->element_type = element_type_called(inside(inside(type, 4), 7));
    return sequence;
  }
  if (type.starts_with("map(")) {
    size_t comma = type.find(',');
    Tensor keys(element_type_called(type.substr(4, comma - 4)), Shape{below(4)});
    int64_t next = below(5) - 2;
    if (keys.type() == ElementType::kString) {
      for (std::string& key : keys.mutable_span<std::string>()) key = join("a", next++);
    } else {
      for (int64_t& key : keys.mutable_span<int64_t>()) key = next++;
    }
    std::string_view values = inside(type, type.find_first_not_of(' ', comma + 1));
    return make_map(keys, tensor(element_type_called(values), keys.shape()));
  }
  ElementType element = type.starts_with("tensor(") ? element_type_called(inside(type, 7)) : ElementType::kFloat;
  return tensor(element == ElementType::kUndefined ? ElementType::kFloat : element, shape());
}

Shape Draw::input_shape(const NodeCase& node) {
  if (node.inputs.empty() || !node.inputs[0] || !node.inputs[0]->is_tensor()) return shape();
  Shape first = node.inputs[0]->tensor().shape();
  int64_t rank = static_cast<int64_t>(first.rank());
  switch (below(rank == 0 ? 3 : 12)) {
    case 0:
      return shape();
    case 1:
      return Shape{};
    case 2:
      return Shape{once_in(2) ? rank : 2 * rank};
    case 3:
    case 4:
    case 5:
      return Shape{first[static_cast<size_t>(below(rank))]};
    case 6: {
      std::swap(first[static_cast<size_t>(below(rank))], first[static_cast<size_t>(below(rank))]);
      return first;
    }
    case 7: {
      first[static_cast<size_t>(below(rank))] = once_in(3) ? below(4) : 1;
      return first;
    }
    default:
      return first;
  }
}

std::optional<Value> Draw::input(const ops::SchemaRow& row, const NodeCase& node, size_t i,
                                 std::vector<std::pair<std::string, std::string>>& bound) {
  if (i >= row.inputs.min && once_in(4)) return std::nullopt;
  if (i > 0 && node.inputs[0] && once_in(15)) return node.inputs[0];
  const ops::OperatorSignature* signature = ops::find_signature(node.domain, node.op, node.opset);
  if (signature && !signature->inputs.empty() && !once_in(30)) {
    int parameter = signature->inputs[std::min(i, signature->inputs.size() - 1)].parameter;
    if (parameter >= 0) {
      const ops::TypeParameter& types = signature->parameters[static_cast<size_t>(parameter)];
      auto known = std::ranges::find(bound, types.name, &std::pair<std::string, std::string>::first);
      if (known == bound.end()) {
        std::string type = types.types.empty() ? "tensor(float)" : one_of(types.types);
        if (once_in(3) && std::ranges::count(types.types, std::string_view("tensor(float)"))) type = "tensor(float)";
        known = bound.insert(bound.end(), {types.name, type});
      }
      if (!known->second.starts_with("tensor(")) return value_of_type(known->second);
      return tensor(element_type_called(inside(known->second, 7)), input_shape(node));
    }
  }
  for (const ops::InputTypes& limit : row.types) {
    if (limit.types.empty()) break;
    if (limit.index != static_cast<int8_t>(i) && limit.index != ops::kTheRest) continue;
    std::string variable = limit.variable == 0 ? "" : std::string("row ") + limit.variable;
    auto known = std::ranges::find(bound, variable, &std::pair<std::string, std::string>::first);
    if (!variable.empty() && known != bound.end()) {
      return tensor(element_type_called(known->second), input_shape(node));
    }
    ElementType type = type_of(once_in(40) ? kAllTypes : limit.types);
    if (!variable.empty()) bound.emplace_back(variable, name_of(type));
    return tensor(type, input_shape(node));
  }
  return tensor(type_of(kAllTypes), input_shape(node));
}

void Draw::draw_inputs(const ops::SchemaRow& row, NodeCase& node) {
  size_t most = std::min<size_t>(row.inputs.max, row.inputs.min + (row.inputs.max == ops::kVariadic ? 4 : 16));
  size_t count = row.inputs.min + static_cast<size_t>(below(static_cast<int64_t>(most - row.inputs.min + 1)));
  if (once_in(50)) count = static_cast<size_t>(below(6));
  std::vector<std::pair<std::string, std::string>> bound;
  for (size_t i = 0; i < count; ++i) node.inputs.push_back(input(row, node, i, bound));
}

void Draw::draw_attributes(NodeCase& node) {
  const OperatorWords& words = words_of(node.op);
  Graph graph(std::make_shared<ModelContext>());
  Node* plain = graph.add_node("n", node.op, node.domain, {}, {});
  plain->opset = node.opset;
  for (const Attribute& standard : ops::default_attributes(*plain)) {
    if (once_in(3)) node.attributes.push_back(standard);
  }
  for (const AttributeWord& word : words.attributes) {
    if (once_in(word.required ? 12 : 2)) continue;
    if (word.kind == AttributeKind::kGraph) {
      node.subgraphs.emplace_back(word.name, subgraph(node.opset));
    } else {
      node.attributes.push_back({word.name, attribute(word.kind, words.strings)});
    }
  }
}

int Draw::version(const ops::SchemaRow& row) {
  int latest = row.domain[0] == '\0' ? 28 : std::string_view(row.domain) == "ai.onnx.ml" ? 5 : row.since;
  int until = std::max(row.since, std::min(row.until, latest));
  return once_in(3) ? until : row.since + static_cast<int>(below(until - row.since + 1));
}

HostileNode Draw::node(std::span<const ops::SchemaRow* const> rows) {
  const ops::SchemaRow& row = *rows[static_cast<size_t>(below(static_cast<int64_t>(rows.size())))];
  HostileNode hostile{{row.name, row.domain, version(row)}};
  draw_inputs(row, hostile.node);
  draw_attributes(hostile.node);
  int64_t most = std::min<int64_t>(row.outputs.max, row.outputs.min + 4);
  hostile.output_count = static_cast<size_t>(std::max<int64_t>(1, row.outputs.min + below(most - row.outputs.min + 1)));
  hostile.deterministic = (row.flags & ops::kNonDeterministic) == 0;
  return hostile;
}

const std::vector<std::vector<const ops::SchemaRow*>>& all_operators() {
  static const auto& all = *[] {
    std::map<std::string, std::vector<const ops::SchemaRow*>> by_name;
    for (const ops::SchemaTable* table : ops::all_schema_tables()) {
      for (size_t i = 0; i < table->count; ++i) {
        const ops::SchemaRow& row = table->rows[i];
        by_name[join(row.domain, ":", row.name)].push_back(&row);
      }
    }
    auto* list = new std::vector<std::vector<const ops::SchemaRow*>>;
    for (auto& [name, rows] : by_name) list->push_back(std::move(rows));
    return list;
  }();
  return all;
}

}  // namespace ortolan::test
