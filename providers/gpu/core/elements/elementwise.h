// Chains of elementwise steps as one launch: `kernels/elementwise.k` with numpy's broadcast.
#pragma once

#include "gpu/core/operators.h"

namespace ortolan::gpu {

/** A row of kernels/elementwise_rows.k. */
struct ElementwiseRow {
  enum class Kind { kUnary, kTest, kBinary, kCompare, kStep, kInteger };
  int number;  // in the kernel's switch
  std::string_view name;
  Kind kind;
  std::string_view first = {};  // the attribute that is p, with what it is where it is not given
  float first_default = 0;
  std::string_view second = {};
  float second_default = 0;

  bool gives_truth() const { return kind == Kind::kTest || kind == Kind::kCompare; }
};

/** The row of that name for floats or for integers; NULL where there is none. */
const ElementwiseRow* find_elementwise_row(std::string_view name, bool integer);
/** The row for floats, which must be there. */
const ElementwiseRow& elementwise_row(std::string_view name);

/** Types that chains of integers compute in; not bool. */
bool is_whole(ElementType type);

/** Refuses integers of 64 bits and uint32 where the device has no integers of 64 bits. */
std::string refuse_long_integers(const Candidate& candidate, ElementType type);

/** One step of a chain: a row's value with a the value so far and b the operand, c the operand behind it. */
struct ElementwiseStep {
  std::string_view row;
  int operand = 0;      // 1, 2 or 3; 0 is the value so far itself
  bool turned = false;  // a and b change places
  float p = 0, q = 0;
  bool number = false;  // b is p
};

struct ElementwiseOperand {
  Memory memory;
  ElementType type;
  Shape shape;
  int input = -1;  // of the node, which has the memory; -1: `memory` is it
};

/** Steps from operand 0 on. Operands and result may be of other types than the steps compute in. */
struct Chain {
  std::vector<ElementwiseOperand> operands;
  std::vector<ElementwiseStep> steps;
  ElementType arithmetic = ElementType::kFloat;  // or the integer type that steps wrap to
  ElementType type = ElementType::kFloat;        // of the result
  Shape shape;                                   // that of the operands' broadcast
};

inline constexpr size_t kMostElementwiseOperands = 4;  // the first value among them
inline constexpr size_t kMostElementwiseSteps = 6;
inline constexpr int kMostElementwiseAxes = 6;  // that broadcast in different ways

/** numpy's broadcast of the operands' shapes. Fails where they do not fit. */
Shape broadcast_shape(const Lowering& lowering, const std::vector<ElementwiseOperand>& operands);

/** The step as kernels take it: STEPn of kernels/elementwise_body.k. */
int elementwise_code(const ElementwiseStep& step, bool integer);

/** Whether one launch does the chain. */
bool is_one_launch(const Chain& chain);
/** Launches the chain, which must be of one launch, over operands in memory. */
void lower_chain(Lowering& lowering, const Chain& chain, Memory result);

}  // namespace ortolan::gpu
