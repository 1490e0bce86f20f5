// Activation functions of recurrent cells by name; names compare without case, as older exporters write them.
#include "cpu/recurrent/gate_activation.h"

#include <algorithm>
#include <cmath>

#include "cpu/kernels/elementwise/vector_f32.h"

namespace ortolan::cpu {
namespace {
using kernels::UnaryOp;

struct Known {
  std::string_view name;
  UnaryOp op;
  bool takes_alpha = false, takes_beta = false;
  float alpha = 0, beta = 0;
};

constexpr Known kKnown[] = {
    {"relu", UnaryOp::kRelu},
    {"tanh", UnaryOp::kTanh},
    {"sigmoid", UnaryOp::kSigmoid},
    {"softsign", UnaryOp::kSoftsign},
    {"softplus", UnaryOp::kSoftplus},
    {"affine", UnaryOp::kIdentity, true, true, 1.0f, 0.0f},
    {"leakyrelu", UnaryOp::kLeakyRelu, true, false, 0.01f},
    {"thresholdedrelu", UnaryOp::kThresholdedRelu, true, false, 1.0f},
    {"scaledtanh", UnaryOp::kTanh, true, true, 1.0f, 1.0f},
    {"hardsigmoid", UnaryOp::kHardSigmoid, true, true, 0.2f, 0.5f},
    {"elu", UnaryOp::kElu, true, false, 1.0f},
};

const Known& known(std::string_view name) {
  for (const Known& entry : kKnown) {
    bool same = std::ranges::equal(entry.name, name, [](char a, char b) { return a == (b | 0x20); });
    if (same) return entry;
  }
  fail(ErrorCode::kInvalidGraph, "activation '", name,
       "' is unknown to recurrent operators; use Relu, Tanh, Sigmoid, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, "
       "HardSigmoid, Elu, Softsign or Softplus");
}

/** Takes the next value of `values`, or `fallback` when they are used up. */
float take(const std::vector<float>& values, size_t& next, float fallback) {
  return next < values.size() ? values[next++] : fallback;
}

double evaluate(const GateActivation& a, double x) {
  double p0 = a.function.p0, p1 = a.function.p1;
  switch (a.function.op) {
    case UnaryOp::kRelu:
      return x < 0 ? 0 : x;
    case UnaryOp::kTanh:
      return a.scaled ? a.alpha * std::tanh(a.beta * x) : std::tanh(x);
    case UnaryOp::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case UnaryOp::kSoftsign:
      return x / (1 + std::abs(x));
    case UnaryOp::kSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case UnaryOp::kLeakyRelu:
      return x < 0 ? p0 * x : x;
    case UnaryOp::kThresholdedRelu:
      return x > p0 ? x : 0;
    case UnaryOp::kHardSigmoid:
      return std::clamp(p0 * x + p1, 0.0, 1.0);
    case UnaryOp::kElu:
      return x < 0 ? p0 * std::expm1(x) : x;
    default:
      return a.affine ? a.alpha * x + a.beta : x;
  }
}

GateActivation make(const Known& entry, float alpha, float beta) {
  GateActivation result;
  result.affine = entry.op == UnaryOp::kIdentity;
  result.scaled = entry.op == UnaryOp::kTanh && entry.takes_alpha;
  result.alpha = alpha;
  result.beta = beta;
  result.function = {entry.op};
  if (result.plain()) result.function = {entry.op, alpha, beta};
  return result;
}

}  // namespace

void GateActivation::apply(float* x, int64_t n, float clip) const {
  if (clip > 0) kernels::unary({UnaryOp::kClip, -clip, clip}, x, x, n);
  if (affine) return kernels::scale_shift(x, alpha, beta, x, n);
  if (scaled) kernels::scale_shift(x, beta, 0, x, n);
  kernels::unary(function, x, x, n);
  if (scaled) kernels::scale_shift(x, alpha, 0, x, n);
}

void GateActivation::apply(double* x, int64_t n, double clip) const {
  for (int64_t i = 0; i < n; ++i) x[i] = evaluate(*this, clip > 0 ? std::clamp(x[i], -clip, clip) : x[i]);
}

std::vector<GateActivations> gate_activations(const Node& node, size_t directions, size_t count) {
  const std::vector<std::string>& names = node.strings("activations");
  require(names.empty() || names.size() >= directions * count, ErrorCode::kInvalidGraph, "activations has ",
          names.size(), " names; it needs ", count, " for each of ", directions, " direction(s)");
  const std::vector<float>& alphas = node.floats("activation_alpha");
  const std::vector<float>& betas = node.floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<GateActivations> result(directions);
  for (size_t i = 0; i < directions * count; ++i) {
    bool tanh_by_default = count == 1 || i % count > 0;
    const Known& entry = known(!names.empty() ? std::string_view(names[i]) : tanh_by_default ? "tanh" : "sigmoid");
    float alpha = entry.takes_alpha ? take(alphas, next_alpha, entry.alpha) : entry.alpha;
    float beta = entry.takes_beta ? take(betas, next_beta, entry.beta) : entry.beta;
    result[i / count][i % count] = make(entry, alpha, beta);
  }
  return result;
}

}  // namespace ortolan::cpu
