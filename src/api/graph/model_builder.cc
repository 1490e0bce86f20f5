// From drafts to core models: names become values, nodes are linked and sorted.
#include "api/graph/model_builder.h"

#include "api/arguments.h"
#include "onnx/reader.h"
#include "runtime/kernels/custom_operator.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {
namespace {

using graph::Graph;
using graph::Model;
using graph::Node;
using graph::ValueInfo;

/** The graph's form of a type that a caller has described. */
graph::TypeInfo type_from(const TypeDescription& type, graph::SymbolTable& symbols) {
  graph::TypeInfo result = type_info_of(type.tensor, &symbols);
  result.kind = type.kind;
  if (type.kind == ValueKind::kMap) result.element = type.key;
  if (type.contained) result.contained = std::make_shared<graph::TypeInfo>(type_from(*type.contained, symbols));
  result.denotation = type.denotation;
  return result;
}

/** Versions of domains that nodes may use without the model naming them. */
std::map<std::string, int> default_opsets(const runtime::SessionOptions& options) {
  std::map<std::string, int> versions{{"com.microsoft", 1}};
  for (const auto& custom : options.custom_operators) versions.try_emplace(custom->domain, 1);
  return versions;
}

/** Puts one draft into a graph, which may have nodes already. */
class DraftMerger {
 public:
  DraftMerger(Model& model, const GraphDraft& draft, std::map<std::string, int> default_opsets)
      : model_(model), graph_(*model.graph), draft_(draft), default_opsets_(std::move(default_opsets)) {}

  void merge() {
    if (!draft_.inputs.empty()) replace_inputs();
    for (const auto& initializer : draft_.initializers) add_initializer(*initializer);
    for (const auto& node : draft_.nodes) add_outputs(*node->draft());
    for (const auto& node : draft_.nodes) add_node(*node->draft());
    if (!draft_.outputs.empty()) replace_outputs();
    for (ValueInfo* value : former_inputs_) check_former_input(*value);
    graph_.sort();
  }

 private:
  void replace_inputs() {
    former_inputs_ = std::move(graph_.inputs);
    graph_.inputs.clear();
    for (ValueInfo* value : former_inputs_) value->is_input = false;
    for (const auto& input : draft_.inputs) {
      ValueInfo* value = graph_.find(input->name());
      if (value == nullptr) value = graph_.add_value(input->name());
      require(!value->is_input, ErrorCode::kInvalidGraph, "the graph has two inputs '", value->name,
              "'; give each its own name");
      require(value->producer == nullptr, ErrorCode::kInvalidGraph, "the input '", value->name, "' is already made by ",
              value->producer == nullptr ? std::string() : value->producer->label(), "; choose another name");
      value->type = type_from(input->type(), model_.context->symbols);
      value->is_input = true;
      graph_.inputs.push_back(value);
    }
  }

  void add_initializer(const ValueObject& initializer) {
    const Tensor& held = initializer.initializer()->tensor();
    ValueInfo* value = graph_.find(initializer.name());
    if (value == nullptr) {
      graph_.add_initializer(initializer.name(), held);
      return;
    }
    require(value->is_input && !value->constant, ErrorCode::kInvalidGraph, "the initializer '", value->name,
            "' has the name of another value of the graph; give it a name of its own");
    value->constant = held;
  }

  void add_outputs(const NodeDraft& node) {
    for (const std::string& name : node.outputs) {
      if (name.empty()) continue;
      ValueInfo* value = graph_.find(name);
      if (value == nullptr) {
        value = graph_.add_value(name);
      } else {
        bool is_free = value->producer == nullptr && !value->constant && !value->is_input && !made_.contains(value);
        require(is_free, ErrorCode::kInvalidGraph, label(node), ": its output '", name,
                "' is already an input, an initializer or another node's output; give it a name of its own");
      }
      made_.insert(value);
    }
  }

  void add_node(const NodeDraft& node) {
    std::vector<ValueInfo*> inputs, outputs;
    for (const std::string& name : node.inputs) {
      ValueInfo* value = name.empty() ? nullptr : graph_.find(name);
      require(value != nullptr || name.empty(), ErrorCode::kInvalidGraph, label(node), ": its input '", name,
              "' is no input or initializer of the graph and no node's output; check the name, or add what makes it");
      inputs.push_back(value);
    }
    for (const std::string& name : node.outputs) outputs.push_back(name.empty() ? nullptr : graph_.find(name));
    auto& opsets = model_.context->opsets;
    auto by_default = default_opsets_.find(node.domain);
    if (by_default != default_opsets_.end()) opsets.insert(*by_default);
    require(opsets.contains(node.domain), ErrorCode::kInvalidGraph, label(node),
            ": the model has no operator set of "
            "domain '",
            node.domain, "'; name its version in CreateModel");
    Node* added = graph_.add_node(node.name, node.op_type, node.domain, std::move(inputs), std::move(outputs));
    for (const graph::Attribute& attribute : node.attributes) added->set_attribute(attribute.name, attribute.value);
  }

  void replace_outputs() {
    for (ValueInfo* value : graph_.outputs) value->is_output = false;
    graph_.outputs.clear();
    for (const auto& output : draft_.outputs) {
      ValueInfo* value = graph_.find(output->name());
      require(value != nullptr, ErrorCode::kInvalidGraph, "the output '", output->name(),
              "' is made by no node and is no input or initializer of the graph; check its name");
      require(!value->is_output, ErrorCode::kInvalidGraph, "the graph has two outputs '", value->name,
              "'; name each once");
      if (!value->type.known()) value->type = type_from(output->type(), model_.context->symbols);
      graph_.mark_output(value);
    }
  }

  /** What was an input may be made by a new node now, be a constant or go. */
  void check_former_input(ValueInfo& value) {
    if (value.is_input || value.producer != nullptr || value.constant) return;
    require(value.consumers.empty() && !value.is_output, ErrorCode::kInvalidGraph, "the input '", value.name,
            "' is no more among the graph's inputs, but still used; keep it, or add a node that makes it");
    graph_.remove_value(&value);
  }

  static std::string label(const NodeDraft& node) { return join("node '", node.name, "' (", node.op_type, ")"); }

  Model& model_;
  Graph& graph_;
  const GraphDraft& draft_;
  std::map<std::string, int> default_opsets_;
  std::vector<ValueInfo*> former_inputs_;
  std::unordered_set<const ValueInfo*> made_;  // outputs of the draft's nodes
};

const GraphDraft& graph_of(const ModelDraft& draft) {
  require(draft.graph != nullptr, ErrorCode::kInvalidArgument,
          "the model has no graph; add one with AddGraphToModel first");
  return *draft.graph->draft();
}

}  // namespace

std::unique_ptr<Model> build_model(const ModelDraft& draft, const runtime::SessionOptions& options) {
  const GraphDraft& graph = graph_of(draft);
  require(draft.opsets.contains(""), ErrorCode::kInvalidArgument,
          "the model does not say its version of the standard operator set, whose domain is ''; name it in "
          "CreateModel");
  require(!graph.outputs.empty(), ErrorCode::kInvalidArgument,
          "the graph has no outputs, so there is nothing to run; set them with SetGraphOutputs");
  auto model = std::make_unique<Model>();
  model->ir_version = kBuiltIrVersion;
  model->model_version = onnx::kNoModelVersion;
  model->graph = std::make_unique<Graph>(model->context);
  model->graph->name = graph.name;
  apply_draft(*model, draft, options);
  return model;
}

void check_draft(const Model& model, const ModelDraft& draft) {
  graph_of(draft);
  for (const auto& [domain, version] : draft.opsets) {
    auto at = model.context->opsets.find(domain);
    bool agrees = at == model.context->opsets.end() || at->second == version;
    require(agrees, ErrorCode::kInvalidArgument, "the session's model uses version ", agrees ? version : at->second,
            " of the operator set '", domain, "', but the model to apply version ", version, "; give both the same");
  }
}

void apply_draft(Model& model, const ModelDraft& draft, const runtime::SessionOptions& options) {
  check_draft(model, draft);
  model.context->opsets.insert(draft.opsets.begin(), draft.opsets.end());
  DraftMerger(model, graph_of(draft), default_opsets(options)).merge();
}

}  // namespace ortolan::api
