// com.microsoft.Attention in fp32: one product for queries, keys and values, then each head on its own thread.
#include <cmath>
#include <limits>

#include "base/thread_pool.h"
#include "cpu/float_tensors.h"
#include "cpu/kernels/gemm_f32.h"
#include "cpu/kernels/normalization_f32.h"
#include "cpu/packed_weights.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** The sizes of one run. `total` keys are those of the past and of this sequence. */
struct Sizes {
  int64_t batch, sequence, input, heads, query, value, past, total;
  int64_t columns() const { return 2 * query + value; }
  int64_t query_head() const { return query / heads; }
  int64_t value_head() const { return value / heads; }
};

/** Keys or values of one head: rows `stride` apart. */
struct HeadRows {
  const float* data;
  int64_t stride;
};

class Attention final : public OpKernel {
 public:
  explicit Attention(const KernelInfo& info)
      : heads_(info.node().int_of("num_heads")),
        causal_(info.node().int_or("unidirectional", 0) != 0),
        filter_(info.node().float_or("mask_filter_value", -10000.0f)),
        scale_(info.node().float_or("scale", 0)),
        parts_(info.node().ints("qkv_hidden_sizes")),
        weights_(info, 1, false) {
    require(heads_ > 0, ErrorCode::kInvalidGraph, "num_heads is ", heads_, "; it must be positive");
    require(info.node().int_or("do_rotary", 0) == 0 && info.node().int_or("past_present_share_buffer", 0) == 0,
            ErrorCode::kNotImplemented, "do_rotary and past_present_share_buffer are not supported here");
  }

  void compute(KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    return i == 1 && weights_.packed() ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  Sizes sizes(const KernelContext& context) const;
  const float* project(KernelContext& context, const Sizes& s) const;
  const float* mask(KernelContext& context, const Sizes& s) const;
  void add_mask(const Tensor& mask, const Sizes& s, float* out) const;
  void gather_present(KernelContext& context, const Sizes& s, const float* projected, float* present) const;

  int64_t heads_;
  bool causal_;
  float filter_, scale_;
  std::vector<int64_t> parts_;
  RightOperand weights_;
};

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
  if (const Tensor* past = context.input_if(4)) {
    require(past->rank() == 5, ErrorCode::kInvalidArgument, "past has shape ", past->shape(), "; it needs rank 5");
    s.past = past->shape()[3];
    Shape wanted{2, s.batch, heads_, s.past, s.query_head()};
    require(past->shape() == wanted && s.query == s.value, ErrorCode::kInvalidArgument, "past has shape ",
            past->shape(), "; it needs ", wanted);
    s.total = checked_add(s.past, s.sequence);
  }
  require(!context.has_output(1) || s.query == s.value, ErrorCode::kInvalidArgument,
          "present needs keys and values of one size");
  return s;
}

/** [batch * sequence][query, key, value]. */
const float* Attention::project(KernelContext& context, const Sizes& s) const {
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

/** What is added to the scores, [batch][sequence][total]; NULL for nothing. */
const float* Attention::mask(KernelContext& context, const Sizes& s) const {
  const Tensor* given = context.input_if(3);
  if (!given && !causal_) return nullptr;
  auto result = context.scratch<float>(checked_mul(checked_mul(s.batch, s.sequence), s.total));
  std::fill(result.begin(), result.end(), 0.0f);
  if (given) add_mask(*given, s, result.data());
  for (int64_t row = 0; causal_ && row < s.batch * s.sequence; ++row) {
    float* line = result.data() + row * s.total;
    for (int64_t j = s.past + row % s.sequence + 1; j < s.total; ++j) line[j] = std::numeric_limits<float>::lowest();
  }
  return result.data();
}

/** The forms of mask_index: ends [batch], ends and starts [2*batch], or 1 for each key to see: [batch, total],
    [batch, sequence, total], [batch, 1, n, n] with n >= total. */
void Attention::add_mask(const Tensor& mask, const Sizes& s, float* out) const {
  const Shape& shape = mask.shape();
  const int32_t* m = mask.data<int32_t>();
  bool ends = shape == Shape{s.batch} || shape == Shape{2 * s.batch};
  bool keys = shape == Shape{s.batch, s.total}, rows = shape == Shape{s.batch, s.sequence, s.total};
  bool square =
      shape.rank() == 4 && shape[0] == s.batch && shape[1] == 1 && shape[2] == shape[3] && shape[2] >= s.total;
  require(ends || keys || rows || square, ErrorCode::kInvalidArgument, "mask_index has shape ", shape,
          "; it needs [batch], [2*batch], [batch,", s.total, "], [batch,", s.sequence, ",", s.total,
          "] or [batch,1,n,n]");
  for (int64_t row = 0; row < s.batch * s.sequence; ++row) {
    int64_t b = row / s.sequence, i = row % s.sequence;
    for (int64_t j = 0; j < s.total; ++j) {
      bool seen = true;
      if (ends) seen = j < m[b] && (shape[0] == s.batch || j >= m[s.batch + b]);
      if (keys) seen = m[b * s.total + j] > 0;
      if (rows) seen = m[row * s.total + j] > 0;
      if (square) seen = m[(b * shape[2] + s.past + i) * shape[2] + j] > 0;
      if (!seen) out[row * s.total + j] = filter_;
    }
  }
}

/** Keys and values of past and present as [2][batch][heads][total][head]. */
void Attention::gather_present(KernelContext& context, const Sizes& s, const float* projected, float* present) const {
  const float* past = read_input<float>(context, 4);
  int64_t head = s.query_head();
  context.threads().parallel_for(2 * s.batch * heads_, 4, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* out = present + i * s.total * head;
      if (past) std::copy_n(past + i * s.past * head, s.past * head, out);
      int64_t b = i / heads_ % s.batch, column = s.query * (1 + i / (heads_ * s.batch)) + i % heads_ * head;
      for (int64_t t = 0; t < s.sequence; ++t) {
        std::copy_n(projected + (b * s.sequence + t) * s.columns() + column, head, out + (s.past + t) * head);
      }
    }
  });
}

/** Element offset of head h of image b in an attention bias that broadcasts over both. */
int64_t bias_offset(const Shape& shape, int64_t b, int64_t h) {
  return ((shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : h)) * shape[2] * shape[3];
}

void Attention::compute(KernelContext& context) const {
  Sizes s = sizes(context);
  const Tensor* bias = context.input_if(5);
  if (bias) {
    const Shape& b = bias->shape();
    bool fits = b.rank() == 4 && (b[0] == 1 || b[0] == s.batch) && (b[1] == 1 || b[1] == heads_) &&
                b[2] == s.sequence && b[3] == s.total;
    require(fits, ErrorCode::kInvalidArgument, "attention_bias has shape ", b, "; it needs [", s.batch, ",", heads_,
            ",", s.sequence, ",", s.total, "]");
  }
  OutputAs<float> y(context, 0);
  std::optional<OutputAs<float>> present;
  if (context.has_output(1)) present.emplace(context, 1);
  const float* projected = project(context, s);
  const float* keys = present ? present->data() : nullptr;
  if ((present || s.past > 0) && s.total > 0) {
    float* gathered = present ? present->data() : context.scratch<float>(2 * s.batch * s.total * s.query).data();
    gather_present(context, s, projected, gathered);
    keys = gathered;
  }
  const float* added = mask(context, s);
  const float* relative = bias ? read_as<float>(context, *bias) : nullptr;
  float scale = scale_ != 0 ? scale_ : 1.0f / std::sqrt(static_cast<float>(s.query_head()));
  bool empty = s.batch * s.sequence * s.value == 0;
  auto scores = context.scratch<float>(checked_mul(checked_mul(s.batch * heads_, s.sequence), s.total));
  context.threads().parallel_for(empty ? 0 : s.batch * heads_, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t b = i / heads_, h = i % heads_, rows = b * s.sequence;
      const float* q = projected + rows * s.columns() + h * s.query_head();
      HeadRows k{q + s.query, s.columns()};
      HeadRows v{projected + rows * s.columns() + 2 * s.query + h * s.value_head(), s.columns()};
      if (keys) {
        k = {keys + i * s.total * s.query_head(), s.query_head()};
        v = {keys + (s.batch * heads_ + i) * s.total * s.value_head(), s.value_head()};
      }
      float* p = scores.data() + i * s.sequence * s.total;
      kernels::Epilogue scaled;
      scaled.alpha = scale;
      if (relative) scaled.residual = relative + bias_offset(bias->shape(), b, h), scaled.residual_stride = s.total;
      kernels::gemm(nullptr, s.sequence, s.total, s.query_head(), q, s.columns(), false, k.data, k.stride, true, p,
                    s.total, scaled);
      for (int64_t t = 0; t < s.sequence; ++t) {
        float* row = p + t * s.total;
        kernels::softmax_row(row, 1, added ? added + (rows + t) * s.total : nullptr, s.total, row);
      }
      kernels::gemm(nullptr, s.sequence, s.value_head(), s.total, p, s.total, false, v.data, v.stride, false,
                    y.data() + rows * s.value + h * s.value_head(), s.value, {});
    }
  });
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
