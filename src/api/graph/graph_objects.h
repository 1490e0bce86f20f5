// The graphs, nodes and values that the API shows, to plugins and to callers who build models: what stands behind
// OrtGraph, OrtNode and OrtValueInfo.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/session/session_object.h"
#include "api/values/type_descriptions.h"
#include "graph/graph.h"

namespace ortolan::api {

class DetachedNode;
class GraphObject;
class NodeObject;
class ValueObject;
struct GraphDraft;
struct NodeDraft;

/** What a graph tells of the model that it is part of. */
struct GraphOrigin {
  std::string model_path;  // empty for a model from bytes
  int64_t ir_version = 0;
  ModelDescription description;
};
using Origin = std::shared_ptr<const GraphOrigin>;
Origin origin_of(const graph::Model& model);

/** One use of a value by a node: which input, or -1 when a subgraph of the node uses it. */
struct ValueUse {
  const NodeObject* node;
  int64_t input;
};

/** OrtValueInfo: a value as one graph sees it. The same core value has another object in each graph that uses it. */
class ValueObject {
 public:
  /** Of a graph; for GraphObject. */
  ValueObject(const GraphObject& graph, const graph::ValueInfo& core) : graph_(&graph), core_(&core) {}
  /** On its own: a name and a type, until a graph that the caller builds takes it. */
  ValueObject(std::string name, TypeDescription type);
  /** On its own: an initializer of such a graph. */
  ValueObject(std::string name, std::unique_ptr<tensor::Value> initializer);

  const graph::ValueInfo& core() const { return *core_; }
  const std::string& name() const { return core_->name; }
  /** Spelled out at the first question. */
  const TypeDescription& type() const;
  /** The graph it is asked from; NULL for a value on its own. */
  const GraphObject* graph() const { return graph_; }

  /** The node of the same graph that makes it, and as which output; NULL for any other value. */
  const NodeObject* producer() const { return producer_; }
  size_t producer_output() const { return producer_output_; }
  /** Its uses by nodes of the same graph. */
  std::span<const ValueUse> consumers() const { return consumers_; }

  bool is_initializer() const { return core_->constant.has_value(); }
  bool is_constant_initializer() const { return core_->is_fixed(); }
  bool is_required_input() const { return is_input_ && !is_initializer(); }
  bool is_optional_input() const { return core_->is_input && is_initializer(); }
  bool is_output() const { return is_output_; }
  bool is_from_outer_scope() const;
  /** An initializer's elements, sharing their memory where that is aligned; NULL for any other value. */
  const tensor::Value* initializer() const;

  /** True once a graph that the caller builds owns it, so that the caller must not release it. */
  bool is_taken() const { return taken_; }

 private:
  friend class GraphObject;
  const GraphObject* graph_ = nullptr;
  const graph::ValueInfo* core_;
  std::unique_ptr<graph::ValueInfo> own_;
  const NodeObject* producer_ = nullptr;
  size_t producer_output_ = 0;
  std::vector<ValueUse> consumers_;
  bool is_input_ = false;
  bool is_output_ = false;
  bool taken_ = false;
  mutable std::unique_ptr<TypeDescription> type_;
  mutable std::unique_ptr<tensor::Value> initializer_;
};

/** A subgraph of a node and the name of its attribute. */
struct NodeSubgraph {
  std::string attribute;
  std::unique_ptr<GraphObject> graph;
};

/** OrtNode: a node of a GraphObject, or one that a caller builds. */
class NodeObject {
 public:
  NodeObject(const GraphObject& graph, const graph::Node& core);
  /** On its own, until a graph that the caller builds takes it. */
  explicit NodeObject(std::unique_ptr<NodeDraft> draft);
  ~NodeObject();

  /** The core node; NULL for one that a caller builds. */
  const graph::Node* core() const { return core_; }
  /** False for a node that a caller builds, which knows its values by name only. */
  bool is_linked() const { return graph_ != nullptr; }
  /** What a caller said it is; NULL for a node of a core graph. */
  NodeDraft* draft() const { return draft_.get(); }

  size_t id() const;
  const std::string& name() const;
  const std::string& op_type() const;
  const std::string& domain() const;
  const std::string& provider() const;
  /** The version that last changed the operator; 1 for fused nodes. */
  int since_version() const;
  /** NULL for inputs and outputs that are left out. */
  std::span<const ValueObject* const> inputs() const { return inputs_; }
  std::span<const ValueObject* const> outputs() const { return outputs_; }
  /** What its subgraphs use of the graphs around them, each value once. */
  std::span<const ValueObject* const> implicit_inputs() const { return implicit_; }
  /** Those that it sets, and the operator's defaults for others. Listed at the first question. */
  std::span<const graph::Attribute* const> attributes() const;
  /** Wrapped at the first question. */
  std::span<const NodeSubgraph> subgraphs() const;
  /** The graph it is shown in; NULL for a node on its own. */
  const GraphObject* graph() const;

 private:
  friend class DetachedNode;
  friend class GraphObject;
  const GraphObject* graph_ = nullptr;
  const graph::Node* core_ = nullptr;
  std::unique_ptr<NodeDraft> draft_;
  std::vector<const ValueObject*> inputs_;
  std::vector<const ValueObject*> outputs_;
  std::vector<const ValueObject*> implicit_;
  mutable std::optional<std::vector<NodeSubgraph>> subgraphs_;
  mutable std::optional<std::vector<const graph::Attribute*>> attributes_;
};

/** A selection of a graph's nodes. Where inputs or outputs are not given they are what the nodes use but do not make,
    constant initializers apart, and what they make for others or for the graph's outputs. */
struct GraphPart {
  std::span<const graph::Node* const> nodes;
  std::optional<std::span<const graph::ValueInfo* const>> inputs;
  std::optional<std::span<const graph::ValueInfo* const>> outputs;
};

/** OrtGraph: a picture of a core graph as it is when this is made, in time linear in nodes and edges. It owns the
    objects of its nodes and values, and must not outlive the core graph, nor see it edited. Questions may come from
    several threads. */
class GraphObject {
 public:
  /** A whole graph. Without `parent`, a subgraph finds the node around it itself. */
  GraphObject(const graph::Graph& graph, Origin origin, const NodeObject* parent = nullptr);
  /** Some nodes of a graph, put in an order in which producers come first. */
  GraphObject(const graph::Graph& graph, const GraphPart& part, Origin origin);
  /** Empty, to be filled by the caller of the API. */
  explicit GraphObject(std::unique_ptr<GraphDraft> draft);
  GraphObject(const GraphObject&) = delete;
  GraphObject& operator=(const GraphObject&) = delete;
  ~GraphObject();

  /** The core graph; NULL for one that a caller builds. */
  const graph::Graph* core() const { return core_; }
  GraphDraft* draft() const { return draft_.get(); }
  const Origin& origin() const { return origin_; }
  const std::string& name() const;
  /** The node that the graph is an attribute of; NULL for a main graph. */
  const NodeObject* parent() const;
  const std::deque<NodeObject>& nodes() const { return nodes_; }
  std::span<const ValueObject* const> inputs() const { return inputs_; }
  std::span<const ValueObject* const> outputs() const { return outputs_; }
  /** Without those that nothing uses. */
  std::span<const ValueObject* const> initializers() const { return initializers_; }
  /** What a caller gives to a graph that it builds; inputs and outputs replace those it had. */
  void take_inputs(std::vector<std::unique_ptr<ValueObject>> values);
  void take_outputs(std::vector<std::unique_ptr<ValueObject>> values);
  void take_initializer(std::unique_ptr<ValueObject> initializer);
  /** The objects for core nodes and values; NULL when they are not shown here. */
  const NodeObject* find(const graph::Node& node) const;
  const ValueObject* find(const graph::ValueInfo& value) const;

 private:
  friend class DetachedNode;
  friend class NodeObject;
  friend class ValueObject;
  GraphObject() = default;
  ValueObject& value_of(const graph::ValueInfo& core);
  NodeObject& add_node(const graph::Node& node);
  void add_nodes(std::span<const graph::Node* const> nodes);
  void set_inputs(std::span<const graph::ValueInfo* const> values);
  void set_outputs(std::span<const graph::ValueInfo* const> values);
  void collect_inputs();
  void collect_outputs();

  const graph::Graph* core_ = nullptr;
  Origin origin_;
  std::unique_ptr<GraphDraft> draft_;
  mutable const NodeObject* parent_ = nullptr;
  mutable std::unique_ptr<DetachedNode> own_parent_;
  bool is_detached_ = false;  // holds one node that is shown on its own
  std::deque<NodeObject> nodes_;
  std::deque<ValueObject> values_;
  std::unordered_map<const graph::Node*, NodeObject*> node_objects_;
  std::unordered_map<const graph::ValueInfo*, ValueObject*> value_objects_;
  std::vector<const ValueObject*> inputs_;
  std::vector<const ValueObject*> outputs_;
  std::vector<const ValueObject*> initializers_;
  mutable std::mutex lock_;  // of what is made at the first question
};

/** What a compiled group becomes. */
struct FusedNode {
  const graph::Graph& graph;
  std::string name;
  std::string op_type;
  std::string domain;
  std::string provider;
  std::span<const graph::ValueInfo* const> inputs;
  std::span<const graph::ValueInfo* const> outputs;
};

/** A node shown without its graph: Node_GetGraph gives NULL, and its values know neither producers nor consumers. Lives
    as long as the owner wants, the core values and graph at least as long. */
class DetachedNode {
 public:
  explicit DetachedNode(const graph::Node& node);
  explicit DetachedNode(const FusedNode& node);
  const NodeObject& node() const { return holder_.nodes_.front(); }

 private:
  GraphObject holder_;
};

}  // namespace ortolan::api
