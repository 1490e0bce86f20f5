// LinearAttention: each head's state goes through its tokens on one thread.
#include <algorithm>
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/recurrent/recurrent_f32.h"
#include "cpu/moves/counted_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

struct Sizes {
  int64_t batch, tokens, query_heads, heads, key, value;
  int64_t window;  // states that are kept, one behind each of the last tokens; 0: one, without a dimension for it
  int64_t output_heads() const { return std::max(query_heads, heads); }
  int64_t group() const { return output_heads() / heads; }
  int64_t state_count() const { return batch * heads * key * value; }
};

/** A row for each token, of which each head has `step` elements; step 0: all heads share one. */
struct Rows {
  const float* data = nullptr;
  int64_t stride = 0, step = 0;
  const float* at(int64_t token, int64_t head) const { return data + token * stride + head * step; }
};

void check(const Tensor& tensor, const char* what, const Shape& wanted) {
  require(tensor.shape() == wanted, ErrorCode::kInvalidArgument, what, " has shape ", tensor.shape(), "; it needs ",
          wanted);
}

class LinearAttention final : public OpKernel {
 public:
  explicit LinearAttention(const KernelInfo& info)
      : query_heads_(info.node().int_of("q_num_heads")),
        heads_(info.node().int_of("kv_num_heads")),
        window_(info.node().domain.empty() ? 0 : info.node().int_or("state_window", 0)),
        scale_(info.node().float_or("scale", 0.0f)) {}

  void compute(KernelContext& context) const override;

 private:
  /** One head of one sequence, all tokens. */
  struct Head {
    Rows query, key, value, decay, beta, output;
    int64_t first_token, head;
    bool decay_per_key;
    float* state;       // of the last token
    bool keeps_window;  // the states of the tokens before it lie before it, state_count() apart
  };
  Sizes sizes(const KernelContext& context) const;
  static Rows decay_rows(KernelContext& context, const Sizes& s);
  static Rows beta_rows(KernelContext& context, const Sizes& s);
  static void run_head(const Head& h, const Sizes& s, float scale, float* output);
  static void first_states(KernelContext& context, const Sizes& s, float* states);

  int64_t query_heads_, heads_, window_;
  float scale_;
};

Sizes LinearAttention::sizes(const KernelContext& context) const {
  const Shape &q = context.input(0).shape(), &v = context.input(2).shape();
  require(q.rank() == 3 && v.rank() == 3 && q[2] % query_heads_ == 0 && v[2] % heads_ == 0, ErrorCode::kInvalidArgument,
          "query ", q, " and value ", v, " do not split into ", query_heads_, " and ", heads_, " heads");
  Sizes s{q[0], q[1], query_heads_, heads_, q[2] / query_heads_, v[2] / heads_, window_};
  check(context.input(1), "key", {s.batch, s.tokens, heads_ * s.key});
  check(context.input(2), "value", {s.batch, s.tokens, heads_ * s.value});
  Shape state{s.batch, heads_, s.key, s.value};
  if (window_ > 0) state.insert(state.begin(), window_);
  if (const Tensor* past = context.input_if(3)) check(*past, "past_state", state);
  return s;
}

Rows LinearAttention::decay_rows(KernelContext& context, const Sizes& s) {
  const Tensor* decay = context.input_if(4);
  if (!decay) return {};
  int64_t step = decay->rank() == 3 && decay->shape()[2] == s.heads ? 1 : s.key;
  check(*decay, "decay", {s.batch, s.tokens, s.heads * step});
  int64_t count = decay->element_count();
  float* factors = context.scratch<float>(count).data();
  convert_floats(&context.threads(), decay->raw(), decay->type(), factors, ElementType::kFloat, count);
  const int64_t least = kernels::least_items(kernels::kActivationNs);
  context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
    kernels::unary({kernels::UnaryOp::kExp}, factors + begin, factors + begin, end - begin);
  });
  return {factors, s.heads * step, step};
}

Rows LinearAttention::beta_rows(KernelContext& context, const Sizes& s) {
  const Tensor* beta = context.input_if(5);
  if (!beta) return {};
  bool shared = beta->rank() == 3 && beta->shape()[2] == 1;
  check(*beta, "beta", {s.batch, s.tokens, shared ? 1 : s.heads});
  return {read_as<float>(context, *beta), shared ? 1 : s.heads, shared ? 0 : 1};
}

void LinearAttention::run_head(const Head& h, const Sizes& s, float scale, float* output) {
  std::vector<float> scratch(static_cast<size_t>(3 * s.key + s.value));
  float *query = scratch.data(), *factors = query + s.key, *probe = factors + s.key, *change = probe + s.key;
  base::TerminatePoll poll;
  for (int64_t t = h.first_token; t < h.first_token + s.tokens; ++t) {
    poll.work(16 + s.key * s.value * (1 + s.group()) / 4);
    const float *key = h.key.at(t, h.head), *value = h.value.at(t, h.head);
    if (h.decay.data && h.decay_per_key) std::copy_n(h.decay.at(t, h.head), s.key, factors);
    if (h.decay.data && !h.decay_per_key) std::fill_n(factors, s.key, *h.decay.at(t, h.head));
    if (h.beta.data) {
      float beta = *h.beta.at(t, h.head);
      for (int64_t i = 0; i < s.key; ++i) probe[i] = h.decay.data ? factors[i] * key[i] : key[i];
      kernels::weighted_rows(h.state, s.key, s.value, probe, change);
      for (int64_t i = 0; i < s.value; ++i) change[i] = beta * (value[i] - change[i]);
      value = change;
    }
    for (int64_t g = 0; g < s.group(); ++g) {
      int64_t head = h.head * s.group() + g;
      kernels::scale_shift(h.query.at(t, head * s.query_heads / s.output_heads()), scale, 0.0f, query, s.key);
      float* y = output + (t * s.output_heads() + head) * s.value;
      if (g > 0) {
        kernels::weighted_rows(h.state, s.key, s.value, query, y);
      } else {
        kernels::update_state(h.state, s.key, s.value, h.decay.data ? factors : nullptr, key, value, query, y);
      }
    }
    int64_t left = h.first_token + s.tokens - 1 - t;
    if (h.keeps_window && left > 0 && left < s.window) {
      std::copy_n(h.state, s.key * s.value, h.state - left * s.state_count());
    }
  }
}

/** The state before the first token, or zeros, where the state of the last one will stand. */
void LinearAttention::first_states(KernelContext& context, const Sizes& s, float* states) {
  const float* past = read_input<float>(context, 3);
  if (past && s.window > 0) past += (s.window - 1) * s.state_count();
  if (past && past != states) put_n(past, s.state_count(), states);
  if (!past) put_copies(states, s.state_count(), 0.0f);
}

void LinearAttention::compute(KernelContext& context) const {
  Sizes s = sizes(context);
  OutputAs<float> y(context, 0);
  std::optional<OutputAs<float>> present;
  if (context.has_output(1)) present.emplace(context, 1);
  int64_t state_size = s.key * s.value, count = s.batch * s.heads;
  float* states = present ? present->data() : context.scratch<float>(checked_mul(count, state_size)).data();
  if (present && window_ > 0) states += (window_ - 1) * s.state_count();
  first_states(context, s, states);
  if (present && s.tokens < window_) {
    std::fill_n(present->data(), (window_ - std::max<int64_t>(s.tokens, 1)) * s.state_count(), 0.0f);
  }
  Head all{{read_input<float>(context, 0), s.query_heads * s.key, s.key},
           {read_input<float>(context, 1), s.heads * s.key, s.key},
           {read_input<float>(context, 2), s.heads * s.value, s.value},
           decay_rows(context, s),
           beta_rows(context, s)};
  all.keeps_window = present.has_value();
  all.decay_per_key = all.decay.step != 1 || s.key == 1;
  float scale = scale_ != 0 ? scale_ : 1.0f / std::sqrt(static_cast<float>(std::max<int64_t>(s.key, 1)));
  int64_t work = std::max<int64_t>(1, s.tokens * state_size * 2 * (1 + s.group()));
  const int64_t least = kernels::least_rows(work, kernels::kElementNs);
  context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Head head = all;
      head.first_token = i / s.heads * s.tokens;
      head.head = i % s.heads;
      head.state = states + i * state_size;
      run_head(head, s, scale, y.data());
    }
  });
  y.finish();
  if (present) present->finish();
}

constexpr KernelRow kRows[] = {
    {"", "LinearAttention", 27, kLatest, make_kernel<LinearAttention>},
    {"com.microsoft", "LinearAttention", 1, kLatest, make_kernel<LinearAttention>},
};

}  // namespace

extern const KernelTable linear_attention_rows;
constinit const KernelTable linear_attention_rows(kRows);

}  // namespace ortolan::cpu::onnx
