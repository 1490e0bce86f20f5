// QAttention: one product of bytes for queries, keys and values, whose floats go to the shared attention.
#include <cmath>
#include <optional>

#include "cpu/attention/attention_inputs.h"
#include "cpu/attention/kv_cache.h"
#include "cpu/attention/rotary.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/quantised/byte_product.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** The sizes of one run; `hidden` is that of all heads together. */
struct Sizes {
  int64_t batch, sequence, input, hidden, past;
  int64_t columns() const { return 3 * hidden; }
  int64_t total() const { return past + sequence; }
};

class QAttention final : public OpKernel {
 public:
  explicit QAttention(const KernelInfo& info)
      : heads_(info.node().int_of("num_heads")),
        causal_(info.node().int_or("unidirectional", 0) != 0),
        rotary_(info.node().int_or("do_rotary", 0) != 0),
        share_(info.node().int_or("past_present_share_buffer", 0) != 0),
        filter_(info.node().float_or("mask_filter_value", -10000.0f)),
        scale_(info.node().float_or("scale", 0)),
        packed_(pack_byte_matrix(info, 1)) {
    require(heads_ > 0, ErrorCode::kInvalidGraph, "num_heads is ", heads_, "; it must be positive");
  }

  void compute(KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    return i == 1 && packed_ ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  Sizes sizes(const KernelContext& context) const;
  float* project(KernelContext& context, const Sizes& s) const;
  void turn(KernelContext& context, const Sizes& s, float* projected) const;
  void join(KernelContext& context, const Sizes& s, AttentionPlan& plan, float* present) const;

  int64_t heads_;
  bool causal_, rotary_, share_;
  float filter_, scale_;
  std::shared_ptr<const kernels::PackedMatrixInt8> packed_;
};

/** Throws where an input's type is none that its place takes. */
void check_types(const KernelContext& context) {
  constexpr TypeSet kReals = kHalfTypes | ElementType::kFloat;
  for (size_t i : {2, 3, 4, 8}) {
    const Tensor* tensor = context.input_if(i);
    require(!tensor || kReals.contains(tensor->type()), ErrorCode::kInvalidArgument, "input ", i, " holds ",
            name_of(tensor ? tensor->type() : ElementType::kFloat), "; it must hold floats");
  }
  for (size_t i : {6, 7}) {
    const Tensor* zero = context.input_if(i);
    ElementType type = context.input(i - 6).type();
    require(!zero || zero->type() == type, ErrorCode::kInvalidArgument, "the zero point, input ", i, ", holds ",
            name_of(zero ? zero->type() : type), "; it must hold ", name_of(type));
  }
}

Sizes QAttention::sizes(const KernelContext& context) const {
  const Shape &x = context.input(0).shape(), &w = context.input(1).shape();
  require(x.rank() == 3 && w.rank() == 2 && x[2] == w[0], ErrorCode::kInvalidArgument, "input ", x,
          " does not fit weights ", w);
  require(w[1] % (3 * heads_) == 0, ErrorCode::kInvalidArgument, "weights ", w,
          " do not split into query, key and value of ", heads_, " heads");
  Sizes s{x[0], x[1], x[2], w[1] / 3, 0};
  require(context.input(2).element_count() == w[1], ErrorCode::kInvalidArgument, "the bias has shape ",
          context.input(2).shape(), "; it needs ", w[1], " elements");
  const Tensor* past = context.input_if(8);
  if (!past) return s;
  require(!share_, ErrorCode::kInvalidArgument,
          "past is given and past_present_share_buffer is 1, but this operator has no input that says how many rows of "
          "past count; set it to 0");
  require(past->rank() == 5, ErrorCode::kInvalidArgument, "past has shape ", past->shape(), "; it needs rank 5");
  s.past = past->shape()[3];
  Shape wanted{2, s.batch, heads_, s.past, s.hidden / heads_};
  require(past->shape() == wanted, ErrorCode::kInvalidArgument, "past has shape ", past->shape(), "; it needs ",
          wanted);
  return s;
}

/** [batch * sequence][query, key, value]. The sums lie where their floats will. */
float* QAttention::project(KernelContext& context, const Sizes& s) const {
  const Tensor &x = context.input(0), &w = context.input(1), &x_scale = context.input(3);
  require(x_scale.element_count() == 1, ErrorCode::kInvalidArgument, "input_scale has shape ", x_scale.shape(),
          "; it must hold one value");
  PerLine columns(&context.input(4), s.columns(), 1, "weight_scale");
  PerLine zero_columns(context.input_if(7), s.columns(), 1, "weight_zero_point");
  single_zero_point(context.input_if(6), "input_zero_point");
  int64_t rows = checked_mul(s.batch, s.sequence), n = s.columns();
  float* result = context.scratch<float>(checked_mul(rows, n)).data();
  if (rows * n == 0) return result;
  kernels::ZeroPoints zeros;
  if (const Tensor* zero = context.input_if(6)) zeros.a = zero->raw();
  if (const Tensor* zero = context.input_if(7)) zeros.b = zero->raw();
  zeros.b_per_column = !zero_columns.single();
  auto* sums = reinterpret_cast<int32_t*>(result);
  kernels::ByteMatrix a{x.raw(), s.input, false, is_signed_byte(x)}, b{w.raw(), n, false, is_signed_byte(w)};
  kernels::RightInt8 right = packed_ ? kernels::RightInt8(*packed_) : kernels::RightInt8(s.input, n, b);
  kernels::gemm_int8(&context.threads(), rows, a, right, zeros, sums, n);
  float scale = *read_as<float>(context, x_scale);
  const float* w_scales = read_input<float>(context, 4);
  auto scales = context.scratch<float>(columns.values);
  for (size_t i = 0; i < scales.size(); ++i) scales[i] = scale * w_scales[i];
  kernels::dequantize_sums(&context.threads(), rows, n, sums, n, scales.data(), !columns.single(),
                           read_input<float>(context, 2), result, n);
  return result;
}

/** Turns queries and keys where they lie, halves of each head. */
void QAttention::turn(KernelContext& context, const Sizes& s, float* projected) const {
  if (!rotary_) return;
  RotaryGeometry g;
  g.batch = s.batch, g.sequence = s.sequence, g.heads = heads_, g.head_size = s.hidden / heads_;
  require(g.head_size % 2 == 0, ErrorCode::kInvalidArgument, "heads have ", g.head_size,
          " elements; do_rotary needs an even number");
  g.pairs = g.head_size / 2;
  g.from = g.to = {s.sequence * s.columns(), s.columns(), g.head_size};
  rotate_by_position(context, g, s.past, {projected, projected + s.hidden});
}

/** Keys and values of past and present as [2][batch][heads][total][head], which the plan then reads. */
void QAttention::join(KernelContext& context, const Sizes& s, AttentionPlan& plan, float* present) const {
  const float* past = read_input<float>(context, 8);
  int64_t head = s.hidden / heads_;
  for (HeadRows* rows : {&plan.k, &plan.v}) {
    CacheJoin join{s.batch, heads_, head};
    join.fresh = *rows, join.fresh_rows = s.sequence;
    join.present = present, join.capacity = s.total();
    join.past = past, join.past_rows = join.past_capacity = s.past;
    join_cache(context.threads(), join);
    *rows = rows_by_head(present, ElementType::kFloat, heads_, s.total(), head);
    present += s.batch * s.total() * s.hidden;
    if (past) past += s.batch * s.past * s.hidden;
  }
}

void QAttention::compute(KernelContext& context) const {
  check_types(context);
  Sizes s = sizes(context);
  OutputAs<float> y(context, 0);
  std::optional<OutputAs<float>> present;
  if (context.has_output(1)) present.emplace(context, 1);
  float* projected = project(context, s);
  turn(context, s, projected);
  AttentionPlan p;
  p.batch = s.batch, p.heads = p.kv_heads = heads_, p.queries = s.sequence, p.keys = s.total();
  p.head = p.value_head = s.hidden / heads_;
  auto part = [&](int64_t column) {
    return HeadRows{projected + column, ElementType::kFloat, s.sequence * s.columns(), p.head, s.columns()};
  };
  p.q = part(0), p.k = part(s.hidden), p.v = part(2 * s.hidden);
  if (present || s.past > 0) {
    int64_t count = checked_mul(checked_mul(2 * s.batch, s.total()), s.hidden);
    join(context, s, p, present ? present->data() : context.scratch<float>(count).data());
  }
  p.scale = scale_ != 0 ? scale_ : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(p.head, 1)));
  p.first_position = s.past;
  if (causal_) p.right = 0;
  if (const Tensor* mask = context.input_if(5)) p.biases[0] = filter_bias(context, *mask, p, filter_);
  p.out = rows_by_position(y.data(), ElementType::kFloat, heads_, s.sequence, p.value_head);
  attend(context, p);
  y.finish();
  if (present) present->finish();
}

constexpr KernelRow kRows[] = {
    {"com.microsoft", "QAttention", 1, kLatest, make_kernel<QAttention>},
};

}  // namespace

extern const KernelTable quantized_attention_rows;
const KernelTable quantized_attention_rows(kRows);
}  // namespace ortolan::cpu::microsoft
