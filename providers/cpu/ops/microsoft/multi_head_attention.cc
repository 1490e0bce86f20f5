// MultiHeadAttention and DecoderMaskedMultiHeadAttention of com.microsoft: one kernel over the shared core.
#include <cmath>
#include <limits>

#include "base/threads/thread_pool.h"
#include "cpu/attention/attention_inputs.h"
#include "cpu/attention/kv_cache.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** Where each operator has its inputs. */
struct InputOrder {
  size_t bias, mask, attention_bias, past, past_length, beams, indirection;
};
constexpr size_t kNoInput = SIZE_MAX;
constexpr InputOrder kMultiHead{3, 4, 5, 6, 8, kNoInput, 9};
constexpr InputOrder kDecoder{10, 3, 4, 5, 7, 8, 9};

class HeadsAttention : public OpKernel {
 public:
  HeadsAttention(const KernelInfo& info, const InputOrder& order, bool share);
  void compute(KernelContext& context) const override;

 private:
  AttentionPlan sizes(const KernelContext& context) const;
  void take_packed(const Tensor& query, AttentionPlan& plan) const;
  void take_packed_key(const Tensor& key, const Tensor* value, AttentionPlan& plan) const;
  void take_key_and_value(const Tensor& key, const Tensor& value, AttentionPlan& plan) const;
  void add_projection_bias(KernelContext& context, AttentionPlan& plan) const;
  int64_t past_length(const KernelContext& context, const AttentionPlan& plan) const;
  void use_cache(KernelContext& context, AttentionPlan& plan) const;
  HeadRows join(KernelContext& context, const AttentionPlan& plan, int64_t past, bool values) const;
  HeadRows select_beams(KernelContext& context, const AttentionPlan& plan, const HeadRows& rows, int64_t size) const;

  const InputOrder order_;
  int64_t heads_;
  bool causal_, share_, decoder_;
  float filter_, scale_;
};

HeadsAttention::HeadsAttention(const KernelInfo& info, const InputOrder& order, bool share)
    : order_(order),
      heads_(info.node().int_of("num_heads")),
      causal_(info.node().int_or("unidirectional", 0) != 0),
      share_(share),
      decoder_(order.beams != kNoInput),
      filter_(info.node().float_or("mask_filter_value", -10000.0f)),
      scale_(info.node().float_or("scale", 0)) {}

class MultiHeadAttention final : public HeadsAttention {
 public:
  explicit MultiHeadAttention(const KernelInfo& info) : HeadsAttention(info, kMultiHead, info.has_input(8)) {}
};

class DecoderMaskedAttention final : public HeadsAttention {
 public:
  explicit DecoderMaskedAttention(const KernelInfo& info)
      : HeadsAttention(info, kDecoder, info.node().int_or("past_present_share_buffer", 0) != 0) {}
};

/** One of the tensors that lie in the rows of `from`, [batch, rows, …], from element `index` of a row on. */
HeadRows part_of(const Tensor& from, int64_t head, int64_t index) {
  char* data = static_cast<char*>(const_cast<void*>(from.raw())) + index * bits_of(from.type()) / 8;
  int64_t row = from.shape().count_from(2);
  return {data, from.type(), from.shape()[1] * row, head, row};
}

/** Queries, keys and values in the rows of one tensor. */
void HeadsAttention::take_packed(const Tensor& query, AttentionPlan& p) const {
  const Shape& q = query.shape();
  require(q.rank() == 5 ? q[2] == heads_ && q[3] == 3 : q[2] % (3 * heads_) == 0, ErrorCode::kInvalidArgument,
          "the query has shape ", q, "; packed with key and value it needs [batch,sequence,", heads_, ",3,size]");
  p.head = p.value_head = q.rank() == 5 ? q[4] : q[2] / (3 * heads_);
  int64_t stride = q.rank() == 5 ? 3 * p.head : p.head, step = q.rank() == 5 ? p.head : heads_ * p.head;
  p.q = part_of(query, stride, 0), p.k = part_of(query, stride, step), p.v = part_of(query, stride, 2 * step);
}

/** Keys and values in the rows of one tensor. */
void HeadsAttention::take_packed_key(const Tensor& key, const Tensor* value, AttentionPlan& p) const {
  const Shape& k = key.shape();
  require((k == Shape{p.batch, p.keys, heads_, 2, p.head}) && !value, ErrorCode::kInvalidArgument, "the key has shape ",
          k, "; packed with the value it needs [", p.batch, ",sequence,", heads_, ",2,", p.head, "] and no value");
  p.value_head = p.head;
  p.k = part_of(key, 2 * p.head, 0), p.v = part_of(key, 2 * p.head, p.head);
}

void HeadsAttention::take_key_and_value(const Tensor& key, const Tensor& value, AttentionPlan& p) const {
  const Shape &k = key.shape(), &v = value.shape();
  bool by_head = k.rank() == 4;
  p.value_head = by_head ? v[3] : v[2] / heads_;
  bool fits = by_head ? (k == Shape{p.batch, heads_, p.keys, p.head}) && (v == Shape{p.batch, heads_, p.keys, v[3]})
                      : (k == Shape{p.batch, p.keys, heads_ * p.head}) && (v == Shape{p.batch, p.keys, v[2]}) &&
                            v[2] % heads_ == 0;
  require(fits, ErrorCode::kInvalidArgument, "key and value of shapes ", k, " and ", v, " do not fit a query of batch ",
          p.batch, " with ", heads_, " heads of ", p.head);
  if (by_head) {
    p.k = rows_by_head(key.raw(), key.type(), heads_, p.keys, p.head);
    p.v = rows_by_head(value.raw(), key.type(), heads_, p.keys, p.value_head);
  } else {
    p.k = part_of(key, p.head, 0), p.v = part_of(value, p.value_head, 0);
  }
}

/** Sizes, and where queries, keys and values lie. */
AttentionPlan HeadsAttention::sizes(const KernelContext& context) const {
  const Tensor &query = context.input(0), *key = context.input_if(1), *value = context.input_if(2);
  const Shape& q = query.shape();
  AttentionPlan p;
  p.batch = q[0], p.queries = p.keys = q[1], p.heads = p.kv_heads = heads_;
  if (!key) {
    require(!value, ErrorCode::kInvalidArgument, "a value is given without a key");
    take_packed(query, p);
    return p;
  }
  require(q.rank() == 3 && q[2] % heads_ == 0, ErrorCode::kInvalidArgument, "the query has shape ", q,
          "; it needs [batch,sequence,size] with ", heads_, " heads in a row");
  p.head = q[2] / heads_;
  p.q = part_of(query, p.head, 0);
  size_t rank = key->rank();
  p.keys = key->shape()[rank == 4 ? 2 : 1];
  if (rank == 5) {
    take_packed_key(*key, value, p);
    return p;
  }
  require(value && value->rank() == rank && key->type() == query.type() && value->type() == query.type(),
          ErrorCode::kInvalidArgument, "the key of shape ", key->shape(), " needs a value of its rank and type");
  take_key_and_value(*key, *value, p);
  return p;
}

void HeadsAttention::add_projection_bias(KernelContext& context, AttentionPlan& p) const {
  const Tensor* bias = context.input_if(order_.bias);
  if (!bias) return;
  int64_t size = heads_ * p.head;
  bool by_head = context.input_if(1) && context.input(1).rank() == 4;
  int64_t wanted = 2 * size + heads_ * p.value_head;
  // Keys and values that another run projected have their bias; decoders still give one for the query.
  bool fits = bias->rank() == 1 && (bias->shape()[0] == wanted || (by_head && bias->shape()[0] >= size));
  require(fits, ErrorCode::kInvalidArgument, "the bias has shape ", bias->shape(), "; it needs [", wanted, "]");
  p.q = with_bias(context, p.q, p.batch, p.queries, heads_, p.head, *bias, 0);
  if (by_head) return;
  p.k = with_bias(context, p.k, p.batch, p.keys, heads_, p.head, *bias, size);
  p.v = with_bias(context, p.v, p.batch, p.keys, heads_, p.value_head, *bias, 2 * size);
}

/** The rows of the past that count. Bounds come from its shape. */
int64_t HeadsAttention::past_length(const KernelContext& context, const AttentionPlan& p) const {
  const Tensor *keys = context.input_if(order_.past), *values = context.input_if(order_.past + 1);
  require(!keys == !values, ErrorCode::kInvalidArgument, "past_key and past_value must be given together");
  if (!keys) return 0;
  const Shape &k = keys->shape(), &v = values->shape();
  bool fits = (k == Shape{p.batch, heads_, k[2], p.head}) && (v == Shape{p.batch, heads_, k[2], p.value_head}) &&
              keys->type() == p.k.type && values->type() == p.k.type;
  require(fits, ErrorCode::kInvalidArgument, "past_key and past_value have shapes ", k, " and ", v, "; they need [",
          p.batch, ",", heads_, ",past,", p.head, "] and [", p.batch, ",", heads_, ",past,", p.value_head, "]");
  if (!share_) return k[2];
  int64_t length = int32_scalar(context.input(order_.past_length), "past_sequence_length");
  require(length >= 0 && length <= k[2] - p.keys, ErrorCode::kInvalidArgument, "past_sequence_length is ", length,
          ", and ", p.keys, " rows are new, but past_key has room for ", k[2], " rows");
  return length;
}

HeadRows HeadsAttention::join(KernelContext& context, const AttentionPlan& p, int64_t past, bool values) const {
  const Tensor* before = context.input_if(order_.past + values);
  CacheJoin join{p.batch, heads_, values ? p.value_head : p.head};
  join.fresh = values ? p.v : p.k;
  join.fresh_rows = p.keys;
  join.past_rows = past;
  if (before) join.past = before->raw(), join.past_capacity = before->shape()[2];
  join.capacity = before && share_ ? join.past_capacity : checked_add(past, p.keys);
  join.keep_rest = before && share_;
  size_t output = values ? 2 : 1;
  if (context.has_output(output)) {
    join.present = context.output(output).mutable_raw();
  } else if (before) {
    int64_t count = checked_mul(checked_mul(checked_mul(p.batch, heads_), join.capacity), join.size);
    join.present = context.scratch<char>(count * (bits_of(join.fresh.type) / 8)).data();
  } else {
    return join.fresh;
  }
  join_cache(context.threads(), join);
  return rows_by_head(join.present, join.fresh.type, heads_, join.capacity, join.size);
}

/** The rows that each beam's history names: row j < first_position of an entry comes from the cache of beam
    indirection[entry][beam][j]. */
HeadRows HeadsAttention::select_beams(KernelContext& context, const AttentionPlan& p, const HeadRows& rows,
                                      int64_t size) const {
  const Tensor& given = context.input(order_.indirection);
  const Shape& shape = given.shape();
  bool fits = shape.rank() == 3 && shape[1] > 0 && shape[0] * shape[1] == p.batch && shape[2] >= p.first_position;
  require(fits, ErrorCode::kInvalidArgument, "cache_indirection has shape ", shape,
          "; it needs [batch,beams,length] with ", p.batch, " beams in all and a length of at least ",
          p.first_position);
  const int32_t* beams = given.data<int32_t>();
  int64_t element = bits_of(rows.type) / 8;
  char* selected =
      context.scratch<char>(checked_mul(checked_mul(checked_mul(p.batch, heads_), p.keys), size * element)).data();
  for (int64_t n = 0; n < p.batch * heads_ * p.keys; ++n) {
    int64_t j = n % p.keys, h = n / p.keys % heads_, b = n / (p.keys * heads_), from = b;
    if (j < p.first_position) {
      int64_t beam = beams[b * shape[2] + j];
      require(beam >= 0 && beam < shape[1], ErrorCode::kInvalidArgument, "cache_indirection names beam ", beam, " of ",
              shape[1]);
      from = b / shape[1] * shape[1] + beam;
    }
    const char* row =
        static_cast<const char*>(rows.data) + (from * rows.batch + h * rows.head + j * rows.row) * element;
    std::copy_n(row, size * element, selected + n * size * element);
  }
  return rows_by_head(selected, rows.type, heads_, p.keys, size);
}

void HeadsAttention::use_cache(KernelContext& context, AttentionPlan& p) const {
  int64_t past = past_length(context, p);
  p.k = join(context, p, past, false);
  p.v = join(context, p, past, true);
  p.first_position = past;
  p.keys += past;
  if (!context.input_if(order_.indirection) || past == 0) return;
  p.k = select_beams(context, p, p.k, p.head);
  p.v = select_beams(context, p, p.v, p.value_head);
}

void HeadsAttention::compute(KernelContext& context) const {
  AttentionPlan p = sizes(context);
  require(!decoder_ || p.queries == 1, ErrorCode::kInvalidArgument, "the query has ", p.queries,
          " rows; this operator takes one");
  add_projection_bias(context, p);
  use_cache(context, p);
  p.scale = scale_ != 0 ? scale_ : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(p.head, 1)));
  p.in_double = p.q.type == ElementType::kDouble;
  if (causal_) p.right = 0;
  if (const Tensor* mask = context.input_if(order_.mask)) p.biases[0] = filter_bias(context, *mask, p, filter_);
  if (const Tensor* bias = context.input_if(order_.attention_bias)) p.biases[1] = added_bias(context, *bias, p);
  if (context.has_output(3)) {
    Tensor& scores = context.output(3);
    p.scores = scores.mutable_raw(), p.scores_type = scores.type(), p.taken = ScoresTaken::kBiased;
    p.unseen = std::numeric_limits<float>::lowest();
  }
  Tensor& y = context.output(0);
  p.out = rows_by_position(y.raw(), y.type(), heads_, p.queries, p.value_head);
  attend(context, p);
}

constexpr KernelRow kRows[] = {
    {"com.microsoft", "MultiHeadAttention", 1, kLatest, make_kernel<MultiHeadAttention>, {{0, kFloatTypes}}},
    {"com.microsoft",
     "DecoderMaskedMultiHeadAttention",
     1,
     kLatest,
     make_kernel<DecoderMaskedAttention>,
     {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable multi_head_attention_rows;
constinit const KernelTable multi_head_attention_rows(kRows);

}  // namespace ortolan::cpu::microsoft
