// ai.onnx.preview.FlexAttention: the shared core where nothing changes the scores, else whole score matrices that pass
// through the node's subgraphs.
#include <cmath>
#include <limits>

#include "base/threads/thread_pool.h"
#include "cpu/attention/attention_core.h"
#include "cpu/attention/attention_math.h"
#include "cpu/elements/float_tensors.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class FlexAttention final : public OpKernel {
 public:
  explicit FlexAttention(const KernelInfo& info);
  void compute(KernelContext& context) const override;

 private:
  AttentionPlan plan(KernelContext& context) const;
  template <class C>
  void compute_whole(KernelContext& context, const AttentionPlan& plan) const;
  template <class C>
  Tensor modified(KernelContext& context, const SubgraphRunner* modifier, Tensor scores) const;

  const SubgraphRunner *score_modifier_ = nullptr, *probability_modifier_ = nullptr;
  double scale_;
  ElementType precision_ = ElementType::kFloat;
};

const SubgraphRunner* modifier(const KernelInfo& info, const char* attribute) {
  if (!info.node().has_attribute(attribute)) return nullptr;
  const SubgraphRunner& runner = info.subgraph(attribute);
  require(runner.input_count() == 1 && runner.output_count() == 1, ErrorCode::kInvalidGraph, attribute, " takes ",
          runner.input_count(), " inputs and gives ", runner.output_count(), " outputs; it must have one of each");
  return &runner;
}

FlexAttention::FlexAttention(const KernelInfo& info)
    : score_modifier_(modifier(info, "score_mod")),
      probability_modifier_(modifier(info, "prob_mod")),
      scale_(info.node().has_attribute("scale") ? info.node().float_of("scale") : NAN) {
  if (info.input_type(0).element == ElementType::kDouble) precision_ = ElementType::kDouble;
  precision_ = static_cast<ElementType>(info.node().int_or("softmax_precision", static_cast<int64_t>(precision_)));
}

AttentionPlan FlexAttention::plan(KernelContext& context) const {
  const Shape &q = context.input(0).shape(), &k = context.input(1).shape(), &v = context.input(2).shape();
  bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && k[0] == q[0] && v[0] == q[0] && k[1] == v[1] &&
              k[2] == v[2] && k[3] == q[3] && k[1] > 0 && q[1] % k[1] == 0;
  require(fits, ErrorCode::kInvalidArgument, "Q, K and V of shapes ", q, ", ", k, " and ", v,
          " do not fit together; they need [batch,heads,sequence,size], Q a multiple of K's heads");
  AttentionPlan p;
  p.batch = q[0], p.heads = q[1], p.queries = q[2], p.head = q[3];
  p.kv_heads = k[1], p.keys = k[2], p.value_head = v[3];
  ElementType type = context.input(0).type();
  p.q = rows_by_head(context.input(0).raw(), type, p.heads, p.queries, p.head);
  p.k = rows_by_head(context.input(1).raw(), type, p.kv_heads, p.keys, p.head);
  p.v = rows_by_head(context.input(2).raw(), type, p.kv_heads, p.keys, p.value_head);
  p.out = rows_by_head(context.output(0).raw(), type, p.heads, p.queries, p.value_head);
  p.scale = std::isnan(scale_) ? 1 / std::sqrt(static_cast<double>(std::max<int64_t>(p.head, 1))) : scale_;
  p.in_double = type == ElementType::kDouble || precision_ == ElementType::kDouble;
  return p;
}

void FlexAttention::compute(KernelContext& context) const {
  AttentionPlan p = plan(context);
  if (!score_modifier_ && !probability_modifier_) return attend(context, p);
  if (context.output(0).element_count() == 0) return;
  p.in_double ? compute_whole<double>(context, p) : compute_whole<float>(context, p);
}

Tensor converted(KernelContext& context, const Tensor& from, ElementType type) {
  if (from.type() == type) return from;
  Tensor to(type, from.shape(), context.services().allocator);
  convert_floats(&context.threads(), from.raw(), from.type(), to.mutable_raw(), type, from.element_count());
  return to;
}

/** What the modifier makes of `scores`, which hold C. */
template <class C>
Tensor FlexAttention::modified(KernelContext& context, const SubgraphRunner* modifier, Tensor scores) const {
  if (!modifier) return scores;
  Shape wanted = scores.shape();
  Value given(converted(context, scores, precision_));
  std::vector<Value> results = modifier->run(context, std::span(&given, 1));
  const Tensor* result = results.at(0).tensor_if();
  require(result && result->shape() == wanted && result->type() == precision_, ErrorCode::kInvalidArgument,
          "a modifier of scores gives ", result ? name_of(result->type()) : "no tensor", " of shape ",
          result ? result->shape() : Shape(), "; it must give ", name_of(precision_), " of shape ", wanted);
  // The result may be memory that the subgraph shares with others, and what follows writes.
  return result->type() == kTypeOf<C> ? clone(*result, context.services().allocator)
                                      : converted(context, *result, kTypeOf<C>);
}

template <class C>
class WholeHeads {
 public:
  explicit WholeHeads(const AttentionPlan& plan) : p_(plan) {}

  void scores(int64_t index, C* to) const {
    std::vector<C> q = rows(p_.q, index, p_.queries, p_.head), k = rows(p_.k, kv(index), p_.keys, p_.head);
    attention_math::products(p_.queries, p_.keys, p_.head, C(p_.scale), q.data(), p_.head, k.data(), p_.head, to);
  }
  void softmax(C* row) const {
    if (p_.keys == 0) return;
    C maximum = -std::numeric_limits<C>::infinity(), total = attention_math::weigh(row, p_.keys, &maximum);
    attention_math::scale(row, total == 0 ? C(0) : 1 / total, p_.keys);
  }
  void results(int64_t index, const C* probabilities) const {
    std::vector<C> v = rows(p_.v, kv(index), p_.keys, p_.value_head), sums(p_.queries * p_.value_head);
    attention_math::add_weighted(p_.queries, p_.value_head, p_.keys, probabilities, v.data(), p_.value_head, false,
                                 sums.data());
    int64_t at = index * p_.queries * p_.value_head * bits_of(p_.out.type) / 8;
    attention_math::save(sums.data(), static_cast<int64_t>(sums.size()), p_.out.type,
                         static_cast<char*>(p_.out.data) + at);
  }

 private:
  int64_t kv(int64_t index) const {
    return index / p_.heads * p_.kv_heads + index % p_.heads / (p_.heads / p_.kv_heads);
  }
  std::vector<C> rows(const HeadRows& from, int64_t index, int64_t count, int64_t size) const {
    std::vector<C> result(count * size);
    attention_math::load(static_cast<char*>(from.data) + index * count * size * bits_of(from.type) / 8, from.type,
                         count * size, result.data());
    return result;
  }
  const AttentionPlan& p_;
};

template <class C>
void FlexAttention::compute_whole(KernelContext& context, const AttentionPlan& p) const {
  Shape shape{p.batch, p.heads, p.queries, p.keys};
  int64_t heads = p.batch * p.heads, matrix = p.queries * p.keys;
  require(bytes_for(kTypeOf<C>, shape.element_count()) <= static_cast<size_t>(context.services().max_tensor_bytes),
          ErrorCode::kInvalidArgument, "scores of shape ", shape, " are larger than a tensor may be here");
  Tensor whole(kTypeOf<C>, shape, context.services().allocator);
  WholeHeads<C> steps(p);
  auto for_heads = [&](auto&& step) {
    context.threads().parallel_for(heads, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) step(i, whole.mutable_data<C>() + i * matrix);
    });
  };
  for_heads([&](int64_t i, C* scores) { steps.scores(i, scores); });
  whole = modified<C>(context, score_modifier_, std::move(whole));
  for_heads([&](int64_t, C* scores) {
    for (int64_t row = 0; row < p.queries; ++row) steps.softmax(scores + row * p.keys);
  });
  whole = modified<C>(context, probability_modifier_, std::move(whole));
  for_heads([&](int64_t i, C* scores) { steps.results(i, scores); });
}

constexpr KernelRow kRows[] = {
    {"ai.onnx.preview", "FlexAttention", 1, kLatest, make_kernel<FlexAttention>, {{0, kFloatTypes}}}};

}  // namespace

extern const KernelTable flex_attention_rows;
constinit const KernelTable flex_attention_rows(kRows);

}  // namespace ortolan::cpu::onnx
