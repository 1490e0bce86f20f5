// Wrapping core graphs for the API: objects for nodes and values, and their links.
#include "api/graph/graph_objects.h"

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "api/graph/model_drafts.h"
#include "base/error.h"
#include "ops/default_attributes.h"
#include "ops/since_version.h"

namespace ortolan::api {
namespace {

using Defaults = std::span<const graph::Attribute>;

/** The nodes in the given order, except that those which others of them depend on come first. */
std::vector<const graph::Node*> sorted(std::span<const graph::Node* const> nodes) {
  std::unordered_map<const graph::Node*, size_t> positions;
  for (size_t i = 0; i < nodes.size(); ++i) positions.emplace(nodes[i], i);
  std::vector<std::vector<size_t>> users(nodes.size());
  std::vector<size_t> waiting(nodes.size(), 0);  // for how many values
  auto wait_for = [&](size_t user, const graph::ValueInfo* value) {
    auto maker = value != nullptr ? positions.find(value->producer) : positions.end();
    if (maker == positions.end()) return;
    users[maker->second].push_back(user);
    ++waiting[user];
  };
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (const auto& [node, position] : positions) {
    for (const graph::ValueInfo* value : node->inputs()) wait_for(position, value);
    for (const graph::ValueInfo* value : node->captured()) wait_for(position, value);
    if (waiting[position] == 0) ready.push(position);
  }
  std::vector<const graph::Node*> order;
  while (!ready.empty()) {
    size_t next = ready.top();
    ready.pop();
    order.push_back(nodes[next]);
    for (size_t user : users[next]) {
      if (--waiting[user] == 0) ready.push(user);
    }
  }
  return order;
}

/** The node around a subgraph. */
const graph::Node* node_around(const graph::Graph& graph) {
  if (graph.outer() == nullptr) return nullptr;
  for (const auto& node : graph.outer()->nodes()) {
    for (const auto& [name, subgraph] : node->subgraphs()) {
      if (subgraph == &graph) return node.get();
    }
  }
  return nullptr;
}

}  // namespace

Origin origin_of(const graph::Model& model) {
  return std::make_shared<GraphOrigin>(GraphOrigin{model.path, model.ir_version, describe_model(model)});
}

ValueObject::ValueObject(std::string name, TypeDescription type)
    : own_(std::make_unique<graph::ValueInfo>()), type_(std::make_unique<TypeDescription>(std::move(type))) {
  own_->name = std::move(name);
  core_ = own_.get();
}

ValueObject::ValueObject(std::string name, std::unique_ptr<tensor::Value> initializer)
    : ValueObject(std::move(name), describe(*initializer)) {
  own_->constant = initializer->tensor();
  initializer_ = std::move(initializer);
}

const TypeDescription& ValueObject::type() const {
  if (graph_ == nullptr) return *type_;
  std::lock_guard guard(graph_->lock_);
  if (type_ == nullptr) {
    type_ = std::make_unique<TypeDescription>(describe(core_->type, &core_->graph->context().symbols));
  }
  return *type_;
}

bool ValueObject::is_from_outer_scope() const { return graph_ != nullptr && core_->graph != graph_->core_; }

const tensor::Value* ValueObject::initializer() const {
  if (graph_ == nullptr || !is_initializer()) return initializer_.get();
  std::lock_guard guard(graph_->lock_);
  if (initializer_ != nullptr) return initializer_.get();
  const tensor::Tensor& stored = *core_->constant;
  base::require(stored.raw() != nullptr || stored.element_count() == 0, base::ErrorCode::kFail, "initializer '", name(),
                "' is kept by its kernel only; ask for it before the session is made");
  bool usable = !stored.memory().on_cpu() || tensor::is_aligned(stored.type(), stored.raw());
  initializer_ = std::make_unique<tensor::Value>(usable ? stored : tensor::clone(stored));
  return initializer_.get();
}

NodeObject::NodeObject(const GraphObject& graph, const graph::Node& core) : graph_(&graph), core_(&core) {}
NodeObject::NodeObject(std::unique_ptr<NodeDraft> draft) : draft_(std::move(draft)) {}
NodeObject::~NodeObject() = default;

size_t NodeObject::id() const { return core_ != nullptr ? core_->id : draft_->id; }
const std::string& NodeObject::name() const { return core_ != nullptr ? core_->name : draft_->name; }
const std::string& NodeObject::op_type() const { return core_ != nullptr ? core_->op_type : draft_->op_type; }
const std::string& NodeObject::domain() const { return core_ != nullptr ? core_->domain : draft_->domain; }
const std::string& NodeObject::provider() const { return core_ != nullptr ? core_->provider : draft_->provider; }
int NodeObject::since_version() const { return core_ != nullptr ? ops::since_version(*core_) : 1; }

std::span<const graph::Attribute* const> NodeObject::attributes() const {
  std::unique_lock<std::mutex> guard;
  if (graph_ != nullptr) guard = std::unique_lock(graph_->lock_);
  if (attributes_) return *attributes_;
  std::vector<const graph::Attribute*> listed;
  auto is_set = [&](const graph::Attribute& attribute) {
    return std::ranges::any_of(listed, [&](const auto* other) { return other->name == attribute.name; });
  };
  for (const graph::Attribute& attribute : core_ != nullptr ? core_->attributes() : draft_->attributes) {
    listed.push_back(&attribute);
  }
  for (const graph::Attribute& attribute : core_ != nullptr ? ops::default_attributes(*core_) : Defaults()) {
    if (!is_set(attribute)) listed.push_back(&attribute);
  }
  attributes_ = std::move(listed);
  return *attributes_;
}

const GraphObject* NodeObject::graph() const { return graph_ == nullptr || graph_->is_detached_ ? nullptr : graph_; }

std::span<const NodeSubgraph> NodeObject::subgraphs() const {
  if (core_ == nullptr) return {};
  std::lock_guard guard(graph_->lock_);
  if (!subgraphs_) {
    std::vector<NodeSubgraph> made;
    for (const auto& [attribute, subgraph] : core_->subgraphs()) {
      made.push_back({std::string(attribute), std::make_unique<GraphObject>(*subgraph, graph_->origin_, this)});
    }
    subgraphs_ = std::move(made);
  }
  return *subgraphs_;
}

GraphObject::GraphObject(const graph::Graph& graph, Origin origin, const NodeObject* parent)
    : core_(&graph), origin_(std::move(origin)), parent_(parent) {
  node_objects_.reserve(graph.nodes().size());
  value_objects_.reserve(graph.values().size());
  std::vector<const graph::Node*> nodes;
  for (const auto& node : graph.nodes()) nodes.push_back(node.get());
  add_nodes(nodes);
  set_inputs({graph.inputs.data(), graph.inputs.size()});
  set_outputs({graph.outputs.data(), graph.outputs.size()});
  for (const auto& value : graph.values()) {
    bool is_used = !value->consumers.empty() || value->is_input || value->is_output;
    if (value->constant && is_used) initializers_.push_back(&value_of(*value));
  }
}

GraphObject::GraphObject(const graph::Graph& graph, const GraphPart& part, Origin origin)
    : core_(&graph), origin_(std::move(origin)) {
  add_nodes(sorted(part.nodes));
  if (part.inputs) {
    set_inputs(*part.inputs);
  } else {
    collect_inputs();
  }
  if (part.outputs) {
    set_outputs(*part.outputs);
  } else {
    collect_outputs();
  }
  for (const ValueObject& value : values_) {
    if (value.is_initializer() && !value.is_from_outer_scope()) initializers_.push_back(&value);
  }
}

GraphObject::GraphObject(std::unique_ptr<GraphDraft> draft) : draft_(std::move(draft)) {}
GraphObject::~GraphObject() = default;

const std::string& GraphObject::name() const { return core_ != nullptr ? core_->name : draft_->name; }

const NodeObject* GraphObject::parent() const {
  if (parent_ != nullptr || core_ == nullptr || core_->outer() == nullptr) return parent_;
  std::lock_guard guard(lock_);
  if (own_parent_ == nullptr) {
    if (const graph::Node* around = node_around(*core_)) own_parent_ = std::make_unique<DetachedNode>(*around);
  }
  return own_parent_ != nullptr ? &own_parent_->node() : nullptr;
}

void GraphObject::take_inputs(std::vector<std::unique_ptr<ValueObject>> values) {
  draft_->inputs = std::move(values);
  inputs_.clear();
  for (const auto& value : draft_->inputs) {
    value->taken_ = value->is_input_ = true;
    inputs_.push_back(value.get());
  }
}

void GraphObject::take_outputs(std::vector<std::unique_ptr<ValueObject>> values) {
  draft_->outputs = std::move(values);
  outputs_.clear();
  for (const auto& value : draft_->outputs) {
    value->taken_ = value->is_output_ = true;
    outputs_.push_back(value.get());
  }
}

void GraphObject::take_initializer(std::unique_ptr<ValueObject> initializer) {
  initializer->taken_ = true;
  draft_->initializer_names.insert(initializer->name());
  draft_->taken_values.insert(initializer->initializer());
  initializers_.push_back(initializer.get());
  draft_->initializers.push_back(std::move(initializer));
}

const NodeObject* GraphObject::find(const graph::Node& node) const {
  auto at = node_objects_.find(&node);
  return at == node_objects_.end() ? nullptr : at->second;
}

const ValueObject* GraphObject::find(const graph::ValueInfo& value) const {
  auto at = value_objects_.find(&value);
  return at == value_objects_.end() ? nullptr : at->second;
}

ValueObject& GraphObject::value_of(const graph::ValueInfo& core) {
  auto [at, is_new] = value_objects_.try_emplace(&core, nullptr);
  if (is_new) at->second = &values_.emplace_back(*this, core);
  return *at->second;
}

NodeObject& GraphObject::add_node(const graph::Node& core) {
  NodeObject& node = nodes_.emplace_back(*this, core);
  node_objects_.emplace(&core, &node);
  auto add = [&](std::vector<const ValueObject*>& list, const std::vector<graph::ValueInfo*>& values) {
    list.reserve(values.size());
    for (const graph::ValueInfo* value : values) list.push_back(value != nullptr ? &value_of(*value) : nullptr);
  };
  add(node.inputs_, core.inputs());
  add(node.outputs_, core.outputs());
  add(node.implicit_, core.captured());
  return node;
}

void GraphObject::add_nodes(std::span<const graph::Node* const> nodes) {
  for (const graph::Node* core : nodes) {
    NodeObject& node = add_node(*core);
    for (size_t i = 0; i < node.inputs_.size(); ++i) {
      if (core->inputs()[i] != nullptr) {
        value_of(*core->inputs()[i]).consumers_.push_back({&node, static_cast<int64_t>(i)});
      }
    }
    for (const ValueObject* value : node.implicit_) value_of(value->core()).consumers_.push_back({&node, -1});
    for (size_t i = 0; i < node.outputs_.size(); ++i) {
      if (core->outputs()[i] == nullptr) continue;
      ValueObject& value = value_of(*core->outputs()[i]);
      value.producer_ = &node;
      value.producer_output_ = i;
    }
  }
}

void GraphObject::set_inputs(std::span<const graph::ValueInfo* const> values) {
  for (const graph::ValueInfo* core : values) {
    ValueObject& value = value_of(*core);
    value.is_input_ = true;
    inputs_.push_back(&value);
  }
}

void GraphObject::set_outputs(std::span<const graph::ValueInfo* const> values) {
  for (const graph::ValueInfo* core : values) {
    ValueObject& value = value_of(*core);
    value.is_output_ = true;
    outputs_.push_back(&value);
  }
}

void GraphObject::collect_inputs() {
  std::vector<const graph::ValueInfo*> found;
  for (const ValueObject& value : values_) {
    if (value.producer_ == nullptr && !value.is_constant_initializer()) found.push_back(value.core_);
  }
  set_inputs(found);
}

void GraphObject::collect_outputs() {
  std::unordered_set<const graph::Node*> inside;  // what may use a value without making it an output
  for (const NodeObject& node : nodes_) {
    inside.insert(node.core_);
    for (const auto& [attribute, subgraph] : node.core_->subgraphs()) {
      graph::for_each_graph(*subgraph, [&](const graph::Graph& graph) {
        for (const auto& inner : graph.nodes()) inside.insert(inner.get());
      });
    }
  }
  std::vector<const graph::ValueInfo*> found;
  for (const NodeObject& node : nodes_) {
    for (const ValueObject* value : node.outputs_) {
      if (value == nullptr) continue;
      auto outside = [&](const graph::Node* user) { return !inside.contains(user); };
      if (value->core_->is_output || std::ranges::any_of(value->core_->consumers, outside))
        found.push_back(value->core_);
    }
  }
  set_outputs(found);
}

DetachedNode::DetachedNode(const graph::Node& node) {
  holder_.core_ = &node.graph();
  holder_.is_detached_ = true;
  holder_.add_node(node);
}

DetachedNode::DetachedNode(const FusedNode& node) {
  holder_.core_ = &node.graph;
  holder_.is_detached_ = true;
  auto draft = std::make_unique<NodeDraft>();
  draft->op_type = node.op_type;
  draft->domain = node.domain;
  draft->name = node.name;
  draft->provider = node.provider;
  NodeObject& object = holder_.nodes_.emplace_back(std::move(draft));
  object.graph_ = &holder_;
  for (const graph::ValueInfo* value : node.inputs) object.inputs_.push_back(&holder_.value_of(*value));
  for (const graph::ValueInfo* value : node.outputs) object.outputs_.push_back(&holder_.value_of(*value));
}

}  // namespace ortolan::api
