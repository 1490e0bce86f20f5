// com.microsoft.GroupQueryAttention over the shared core.
#include <algorithm>
#include <cmath>

#include "cpu/attention_inputs.h"
#include "cpu/float_tensors.h"
#include "cpu/grouped_attention.h"
#include "cpu/kernels/normalization_f32.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

enum Input : size_t { kPastKey = 3, kLengths = 5, kTotal, kCosines, kSines, kPositions, kBias, kSink, kQueryNorm = 14 };

class GroupQueryAttention final : public OpKernel {
 public:
  explicit GroupQueryAttention(const KernelInfo& info);
  void compute(KernelContext& context) const override;

 private:
  const int64_t* positions(KernelContext& context, const GroupedLengths& lengths, int64_t sequence, bool first) const;
  void normalise(KernelContext& context, AttentionPlan& plan) const;
  HeadRows normalised(KernelContext& context, const AttentionPlan& plan, const HeadRows& rows, int64_t heads,
                      const Tensor& weight) const;
  void use_sinks(KernelContext& context, AttentionPlan& plan) const;

  GroupedAttributes attributes_;
  bool causal_, zero_sink_;
  int64_t window_, scores_;
  float softcap_, epsilon_;
};

GroupQueryAttention::GroupQueryAttention(const KernelInfo& info)
    : attributes_(info.node()),
      causal_(info.node().int_or("causal", 1) != 0),
      zero_sink_(info.node().int_or("smooth_softmax", 0) == 1),
      window_(info.node().int_or("local_window_size", -1)),
      scores_(info.node().int_or("qk_output", 0)),
      softcap_(info.node().float_or("softcap", 0)),
      epsilon_(info.node().float_or("qk_norm_epsilon", 1e-6f)) {
  const Node& node = info.node();
  auto plain = [&](const char* name) { return node.string_or(name, "NONE") == "NONE"; };
  require(plain("k_quant_type") && plain("v_quant_type") && node.int_or("sliding_window_cache", 0) == 0,
          ErrorCode::kNotImplemented, "quantized and sliding caches of GroupQueryAttention are not supported here");
  require(scores_ >= 0 && scores_ <= 2, ErrorCode::kInvalidGraph, "qk_output is ", scores_, "; it must be 0, 1 or 2");
  require(softcap_ >= 0, ErrorCode::kInvalidGraph, "softcap is ", softcap_, "; it must not be negative");
  require(causal_ || window_ == -1, ErrorCode::kInvalidGraph, "local_window_size is ", window_,
          "; it must be -1 where causal is 0");
}

/** The row of the rotary caches for each query. */
const int64_t* GroupQueryAttention::positions(KernelContext& context, const GroupedLengths& lengths, int64_t sequence,
                                              bool first) const {
  auto result = context.scratch<int64_t>(static_cast<int64_t>(lengths.past.size()) * sequence);
  const Tensor* given = context.input_if(kPositions);
  if (given) {
    require(given->element_count() == static_cast<int64_t>(result.size()), ErrorCode::kInvalidArgument,
            "position_ids has shape ", given->shape(), "; it needs [", lengths.past.size(), ",", sequence, "]");
  }
  for (size_t n = 0; n < result.size(); ++n) {
    int64_t i = static_cast<int64_t>(n) % sequence;
    result[n] = lengths.past[n / sequence] + i;
    // The first run of a sequence takes its start alone from position_ids.
    if (given) result[n] = first ? checked_add(*given->data<int64_t>(), i) : given->data<int64_t>()[n];
  }
  return result.data();
}

HeadRows GroupQueryAttention::normalised(KernelContext& context, const AttentionPlan& p, const HeadRows& rows,
                                         int64_t heads, const Tensor& weight) const {
  require(weight.shape() == Shape{p.head}, ErrorCode::kInvalidArgument, "a weight of normalisation has shape ",
          weight.shape(), "; it needs [", p.head, "]");
  int64_t count = p.batch * p.queries * heads;
  auto values = context.scratch<float>(checked_mul(count, p.head));
  for (int64_t n = 0; n < count; ++n) {
    int64_t h = n % heads, i = n / heads % p.queries, b = n / (heads * p.queries);
    int64_t at = (b * rows.batch + i * rows.row + h * rows.head) * (bits_of(rows.type) / 8);
    convert_floats(nullptr, static_cast<const char*>(rows.data) + at, rows.type, values.data() + n * p.head,
                   ElementType::kFloat, p.head);
  }
  kernels::LayerNorm norm;
  norm.rows = count, norm.columns = p.head, norm.x = norm.y = values.data(), norm.rms = true;
  norm.y = values.data(), norm.scale = read_as<float>(context, weight), norm.epsilon = epsilon_;
  kernels::layer_norm(&context.threads(), norm);
  if (rows.type == ElementType::kFloat) return rows_by_position(values.data(), rows.type, heads, p.queries, p.head);
  char* narrow = context.scratch<char>(checked_mul<int64_t>(count * p.head, bits_of(rows.type) / 8)).data();
  convert_floats(&context.threads(), values.data(), ElementType::kFloat, narrow, rows.type, count * p.head);
  return rows_by_position(narrow, rows.type, heads, p.queries, p.head);
}

void GroupQueryAttention::normalise(KernelContext& context, AttentionPlan& p) const {
  const Tensor *query = context.input_if(kQueryNorm), *key = context.input_if(kQueryNorm + 1);
  require(!query == !key, ErrorCode::kInvalidArgument, "q_norm_weight and k_norm_weight must be given together");
  if (!query) return;
  p.q = normalised(context, p, p.q, p.heads, *query);
  p.k = normalised(context, p, p.k, p.kv_heads, *key);
}

void GroupQueryAttention::use_sinks(KernelContext& context, AttentionPlan& p) const {
  p.zero_sink = zero_sink_;
  const Tensor* sinks = context.input_if(kSink);
  if (!sinks) return;
  require(sinks->shape() == Shape{p.heads}, ErrorCode::kInvalidArgument, "head_sink has shape ", sinks->shape(),
          "; it needs [", p.heads, "]");
  p.sinks = read_as<float>(context, *sinks);
}

void GroupQueryAttention::compute(KernelContext& context) const {
  AttentionPlan p = grouped_plan(context, attributes_);
  const Tensor* past = context.input_if(kPastKey);
  int64_t room = past ? past->shape()[2] : 0, total = int32_scalar(context.input(kTotal), "total_sequence_length");
  require(total >= p.queries && total <= room + p.queries, ErrorCode::kInvalidArgument, "total_sequence_length is ",
          total, "; with ", p.queries, " new rows and a past of ", room, " it must be ", p.queries, " to ",
          room + p.queries);
  bool first = total == p.queries;
  int64_t capacity = std::max(total, room);
  GroupedLengths lengths = grouped_lengths(context, context.input(kLengths), 1, p.queries, total, first, "seqlens_k");
  normalise(context, p);
  if (attributes_.rotary) {
    turn(context, p, attributes_, context.input_if(kCosines), context.input_if(kSines),
         positions(context, lengths, p.queries, first));
  }
  join_grouped_cache(context, p, lengths, capacity);
  p.keys = total;
  p.positions = lengths.past.data(), p.lengths = lengths.total.data();
  p.softcap = softcap_;
  if (causal_) p.right = 0;
  if (window_ > 0) p.left = window_ - 1;
  use_sinks(context, p);
  if (const Tensor* bias = context.input_if(kBias)) p.biases[0] = added_bias(context, *bias, p);
  if (scores_ != 0 && context.has_output(3)) {
    Tensor& scores = context.output(3);
    p.scores = scores.mutable_raw(), p.scores_type = scores.type();
    p.unseen = 0;
    p.taken = scores_ == 1 ? ScoresTaken::kBiased : ScoresTaken::kProbabilities;
  }
  Tensor& y = context.output(0);
  p.out = rows_by_position(y.raw(), y.type(), p.heads, p.queries, p.head);
  attend(context, p);
}

constexpr KernelRow kRows[] = {
    {"com.microsoft", "GroupQueryAttention", 1, kLatest, make_kernel<GroupQueryAttention>, {{0, kFloatTypes}}}};

}  // namespace

extern const KernelTable group_query_attention_rows;
constinit const KernelTable group_query_attention_rows(kRows);

}  // namespace ortolan::cpu::microsoft
