// Elementwise steps on a product's values: which of them its kernels do, and with which of their operands.
#include <algorithm>
#include <cmath>

#include "gpu/core/products/product.h"

namespace ortolan::gpu {
namespace {

/** An operand by the place of a value among all: element place / each % count. */
struct Repeats {
  int64_t each, count;
};

/** Nothing where an operand does not repeat like that: it varies in axes that do not lie together. */
std::optional<Repeats> repeats_of(const Shape& own, const Shape& shape) {
  Repeats repeats{1, 1};
  bool ended = false;
  for (size_t back = 1; back <= shape.size(); back++) {
    int64_t size = shape[shape.size() - back];
    bool varies = back <= own.size() && own[own.size() - back] != 1;
    if (size == 1) continue;
    if (varies && ended) return {};
    if (varies) repeats.count *= size;
    if (!varies && repeats.count == 1) repeats.each *= size;
    ended = !varies && repeats.count > 1;
  }
  return repeats;
}

/** A chain on its way into a product's finish: alpha, sums, a clip, then steps. */
class Finishing {
 public:
  Finishing(Product& product, const Chain& chain)
      : product_(product),
        finish_(product.finish),
        chain_(chain),
        columns_(product.grid ? product.grid->stored : product.n) {}

  bool take_all() {
    return chain_.type == product_.type && std::all_of(chain_.steps.begin(), chain_.steps.end(),
                                                       [&](const ElementwiseStep& step) { return take(step); });
  }

 private:
  bool take(const ElementwiseStep& step) {
    return take_factor(step) || take_sum(step) || take_clip(step) || take_step(step);
  }

  bool is_plain() const {
    bool clips = std::isfinite(finish_.low) || std::isfinite(finish_.high);
    return finish_.steps.empty() && !clips;
  }

  /** As alpha, where it is exact. */
  bool take_factor(const ElementwiseStep& step) {
    if (!is_plain() || finish_.addend || finish_.residual || finish_.alpha != 1 || !step.number) return false;
    int exponent;
    bool turns_exactly = !step.turned && std::fabs(std::frexp(step.p, &exponent)) == 0.5f && std::abs(exponent) < 100;
    if (step.row == "Mul") {
      finish_.alpha = step.p;
    } else if (step.row == "Div" && turns_exactly) {
      finish_.alpha = 1 / step.p;
    } else {
      return false;
    }
    return true;
  }

  bool take_sum(const ElementwiseStep& step) {
    if (!is_plain() || step.row != "Add" || step.number || step.operand == 0) return false;
    return take_operand(chain_.operands[step.operand]) != 0;
  }

  bool take_clip(const ElementwiseStep& step) {
    if (!is_plain()) return false;
    if (step.row == "Relu") {
      finish_.low = 0;
    } else if (step.row == "Clamp") {
      finish_.low = step.p;
      finish_.high = step.q;
    } else {
      return false;
    }
    return true;
  }

  bool take_step(ElementwiseStep step) {
    if (finish_.steps.size() == kMostFinishSteps || step.q != 0 || step.row == "Where") return false;
    if (!step.number && step.operand != 0) {
      step.operand = take_operand(chain_.operands[step.operand]);
      if (step.operand == 0) return false;
      (step.operand == 1 ? finish_.steps_have_addend : finish_.steps_have_residual) = true;
    }
    finish_.steps.push_back(step);
    return true;
  }

  /** 1 where the operand is the addend now, 2 the residual, 0 where it can be neither. */
  int take_operand(const ElementwiseOperand& operand) {
    std::optional<Repeats> repeats = repeats_of(operand.shape, chain_.shape);
    if (operand.type != product_.type || !repeats) return 0;
    bool is_whole = repeats->each == 1 && repeats->count == element_count(chain_.shape);
    if (is_whole && !finish_.residual) {
      finish_.residual = operand.memory;
      return 2;
    }
    if (finish_.addend || !spread_addend(*repeats)) return 0;
    finish_.addend = operand.memory;
    finish_.beta = 1;
    return 1;
  }

  /** The addend's distances; false where they cannot be said. */
  bool spread_addend(const Repeats& repeats) {
    int64_t rows = product_.m, all_rows = rows * product_.inner;
    Finish& f = finish_;
    f.addend_row = f.addend_column = f.addend_inner = 0;
    if (repeats.count == 1) return true;
    if (repeats.each == columns_ && (repeats.count == rows || repeats.count == all_rows)) {
      f.addend_row = 1;
      f.addend_inner = repeats.count == all_rows ? rows : 0;
      return true;
    }
    if (repeats.each != 1 || product_.grid) return false;
    bool of_matrix = repeats.count == rows * columns_, of_all = repeats.count == all_rows * columns_;
    if (repeats.count != columns_ && !of_matrix && !of_all) return false;
    f.addend_column = 1;
    f.addend_row = of_matrix || of_all ? columns_ : 0;
    f.addend_inner = of_all ? rows * columns_ : 0;
    return true;
  }

  Product& product_;
  Finish& finish_;
  const Chain& chain_;
  int64_t columns_;
};

/** Puts a chain into the finish; says whether all of it fits there. */
bool finish_with(Product& product, const Chain& chain) { return Finishing(product, chain).take_all(); }

}  // namespace

void add_step_constants(KernelCall& call, const Finish& finish) {
  static constexpr const char* kSteps[kMostFinishSteps] = {"STEP0", "STEP1", "STEP2", "STEP3"};
  for (size_t i = 0; i < finish.steps.size(); i++) call.constant(kSteps[i], elementwise_code(finish.steps[i], false));
  if (finish.steps_have_addend) call.constant("STEPS_HAVE_D", 1);
  if (finish.steps_have_residual) call.constant("STEPS_HAVE_R", 1);
}

void add_step_numbers(KernelCall& call, const Finish& finish) {
  for (size_t i = 0; i < kMostFinishSteps; i++) call.params(i < finish.steps.size() ? finish.steps[i].p : 0.0f);
}

bool adds_to_rows(const Finish& finish) {
  return finish.alpha == 1 && (!finish.addend || (finish.addend_row == 1 && finish.addend_column == 0));
}

Head product_head(const Product& product, std::function<void(Lowering& l, const Product& product)> launch,
                  bool (*fits)(const Finish& finish)) {
  auto takes = [product, fits](const Chain& chain) {
    Product finished = product;
    return finish_with(finished, chain) && (fits == nullptr || fits(finished.finish));
  };
  auto run = [product, launch = std::move(launch)](Lowering& l, const Chain& chain, Memory result) {
    Product finished = product;
    finish_with(finished, chain);
    finished.c = result;
    launch(l, finished);
  };
  return {takes, run};
}

}  // namespace ortolan::gpu
