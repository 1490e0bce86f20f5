// Graphs: ownership of nodes and values, and the edits that keep producers and consumers right.
#include "graph/graph.h"

#include <algorithm>

#include "tensor/external_place.h"

namespace ortolan::graph {
namespace {

/** At most 128 bytes of a name, no character cut. */
std::string_view beginning_of(std::string_view name) {
  constexpr size_t kMost = 128;
  if (name.size() <= kMost) return name;
  size_t end = kMost;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;
  return name.substr(0, end);
}

}  // namespace

Graph::Graph(std::shared_ptr<ModelContext> context, Graph* outer) : context_(std::move(context)), outer_(nullptr) {
  set_outer(outer);
}

void Graph::set_outer(Graph* outer) {
  if (outer_) {
    auto& siblings = outer_->inner_;
    siblings.back()->place_ = place_;
    siblings[place_] = siblings.back();
    siblings.pop_back();
  }
  outer_ = outer;
  if (!outer_) return;
  place_ = outer_->inner_.size();
  outer_->inner_.push_back(this);
}

Graph::~Graph() {
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) (*node)->drop_uses();
  for (const auto& value : values_) {
    while (!value->consumers.empty()) value->consumers.front()->remove_use(value->consumers.begin().input());
  }
  for (Graph* graph : inner_) graph->outer_ = nullptr;
  inner_.clear();
  set_outer(nullptr);
}

ValueInfo* Graph::find(std::string_view name) const {
  auto at = by_name_.find(name);
  return at == by_name_.end() ? nullptr : at->second;
}

ValueInfo* Graph::find_visible(std::string_view name) const {
  for (const Graph* graph = this; graph; graph = graph->outer_) {
    if (ValueInfo* value = graph->find(name)) return value;
  }
  return nullptr;
}

ValueInfo* Graph::add_value(std::string name, TypeInfo type) {
  require(!find(name), ErrorCode::kInvalidGraph, "the name '", name, "' is used for two values of graph '", this->name,
          "'; give each its own");
  auto value = std::make_unique<ValueInfo>();
  value->name = std::move(name);
  value->type = std::move(type);
  value->graph = this;
  by_name_.emplace(value->name, value.get());
  values_.push_back(std::move(value));
  return values_.back().get();
}

std::string Graph::unique_name(std::string_view stem) const {
  stem = beginning_of(stem);
  std::string name(stem);
  while (name.empty() || find_visible(name)) name = join(stem, "_", context_->next_id++);
  return name;
}

ValueInfo* Graph::add_initializer(std::string name, Tensor value) {
  ValueInfo* added = add_value(std::move(name), TypeInfo::of_tensor(value.type(), SymbolicShape(value.shape())));
  added->constant = std::move(value);
  return added;
}

void Graph::mark_output(ValueInfo* value) {
  require(value->graph == this, ErrorCode::kInvalidGraph, "value '", value->name,
          "' is of another graph and cannot be an output here; pass it through an Identity node");
  value->is_output = true;
  outputs.push_back(value);
}

Node* Graph::add_node(std::string name, std::string op_type, std::string domain, std::vector<ValueInfo*> inputs,
                      std::vector<ValueInfo*> outputs) {
  auto node = std::make_unique<Node>();
  node->name = std::move(name);
  node->op_type = std::move(op_type);
  node->domain = std::move(domain);
  node->id = context_->next_id++;
  node->graph_ = this;
  auto imported = context_->opsets.find(node->domain);
  if (imported != context_->opsets.end()) node->opset = imported->second;
  node->outputs_.assign(outputs.size(), nullptr);
  try {
    for (size_t i = 0; i < outputs.size(); ++i) node->set_output(i, outputs[i]);
  } catch (...) {
    for (ValueInfo* value : node->outputs_) {
      if (value) value->producer = nullptr;
    }
    throw;
  }
  node->inputs_ = std::move(inputs);
  node->links_.resize(node->inputs_.size());
  for (size_t i = 0; i < node->inputs_.size(); ++i) node->add_use(i);
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

void Graph::check_unused(const Node& node) const {
  require(node.graph_ == this, ErrorCode::kInvalidArgument, node.label(), " is not of this graph");
  for (const ValueInfo* value : node.outputs_) {
    require(!value || (value->consumers.empty() && !value->is_output), ErrorCode::kInvalidArgument, node.label(),
            " cannot be removed: its output '", value ? value->name : std::string(), "' is still used");
  }
}

void Graph::disconnect(Node& node) {
  node.drop_uses();
  for (ValueInfo* value : node.outputs_) {
    if (value) value->producer = nullptr;
  }
}

void Graph::remove_node(Node* node) {
  check_unused(*node);
  disconnect(*node);
  auto at = std::find_if(nodes_.rbegin(), nodes_.rend(), [node](const auto& item) { return item.get() == node; });
  nodes_.erase(std::next(at).base());
}

void Graph::remove_nodes(std::span<Node* const> nodes) {
  constexpr size_t kKept = 0, kRemoved = 1;
  for (const auto& node : nodes_) node->mark_ = kKept;
  for (Node* node : nodes) {
    check_unused(*node);
    disconnect(*node);
    node->mark_ = kRemoved;
  }
  std::erase_if(nodes_, [](const auto& node) { return node->mark_ == kRemoved; });
}

void Graph::replace_uses(ValueInfo* from, ValueInfo* to) {
  if (from == to) return;
  for (auto use = from->consumers.begin(); use != from->consumers.end(); ++use) (*use)->inputs_[use.input()] = to;
  to->consumers.take_all(from->consumers);
}

void Graph::remove_value(ValueInfo* value) {
  require(!value->producer && value->consumers.empty() && !value->is_output && !value->is_input,
          ErrorCode::kInvalidArgument, "value '", value->name, "' cannot be removed: it is still used");
  auto at = std::find_if(values_.rbegin(), values_.rend(), [value](const auto& item) { return item.get() == value; });
  require(at != values_.rend(), ErrorCode::kInvalidArgument, "value '", value->name, "' is not of this graph");
  by_name_.erase(value->name);
  values_.erase(std::next(at).base());
}

const Tensor* ValueInfo::fixed_constant() const {
  if (!is_fixed()) return nullptr;
  if (constant->memory().on_cpu() && !is_aligned(constant->type(), constant->raw())) {
    Tensor aligned = clone(*constant);
    const ExternalPlace* place = place_of(*constant);
    const_cast<ValueInfo*>(this)->constant = place != nullptr ? with_place(aligned, *place) : aligned;
  }
  return &*constant;
}

}  // namespace ortolan::graph
