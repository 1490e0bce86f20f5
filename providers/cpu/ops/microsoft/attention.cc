// com.microsoft.Attention: one product for queries, keys and values, then the shared core.
#include <cmath>
#include <optional>

#include "base/threads/thread_pool.h"
#include "cpu/attention/attention_inputs.h"
#include "cpu/attention/kv_cache.h"
#include "cpu/attention/rotary.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/products/packed_weights.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** The sizes of one run; `query` and `value` are those of all heads together. */
struct Sizes {
  int64_t batch, sequence, input, heads, query, value, past, capacity;
  int64_t columns() const { return 2 * query + value; }
  int64_t query_head() const { return query / heads; }
  int64_t value_head() const { return value / heads; }
};

class Attention final : public OpKernel {
 public:
  explicit Attention(const KernelInfo& info);
  void compute(KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    return i == 1 && weights_.packed() ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  Sizes sizes(const KernelContext& context) const;
  void use_past(const KernelContext& context, Sizes& s) const;
  float* project(KernelContext& context, const Sizes& s) const;
  void turn(KernelContext& context, const Sizes& s, float* projected) const;
  void join(KernelContext& context, const Sizes& s, AttentionPlan& plan, float* present) const;

  int64_t heads_, rotary_size_;
  bool causal_, rotary_, share_;
  float filter_, scale_;
  std::vector<int64_t> parts_;
  RightOperand weights_;
};

Attention::Attention(const KernelInfo& info)
    : heads_(info.node().int_of("num_heads")),
      rotary_size_(info.node().int_or("rotary_embedding_dim", 0)),
      causal_(info.node().int_or("unidirectional", 0) != 0),
      rotary_(info.node().int_or("do_rotary", 0) != 0),
      share_(info.node().int_or("past_present_share_buffer", 0) != 0),
      filter_(info.node().float_or("mask_filter_value", -10000.0f)),
      scale_(info.node().float_or("scale", 0)),
      parts_(info.node().ints("qkv_hidden_sizes")),
      weights_(info, 1, false) {
  require(heads_ > 0, ErrorCode::kInvalidGraph, "num_heads is ", heads_, "; it must be positive");
  require(rotary_size_ >= 0 && rotary_size_ % 2 == 0, ErrorCode::kInvalidGraph, "rotary_embedding_dim is ",
          rotary_size_, "; it must be even and not negative");
}

Sizes Attention::sizes(const KernelContext& context) const {
  const Shape &x = context.input(0).shape(), &w = context.input(1).shape();
  require(x.rank() == 3 && w.rank() == 2 && x[2] == w[0], ErrorCode::kInvalidArgument, "input ", x,
          " does not fit weights ", w);
  Sizes s{x[0], x[1], x[2], heads_, w[1] / 3, w[1] / 3, 0, x[1]};
  if (!parts_.empty()) s.query = parts_[0], s.value = parts_[2];
  require(s.columns() == w[1] && s.query % heads_ == 0 && s.value % heads_ == 0, ErrorCode::kInvalidArgument,
          "weights ", w, " do not split into query, key and value of ", heads_, " heads");
  const Tensor* bias = context.input_if(2);
  require(!bias || bias->element_count() == w[1], ErrorCode::kInvalidArgument, "the bias has shape ",
          bias ? bias->shape() : Shape(), "; it needs ", w[1], " elements");
  use_past(context, s);
  require(!context.has_output(1) || s.query == s.value, ErrorCode::kInvalidArgument,
          "present needs keys and values of one size");
  return s;
}

/** How many rows of the past count; bounds come from its shape. */
void Attention::use_past(const KernelContext& context, Sizes& s) const {
  const Tensor* past = context.input_if(4);
  if (!past) return;
  require(past->rank() == 5, ErrorCode::kInvalidArgument, "past has shape ", past->shape(), "; it needs rank 5");
  s.past = past->shape()[3];
  Shape wanted{2, s.batch, heads_, s.past, s.query_head()};
  require(past->shape() == wanted && s.query == s.value, ErrorCode::kInvalidArgument, "past has shape ", past->shape(),
          "; it needs ", wanted);
  s.capacity = checked_add(s.past, s.sequence);
  if (!share_) return;
  s.capacity = s.past;
  s.past = int32_scalar(context.input(6), "past_sequence_length");
  require(s.past >= 0 && s.past <= s.capacity - s.sequence, ErrorCode::kInvalidArgument, "past_sequence_length is ",
          s.past, ", and ", s.sequence, " rows are new, but past has room for ", s.capacity, " rows");
}

/** [batch * sequence][query, key, value]. */
float* Attention::project(KernelContext& context, const Sizes& s) const {
  int64_t rows = s.batch * s.sequence;
  float* result = context.scratch<float>(checked_mul(rows, s.columns())).data();
  kernels::Epilogue epilogue;
  epilogue.bias = read_input<float>(context, 2);
  if (epilogue.bias) epilogue.bias_kind = kernels::BiasKind::kColumn;
  const float* x = read_input<float>(context, 0);
  if (weights_.packed()) {
    kernels::gemm(&context.threads(), rows, x, s.input, false, *weights_.packed(), result, s.columns(), epilogue);
  } else {
    kernels::gemm(&context.threads(), rows, s.columns(), s.input, x, s.input, false, read_input<float>(context, 1),
                  s.columns(), false, result, s.columns(), epilogue);
  }
  return result;
}

/** Turns queries and keys where they lie: halves of the first rotary_embedding_dim elements of each head. */
void Attention::turn(KernelContext& context, const Sizes& s, float* projected) const {
  if (!rotary_) return;
  int64_t size = rotary_size_ > 0 ? rotary_size_ : s.query_head();
  require(size <= s.query_head() && size % 2 == 0, ErrorCode::kInvalidArgument, "rotary embedding of ", size,
          " elements does not fit heads of ", s.query_head());
  RotaryGeometry g;
  g.batch = s.batch, g.sequence = s.sequence, g.heads = heads_, g.head_size = s.query_head(), g.pairs = size / 2;
  g.from = g.to = {s.sequence * s.columns(), s.columns(), s.query_head()};
  rotate_by_position(context, g, s.past, {projected, projected + s.query});
}

/** Keys and values of past and present as [2][batch][heads][capacity][head], which the plan then reads. */
void Attention::join(KernelContext& context, const Sizes& s, AttentionPlan& p, float* present) const {
  const float* past = read_input<float>(context, 4);
  for (HeadRows* rows : {&p.k, &p.v}) {
    CacheJoin join{s.batch, heads_, s.query_head()};
    join.fresh = *rows, join.fresh_rows = s.sequence;
    join.present = present, join.capacity = s.capacity;
    join.past = past, join.past_rows = s.past;
    join.past_capacity = past ? context.input(4).shape()[3] : 0;
    join.keep_rest = past && share_;
    join_cache(context.threads(), join);
    *rows = rows_by_head(present, ElementType::kFloat, heads_, s.capacity, s.query_head());
    int64_t half = s.batch * s.capacity * s.query;
    present += half;
    if (past) past += s.batch * heads_ * join.past_capacity * s.query_head();
  }
}

void Attention::compute(KernelContext& context) const {
  Sizes s = sizes(context);
  OutputAs<float> y(context, 0);
  std::optional<OutputAs<float>> present;
  if (context.has_output(1)) present.emplace(context, 1);
  float* projected = project(context, s);
  turn(context, s, projected);
  AttentionPlan p;
  p.batch = s.batch, p.heads = p.kv_heads = heads_, p.queries = s.sequence, p.keys = s.past + s.sequence;
  p.head = s.query_head(), p.value_head = s.value_head();
  auto part = [&](int64_t column, int64_t head) {
    return HeadRows{projected + column, ElementType::kFloat, s.sequence * s.columns(), head, s.columns()};
  };
  p.q = part(0, p.head), p.k = part(s.query, p.head), p.v = part(2 * s.query, p.value_head);
  if (present || context.input_if(4)) {
    int64_t count = checked_mul(checked_mul(2 * s.batch, s.capacity), s.query);
    join(context, s, p, present ? present->data() : context.scratch<float>(count).data());
  }
  p.scale = scale_ != 0 ? scale_ : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(p.head, 1)));
  p.first_position = s.past;
  if (causal_) p.right = 0;
  if (const Tensor* mask = context.input_if(3)) p.biases[0] = filter_bias(context, *mask, p, filter_);
  if (const Tensor* bias = context.input_if(5)) p.biases[1] = added_bias(context, *bias, p);
  p.out = rows_by_position(y.data(), ElementType::kFloat, heads_, s.sequence, p.value_head);
  attend(context, p);
  y.finish();
  if (present) present->finish();
}

constexpr KernelRow kRows[] = {
    {"com.microsoft", "Attention", 1, kLatest, make_kernel<Attention>, {{0, kHalfTypes | ElementType::kFloat}}},
};

}  // namespace

extern const KernelTable attention_rows;
const KernelTable attention_rows(kRows);
}  // namespace ortolan::cpu::microsoft
