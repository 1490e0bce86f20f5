// Attention that a model spells out: by the kernels of attention where they serve its shapes better than products and a
// Softmax do, else node by node.
#include <algorithm>
#include <array>

#include "gpu/core/attention/attention_pattern.h"
#include "gpu/core/attention/attention_plan.h"
#include "gpu/core/elements/moves.h"
#include "gpu/core/graph/fusion.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kFewQueries = 8;  // for more, products that read keys and values once for several are faster

constexpr size_t place(SpelledInput input) { return static_cast<size_t>(input); }
constexpr size_t kQuery = place(SpelledInput::kQuery), kKeys = place(SpelledInput::kKeys);
constexpr size_t kValues = place(SpelledInput::kValues), kBias = place(SpelledInput::kBias);
constexpr size_t kCondition = place(SpelledInput::kCondition), kOther = place(SpelledInput::kOther);
constexpr size_t kFirstFactor = place(SpelledInput::kFirstFactor);

std::string refuse(const Candidate&) { return "this library alone makes such nodes"; }

/** A tensor as one of four axes, the first of 1 where it has fewer, and how it lies; axes of 1 have no distance. */
struct Four {
  std::array<int64_t, 4> sizes = {1, 1, 1, 1}, steps = {0, 0, 0, 0};

  Four(const Shape& shape, const std::vector<int64_t>& strides) {
    for (size_t i = 0; i < shape.size(); i++) {
      sizes[4 - shape.size() + i] = shape[i];
      steps[4 - shape.size() + i] = shape[i] == 1 ? 0 : strides[i];
    }
  }
  /** Whether it broadcasts to a shape. */
  bool spreads_to(const std::array<int64_t, 4>& shape) const {
    for (size_t i = 0; i < 4; i++) {
      if (sizes[i] != 1 && sizes[i] != shape[i]) return false;
    }
    return true;
  }
};

/** An operand whose elements along one axis lie side by side. */
struct Operand {
  Four axes;
  std::optional<Layout> layout;  // nothing: it is to be stored

  HeadRows rows(Lowering& l, size_t input, size_t row) const {
    Memory memory = layout ? layout->memory : l.input(input);
    return {memory, layout ? layout->first : 0, axes.steps[0], axes.steps[row], axes.steps[1]};
  }
};

std::optional<Operand> operand_of(Lowering& l, size_t i, size_t inner) {
  const Shape& shape = l.shape(i);
  if (shape.size() < 2 || shape.size() > 4 || l.count(i) == 0) return {};
  auto lies_together = [&](const Four& axes) { return axes.sizes[inner] == 1 || axes.steps[inner] == 1; };
  if (std::optional<Layout> layout = layout_of(l, i)) {
    if (Four axes(shape, layout->strides); lies_together(axes)) return Operand{axes, std::move(layout)};
  }
  Four axes(shape, strides_of(shape));
  return lies_together(axes) ? std::optional(Operand{axes, {}}) : std::nullopt;
}

/** What multiplies the scores; nothing where it is not known. */
std::optional<float> scale_of(const Lowering& l) {
  std::vector<int64_t> divides = l.node().integers("divides");
  double scale = 1;
  for (size_t i = 0; i < divides.size(); i++) {
    const HostTensor* factor = l.host(kFirstFactor + i);
    if (factor == nullptr || factor->floats().size() != 1) return {};
    double number = factor->floats()[0];
    scale = divides[i] != 0 ? scale / number : scale * number;
  }
  return static_cast<float>(scale);
}

/** Attention in the making. */
class Spelled {
 public:
  explicit Spelled(Lowering& l)
      : l_(l), q_(operand_of(l, kQuery, 3)), k_(operand_of(l, kKeys, 2)), v_(operand_of(l, kValues, 3)) {}

  bool fits() {
    if (!q_ || !k_ || !v_ || !are_alike()) return false;
    const auto &q = q_->axes.sizes, &k = k_->axes.sizes, &v = v_->axes.sizes;
    all_ = {std::max({q[0], k[0], v[0]}), std::max({q[1], k[1], v[1]}), q[2], k[3]};
    bool stacks = Four(q_->axes).spreads_to({all_[0], all_[1], q[2], q[3]}) &&
                  k_->axes.spreads_to({all_[0], all_[1], k[2], k[3]}) &&
                  v_->axes.spreads_to({all_[0], all_[1], v[2], v[3]});
    std::optional<float> scale = scale_of(l_);
    if (!stacks || q[3] != k[2] || k[3] != v[2] || !scale || !bias_fits() || !condition_fits()) return false;
    plan_.batch = all_[0], plan_.heads = plan_.kv_heads = all_[1];
    plan_.queries = q[2], plan_.keys = k[3], plan_.size = q[3], plan_.value_size = v[3];
    plan_.scale = *scale;
    return true;
  }

  bool is_worth_it() const {
    bool is_slow = l_.traits().kind == DeviceClass::kWide && !attends_in_vectors(l_, plan_);
    return plan_.queries <= kFewQueries && !is_slow;
  }

  void lower() {
    plan_.q = q_->rows(l_, kQuery, 2);
    plan_.k = k_->rows(l_, kKeys, 3);
    plan_.v = v_->rows(l_, kValues, 2);
    plan_.empty_is_nan = true;
    use_bias();
    use_condition();
    Shape shape = l_.shape(kQuery);
    Shape whole = {plan_.batch, plan_.heads, plan_.queries, plan_.value_size};
    attend(l_, plan_, l_.output(0, Shape(whole.end() - static_cast<int64_t>(shape.size()), whole.end())), true);
  }

 private:
  bool are_alike() const {
    int64_t rank = static_cast<int64_t>(l_.shape(kQuery).size()), axis = l_.node().integer("axis", -1);
    auto is_like = [&](size_t i) {
      return l_.type(i) == l_.type(kQuery) && static_cast<int64_t>(l_.shape(i).size()) == rank;
    };
    return is_like(kKeys) && is_like(kValues) && (axis == -1 || axis == rank - 1);
  }
  bool is_small(size_t i) const { return l_.shape(i).size() <= l_.shape(kQuery).size(); }
  bool bias_fits() const {
    if (!l_.has(kBias)) return true;
    bool is_like = is_small(kBias) && l_.type(kBias) == l_.type(kQuery);
    return is_like && Four(l_.shape(kBias), strides_of(l_.shape(kBias))).spreads_to(all_);
  }
  bool condition_fits() const {
    if (!l_.has(kCondition)) return true;
    if (!is_small(kCondition) || l_.host(kOther) == nullptr) return false;
    Four condition(l_.shape(kCondition), strides_of(l_.shape(kCondition)));
    return condition.spreads_to(all_) && condition.sizes[3] == all_[3];
  }
  void use_bias() {
    if (!l_.has(kBias)) return;
    take_bias(l_, plan_, kBias);
    plan_.bias_repeats = plan_.bias_columns == 1;
    plan_.bias_columns = plan_.keys;
  }
  void use_condition() {
    if (!l_.has(kCondition)) return;
    Four condition(l_.shape(kCondition), strides_of(l_.shape(kCondition)));
    plan_.mask = l_.node().integer("bias_first", 0) != 0 ? AttentionPlan::kChosenLast : AttentionPlan::kChosenFirst;
    plan_.mask_memory = l_.input(kCondition);
    plan_.mask_batch = condition.steps[0], plan_.mask_head = condition.steps[1], plan_.mask_row = condition.steps[2];
    plan_.stands_where_true = l_.node().integer("stands", 1) != 0;
    plan_.masked = l_.floats(kOther)[0];
  }

  Lowering& l_;
  std::optional<Operand> q_, k_, v_;
  AttentionPlan plan_;
  std::array<int64_t, 4> all_ = {};  // of the scores
};

void lower(Lowering& l) {
  Spelled spelled(l);
  if (!spelled.fits() || !spelled.is_worth_it()) return lower_parts(l);
  spelled.lower();
}

constexpr Operator kRows[] = {{kOwnDomain, kSpelledAttention, 1, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> spelled_attention_operators() { return kRows; }

}  // namespace ortolan::gpu
