// Names and default parameters of the activations that products and convolutions can apply.
#include "cpu/products/fused_activation.h"

#include <cfloat>

namespace ortolan::cpu {
namespace {
using kernels::Activation;
using kernels::UnaryOp;

struct Named {
  std::string_view name;
  Activation defaults;
};

constexpr Named kActivations[] = {
    {"Identity", {UnaryOp::kIdentity}},
    {"Relu", {UnaryOp::kRelu}},
    {"Clip", {UnaryOp::kClip, -FLT_MAX, FLT_MAX}},
    {"Sigmoid", {UnaryOp::kSigmoid}},
    {"Tanh", {UnaryOp::kTanh}},
    {"LeakyRelu", {UnaryOp::kLeakyRelu, 0.01f}},
    {"HardSigmoid", {UnaryOp::kHardSigmoid, 0.2f, 0.5f}},
    {"HardSwish", {UnaryOp::kHardSwish}},
    {"Elu", {UnaryOp::kElu, 1.0f}},
    {"Selu", {UnaryOp::kSelu, 1.67326319217681884765625f, 1.05070102214813232421875f}},
    {"Celu", {UnaryOp::kCelu, 1.0f}},
    {"ThresholdedRelu", {UnaryOp::kThresholdedRelu, 1.0f}},
    {"Softplus", {UnaryOp::kSoftplus}},
    {"Softsign", {UnaryOp::kSoftsign}},
    {"Gelu", {UnaryOp::kGelu}},
    {"FastGelu", {UnaryOp::kGeluTanh}},
    {"QuickGelu", {UnaryOp::kQuickGelu, 1.702f}},
    {"Silu", {UnaryOp::kSilu}},
    {"Mish", {UnaryOp::kMish}},
    {"Abs", {UnaryOp::kAbs}},
    {"Ceil", {UnaryOp::kCeil}},
    {"Cos", {UnaryOp::kCos}},
    {"Erf", {UnaryOp::kErf}},
    {"Exp", {UnaryOp::kExp}},
    {"Floor", {UnaryOp::kFloor}},
    {"Log", {UnaryOp::kLog}},
    {"Neg", {UnaryOp::kNeg}},
    {"Reciprocal", {UnaryOp::kReciprocal}},
    {"Round", {UnaryOp::kRound}},
    {"Sign", {UnaryOp::kSign}},
    {"Sin", {UnaryOp::kSin}},
    {"Sqrt", {UnaryOp::kSqrt}},
};

std::string_view activation_name(const Node& node) {
  return node.string_or(node.has_attribute("ortolan.activation") ? "ortolan.activation" : "activation", "");
}

}  // namespace

Activation activation_called(std::string_view name, std::span<const float> parameters) {
  for (const Named& known : kActivations) {
    if (known.name != name) continue;
    Activation result = known.defaults;
    if (parameters.size() > 0) result.p0 = parameters[0];
    if (parameters.size() > 1) result.p1 = parameters[1];
    return result;
  }
  fail(ErrorCode::kNotImplemented, "activation '", name, "' is unknown; use an ONNX activation's name, as Relu");
}

Activation fused_activation(const Node& node) {
  std::string_view name = activation_name(node);
  if (name.empty()) return {};
  bool own = node.has_attribute("ortolan.activation");
  Activation result = activation_called(name, node.floats(own ? "ortolan.activation_params" : "activation_params"));
  // FusedGemm names its parameters one by one, as the attributes of the operator that was fused.
  result.p0 = node.float_or("activation_alpha", result.p0);
  result.p1 = node.float_or("activation_beta", node.float_or("activation_gamma", result.p1));
  return result;
}

std::string activation_text(const Node& node) {
  std::string_view name = activation_name(node);
  return name.empty() ? "" : join(" + ", name);
}

}  // namespace ortolan::cpu
