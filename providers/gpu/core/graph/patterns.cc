// Matching from a pattern's last node backwards. What a pattern computes on the way serves nothing else.
#include "gpu/core/graph/patterns.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "gpu/core/attention/attention_pattern.h"

namespace ortolan::gpu {
namespace {

class Patterns : Makers {
 public:
  explicit Patterns(Graph& graph) : Makers(graph), graph_(graph) {}

  void join() {
    for (Node& node : graph_.nodes) {
      if (is_of(node, "Mul")) join_gate(node);
      if (is_of(node, "Add")) join_layer_normalization(node);
      if (is_of(node, "MatMul")) join_attention(*this, node);
    }
  }

 private:
  /** Whether a value is that number, as its type has it. */
  bool is_number(int value, float wanted) const {
    std::optional<float> found = number(value);
    if (!found) return false;
    float precision = graph_.values[value].type == ElementType::kFloat16 ? 1e-3f : 1e-6f;
    return std::fabs(*found - wanted) <= precision * std::fabs(wanted);
  }
  /** Whether numbers beside the value, of one axis at most, leave its shape as it is. */
  bool is_float_tensor(int value) const {
    if (value == kMissing) return false;
    const Value& v = graph_.values[value];
    return is_float(v.type) && v.shape && !v.shape->empty();
  }
  /** The input beside one that is a number; kMissing where there is none. */
  int beside_number(const Node* node, float wanted) const {
    if (node == nullptr || node->inputs.size() != 2) return kMissing;
    for (int i : {0, 1}) {
      if (is_number(node->inputs[i], wanted)) return node->inputs[1 - i];
    }
    return kMissing;
  }
  static int beside(const Node* node, int value) {
    if (node == nullptr || node->inputs.size() != 2) return kMissing;
    return node->inputs[0] == value ? node->inputs[1] : node->inputs[1] == value ? node->inputs[0] : kMissing;
  }

  /** What a product of several factors multiplies. */
  void collect_factors(const Node& node, std::vector<int>& factors) const {
    for (int input : node.inputs) {
      const Node* product = maker(input, "Mul");
      if (product != nullptr && factors.size() < 4) {
        collect_factors(*product, factors);
      } else {
        factors.push_back(input);
      }
    }
  }

  void join_gate(Node& node) {
    std::vector<int> factors;
    collect_factors(node, factors);
    if (factors.size() == 3) {
      auto half = std::find_if(factors.begin(), factors.end(), [&](int f) { return is_number(f, 0.5f); });
      if (half == factors.end()) return;
      factors.erase(half);
      for (int i : {0, 1}) join_gelu(node, factors[i], factors[1 - i]);
    } else if (factors.size() == 2) {
      for (int i : {0, 1}) join_swish(node, factors[i], factors[1 - i]);
    }
  }
  void join_swish(Node& node, int x, int gate) {
    const Node* sigmoid = maker(gate, "Sigmoid");
    if (sigmoid == nullptr || sigmoid->inputs[0] != x || !is_float_tensor(x)) return;
    replace(node, "com.microsoft", "QuickGelu", {x}, {{"alpha", 1.0f}});
  }
  void join_gelu(Node& node, int x, int gate) {
    int inner = beside_number(maker(gate, "Add"), 1);
    if (inner == kMissing || !is_float_tensor(x)) return;
    if (is_erf_gate(x, inner)) replace(node, "com.microsoft", "Gelu", {x}, {});
    if (is_tanh_gate(x, inner)) replace(node, "com.microsoft", "FastGelu", {x}, {});
  }
  /** erf(x / sqrt(2)). */
  bool is_erf_gate(int x, int value) const {
    const Node* erf = maker(value, "Erf");
    if (erf == nullptr) return false;
    const Node* divided = maker(erf->inputs[0], "Div");
    bool divides = divided != nullptr && divided->inputs[0] == x && is_number(divided->inputs[1], 1.41421356f);
    return divides || beside_number(maker(erf->inputs[0], "Mul"), 0.70710678f) == x;
  }
  /** tanh(sqrt(2 / pi) (x + 0.044715 x^3)). */
  bool is_tanh_gate(int x, int value) const {
    const Node* tanh = maker(value, "Tanh");
    if (tanh == nullptr) return false;
    int sum = beside_number(maker(tanh->inputs[0], "Mul"), 0.79788456f);
    int cubic = beside(maker(sum, "Add"), x);
    int cube = beside_number(maker(cubic, "Mul"), 0.044715f);
    const Node* power = maker(cube, "Pow");
    return power != nullptr && power->inputs[0] == x && is_number(power->inputs[1], 3);
  }

  /** The value whose mean over the last axis that is, for `readers` of it; kMissing where it is none. */
  int meaned(int value) const {
    const Node* mean = maker(value, "ReduceMean");
    if (mean == nullptr || mean->inputs[0] == kMissing || mean->integer("keepdims", 1) != 1) return kMissing;
    std::vector<int64_t> axes = mean->integers("axes");
    if (mean->has_input(1)) {
      const Value& given = graph_.values[mean->inputs[1]];
      if (given.constant) axes = HostTensor{given.type, *given.shape, *given.constant}.integers();
    }
    const std::optional<Shape>& shape = graph_.values[mean->inputs[0]].shape;
    bool is_last = axes.size() == 1 && (axes[0] == -1 || (shape && axes[0] + 1 == static_cast<int64_t>(shape->size())));
    return is_last ? mean->inputs[0] : kMissing;
  }
  /** Whether a constant has an element for each of the last dimension of x. */
  bool is_of_row(int value, int x) const {
    if (value == kMissing || x == kMissing) return false;
    const Value &v = graph_.values[value], &of = graph_.values[x];
    if (!v.constant || !of.shape || of.shape->empty() || v.type != of.type || !is_float(v.type)) return false;
    return *v.shape == Shape{of.shape->back()};
  }
  /** The numerator and epsilon of d / sqrt(mean(d^2) + epsilon). */
  struct Quotient {
    int d;
    float epsilon;
  };
  std::optional<Quotient> deviation(const Node* divided) const {
    const Node* root = divided == nullptr ? nullptr : maker(divided->inputs[1], "Sqrt");
    const Node* sum = root == nullptr ? nullptr : maker(root->inputs[0], "Add");
    for (int i : {0, 1}) {
      if (sum == nullptr || !number(sum->inputs[1 - i])) continue;
      int square = meaned(sum->inputs[i]), d = divided->inputs[0];
      const Node* power = square == kMissing ? nullptr : maker(square, "Pow");
      if (power == nullptr || power->inputs[0] != d || !is_number(power->inputs[1], 2)) continue;
      return Quotient{d, *number(sum->inputs[1 - i])};
    }
    return {};
  }
  void join_layer_normalization(Node& node) {
    for (int i : {0, 1}) {
      const Node* scaled = maker(node.inputs[i], "Mul");
      for (int j : {0, 1}) {
        if (scaled == nullptr) continue;
        std::optional<Quotient> quotient = deviation(maker(scaled->inputs[j], "Div"));
        const Node* difference = quotient ? maker(quotient->d, "Sub", 2) : nullptr;
        if (difference == nullptr || meaned(difference->inputs[1]) != difference->inputs[0]) continue;
        int x = difference->inputs[0], scale = scaled->inputs[1 - j], bias = node.inputs[1 - i];
        if (!is_of_row(scale, x) || !is_of_row(bias, x)) continue;
        return replace(node, "", "LayerNormalization", {x, scale, bias}, {{"epsilon", quotient->epsilon}});
      }
    }
  }

  static void replace(Node& node, std::string domain, std::string op, std::vector<int> inputs,
                      std::map<std::string, Attribute, std::less<>> attributes) {
    node.domain = std::move(domain);
    node.op = std::move(op);
    node.since_version = 17;
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
  }

  Graph& graph_;
};

void drop_unneeded(Graph& graph) {
  std::vector<bool> needed(graph.values.size());
  for (int output : graph.outputs) needed[output] = true;
  std::vector<Node> kept;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    bool serves = std::any_of(node->outputs.begin(), node->outputs.end(),
                              [&](int output) { return output != kMissing && needed[output]; });
    if (!serves) continue;
    for (int input : node->inputs) {
      if (input != kMissing) needed[input] = true;
    }
    kept.push_back(std::move(*node));
  }
  graph.nodes.assign(std::make_move_iterator(kept.rbegin()), std::make_move_iterator(kept.rend()));
}

}  // namespace

Graph joined_patterns(Graph graph) {
  Patterns(graph).join();
  drop_unneeded(graph);
  return graph;
}

}  // namespace ortolan::gpu
