// Nodes: wiring, attributes and what their subgraphs use from outside.
#include <algorithm>
#include <unordered_set>

#include "graph/graph.h"

namespace ortolan::graph {
namespace {

constexpr std::string_view kKindNames[] = {"nothing",
                                           "a float",
                                           "an int",
                                           "a string",
                                           "a tensor",
                                           "a graph",
                                           "a list of floats",
                                           "a list of ints",
                                           "a list of strings",
                                           "a list of tensors",
                                           "a list of graphs",
                                           "a sparse tensor",
                                           "a list of sparse tensors",
                                           "a type",
                                           "a list of types"};

// From so many attributes on they are found by a table.
constexpr size_t kManyAttributes = 16;

template <class T>
constexpr size_t kind_index() {
  return AttributeValue(T{}).index();
}

}  // namespace

void Node::set_input(size_t i, ValueInfo* value) {
  require(i <= inputs_.size(), ErrorCode::kInvalidArgument, label(), ": cannot set input ", i, " of ", inputs_.size());
  if (i == inputs_.size()) {
    inputs_.push_back(nullptr);
    links_.emplace_back();
  }
  if (inputs_[i] == value) return;
  remove_use(i);
  inputs_[i] = value;
  add_use(i);
}

void Node::add_use(size_t i) {
  if (inputs_[i]) inputs_[i]->consumers.append({this, static_cast<uint32_t>(i)});
}

void Node::remove_use(size_t i) {
  if (inputs_[i]) inputs_[i]->consumers.remove({this, static_cast<uint32_t>(i)});
  inputs_[i] = nullptr;
}

void Node::set_output(size_t i, ValueInfo* value) {
  require(i <= outputs_.size(), ErrorCode::kInvalidArgument, label(), ": cannot set output ", i, " of ",
          outputs_.size());
  if (i == outputs_.size()) outputs_.push_back(nullptr);
  if (outputs_[i] == value) return;
  require(!value || (value->producer == nullptr && !value->constant && !value->is_input && value->graph == graph_),
          ErrorCode::kInvalidGraph, label(), ": value '", value ? value->name : std::string(),
          "' cannot be its output: it is an input or initializer, or another node makes it");
  if (outputs_[i]) outputs_[i]->producer = nullptr;
  outputs_[i] = value;
  if (!value) return;
  value->producer = this;
  value->producer_output = i;
}

void Node::drop_uses() {
  attributes_.clear();
  attribute_places_.clear();
  for (size_t i = inputs_.size(); i-- > 0;) remove_use(i);
  inputs_.clear();
  links_.clear();
}

void Node::set_attribute(std::string name, AttributeValue value) {
  if (const Attribute* known = find_attribute(name)) {
    attributes_[static_cast<size_t>(known - attributes_.data())].value = std::move(value);
    return;
  }
  attributes_.push_back({std::move(name), std::move(value)});
  if (attribute_places_.empty()) return note_attributes();
  attribute_places_.emplace(attributes_.back().name, attributes_.size() - 1);
}

void Node::remove_attribute(std::string_view name) {
  std::erase_if(attributes_, [name](const Attribute& attribute) { return attribute.name == name; });
  note_attributes();
}

void Node::note_attributes() {
  attribute_places_.clear();
  if (attributes_.size() < kManyAttributes) return;
  for (size_t i = 0; i < attributes_.size(); ++i) attribute_places_.emplace(attributes_[i].name, i);
}

const Attribute* Node::find_attribute(std::string_view name) const {
  if (attribute_places_.empty()) {
    auto found = std::ranges::find(attributes_, name, &Attribute::name);
    return found == attributes_.end() ? nullptr : &*found;
  }
  auto found = attribute_places_.find(name);
  return found == attribute_places_.end() ? nullptr : &attributes_[found->second];
}

template <class T>
const T* Node::attribute_if(std::string_view name) const {
  const Attribute* attribute = find_attribute(name);
  if (!attribute) return nullptr;
  const T* value = std::get_if<T>(&attribute->value);
  require(value != nullptr, ErrorCode::kInvalidGraph, label(), ": attribute '", name, "' is ",
          kKindNames[attribute->value.index()], ", but must be ", kKindNames[kind_index<T>()]);
  return value;
}

template <class T>
const T& Node::attribute_of(std::string_view name) const {
  const T* value = attribute_if<T>(name);
  require(value != nullptr, ErrorCode::kInvalidGraph, label(), ": attribute '", name,
          "' is missing; the operator needs it, ", kKindNames[kind_index<T>()]);
  return *value;
}

int64_t Node::int_or(std::string_view name, int64_t fallback) const {
  const int64_t* value = attribute_if<int64_t>(name);
  return value ? *value : fallback;
}

float Node::float_or(std::string_view name, float fallback) const {
  const float* value = attribute_if<float>(name);
  return value ? *value : fallback;
}

std::string_view Node::string_or(std::string_view name, std::string_view fallback) const {
  const std::string* value = attribute_if<std::string>(name);
  return value ? std::string_view(*value) : fallback;
}

int64_t Node::int_of(std::string_view name) const { return attribute_of<int64_t>(name); }
float Node::float_of(std::string_view name) const { return attribute_of<float>(name); }
const std::string& Node::string_of(std::string_view name) const { return attribute_of<std::string>(name); }
const Tensor& Node::tensor_of(std::string_view name) const { return attribute_of<Tensor>(name); }

Graph& Node::graph_of(std::string_view name) const {
  const auto& graph = attribute_of<std::shared_ptr<Graph>>(name);
  require(graph != nullptr, ErrorCode::kInvalidGraph, label(), ": attribute '", name, "' holds no graph");
  return *graph;
}

const std::vector<int64_t>& Node::ints(std::string_view name) const {
  static const auto& none = *new std::vector<int64_t>;
  const auto* list = attribute_if<std::vector<int64_t>>(name);
  return list ? *list : none;
}

const std::vector<float>& Node::floats(std::string_view name) const {
  static const auto& none = *new std::vector<float>;
  const auto* list = attribute_if<std::vector<float>>(name);
  return list ? *list : none;
}

const std::vector<std::string>& Node::strings(std::string_view name) const {
  static const auto& none = *new std::vector<std::string>;
  const auto* list = attribute_if<std::vector<std::string>>(name);
  return list ? *list : none;
}

std::vector<std::pair<std::string_view, Graph*>> Node::subgraphs() const {
  std::vector<std::pair<std::string_view, Graph*>> found;
  for (const Attribute& attribute : attributes_) {
    if (const auto* one = std::get_if<std::shared_ptr<Graph>>(&attribute.value)) {
      if (*one) found.emplace_back(attribute.name, one->get());
    } else if (const auto* list = std::get_if<std::vector<std::shared_ptr<Graph>>>(&attribute.value)) {
      for (const auto& graph : *list) {
        if (graph) found.emplace_back(attribute.name, graph.get());
      }
    }
  }
  return found;
}

std::vector<ValueInfo*> Node::captured() const {
  std::vector<ValueInfo*> found;
  auto direct = subgraphs();
  if (direct.empty()) return found;
  std::vector<const Graph*> around;
  for (const Graph* graph = graph_; graph; graph = graph->outer()) around.push_back(graph);
  std::unordered_set<const ValueInfo*> seen;
  auto note = [&](ValueInfo* value) {
    if (value && std::ranges::find(around, value->graph) != around.end() && seen.insert(value).second) {
      found.push_back(value);
    }
  };
  for (auto& [name, subgraph] : direct) {
    for_each_graph(*subgraph, [&](Graph& graph) {
      for (const auto& node : graph.nodes()) std::ranges::for_each(node->inputs(), note);
      std::ranges::for_each(graph.outputs, note);
    });
  }
  return found;
}

std::string Node::label() const {
  if (!name.empty()) return join("node '", name, "' (", op_type, ")");
  for (const ValueInfo* value : outputs_) {
    if (value) return join("the node that makes '", value->name, "' (", op_type, ")");
  }
  return join("node ", id, " (", op_type, ")");
}

}  // namespace ortolan::graph
