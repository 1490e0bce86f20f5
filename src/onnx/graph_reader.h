// GraphProto, NodeProto, AttributeProto and FunctionProto.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "onnx/tensor_reader.h"

namespace ortolan::onnx {

using Opsets = std::map<std::string, int>;

/** Reads an OperatorSetIdProto into `opsets`; the last one of a domain counts. Versions below 1 are kept: they mean no
    operator set, which only a node of the domain minds. */
void read_opset_import(Bytes message, Opsets& opsets);

/** A model-local function, its nodes still encoded. */
struct FunctionBody {
  std::string label;  // "domain.Name" for messages
  std::vector<std::string_view> inputs;
  std::vector<std::string_view> outputs;
  std::vector<std::string_view> attributes;                  // names of those without a default
  std::vector<std::pair<std::string_view, Bytes>> defaults;  // AttributeProtos by name
  std::vector<Bytes> nodes;
  Opsets opsets;
  int64_t bytes = 0;
  bool open = false;  // being inlined: meeting it again is a cycle
};

/** Where names are looked up. A graph's own names are those of its values; a function's, and those of graphs in it, are
    kept apart because their values get new names. */
struct Scope {
  Graph& graph;
  const Opsets& opsets;
  const Scope* parent = nullptr;
  const struct Frame* frame = nullptr;  // the function call around, NULL outside functions
  int subgraph_depth = 0;
  int function_depth = 0;
  using NamedValues = std::unordered_map<std::string_view, ValueInfo*, base::TextHash>;
  NamedValues names;     // used only within a frame
  NamedValues reserved;  // values made beforehand for a function's outputs

  bool is_main() const { return parent == nullptr && frame == nullptr; }
};

/** An attribute of a function call: its message, and where that is to be understood. */
struct BoundAttribute {
  Bytes message;
  const Scope* scope;
};

/** One call of a function. */
struct Frame {
  const FunctionBody& function;
  std::unordered_map<std::string_view, BoundAttribute, base::TextHash> attributes;
  std::string prefix;  // of the names of its nodes
};

/** Builds graphs from messages. One object a model. */
class GraphReader {
 public:
  GraphReader(const ReadOptions& options, TensorReader& tensors, Model& model)
      : options_(options), tensors_(tensors), model_(model) {}

  /** Of functions with equal domain, name and overload the last one counts. */
  void add_function(Bytes message);
  /** Fills the model's main graph; all functions must have been added and the model's opsets set. */
  void read_main(Bytes message);

 private:
  struct GraphParts;
  struct NodeParts;
  struct NodeList;

  DimensionNames names_for(const Scope& scope) const;
  void read_graph(Bytes message, Scope& scope);
  void read_inputs(const GraphParts& parts, Scope& scope);
  void read_initializers(const GraphParts& parts, Scope& scope);
  /** One of the main graph's: what the options give in its place, else what the model has. */
  Tensor main_initializer(std::string_view name, Bytes message);
  /** In the main graph an initializer may be given again, alike in type and shape: the last value counts. */
  void add_initializer(std::string_view name, Tensor tensor, Scope& scope);
  void read_outputs(const GraphParts& parts, Scope& scope);
  void read_hint(Bytes value_info, Scope& scope);

  void read_nodes(std::span<const Bytes> messages, Scope& scope);
  void define_outputs(const NodeParts& parts, NodeList& list, Scope& scope);
  /** The value that a Constant of the main graph gives again: of an earlier one, an initializer or an input; or NULL.
   */
  ValueInfo* given_before(const NodeParts& parts, std::string_view name, const Scope& scope);
  void build_node(const NodeParts& parts, const NodeList& list, Scope& scope);
  void build_constant_again(ValueInfo& value, std::vector<Attribute> attributes, Scope& scope);
  int opset_of(const std::string& domain, const Scope& scope);

  FunctionBody* find_function(std::string_view domain, std::string_view name, std::string_view overload);
  void inline_call(FunctionBody& function, const NodeParts& parts, std::span<ValueInfo* const> inputs,
                   std::span<ValueInfo* const> outputs, std::span<const Bytes> attributes, Scope& scope);
  void finish_outputs(const FunctionBody& function, std::span<ValueInfo* const> outputs, Scope& body);
  void copy_value(ValueInfo* from, ValueInfo* to, Scope& scope);

  std::vector<Attribute> read_attributes(std::span<const Bytes> messages, const Scope& scope);
  /** Appends the attribute, unless it refers to one that the function's caller leaves out. */
  void read_attribute(Bytes message, const Scope& scope, std::vector<Attribute>& attributes);
  /** The value of an AttributeProto whose names mean what they do in `where`, for a node in `holder`. */
  AttributeValue read_value(Bytes message, const Scope& where, const Scope& holder);
  std::shared_ptr<Graph> read_subgraph(Bytes message, const Scope& where, const Scope& holder);

  ValueInfo* define(std::string_view name, Scope& scope);
  /** Whether `name` means anything in `scope`, and what: a function's input that its caller leaves out is NULL. */
  struct Found {
    bool known;
    ValueInfo* value;
  };
  Found find(std::string_view name, const Scope& scope) const;
  std::string node_name(std::string_view name, const Scope& scope) const;
  void count_inlined(size_t bytes);

  const ReadOptions& options_;
  TensorReader& tensors_;
  Model& model_;
  std::deque<FunctionBody> functions_;
  std::unordered_map<std::string, FunctionBody*, base::TextHash> functions_by_key_;
  std::unordered_set<const ValueInfo*> constants_;  // what Constants of the main graph give
  int64_t nodes_ = 0;
  int64_t inlined_bytes_ = 0;
};

}  // namespace ortolan::onnx
