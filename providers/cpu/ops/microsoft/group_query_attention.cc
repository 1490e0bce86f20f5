// com.microsoft.GroupQueryAttention over the shared core.
#include <algorithm>
#include <cmath>

#include "cpu/attention/attention_inputs.h"
#include "cpu/attention/grouped_attention.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

enum Input : size_t {
  kPastKey = 3,
  kLengths = 5,
  kTotal,
  kCosines,
  kSines,
  kPositions,
  kBias,
  kSink,
  kKeyScale,
  kQueryNorm = 14
};

enum class Granularity { kNone, kPerTensor, kPerChannel };

Granularity granularity(const Node& node, const char* attribute) {
  std::string_view name = node.string_or(attribute, "NONE");
  if (name == "NONE") return Granularity::kNone;
  if (name == "PER_TENSOR") return Granularity::kPerTensor;
  require(name == "PER_CHANNEL", ErrorCode::kInvalidGraph, attribute, " is '", name,
          "'; it must be NONE, PER_TENSOR or PER_CHANNEL");
  return Granularity::kPerChannel;
}

/** How many rows a cache of `capacity` rows holds of a sequence of `length`. It begins anew with the last `window` of
    them when another one would not fit, so that rows move once in capacity - window + 1 steps. */
int64_t rows_kept(int64_t length, int64_t capacity, int64_t window) {
  return length <= capacity ? length : window + (length - capacity - 1) % (capacity - window + 1);
}

class GroupQueryAttention final : public OpKernel {
 public:
  explicit GroupQueryAttention(const KernelInfo& info);
  void compute(KernelContext& context) const override;

 private:
  const int64_t* positions(KernelContext& context, const GroupedLengths& lengths, int64_t sequence, bool first) const;
  void normalise(KernelContext& context, AttentionPlan& plan) const;
  HeadRows normalised(KernelContext& context, const AttentionPlan& plan, const HeadRows& rows, int64_t heads,
                      const Tensor& weight) const;
  int64_t checked_total(const KernelContext& context, const AttentionPlan& plan, int64_t room) const;
  void join(KernelContext& context, AttentionPlan& plan, const GroupedLengths& lengths, int64_t total) const;
  GroupedLengths slide(KernelContext& context, const AttentionPlan& plan, const GroupedLengths& lengths, int64_t room,
                       GroupedCache& cache) const;
  RowCodes codes(KernelContext& context, const AttentionPlan& plan, bool values) const;
  void use_sinks(KernelContext& context, AttentionPlan& plan) const;
  void take_scores(KernelContext& context, AttentionPlan& plan) const;

  GroupedAttributes attributes_;
  bool causal_, zero_sink_, slides_;
  int64_t window_, scores_, bits_;
  Granularity granularity_[2];  // of keys and values
  float softcap_, epsilon_;
};

GroupQueryAttention::GroupQueryAttention(const KernelInfo& info)
    : attributes_(info.node()),
      causal_(info.node().int_or("causal", 1) != 0),
      zero_sink_(info.node().int_or("smooth_softmax", 0) == 1),
      slides_(info.node().int_or("sliding_window_cache", 0) != 0),
      window_(info.node().int_or("local_window_size", -1)),
      scores_(info.node().int_or("qk_output", 0)),
      bits_(info.node().int_or("kv_cache_bit_width", 0)),
      granularity_{granularity(info.node(), "k_quant_type"), granularity(info.node(), "v_quant_type")},
      softcap_(info.node().float_or("softcap", 0)),
      epsilon_(info.node().float_or("qk_norm_epsilon", 1e-6f)) {
  bool quantised = granularity_[0] != Granularity::kNone;
  require(quantised == (granularity_[1] != Granularity::kNone), ErrorCode::kInvalidGraph,
          "k_quant_type and v_quant_type must both be NONE or neither");
  require(quantised ? bits_ == 8 || bits_ == 4 : bits_ == 0, ErrorCode::kInvalidGraph, "kv_cache_bit_width is ", bits_,
          "; it must be ", quantised ? "8 or 4 where k_quant_type is not NONE" : "0 where k_quant_type is NONE");
  require(!slides_ || window_ > 0, ErrorCode::kInvalidGraph, "local_window_size is ", window_,
          "; it must be positive where sliding_window_cache is 1");
  require(!slides_ || scores_ == 0, ErrorCode::kNotImplemented, "qk_output is ", scores_,
          "; scores cannot be given with sliding_window_cache, which drops keys: set it to 0");
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
  if (p.keys > 0) p.k = normalised(context, p, p.k, p.kv_heads, *key);
}

void GroupQueryAttention::use_sinks(KernelContext& context, AttentionPlan& p) const {
  p.zero_sink = zero_sink_;
  const Tensor* sinks = context.input_if(kSink);
  if (!sinks) return;
  require(sinks->shape() == Shape{p.heads}, ErrorCode::kInvalidArgument, "head_sink has shape ", sinks->shape(),
          "; it needs [", p.heads, "]");
  p.sinks = read_as<float>(context, *sinks);
}

/** How the cache holds keys or values. */
RowCodes GroupQueryAttention::codes(KernelContext& context, const AttentionPlan& p, bool values) const {
  const Granularity how = granularity_[values];
  if (how == Granularity::kNone) return {};
  RowCodes codes{static_cast<int>(bits_), p.kv_heads, p.head};
  codes.per_channel = how == Granularity::kPerChannel;
  const Tensor* scale = context.input_if(kKeyScale + values);
  const char* name = values ? "v_scale" : "k_scale";
  int64_t wanted = codes.per_channel ? p.kv_heads * p.head : 1;
  require(scale && scale->type() == ElementType::kFloat && scale->element_count() == wanted,
          ErrorCode::kInvalidArgument, name, " holds ", scale ? scale->element_count() : 0, " values; it needs ",
          wanted, " floats for ", p.kv_heads, " heads of ", p.head, " elements");
  require(context.has_input(kPastKey), ErrorCode::kInvalidArgument,
          "past_key and past_value are left out; quantised caches need them, if only with 0 rows");
  require(bits_ == 8 || p.head % 2 == 0, ErrorCode::kInvalidArgument, "heads have ", p.head,
          " elements; codes of 4 bits need an even number");
  codes.scales = scale->data<float>();
  return codes;
}

int64_t GroupQueryAttention::checked_total(const KernelContext& context, const AttentionPlan& p, int64_t room) const {
  int64_t total = int32_scalar(context.input(kTotal), "total_sequence_length");
  int64_t most = slides_ ? INT32_MAX : room + p.keys;
  require(total >= p.queries && total <= most, ErrorCode::kInvalidArgument, "total_sequence_length is ", total,
          "; with ", p.queries, " new rows and a past of ", room, " it must be ", p.queries, " to ", most);
  return total;
}

/** Lengths as a sliding cache of `room` rows counts them, and what it keeps of the joined rows. */
GroupedLengths GroupQueryAttention::slide(KernelContext& context, const AttentionPlan& p, const GroupedLengths& lengths,
                                          int64_t room, GroupedCache& cache) const {
  require(p.keys == p.queries, ErrorCode::kInvalidArgument,
          "key and value have no rows; sliding_window_cache needs those of the query");
  require(room >= window_, ErrorCode::kInvalidArgument, "past_key has ", room,
          " rows; sliding_window_cache needs those of local_window_size, ", window_);
  require(!context.has_input(kBias), ErrorCode::kNotImplemented,
          "attention_bias cannot be used with sliding_window_cache, which drops keys");
  auto kept = context.scratch<int64_t>(p.batch);
  GroupedLengths result{context.scratch<int64_t>(p.batch), context.scratch<int64_t>(p.batch)};
  cache.keys = 0;
  for (int64_t b = 0; b < p.batch; ++b) {
    result.past[b] = rows_kept(lengths.past[b], room, window_);
    result.total[b] = result.past[b] + lengths.total[b] - lengths.past[b];
    kept[b] = rows_kept(lengths.total[b], room, window_);
    cache.keys = std::max(cache.keys, result.past[b] + p.queries);
  }
  if (cache.keys > room) cache.kept = kept;
  return result;
}

/** Joins past and new rows, which the plan then reads. */
void GroupQueryAttention::join(KernelContext& context, AttentionPlan& p, const GroupedLengths& lengths,
                               int64_t total) const {
  const Tensor* past = context.input_if(kPastKey);
  const int64_t room = past ? past->shape()[2] : 0;
  GroupedCache cache;
  cache.capacity = slides_ ? room : std::max(total, room), cache.keys = total;
  for (bool values : {false, true}) cache.codes[values] = codes(context, p, values);
  GroupedLengths held = slides_ ? slide(context, p, lengths, room, cache) : lengths;
  p.positions = held.past.data(), p.lengths = held.total.data();
  if (p.keys < p.queries) held.past = held.total;  // nothing is new
  join_grouped_cache(context, p, held, cache);
}

void GroupQueryAttention::take_scores(KernelContext& context, AttentionPlan& p) const {
  if (scores_ == 0 || !context.has_output(3)) return;
  Tensor& scores = context.output(3);
  p.scores = scores.mutable_raw(), p.scores_type = scores.type();
  p.unseen = 0;
  p.taken = scores_ == 1 ? ScoresTaken::kBiased : ScoresTaken::kProbabilities;
}

void GroupQueryAttention::compute(KernelContext& context) const {
  AttentionPlan p = grouped_plan(context, attributes_);
  const Tensor* past = context.input_if(kPastKey);
  int64_t total = checked_total(context, p, past ? past->shape()[2] : 0);
  bool first = total == p.queries && p.keys == p.queries;
  GroupedLengths lengths = grouped_lengths(context, context.input(kLengths), 1, p.queries, total, first, "seqlens_k");
  normalise(context, p);
  if (attributes_.rotary) {
    turn(context, p, attributes_, context.input_if(kCosines), context.input_if(kSines),
         positions(context, lengths, p.queries, first));
  }
  join(context, p, lengths, total);
  p.softcap = softcap_;
  if (causal_) p.right = 0;
  if (window_ > 0) p.left = window_ - 1;
  use_sinks(context, p);
  if (const Tensor* bias = context.input_if(kBias)) p.biases[0] = added_bias(context, *bias, p);
  take_scores(context, p);
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
