// The graph of a model: nodes, the values between them, and the edits that rewrites make.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/attribute.h"
#include "graph/consumers.h"
#include "graph/type_info.h"

namespace ortolan::base {
class MappedFile;
}
namespace ortolan::ops {
struct SchemaRow;
}

namespace ortolan::graph {

/** A named value of a graph: an input, an initializer, or a node's output. Owned by its graph; the address is stable.
 */
struct ValueInfo {
  std::string name;
  TypeInfo type;
  Graph* graph = nullptr;
  Node* producer = nullptr;        // NULL for inputs and initializers
  size_t producer_output = 0;      // which of the producer's outputs it is
  Consumers consumers;             // uses inside subgraphs included
  std::optional<Tensor> constant;  // an initializer's value; overridable when `is_input` too
  bool is_input = false;
  bool is_output = false;
  const MemoryInfo* memory = nullptr;  // where a run has it; NULL: the CPU's, or not placed yet
  std::optional<DimVector> content;    // what an integer tensor of rank 0 or 1 holds, as far as known

  /** True for an initializer that no caller can override. */
  bool is_fixed() const { return constant && !is_input; }
  /** The value of such an initializer, else NULL. Large weights that lie unaligned in their file are copied at the
      first call, so ask is_fixed() where the elements are not needed. Not for several threads at once. */
  const Tensor* fixed_constant() const;
  /** The same as it lies in the file, perhaps unaligned: for shape and type, and for code that reads bytes. */
  const Tensor* stored_constant() const { return is_fixed() ? &*constant : nullptr; }
};

/** One operation. Inputs and outputs may be NULL where an optional one is left out. */
class Node {
 public:
  std::string name;
  std::string op_type;
  std::string domain;  // "" for ai.onnx
  std::string overload;
  int opset = 0;  // the version of `domain` that the model (or function) imports
  const ops::SchemaRow* schema = nullptr;
  std::string provider;  // the execution provider's type, once partitioned
  size_t id = 0;         // unique in the model; grows with creation

  Graph& graph() const { return *graph_; }
  const std::vector<ValueInfo*>& inputs() const { return inputs_; }
  const std::vector<ValueInfo*>& outputs() const { return outputs_; }
  ValueInfo* input(size_t i) const { return i < inputs_.size() ? inputs_[i] : nullptr; }
  ValueInfo* output(size_t i) const { return i < outputs_.size() ? outputs_[i] : nullptr; }
  /** Rewires one input, keeping the consumer lists. `i` may be one past the end. */
  void set_input(size_t i, ValueInfo* value);
  void set_output(size_t i, ValueInfo* value);

  const std::vector<Attribute>& attributes() const { return attributes_; }
  void set_attribute(std::string name, AttributeValue value);
  void remove_attribute(std::string_view name);
  const Attribute* find_attribute(std::string_view name) const;
  bool has_attribute(std::string_view name) const { return find_attribute(name) != nullptr; }

  /** The attribute's value, or `fallback` when it is absent; throws when it is of another kind. */
  int64_t int_or(std::string_view name, int64_t fallback) const;
  float float_or(std::string_view name, float fallback) const;
  std::string_view string_or(std::string_view name, std::string_view fallback) const;
  /** The attribute's value; throws, naming node and attribute, when absent or of another kind. */
  int64_t int_of(std::string_view name) const;
  float float_of(std::string_view name) const;
  const std::string& string_of(std::string_view name) const;
  const Tensor& tensor_of(std::string_view name) const;
  Graph& graph_of(std::string_view name) const;
  /** The list; empty when absent. */
  const std::vector<int64_t>& ints(std::string_view name) const;
  const std::vector<float>& floats(std::string_view name) const;
  const std::vector<std::string>& strings(std::string_view name) const;

  /** The node's subgraphs with their attribute names, in attribute order. */
  std::vector<std::pair<std::string_view, Graph*>> subgraphs() const;
  /** The values of enclosing graphs (this node's graph or further out) that its subgraphs use, each once. */
  std::vector<ValueInfo*> captured() const;
  /** "node 'name' (Op)" for messages. */
  std::string label() const;

 private:
  friend class Graph;
  friend class Consumers;
  friend class Consumers::iterator;
  /** The neighbours of a use in the list of its value's uses. */
  struct Link {
    Use previous, next;
  };
  template <class T>
  const T* attribute_if(std::string_view name) const;
  template <class T>
  const T& attribute_of(std::string_view name) const;
  void note_attributes();
  void add_use(size_t i);
  void remove_use(size_t i);
  void drop_uses();

  Graph* graph_ = nullptr;
  size_t mark_ = 0;  // scratch of the graph's algorithms
  std::vector<ValueInfo*> inputs_;
  std::vector<Link> links_;  // one an input
  std::vector<ValueInfo*> outputs_;
  std::vector<Attribute> attributes_;
  std::unordered_map<std::string, size_t, base::TextHash, std::equal_to<>>
      attribute_places_;  // empty where there are few
};

inline Consumers::iterator& Consumers::iterator::operator++() {
  at_ = at_.node->links_[at_.input].next;
  return *this;
}

/** What all graphs of one model share. */
struct ModelContext {
  std::map<std::string, int> opsets;  // domain ("" for ai.onnx) to version
  SymbolTable symbols;
  size_t next_id = 0;
};

/** Nodes and values. Nodes keep the order they were added in until sort(). Subgraphs may use values of the graphs
    around them: then a node's input belongs to another graph. A subgraph that outlives the graph around it loses those
    inputs (they become NULL). Not safe for concurrent edits. */
class Graph {
 public:
  explicit Graph(std::shared_ptr<ModelContext> context, Graph* outer = nullptr);
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph();

  std::string name;
  std::string doc;

  ModelContext& context() const { return *context_; }
  const std::shared_ptr<ModelContext>& shared_context() const { return context_; }
  Graph* outer() const { return outer_; }
  void set_outer(Graph* outer);

  /** The graph's formal inputs in order (initializers that are inputs too included), and its outputs. */
  std::vector<ValueInfo*> inputs;
  std::vector<ValueInfo*> outputs;
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::vector<std::unique_ptr<ValueInfo>>& values() const { return values_; }

  /** The value called `name` in this graph, NULL if none; find_visible looks in the graphs around it too. */
  ValueInfo* find(std::string_view name) const;
  ValueInfo* find_visible(std::string_view name) const;
  /** Makes a value; the name must be new in this graph (checked). */
  ValueInfo* add_value(std::string name, TypeInfo type = {});
  /** A name not used in this graph or around it, beginning with `stem`, or with its begin where that is long. */
  std::string unique_name(std::string_view stem) const;
  ValueInfo* add_initializer(std::string name, Tensor value);
  /** Appends to the outputs a value of this very graph (checked). */
  void mark_output(ValueInfo* value);

  Node* add_node(std::string name, std::string op_type, std::string domain, std::vector<ValueInfo*> inputs,
                 std::vector<ValueInfo*> outputs);
  /** Removes the node and its uses of other values; its outputs must be unused. Outputs that are graph outputs, or
      still consumed, must have been replaced first (checked). */
  void remove_node(Node* node);
  /** The same for many nodes of this graph at once, in linear time. */
  void remove_nodes(std::span<Node* const> nodes);
  /** Makes every consumer of `from` use `to`; graph outputs keep their value. */
  void replace_uses(ValueInfo* from, ValueInfo* to);
  /** Removes a value nobody produces or uses. */
  void remove_value(ValueInfo* value);
  /** Puts nodes in an order in which producers come first; throws kInvalidGraph naming a node on a cycle. Stable;
      linear in nodes and edges. Subgraphs keep their order. */
  void sort();
  /** Removes what no output depends on, unused initializers included (inputs stay), here and in subgraphs. Returns
      whether any was. Linear in nodes and edges. */
  bool remove_unreachable();

 private:
  void check_unused(const Node& node) const;
  static void disconnect(Node& node);

  std::shared_ptr<ModelContext> context_;
  Graph* outer_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<ValueInfo>> values_;
  std::unordered_map<std::string_view, ValueInfo*, base::TextHash> by_name_;
  std::vector<Graph*> inner_;  // the living graphs whose outer() is this one
  size_t place_ = 0;           // in the outer graph's inner_
};

/** A model file's content: the graph and what describes it. */
struct Model {
  int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc;
  std::vector<std::pair<std::string, std::string>> metadata;
  std::shared_ptr<ModelContext> context = std::make_shared<ModelContext>();
  std::unique_ptr<Graph> graph;
  std::string path;                                      // of the file; empty for a model from bytes
  std::vector<std::shared_ptr<base::MappedFile>> files;  // that initializers may be views into
};

/** Calls `visit` for the graph and every subgraph in it, outer first. */
template <class Visit>
void for_each_graph(Graph& graph, Visit&& visit) {
  visit(graph);
  for (const auto& node : graph.nodes()) {
    for (auto& [name, subgraph] : node->subgraphs()) for_each_graph(*subgraph, visit);
  }
}

}  // namespace ortolan::graph
