// ElementwiseChain: elementwise steps run one after the other on a block of elements that stays in the first cache.
// Each step is the vector function of its own operator, so results are the same bits. Where a step's result is smaller
// than the chain's, all run over whole tensors with full broadcasting instead.
#include <algorithm>
#include <vector>

#include "base/threads/thread_pool.h"
#include "cpu/elements/elementwise_operand.h"
#include "cpu/elements/float_loops.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/scratch.h"
#include "cpu/products/fused_activation.h"
#include "ops/elementwise_program.h"
#include "ops/shape_rules.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::ortolan {
namespace {
using kernels::BinaryOp;

constexpr int64_t kCacheFloats = 6144;  // of intermediate results
constexpr int64_t kLargestBlock = 2048, kSmallestBlock = 256;

struct NamedBinary {
  std::string_view name;
  BinaryOp op;
};

constexpr NamedBinary kBinary[] = {
    {"Add", BinaryOp::kAdd}, {"Sum", BinaryOp::kAdd}, {"Sub", BinaryOp::kSub}, {"Mul", BinaryOp::kMul},
    {"Div", BinaryOp::kDiv}, {"Min", BinaryOp::kMin}, {"Max", BinaryOp::kMax}, {"Pow", BinaryOp::kPow},
};

/** A step ready to run. Operands are inputs, or the number of inputs plus a slot of intermediate results. */
struct Step {
  const BinaryLoops* loops = nullptr;  // NULL: `activation` of operand a alone
  kernels::Activation activation;
  size_t a = 0, b = 0, to = 0;
};

Step make_step(const ops::ElementwiseStep& step) {
  Step made;
  auto binary = std::ranges::find(kBinary, step.op, &NamedBinary::name);
  bool is_binary = binary != std::end(kBinary);
  require(is_binary == (step.b >= 0), ErrorCode::kInvalidGraph, step.label(), " has ", step.b >= 0 ? 2 : 1,
          " operands; it needs ", is_binary ? 2 : 1);
  if (is_binary) {
    made.loops = &float_loops(binary->op);
  } else {
    made.activation = activation_called(step.op, step.parameters);
  }
  return made;
}

/** Steps whose results share as few slots as their uses allow; the last one's needs none. */
class Program {
 public:
  Program(const ops::ElementwiseProgram& program, size_t inputs) : inputs_(inputs), last_use_(program.size(), 0) {
    for (size_t i = 0; i < program.size(); ++i) {
      for (int64_t operand : {program[i].a, program[i].b}) {
        if (operand >= static_cast<int64_t>(inputs)) last_use_[static_cast<size_t>(operand) - inputs] = i;
      }
    }
    for (size_t i = 0; i < program.size(); ++i) add(program[i], i);
  }
  const std::vector<Step>& steps() const { return steps_; }
  size_t slots() const { return taken_.size(); }

 private:
  void add(const ops::ElementwiseStep& step, size_t i) {
    Step made = make_step(step);
    made.a = place_of(step.a);
    made.b = step.b >= 0 ? place_of(step.b) : made.a;
    for (int64_t operand : {step.a, step.b}) {
      bool dies = operand >= static_cast<int64_t>(inputs_) && last_use_[static_cast<size_t>(operand) - inputs_] == i;
      if (dies) taken_[place_of(operand) - inputs_] = false;
    }
    if (i + 1 < last_use_.size()) made.to = free_slot();
    slot_of_.push_back(made.to);
    steps_.push_back(made);
  }

  size_t place_of(int64_t operand) const {
    auto place = static_cast<size_t>(operand);
    return place < inputs_ ? place : inputs_ + slot_of_[place - inputs_];
  }

  size_t free_slot() {
    auto free = std::ranges::find(taken_, false);
    auto slot = static_cast<size_t>(free - taken_.begin());
    if (free == taken_.end()) taken_.push_back(true);
    taken_[slot] = true;
    return slot;
  }

  size_t inputs_;
  std::vector<size_t> last_use_, slot_of_;
  std::vector<bool> taken_;
  std::vector<Step> steps_;
};

/** Runs the steps on blocks of elements, on one thread. */
class BlockRunner {
 public:
  BlockRunner(const Program& program, const ElementwiseOperands& inputs, int64_t block)
      : program_(program),
        inputs_(inputs),
        block_(block),
        results_(block * static_cast<int64_t>(program.slots())),
        space_(results_ + inputs.scratch_size()) {
    inputs.prepare(scratch());
  }

  void run(int64_t begin, int64_t end, float* y) const {
    const int64_t row = inputs_.row_length();
    const auto& steps = program_.steps();
    while (begin < end) {
      int64_t count = std::min(block_, end - begin);
      if (row != INT64_MAX) count = std::min(count, row - begin % row);
      for (size_t i = 0; i + 1 < steps.size(); ++i) run_step(steps[i], begin, count, slot(steps[i].to));
      run_step(steps.back(), begin, count, y + begin);
      begin += count;
    }
  }

 private:
  using Span = ElementwiseOperands::Span;
  float* slot(size_t i) const { return space_.data() + static_cast<int64_t>(i) * block_; }
  float* scratch() const { return space_.data() + results_; }

  Span operand(size_t i, int64_t begin, int64_t count) const {
    if (i >= inputs_.size()) return {slot(i - inputs_.size()), false};
    return inputs_.read(i, begin, count, scratch());
  }

  void run_step(const Step& step, int64_t begin, int64_t count, float* y) const {
    Span a = operand(step.a, begin, count);
    if (step.loops == nullptr) return kernels::unary(step.activation, a.data, y, count);
    Span b = operand(step.b, begin, count);
    auto loop = a.is_scalar ? step.loops->scalar_a : b.is_scalar ? step.loops->scalar_b : step.loops->vectors;
    loop(a.data, b.data, y, count);
  }

  const Program& program_;
  const ElementwiseOperands& inputs_;
  int64_t block_, results_;
  kernels::Scratch<float> space_;
};

class ElementwiseChain final : public OpKernel {
 public:
  explicit ElementwiseChain(const KernelInfo& info)
      : description_(ops::read_program(info.node())), program_(description_, info.input_count()) {
    auto slots = std::max<size_t>(program_.slots(), 1);
    block_ = std::clamp(kCacheFloats / static_cast<int64_t>(slots) / 64 * 64, kSmallestBlock, kLargestBlock);
    for (const Step& step : program_.steps()) {
      element_ns_ += step.loops != nullptr ? step.loops->element_ns : kernels::kActivationNs;
    }
  }

  void compute(KernelContext& context) const override {
    Tensor& y = context.output(0);
    const int64_t count = y.element_count(), block = std::min(block_, count);
    ElementwiseOperands inputs = operands(context, y.shape(), block);
    if (!fits_blocks(context, inputs, y.shape())) return run_by_steps(context, y);
    auto* to = y.mutable_data<float>();
    context.threads().parallel_for(count, kernels::least_items(element_ns_), [&](int64_t begin, int64_t end) {
      BlockRunner(program_, inputs, block).run(begin, end, to);
    });
  }

  KernelReport report(const KernelContext& context) const override {
    std::string text = "chain";
    for (const ops::ElementwiseStep& step : description_) {
      text += join(&step == description_.data() ? " " : " + ", step.op, " '", step.node, "'");
    }
    const Shape& shape = context.output_value(0).tensor().shape();
    return {fits_blocks(context, operands(context, shape, block_), shape) ? text : text + ", step by step", {}};
  }

 private:
  static ElementwiseOperands operands(const KernelContext& context, const Shape& shape, int64_t block) {
    ElementwiseOperands inputs(context.input_count(), block);
    for (size_t i = 0; i < context.input_count(); ++i) {
      const Tensor& input = context.input(i);
      if (input.type() != ElementType::kFloat) [[unlikely]]
        fail(ErrorCode::kInvalidArgument, "input ", i, " holds ", name_of(input.type()), ", not float");
      inputs.add(input.data<float>(), input.shape(), shape);
    }
    return inputs;
  }

  /** True when every step's result has the chain's shape. */
  bool fits_blocks(const KernelContext& context, const ElementwiseOperands& inputs, const Shape& shape) const {
    if (inputs.all_whole()) return true;
    auto is_whole = [&](size_t operand) { return operand >= inputs.size() || inputs.is_whole(operand); };
    for (const Step& step : program_.steps()) {
      if (is_whole(step.a) || is_whole(step.b)) continue;
      if (step.loops == nullptr) return false;
      if (joint_shape(context.input(step.a).shape(), context.input(step.b).shape()) != shape) return false;
    }
    return true;
  }

  static Shape joint_shape(const Shape& a, const Shape& b) {
    return ops::broadcast(SymbolicShape(a), SymbolicShape(b)).concrete();
  }

  void run_by_steps(KernelContext& context, Tensor& y) const {
    size_t inputs = context.input_count();
    std::vector<Tensor> slots(program_.slots());
    auto at = [&](size_t operand) -> const Tensor& {
      return operand < inputs ? context.input(operand) : slots[operand - inputs];
    };
    for (const Step& step : program_.steps()) {
      bool last = &step == &program_.steps().back();
      Shape shape = step.loops ? joint_shape(at(step.a).shape(), at(step.b).shape()) : at(step.a).shape();
      Tensor result = last ? y : Tensor(ElementType::kFloat, shape, context.services().allocator);
      run_whole(step, at(step.a), at(step.b), result, context.threads());
      if (!last) slots[step.to] = std::move(result);
    }
  }

  void run_whole(const Step& step, const Tensor& a, const Tensor& b, Tensor& y, ThreadPool& threads) const {
    if (step.loops != nullptr) return run_binary(*step.loops, a, a.shape(), b, b.shape(), y, threads);
    const auto* from = a.data<float>();
    auto* to = y.mutable_data<float>();
    const int64_t least = kernels::least_items(kernels::kActivationNs);
    threads.parallel_for(y.element_count(), least, [&](int64_t begin, int64_t end) {
      kernels::unary(step.activation, from + begin, to + begin, end - begin);
    });
  }

  ops::ElementwiseProgram description_;
  Program program_;
  int64_t block_ = kLargestBlock;
  double element_ns_ = 0;
};

constexpr KernelRow kRows[] = {
    {"ortolan",
     "ElementwiseChain",
     1,
     kLatest,
     make_kernel<ElementwiseChain>,
     {{0, ElementType::kFloat}},
     Reuse::kInPlace},
};

}  // namespace

extern const KernelTable elementwise_chain_rows;
const KernelTable elementwise_chain_rows(kRows);
}  // namespace ortolan::cpu::ortolan
