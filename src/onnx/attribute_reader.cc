// AttributeProto: values of every kind, subgraphs, and references to a function's attributes.
#include <algorithm>
#include <unordered_set>

#include "onnx/graph_reader.h"

namespace ortolan::onnx {
namespace {

/** What stands beside an attribute's value. */
struct Heading {
  std::string_view name;
  std::string_view reference;
  AttributeKind kind = AttributeKind::kUndefined;
};

/** The kind of value that field `number` of AttributeProto holds. */
AttributeKind kind_of_field(uint32_t number) {
  switch (number) {
    case 2:
      return AttributeKind::kFloat;
    case 3:
      return AttributeKind::kInt;
    case 4:
      return AttributeKind::kString;
    case 5:
      return AttributeKind::kTensor;
    case 6:
      return AttributeKind::kGraph;
    case 7:
      return AttributeKind::kFloats;
    case 8:
      return AttributeKind::kInts;
    case 9:
      return AttributeKind::kStrings;
    case 10:
      return AttributeKind::kTensors;
    case 11:
      return AttributeKind::kGraphs;
    case 14:
      return AttributeKind::kTypeProto;
    case 15:
      return AttributeKind::kTypeProtos;
    case 22:
      return AttributeKind::kSparseTensor;
    case 23:
      return AttributeKind::kSparseTensors;
    default:
      return AttributeKind::kUndefined;
  }
}

Heading read_heading(Bytes message) {
  Heading heading;
  AttributeKind seen = AttributeKind::kUndefined;
  WireReader reader(message, "AttributeProto");
  while (reader.next()) {
    const Field& field = reader.field();
    if (field.number() == 1) {
      heading.name = field.text();
    } else if (field.number() == 21) {
      heading.reference = field.text();
    } else if (field.number() == 20) {
      int64_t kind = field.integer();
      require(kind >= 0 && kind <= static_cast<int64_t>(AttributeKind::kTypeProtos), ErrorCode::kInvalidGraph,
              "attribute '", heading.name, "' is of kind ", kind, "; ONNX defines 1 to 14");
      heading.kind = static_cast<AttributeKind>(kind);
    } else if (kind_of_field(field.number()) != AttributeKind::kUndefined) {
      seen = kind_of_field(field.number());
    }
  }
  if (heading.kind == AttributeKind::kUndefined) heading.kind = seen;
  return heading;
}

/** Calls `take` for each field of `message` that holds a value of `kind`. */
template <class Take>
void each_of(Bytes message, AttributeKind kind, Take&& take) {
  WireReader reader(message, "AttributeProto");
  while (reader.next()) {
    if (kind_of_field(reader.number()) == kind) take(reader.field());
  }
}

template <class T, class Read>
std::vector<T> list_of(Bytes message, AttributeKind kind, Read&& read) {
  std::vector<T> list;
  each_of(message, kind, [&](const Field& field) { list.push_back(T(read(field))); });
  return list;
}

/** The one value, or T{} when it is missing: writers leave out zeros. */
template <class T, class Read>
T one_of(Bytes message, AttributeKind kind, Read&& read) {
  T value{};
  each_of(message, kind, [&](const Field& field) { value = T(read(field)); });
  return value;
}

/** The one value of a kind whose value cannot be left out; `what` names the kind. */
template <class T, class Read>
T required_one_of(Bytes message, AttributeKind kind, const char* what, Read&& read) {
  bool found = false;
  T value{};
  each_of(message, kind, [&](const Field& field) {
    value = read(field);
    found = true;
  });
  require(found, ErrorCode::kInvalidGraph, "it holds no ", what);
  return value;
}

std::vector<float> floats_of(Bytes message) {
  std::vector<float> list;
  auto take = [&](float value) { list.push_back(value); };
  each_of(message, AttributeKind::kFloats, [&](const Field& field) { field.each_real<float>(take); });
  return list;
}

std::vector<int64_t> integers_of(Bytes message) {
  std::vector<int64_t> list;
  auto take = [&](int64_t value) { list.push_back(value); };
  each_of(message, AttributeKind::kInts, [&](const Field& field) { field.each_integer(take); });
  return list;
}

/** Names met so far; many are kept in a table. */
class NamesSeen {
 public:
  /** False where the name was met before. */
  bool insert(std::string_view name) {
    if (few_.size() < kMany) {
      if (std::ranges::find(few_, name) != few_.end()) return false;
      few_.push_back(name);
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(name).second;
  }

 private:
  static constexpr size_t kMany = 16;
  InlinedVector<std::string_view, kMany> few_;
  std::unordered_set<std::string_view, base::TextHash> many_;
};

}  // namespace

std::vector<Attribute> GraphReader::read_attributes(std::span<const Bytes> messages, const Scope& scope) {
  std::vector<Attribute> attributes;
  attributes.reserve(messages.size());
  NamesSeen names;
  for (Bytes message : messages) {
    std::string_view name = read_heading(message).name;
    require(!name.empty(), ErrorCode::kInvalidGraph, "an attribute has no name");
    require(names.insert(name), ErrorCode::kInvalidGraph, "attribute '", name, "' is given twice");
    read_attribute(message, scope, attributes);
  }
  return attributes;
}

void GraphReader::read_attribute(Bytes message, const Scope& scope, std::vector<Attribute>& attributes) {
  Heading heading = read_heading(message);
  std::string name(heading.name);
  const Scope* where = &scope;
  for (int hops = 0; !heading.reference.empty(); ++hops) {
    require(where->frame != nullptr && hops <= options_.max_function_depth, ErrorCode::kInvalidGraph, "attribute '",
            name, "' refers to '", heading.reference, "', but only nodes of functions may refer to attributes");
    auto bound = where->frame->attributes.find(heading.reference);
    if (bound == where->frame->attributes.end()) return;
    message = bound->second.message;
    where = bound->second.scope;
    count_inlined(message.size());
    heading = read_heading(message);
  }
  try {
    attributes.push_back({name, read_value(message, *where, scope)});
  } catch (const Error& error) {
    throw error.within(join("attribute '", name, "'"));
  }
}

AttributeValue GraphReader::read_value(Bytes message, const Scope& where, const Scope& holder) {
  AttributeKind kind = read_heading(message).kind;
  auto text = [](const Field& field) { return field.text(); };
  auto tensor = [&](const Field& field) { return tensors_.read(field.bytes()); };
  auto graph = [&](const Field& field) { return read_subgraph(field.bytes(), where, holder); };
  auto sparse = [&](const Field& field) { return tensors_.read_sparse(field.bytes()); };
  auto type = [&](const Field& field) { return read_type(field.bytes(), {nullptr, &options_}); };
  switch (kind) {
    case AttributeKind::kFloat:
      return one_of<float>(message, kind, [](const Field& field) { return field.real(); });
    case AttributeKind::kInt:
      return one_of<int64_t>(message, kind, [](const Field& field) { return field.integer(); });
    case AttributeKind::kString:
      return one_of<std::string>(message, kind, text);
    case AttributeKind::kTensor:
      return required_one_of<Tensor>(message, kind, "tensor", tensor);
    case AttributeKind::kGraph:
      return required_one_of<std::shared_ptr<Graph>>(message, kind, "graph", graph);
    case AttributeKind::kFloats:
      return floats_of(message);
    case AttributeKind::kInts:
      return integers_of(message);
    case AttributeKind::kStrings:
      return list_of<std::string>(message, kind, text);
    case AttributeKind::kTensors:
      return list_of<Tensor>(message, kind, tensor);
    case AttributeKind::kGraphs:
      return list_of<std::shared_ptr<Graph>>(message, kind, graph);
    case AttributeKind::kSparseTensor:
      return required_one_of<std::shared_ptr<SparseTensor>>(message, kind, "sparse tensor", sparse);
    case AttributeKind::kSparseTensors:
      return list_of<std::shared_ptr<SparseTensor>>(message, kind, sparse);
    case AttributeKind::kTypeProto:
      return one_of<TypeInfo>(message, kind, type);
    case AttributeKind::kTypeProtos:
      return list_of<TypeInfo>(message, kind, type);
    case AttributeKind::kUndefined:
      break;
  }
  fail(ErrorCode::kInvalidGraph, "it holds no value and no kind; give it one");
}

std::shared_ptr<Graph> GraphReader::read_subgraph(Bytes message, const Scope& where, const Scope& holder) {
  require(holder.subgraph_depth < options_.max_subgraph_depth, ErrorCode::kInvalidGraph,
          "subgraphs are nested deeper than ", options_.max_subgraph_depth, "; flatten the model");
  auto graph = std::make_shared<Graph>(model_.context, &holder.graph);
  Scope inner{*graph, where.opsets, &where, where.frame, holder.subgraph_depth + 1, holder.function_depth, {}, {}};
  read_graph(message, inner);
  return graph;
}

}  // namespace ortolan::onnx
