// ai.onnx.Attention, and what rewrites make of its parts: sorts its inputs into a plan for the shared core.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/threads/thread_pool.h"
#include "cpu/attention/kv_cache.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/quantised/dynamic_quantization.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr int64_t kWidestWindow = int64_t{1} << 40;

class Attention final : public OpKernel {
 public:
  explicit Attention(const KernelInfo& info);
  void compute(KernelContext& context) const override;

 private:
  AttentionPlan sizes(const KernelContext& context) const;
  int64_t heads(const Tensor& tensor, int64_t attribute) const;
  void use_past(KernelContext& context, AttentionPlan& plan) const;
  HeadRows join(KernelContext& context, const AttentionPlan& plan, size_t input, int64_t size) const;
  template <class C>
  void use_mask(KernelContext& context, AttentionPlan& plan) const;
  void use_lengths(KernelContext& context, AttentionPlan& plan) const;
  void take_scores(KernelContext& context, AttentionPlan& plan) const;

  int64_t query_heads_, key_heads_, left_, right_, mode_;
  bool narrow_mask_repeats_, in_double_, from_parts_;
  double scale_, softcap_;
};

Attention::Attention(const KernelInfo& info)
    : query_heads_(info.node().int_or("q_num_heads", 0)),
      key_heads_(info.node().int_or("kv_num_heads", 0)),
      left_(info.opset() >= 25 ? info.node().int_or("left_window_size", -1) : -1),
      right_(info.opset() >= 25 ? info.node().int_or("right_window_size", -1) : -1),
      mode_(info.node().int_or("qk_matmul_output_mode", 0)),
      narrow_mask_repeats_(info.opset() < 24),
      from_parts_(info.node().domain == "ortolan"),
      scale_(info.node().has_attribute("scale") ? info.node().float_of("scale") : NAN),
      softcap_(info.node().float_or("softcap", 0)) {
  require(mode_ >= 0 && mode_ <= 3, ErrorCode::kInvalidGraph, "qk_matmul_output_mode is ", mode_,
          "; it must be 0 to 3");
  require(softcap_ >= 0, ErrorCode::kInvalidGraph, "softcap is ", softcap_, "; it must not be negative");
  int64_t precision = info.node().int_or("softmax_precision", static_cast<int64_t>(ElementType::kFloat));
  bool known = precision == 1 || precision == 10 || precision == 11 || precision == 16;
  require(known, ErrorCode::kInvalidGraph, "softmax_precision is ", precision,
          "; it must be 1 (float), 10 (float16), 11 (double) or 16 (bfloat16)");
  in_double_ = precision == static_cast<int64_t>(ElementType::kDouble);
  left_ = std::clamp<int64_t>(left_, -1, kWidestWindow);
  right_ = std::clamp<int64_t>(right_, -1, kWidestWindow);
  if (info.node().int_or("is_causal", 0) != 0) right_ = 0;
}

int64_t Attention::heads(const Tensor& tensor, int64_t attribute) const {
  if (tensor.rank() == 4) return tensor.shape()[1];
  require(tensor.rank() == 3 && attribute > 0 && tensor.shape()[2] % attribute == 0, ErrorCode::kInvalidArgument,
          "an input of shape ", tensor.shape(), " does not split into ", attribute, " heads");
  return attribute;
}

AttentionPlan Attention::sizes(const KernelContext& context) const {
  const Tensor &q = context.input(0), &k = context.input(1), &v = context.input(2);
  size_t rank = q.rank();
  require(k.rank() == rank && v.rank() == rank, ErrorCode::kInvalidArgument, "Q, K and V have shapes ", q.shape(), ", ",
          k.shape(), " and ", v.shape(), "; they must have one rank");
  AttentionPlan p;
  p.heads = heads(q, query_heads_), p.kv_heads = heads(k, key_heads_);
  auto size = [rank](const Tensor& x, int64_t heads) { return rank == 4 ? x.shape()[3] : x.shape()[2] / heads; };
  p.batch = q.shape()[0], p.queries = q.shape()[rank - 2], p.keys = k.shape()[rank - 2];
  p.head = size(q, p.heads), p.value_head = size(v, heads(v, key_heads_));
  bool fits = k.shape()[0] == p.batch && v.shape()[0] == p.batch && v.shape()[rank - 2] == p.keys &&
              heads(v, key_heads_) == p.kv_heads && size(k, p.kv_heads) == p.head;
  require(fits, ErrorCode::kInvalidArgument, "Q, K and V of shapes ", q.shape(), ", ", k.shape(), " and ", v.shape(),
          " do not fit together in batch, heads, sequence or head size");
  require(p.kv_heads > 0 && p.heads % p.kv_heads == 0, ErrorCode::kInvalidArgument, "the ", p.heads,
          " heads of Q are not a multiple of the ", p.kv_heads, " heads of K and V");
  auto rows = [&](const Tensor& x, int64_t heads) {
    return (rank == 4 ? rows_by_head : rows_by_position)(x.raw(), x.type(), heads, x.shape()[rank - 2], size(x, heads));
  };
  p.q = rows(q, p.heads), p.k = rows(k, p.kv_heads), p.v = rows(v, p.kv_heads);
  p.scale = std::isnan(scale_) ? 1 / std::sqrt(static_cast<double>(std::max<int64_t>(p.head, 1))) : scale_;
  p.softcap = softcap_;
  p.left = left_, p.right = right_;
  if (from_parts_) p.nothing = std::numeric_limits<double>::quiet_NaN();
  p.in_double = in_double_ || q.type() == ElementType::kDouble || v.type() == ElementType::kDouble;
  return p;
}

/** Past and new rows of input 1 (keys) or 2 (values) as one, in the output for them where it is wanted. */
HeadRows Attention::join(KernelContext& context, const AttentionPlan& p, size_t input, int64_t size) const {
  const Tensor* past = context.input_if(input + 3);
  CacheJoin join{p.batch, p.kv_heads, size};
  join.fresh = input == 1 ? p.k : p.v;
  join.fresh_rows = p.keys;
  if (past) {
    Shape wanted{p.batch, p.kv_heads, past->shape()[2], size};
    require(past->shape() == wanted && past->shape()[2] == context.input(4).shape()[2], ErrorCode::kInvalidArgument,
            "the past has shape ", past->shape(), "; it needs ", wanted, ", as many rows for keys as for values");
    join.past = past->raw();
    join.past_capacity = join.past_rows = past->shape()[2];
  }
  join.capacity = checked_add(join.past_rows, join.fresh_rows);
  if (context.has_output(input)) {
    join.present = context.output(input).mutable_raw();
  } else if (past) {
    int64_t count = checked_mul(checked_mul(p.batch * p.kv_heads, join.capacity), size);
    join.present = context.scratch<char>(count * (bits_of(join.fresh.type) / 8)).data();
  } else {
    return join.fresh;
  }
  join_cache(context.threads(), join);
  return rows_by_head(join.present, join.fresh.type, p.kv_heads, join.capacity, size);
}

void Attention::use_past(KernelContext& context, AttentionPlan& p) const {
  p.k = join(context, p, 1, p.head);
  p.v = join(context, p, 2, p.value_head);
  const Tensor* past = context.input_if(4);
  require(!past || !context.input_if(6), ErrorCode::kInvalidArgument,
          "past_key and nonpad_kv_seqlen are both given; give one of them");
  p.first_position = past ? past->shape()[2] : 0;
  p.keys += p.first_position;
}

void Attention::use_lengths(KernelContext& context, AttentionPlan& p) const {
  const Tensor* given = context.input_if(6);
  if (!given) return;
  require(given->shape() == Shape{p.batch}, ErrorCode::kInvalidArgument, "nonpad_kv_seqlen has shape ", given->shape(),
          "; it needs [", p.batch, "]");
  auto lengths = given->span<int64_t>();
  auto positions = context.scratch<int64_t>(p.batch);
  for (int64_t b = 0; b < p.batch; ++b) {
    require(lengths[b] >= 0 && lengths[b] <= p.keys, ErrorCode::kInvalidArgument, "nonpad_kv_seqlen holds ", lengths[b],
            ", but K has ", p.keys, " rows");
    positions[b] = lengths[b] - p.queries;
  }
  p.lengths = lengths.data();
  p.positions = positions.data();
}

/** The elements of a mask as what is added to scores that are kept as elements of `type`. */
template <class C>
const C* mask_values(KernelContext& context, const Tensor& mask, ElementType type) {
  if (mask.type() == kTypeOf<C> && !kHalfTypes.contains(type)) return mask.data<C>();
  auto values = context.scratch<C>(mask.element_count());
  if (mask.type() == ElementType::kBool) {
    std::ranges::transform(mask.span<bool>(), values.begin(),
                           [](bool seen) { return seen ? C(0) : -std::numeric_limits<C>::infinity(); });
    return values.data();
  }
  dispatch<kNumericTypes>(mask.type(), [&]<class T>(TypeTag<T>) {
    auto as_c = [](T value) {
      if constexpr (std::is_arithmetic_v<T>)
        return static_cast<C>(value);
      else
        return static_cast<C>(static_cast<float>(value));
    };
    std::ranges::transform(mask.span<T>(), values.begin(), as_c);
  });
  if (kHalfTypes.contains(type) && mask.type() != type) {
    Tensor rounded(type, mask.shape());
    convert_floats(nullptr, values.data(), kTypeOf<C>, rounded.mutable_raw(), type, mask.element_count());
    convert_floats(nullptr, rounded.raw(), type, values.data(), kTypeOf<C>, mask.element_count());
  }
  return values.data();
}

template <class C>
void Attention::use_mask(KernelContext& context, AttentionPlan& p) const {
  const Tensor* mask = context.input_if(3);
  if (!mask) return;
  int64_t dims[4] = {1, 1, 1, 1}, wanted[4] = {p.batch, p.heads, p.queries, p.keys};
  size_t rank = mask->rank();
  bool fits = rank <= 4;
  for (size_t i = 0; fits && i < rank; ++i) dims[4 - rank + i] = mask->shape()[i];
  for (size_t i = 0; i < 3; ++i) fits = fits && (dims[i] == 1 || dims[i] == wanted[i]);
  require(fits && dims[3] <= std::max<int64_t>(wanted[3], 1), ErrorCode::kInvalidArgument, "attn_mask has shape ",
          mask->shape(), ", which does not broadcast to [", wanted[0], ",", wanted[1], ",", wanted[2], ",", wanted[3],
          "]");
  const C* values = mask_values<C>(context, *mask, context.input(0).type());
  if (dims[3] == 1 && p.keys > 1 && (narrow_mask_repeats_ || rank == 0)) {
    int64_t rows = mask->element_count();
    C* wide = context.scratch<C>(checked_mul(rows, p.keys)).data();
    for (int64_t i = 0; i < rows; ++i) std::fill_n(wide + i * p.keys, p.keys, values[i]);
    values = wide, dims[3] = p.keys;
  }
  ScoreBias& bias = p.biases[0];
  bias.data = values;
  bias.columns = dims[3];
  bias.row = dims[2] == 1 ? 0 : dims[3];
  bias.head = dims[1] == 1 ? 0 : dims[2] * dims[3];
  bias.batch = dims[0] == 1 ? 0 : dims[1] * dims[2] * dims[3];
}

void Attention::take_scores(KernelContext& context, AttentionPlan& p) const {
  if (!context.has_output(3)) return;
  Tensor& scores = context.output(3);
  p.scores = scores.mutable_raw();
  p.scores_type = scores.type();
  p.taken = static_cast<ScoresTaken>(mode_);
}

void Attention::compute(KernelContext& context) const {
  AttentionPlan p = sizes(context);
  use_past(context, p);
  use_lengths(context, p);
  p.in_double ? use_mask<double>(context, p) : use_mask<float>(context, p);
  take_scores(context, p);
  Tensor& y = context.output(0);
  p.out = (y.rank() == 4 ? rows_by_head : rows_by_position)(y.raw(), y.type(), p.heads, p.queries, p.value_head);
  RangeOutput range(context, 4);
  p.range = range.wanted();
  attend(context, p);
  range.finish();
}

constexpr KernelRow kRows[] = {
    {"", "Attention", 23, kLatest, make_kernel<Attention>, {{0, kFloatTypes}, {2, kFloatTypes}}},
    {"ortolan", "Attention", 1, kLatest, make_kernel<Attention>},
};

}  // namespace

extern const KernelTable attention_rows;
constinit const KernelTable attention_rows(kRows);

}  // namespace ortolan::cpu::onnx
