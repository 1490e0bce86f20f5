// Derivatives in reverse mode: nodes between y and the xs, from y back, each adding to the adjoints of its inputs.
#include "runtime/gradient.h"

#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace ortolan::runtime {
namespace {

using namespace graph;
using base::ErrorCode;
using base::fail;
using base::require;

constexpr const char* kDomain = "ai.onnx.preview.training";
constexpr size_t kMostGradients = 64;  // each may make about as many nodes as the graph has
constexpr int kOpset = 15;             // of the nodes made here, whatever the model imports

class Expansion {
 public:
  explicit Expansion(Node& node) : node_(node), graph_(node.graph()) {}

  void run() {
    bind();
    find_path();
    evaluate_at_inputs();
    for (size_t i = path_.size(); i-- > 0;) {
      auto adjoint = adjoints_.find(path_[i]->output(0));
      if (adjoint != adjoints_.end()) propagate(*path_[i], adjoint->second);
    }
    replace();
  }

 private:
  ValueInfo* value_called(const std::string& name) const {
    ValueInfo* value = graph_.find(name);
    require(value != nullptr, ErrorCode::kInvalidGraph, node_.label(), ": there is no value '", name,
            "' in its graph; name values in xs, zs and y");
    return value;
  }

  /** Inputs take the places of the values that xs and zs name. */
  void bind() {
    const auto& xs = node_.strings("xs");
    const auto& zs = node_.strings("zs");
    require(xs.size() + zs.size() == node_.inputs().size() && node_.outputs().size() <= xs.size(),
            ErrorCode::kInvalidGraph, node_.label(), " has ", node_.inputs().size(), " inputs and ",
            node_.outputs().size(), " outputs, but names ", xs.size(), " xs and ", zs.size(), " zs");
    for (size_t i = 0; i < node_.inputs().size(); ++i) {
      require(node_.input(i) != nullptr, ErrorCode::kInvalidGraph, node_.label(), ": input ", i, " is left out");
      ValueInfo* named = value_called(i < xs.size() ? xs[i] : zs[i - xs.size()]);
      at_[named] = node_.input(i);
      if (i < xs.size()) xs_.push_back(named);
    }
    depends_.insert(xs_.begin(), xs_.end());
    y_ = value_called(node_.string_of("y"));
  }

  /** The nodes that y needs, down to the bound values, producers first. */
  void find_path() {
    std::unordered_set<const Node*> needed;
    std::vector<const ValueInfo*> open = {y_};
    while (!open.empty()) {
      const ValueInfo* value = open.back();
      open.pop_back();
      if (value == nullptr || at_.contains(value) || value->producer == nullptr) continue;
      require(value->producer != &node_, ErrorCode::kInvalidGraph, node_.label(), ": y depends on the gradient itself");
      if (!needed.insert(value->producer).second) continue;
      for (const ValueInfo* input : value->producer->inputs()) open.push_back(input);
    }
    for (const auto& node : graph_.nodes()) {
      if (needed.contains(node.get())) path_.push_back(node.get());
    }
  }

  ValueInfo* at(ValueInfo* value) const {
    auto found = at_.find(value);
    return found == at_.end() ? value : found->second;
  }

  /** Computes the path again where inputs are other values than those named; notes what depends on the xs. */
  void evaluate_at_inputs() {
    for (Node* node : path_) {
      std::vector<ValueInfo*> inputs;
      bool moved = false, depends = false;
      for (ValueInfo* input : node->inputs()) {
        inputs.push_back(at(input));
        moved = moved || inputs.back() != input;
        depends = depends || depends_.contains(input);
      }
      for (ValueInfo* output : node->outputs()) {
        if (depends && output != nullptr) depends_.insert(output);
      }
      if (!moved) continue;
      require(node->attributes().empty() && node->outputs().size() == 1, ErrorCode::kNotImplemented, node_.label(),
              ": ", node->label(), " cannot be computed again for other inputs; give the values that xs and zs name");
      ValueInfo* output = graph_.add_value(graph_.unique_name(node->output(0)->name));
      graph_.add_node("", node->op_type, node->domain, std::move(inputs), {output})->opset = node->opset;
      at_[node->output(0)] = output;
    }
    if (depends_.contains(y_)) adjoints_[y_] = filled_like(at(y_), 1);
  }

  ValueInfo* op(const char* name, std::vector<ValueInfo*> inputs, const char* domain = "") {
    std::string stem = "gradient." + std::to_string(node_.id) + "." + std::to_string(made_++);
    ValueInfo* output = graph_.add_value(graph_.unique_name(stem));
    Node* node = graph_.add_node("", name, domain, std::move(inputs), {output});
    node->opset = *domain ? 1 : kOpset;
    return output;
  }

  ValueInfo* filled_like(ValueInfo* value, float number) {
    ValueInfo* filled = op("ConstantOfShape", {op("Shape", {value})});
    filled->producer->set_attribute("value", tensor::vector_tensor<float>(std::span<const float>(&number, 1)));
    return op("CastLike", {filled, value});
  }

  /** Adds to the adjoint of a node's input; sums over the dimensions that broadcasting gave it. */
  void add(const Node& node, size_t i, ValueInfo* contribution) {
    ValueInfo* input = node.input(i);
    ValueInfo* reduced = op("ReduceLike", {contribution, at(input)}, "ortolan");
    ValueInfo*& adjoint = adjoints_[input];
    adjoint = adjoint == nullptr ? reduced : op("Add", {adjoint, reduced});
  }

  void propagate(const Node& node, ValueInfo* g) {
    bool first = depends_.contains(node.input(0));
    bool second = node.inputs().size() > 1 && depends_.contains(node.input(1));
    if (!first && !second) return;
    ValueInfo* x = at(node.input(0));
    ValueInfo* z = node.inputs().size() > 1 ? at(node.input(1)) : nullptr;
    ValueInfo* y = at(node.output(0));
    const std::string& name = node.op_type;
    bool known = node.domain.empty() && (z != nullptr ? propagate_binary(node, name, g, x, z, y, first, second)
                                                      : propagate_unary(node, name, g, x, y));
    require(known, ErrorCode::kNotImplemented, node_.label(), ": no derivative is known for ", node.label());
  }

  bool propagate_binary(const Node& node, const std::string& name, ValueInfo* g, ValueInfo* a, ValueInfo* b,
                        ValueInfo* y, bool first, bool second) {
    if (name == "Add" || name == "Sub") {
      if (first) add(node, 0, g);
      if (second) add(node, 1, name == "Add" ? g : op("Neg", {g}));
    } else if (name == "Mul") {
      if (first) add(node, 0, op("Mul", {g, b}));
      if (second) add(node, 1, op("Mul", {g, a}));
    } else if (name == "Div") {
      ValueInfo* share = op("Div", {g, b});
      if (first) add(node, 0, share);
      if (second) add(node, 1, op("Neg", {op("Mul", {share, y})}));
    } else {
      return false;
    }
    return true;
  }

  bool propagate_unary(const Node& node, const std::string& name, ValueInfo* g, ValueInfo* x, ValueInfo* y) {
    ValueInfo* result = nullptr;
    if (name == "Identity") result = g;
    if (name == "Neg") result = op("Neg", {g});
    if (name == "Exp") result = op("Mul", {g, y});
    if (name == "Log") result = op("Div", {g, x});
    if (name == "Sqrt") result = op("Div", {g, op("Add", {y, y})});
    if (name == "Sin") result = op("Mul", {g, op("Cos", {x})});
    if (name == "Cos") result = op("Neg", {op("Mul", {g, op("Sin", {x})})});
    if (name == "Tanh") result = op("Sub", {g, op("Mul", {g, op("Mul", {y, y})})});
    if (name == "Sigmoid") result = op("Mul", {g, op("Sub", {y, op("Mul", {y, y})})});
    if (name == "Abs") result = op("Mul", {g, op("Sign", {x})});
    if (name == "Relu") result = op("Mul", {g, op("Sign", {y})});
    if (result != nullptr) add(node, 0, result);
    return result != nullptr;
  }

  /** The Gradient node's outputs become the adjoints of the xs, zero where y does not depend on them. */
  void replace() {
    for (size_t i = 0; i < node_.outputs().size(); ++i) {
      ValueInfo* output = node_.output(i);
      if (output == nullptr) continue;
      auto adjoint = adjoints_.find(xs_[i]);
      ValueInfo* result = adjoint == adjoints_.end() ? filled_like(at(xs_[i]), 0) : adjoint->second;
      node_.set_output(i, nullptr);
      graph_.add_node("", "Identity", "", {result}, {output})->opset = kOpset;
    }
    graph_.remove_node(&node_);
  }

  Node& node_;
  Graph& graph_;
  ValueInfo* y_ = nullptr;
  size_t made_ = 0;
  std::vector<ValueInfo*> xs_;
  std::unordered_map<const ValueInfo*, ValueInfo*> at_;        // a named value or one made from it -> where it is now
  std::unordered_map<const ValueInfo*, ValueInfo*> adjoints_;  // dy/dvalue so far, by the value of the model
  std::unordered_set<const ValueInfo*> depends_;               // values of the model that depend on the xs
  std::vector<Node*> path_;
};

}  // namespace

void expand_gradients(Graph& graph) {
  std::vector<Node*> gradients;
  for (const auto& node : graph.nodes()) {
    if (node->op_type == "Gradient" && node->domain == kDomain) gradients.push_back(node.get());
  }
  if (gradients.empty()) return;
  require(gradients.size() <= kMostGradients, ErrorCode::kInvalidGraph, "the graph has ", gradients.size(),
          " Gradient nodes; at most ", kMostGradients, " are expanded");
  graph.sort();
  for (Node* node : gradients) Expansion(*node).run();
}

}  // namespace ortolan::runtime
