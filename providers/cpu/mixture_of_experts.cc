// The common part of MoE and QMoE.
#include "cpu/mixture_of_experts.h"

#include <algorithm>
#include <cfloat>

#include "base/thread_pool.h"
#include "cpu/float_tensors.h"
#include "cpu/kernels/vector_f32.h"

namespace ortolan::cpu {
namespace {
using kernels::Activation;
using kernels::UnaryOp;

constexpr int64_t kFewRows = 16;  // of an expert, so that experts rather than products are shared among threads

Activation activation_of(std::string_view name) {
  if (name == "relu") return {UnaryOp::kRelu};
  if (name == "gelu") return {UnaryOp::kGeluTanh};
  if (name == "silu") return {UnaryOp::kSilu};
  if (name == "identity" || name == "swiglu") return {};
  fail(ErrorCode::kInvalidGraph, "activation_type is '", name, "'; it must be relu, gelu, silu, swiglu or identity");
}

}  // namespace

/** Rows of all routes by expert. Where experts run one after the other, all but `results` are for one expert. */
struct MixtureOfExperts::Buffers {
  const RoutesByExpert* routes;
  int64_t top;
  bool one_for_all;
  const float* tokens;
  const float *bias1, *bias2, *bias3;
  float *gathered, *fc1, *fc3, *inner, *results;
};

MixtureOfExperts::MixtureOfExperts(const KernelInfo& info)
    : top_(info.node().int_or("k", 1)),
      fusion_(info.node().int_or("swiglu_fusion", 0)),
      normalize_(info.node().int_or("normalize_routing_weights", 0) != 0),
      sparse_mixer_(info.node().int_or("use_sparse_mixer", 0) != 0),
      alpha_(info.node().float_or("activation_alpha", 1)),
      beta_(info.node().float_or("activation_beta", 0)),
      limit_(info.node().float_or("swiglu_limit", FLT_MAX)) {
  std::string_view name = info.node().string_or("activation_type", "relu");
  activation_ = activation_of(name);
  swiglu_ = name == "swiglu";
  require(top_ > 0, ErrorCode::kInvalidGraph, "k is ", top_, "; it must be positive");
  require(!sparse_mixer_ || top_ == 2, ErrorCode::kInvalidGraph, "k is ", top_, "; use_sparse_mixer needs 2");
  require(fusion_ >= 0 && fusion_ <= 2, ErrorCode::kInvalidGraph, "swiglu_fusion is ", fusion_,
          "; it must be 0, 1 or 2");
}

MixtureOfExperts::Sizes MixtureOfExperts::sizes(const KernelContext& context) const {
  const Shape &x = context.input(0).shape(), &router = context.input(1).shape();
  Sizes s = weight_sizes(context);
  require(x.back() == s.hidden, ErrorCode::kInvalidArgument, "the input has shape ", x, "; the weights need rows of ",
          s.hidden);
  s.tokens = x.count_to(x.rank() - 1);
  require(router == Shape{s.tokens, s.experts}, ErrorCode::kInvalidArgument, "router_probs has shape ", router,
          "; it needs [", s.tokens, ",", s.experts, "]");
  require(top_ <= s.experts, ErrorCode::kInvalidArgument, "k is ", top_, ", but there are ", s.experts, " experts");
  require(!swiglu_ || (fusion_ == 0) == s.gated, ErrorCode::kNotImplemented,
          "swiglu takes gate and linear part from fc1 (set swiglu_fusion to 1 or 2) or from fc1 and fc3");
  s.fc1_columns = s.inter * parts();
  return s;
}

const float* MixtureOfExperts::bias(KernelContext& context, Layer layer, int64_t experts, int64_t columns) const {
  const Tensor* bias = context.input_if(bias_input(layer));
  require(!bias || bias->shape() == Shape{experts, columns}, ErrorCode::kInvalidArgument, "the bias of fc", layer + 1,
          " has shape ", bias ? bias->shape() : Shape(), "; it needs [", experts, ",", columns, "]");
  return bias ? read_as<float>(context, *bias) : nullptr;
}

Routes MixtureOfExperts::route(KernelContext& context, const Sizes& s) const {
  Routing routing{top_, plain_routing(), normalize_};
  const float* given = given_weights(context, s);
  if (given) routing.weights = RoutingWeights::kGiven;
  if (sparse_mixer_) routing.weights = RoutingWeights::kSparseMixer;
  return route_tokens(routing, s.tokens, s.experts, read_input<float>(context, 1), given);
}

void MixtureOfExperts::apply_swiglu(int64_t inner, float* linear, float* gate) const {
  for (int64_t i = 0; i < inner; ++i) {
    gate[i] = std::min(gate[i], limit_);
    linear[i] = std::min(std::max(linear[i], -limit_), limit_) + beta_;
  }
  kernels::unary({UnaryOp::kQuickGelu, alpha_}, gate, gate, inner);
  kernels::binary(kernels::BinaryOp::kMul, gate, linear, gate, inner);
}

void MixtureOfExperts::activate(ThreadPool* threads, const Sizes& s, int64_t rows, float* fc1, float* fc3,
                                float* out) const {
  base::parallel_for(threads, rows, 1 + 8192 / std::max<int64_t>(s.inter, 1), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float *x = fc1 + r * s.fc1_columns, *y = out + r * s.inter, *linear = fc3 ? fc3 + r * s.inter : x;
      if (!swiglu_) {
        kernels::unary(activation_, x, y, s.inter);
        if (fc3) kernels::binary(kernels::BinaryOp::kMul, y, linear, y, s.inter);
        continue;
      }
      for (int64_t i = 0; i < s.inter; ++i) y[i] = x[fusion_ == 1 ? 2 * i : i];
      if (fusion_ == 1) {
        for (int64_t i = 0; i < s.inter; ++i) x[i] = x[2 * i + 1];
      } else if (fusion_ == 2) {
        linear = x + s.inter;
      }
      apply_swiglu(s.inter, linear, y);
    }
  });
}

void MixtureOfExperts::run_expert(KernelContext& context, ThreadPool* threads, const Sizes& s, const Buffers& b,
                                  int64_t expert) const {
  int64_t first = b.routes->starts[expert], rows = b.routes->starts[expert + 1] - first;
  if (rows == 0) return;
  int64_t at = b.one_for_all ? 0 : first;
  float *gathered = b.gathered + at * s.hidden, *fc1 = b.fc1 + at * s.fc1_columns, *inner = b.inner + at * s.inter;
  float* fc3 = s.gated ? b.fc3 + at * s.inter : nullptr;
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(b.tokens + b.routes->order[first + r] / b.top * s.hidden, s.hidden, gathered + r * s.hidden);
  }
  auto of = [&](const float* bias, int64_t columns) { return bias ? bias + expert * columns : nullptr; };
  multiply(context, threads, kFc1, s, expert, rows, gathered, of(b.bias1, s.fc1_columns), fc1);
  if (fc3) multiply(context, threads, kFc3, s, expert, rows, gathered, of(b.bias3, s.inter), fc3);
  activate(threads, s, rows, fc1, fc3, inner);
  multiply(context, threads, kFc2, s, expert, rows, inner, of(b.bias2, s.hidden), b.results + first * s.hidden);
}

void MixtureOfExperts::compute(KernelContext& context) const {
  Sizes s = sizes(context);
  OutputAs<float> y(context, 0);
  Routes routes = route(context, s);
  RoutesByExpert by_expert(routes, s.experts);
  auto total = static_cast<int64_t>(by_expert.order.size());
  int64_t most = 0, active = 0;
  for (int64_t e = 0; e < s.experts; ++e) {
    int64_t rows = by_expert.starts[e + 1] - by_expert.starts[e];
    most = std::max(most, rows), active += rows > 0;
  }
  int degree = context.threads().degree();
  bool share_experts = degree > 1 && most <= kFewRows && active >= 2 * degree;
  int64_t rows = share_experts ? total : most;
  Buffers b{&by_expert, top_, !share_experts, read_input<float>(context, 0)};
  b.bias1 = bias(context, kFc1, s.experts, s.fc1_columns), b.bias2 = bias(context, kFc2, s.experts, s.hidden);
  b.bias3 = s.gated ? bias(context, kFc3, s.experts, s.inter) : nullptr;
  auto scratch = [&](int64_t count, int64_t columns) {
    return context.scratch<float>(checked_mul(count, columns)).data();
  };
  b.gathered = scratch(rows, s.hidden), b.fc1 = scratch(rows, s.fc1_columns), b.inner = scratch(rows, s.inter);
  b.fc3 = s.gated ? scratch(rows, s.inter) : nullptr, b.results = scratch(total, s.hidden);
  base::parallel_for(share_experts ? &context.threads() : nullptr, s.experts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      run_expert(context, share_experts ? nullptr : &context.threads(), s, b, e);
    }
  });
  std::vector<int64_t> place(static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i) place[by_expert.order[i]] = i;
  std::fill_n(y.data(), s.tokens * s.hidden, 0.0f);
  context.threads().parallel_for(s.tokens, 1 + 16384 / std::max<int64_t>(s.hidden, 1), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * top_; i < end * top_; ++i) {
      kernels::accumulate_scaled(b.results + place[i] * s.hidden, routes.weights[i], y.data() + i / top_ * s.hidden,
                                 s.hidden);
    }
  });
  y.finish();
}

}  // namespace ortolan::cpu
