// Lets a product or convolution apply the activation that alone uses its result.
#include <limits>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

/** An activation operator: the attributes that become parameters, with their defaults. */
struct Known {
  std::string_view op;
  const char* first = nullptr;
  float first_default = 0;
  const char* second = nullptr;
  float second_default = 0;
};

constexpr Known kKnown[] = {
    {"Relu"},
    {"Sigmoid"},
    {"Tanh"},
    {"Softplus"},
    {"Softsign"},
    {"HardSwish"},
    {"Mish"},
    {"Abs"},
    {"LeakyRelu", "alpha", 0.01f},
    {"Elu", "alpha", 1},
    {"Celu", "alpha", 1},
    {"ThresholdedRelu", "alpha", 1},
    {"HardSigmoid", "alpha", 0.2f, "beta", 0.5f},
};

struct Activation {
  std::string name;
  std::vector<float> parameters;
};

/** A bound of Clip, which is an attribute at first and an input later; nothing when it is not constant. */
std::optional<float> bound_of(const Node& clip, size_t input, const char* attribute, float unbounded) {
  if (clip.opset < 11) return clip.float_or(attribute, unbounded);
  if (!clip.input(input)) return unbounded;
  auto bound = only_element(stored_input(clip, input));
  return bound ? std::optional(static_cast<float>(*bound)) : std::nullopt;
}

std::optional<Activation> clip(const Node& node) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  auto low = bound_of(node, 1, "min", -kInfinity), high = bound_of(node, 2, "max", kInfinity);
  if (!low || !high) return std::nullopt;
  return Activation{"Clip", {*low, *high}};
}

std::optional<Activation> of_microsoft(const Node& node) {
  if (node.input(1)) return std::nullopt;
  if (node.op_type == "Gelu" || node.op_type == "FastGelu") return Activation{node.op_type, {}};
  if (node.op_type == "QuickGelu") return Activation{"QuickGelu", {node.float_or("alpha", 1.702f)}};
  return std::nullopt;
}

std::optional<Activation> activation_of(const Node& node) {
  if (node.domain == "ortolan" && node.op_type == "Activation") {
    return Activation{node.string_of("ortolan.activation"), node.floats("ortolan.activation_params")};
  }
  if (node.domain == "com.microsoft") return of_microsoft(node);
  if (!node.domain.empty()) return std::nullopt;
  if (node.op_type == "Clip") return clip(node);
  if (node.op_type == "Gelu") {
    return Activation{node.string_or("approximate", "none") == "tanh" ? "FastGelu" : "Gelu", {}};
  }
  for (const Known& known : kKnown) {
    if (known.op != node.op_type) continue;
    Activation activation{node.op_type, {}};
    if (known.first) activation.parameters.push_back(node.float_or(known.first, known.first_default));
    if (known.second) activation.parameters.push_back(node.float_or(known.second, known.second_default));
    return activation;
  }
  return std::nullopt;
}

bool takes_activation(const Node& node) {
  bool known = node.op_type == "Conv" || node.op_type == "Gemm" || node.op_type == "MatMul";
  bool own_or_onnx = known && (node.domain.empty() || node.domain == "ortolan");
  bool integer = node.op_type == "MatMulIntegerToFloat" && !node.domain.empty();
  return (own_or_onnx || integer) && !node.has_attribute("ortolan.activation") && is_fusable_type(node.output(0));
}

bool fuse(Node& node, const PassContext& context) {
  ValueInfo* x = node.input(0);
  if (!x || !x->producer || x->graph != &node.graph() || !used_once(*x)) return false;
  Node& maker = *x->producer;
  if (!may_fuse(maker, context) || !takes_activation(maker)) return false;
  auto activation = activation_of(node);
  if (!activation || !bypass(node, x)) return false;
  make_own(maker, context);
  maker.set_attribute("ortolan.activation", std::move(activation->name));
  if (!activation->parameters.empty()) {
    maker.set_attribute("ortolan.activation_params", std::move(activation->parameters));
  }
  return true;
}

}  // namespace

bool fuse_activations(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (may_fuse(*node, context) && is_used(*node)) changed |= fuse(*node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
