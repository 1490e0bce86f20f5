// Activation operators, and what their attributes and inputs mean as parameters.
#include "passes/activations.h"

#include <limits>

namespace ortolan::passes {
namespace {

/** An activation operator: the attributes that become parameters, with their defaults. */
struct Known {
  std::string_view op;
  bool epilogue = true;
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
    {"LeakyRelu", true, "alpha", 0.01f},
    {"Elu", true, "alpha", 1},
    {"Celu", true, "alpha", 1},
    {"ThresholdedRelu", true, "alpha", 1},
    {"HardSigmoid", true, "alpha", 0.2f, "beta", 0.5f},
    {"Ceil", false},
    {"Cos", false},
    {"Erf", false},
    {"Exp", false},
    {"Floor", false},
    {"Log", false},
    {"Neg", false},
    {"Reciprocal", false},
    {"Round", false},
    {"Sign", false},
    {"Sin", false},
    {"Sqrt", false},
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

}  // namespace

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
  if (node.op_type == "Swish") return Activation{"QuickGelu", {node.float_or("alpha", 1)}};
  for (const Known& known : kKnown) {
    if (known.op != node.op_type) continue;
    Activation activation{node.op_type, {}, known.epilogue};
    if (known.first) activation.parameters.push_back(node.float_or(known.first, known.first_default));
    if (known.second) activation.parameters.push_back(node.float_or(known.second, known.second_default));
    return activation;
  }
  return std::nullopt;
}

}  // namespace ortolan::passes
