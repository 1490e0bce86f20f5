// The common part of MoE and QMoE.
#include "cpu/products/mixture_of_experts.h"

#include <algorithm>
#include <cfloat>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/elementwise/vector_f32.h"

namespace ortolan::cpu {
namespace {
using kernels::Activation;
using kernels::UnaryOp;

Activation activation_of(std::string_view name) {
  if (name == "relu") return {UnaryOp::kRelu};
  if (name == "gelu") return {UnaryOp::kGeluTanh};
  if (name == "silu") return {UnaryOp::kSilu};
  if (name == "identity" || name == "swiglu") return {};
  fail(ErrorCode::kInvalidGraph, "activation_type is '", name, "'; it must be relu, gelu, silu, swiglu or identity");
}

}  // namespace

/** What all blocks read, and where their results go, in the order of the experts. */
struct MixtureOfExperts::Operands {
  const RoutesByExpert* routes;
  int64_t top;
  const float* tokens;
  const float *bias1, *bias2, *bias3;
  float* results;
};

/** What lies between the tokens and the results of one block of at most so many rows. */
struct MixtureOfExperts::Between {
  Between(const Sizes& s, int64_t rows)
      : memory(static_cast<size_t>(checked_mul(rows, s.hidden + s.fc1_columns + s.inter * (s.gated ? 2 : 1))) *
               sizeof(float)),
        gathered(memory.as<float>()),
        fc1(gathered + rows * s.hidden),
        inner(fc1 + rows * s.fc1_columns),
        fc3(s.gated ? inner + rows * s.inter : nullptr) {}

  kernels::AlignedBuffer memory;
  float *gathered, *fc1, *inner, *fc3;
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
  const int64_t least = kernels::least_rows(s.fc1_columns, kernels::kActivationNs);
  base::parallel_for(threads, rows, least, [&](int64_t begin, int64_t end) {
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

void MixtureOfExperts::run_block(KernelContext& context, ThreadPool* threads, const Sizes& s, const Operands& o,
                                 const ExpertRows& block, const Between& to) const {
  const auto [expert, first, rows] = block;
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(o.tokens + o.routes->order[first + r] / o.top * s.hidden, s.hidden, to.gathered + r * s.hidden);
  }
  auto of = [expert = expert](const float* bias, int64_t columns) { return bias ? bias + expert * columns : nullptr; };
  multiply(context, threads, kFc1, s, expert, rows, to.gathered, of(o.bias1, s.fc1_columns), to.fc1);
  if (to.fc3) multiply(context, threads, kFc3, s, expert, rows, to.gathered, of(o.bias3, s.inter), to.fc3);
  activate(threads, s, rows, to.fc1, to.fc3, to.inner);
  multiply(context, threads, kFc2, s, expert, rows, to.inner, of(o.bias2, s.hidden), o.results + first * s.hidden);
}

void MixtureOfExperts::run_blocks(KernelContext& context, const Sizes& s, const Operands& o) const {
  const ExpertSize size{s.hidden, s.inter, s.fc1_columns, s.gated};
  const bool packed = is_packed(kFc1) && is_packed(kFc2) && (!s.gated || is_packed(kFc3));
  const std::vector<ExpertRows> blocks = expert_rows(o.routes->starts, size, packed);
  int64_t most = 0;
  for (const ExpertRows& block : blocks) most = std::max(most, block.rows);
  ThreadPool& threads = context.threads();
  const auto count = static_cast<int64_t>(blocks.size());
  auto run = [&](ThreadPool* inner, int64_t begin, int64_t end) {
    const Between between(s, most);
    for (int64_t i = begin; i < end; ++i) run_block(context, inner, s, o, blocks[static_cast<size_t>(i)], between);
  };
  if (!shares_blocks(blocks, size, kernels::threads_of(&threads))) return run(&threads, 0, count);
  threads.parallel_for(count, least_blocks(blocks, size),
                       [&](int64_t begin, int64_t end) { run(nullptr, begin, end); });
}

void MixtureOfExperts::compute(KernelContext& context) const {
  Sizes s = sizes(context);
  OutputAs<float> y(context, 0);
  Routes routes = route(context, s);
  RoutesByExpert by_expert(routes, s.experts);
  auto total = static_cast<int64_t>(by_expert.order.size());
  Operands o{&by_expert, top_, read_input<float>(context, 0)};
  o.bias1 = bias(context, kFc1, s.experts, s.fc1_columns), o.bias2 = bias(context, kFc2, s.experts, s.hidden);
  o.bias3 = s.gated ? bias(context, kFc3, s.experts, s.inter) : nullptr;
  o.results = context.scratch<float>(checked_mul(total, s.hidden)).data();
  run_blocks(context, s, o);
  std::vector<int64_t> place(static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i) place[by_expert.order[i]] = i;
  std::fill_n(y.data(), s.tokens * s.hidden, 0.0f);
  const int64_t least = kernels::least_rows(top_ * s.hidden, kernels::kElementNs);
  context.threads().parallel_for(s.tokens, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin * top_; i < end * top_; ++i) {
      kernels::accumulate_scaled(o.results + place[i] * s.hidden, routes.weights[i], y.data() + i / top_ * s.hidden,
                                 s.hidden);
    }
  });
  y.finish();
}

}  // namespace ortolan::cpu
