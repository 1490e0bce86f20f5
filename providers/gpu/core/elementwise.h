// Chains of elementwise steps as one launch: `kernels/elementwise.k` with numpy's broadcast.
#pragma once

#include "gpu/core/lowering.h"

namespace ortolan::gpu {

/** A row of kernels/elementwise_rows.k. */
struct ElementwiseRow {
  enum class Kind { kUnary, kTest, kBinary, kCompare, kStep };
  int number;  // in the kernel's switch
  std::string_view name;
  Kind kind;
  std::string_view first = {};  // the attribute that is p, with what it is where it is not given
  float first_default = 0;
  std::string_view second = {};
  float second_default = 0;

  bool gives_truth() const { return kind == Kind::kTest || kind == Kind::kCompare; }
};

/** The row of that name, which must be there. */
const ElementwiseRow& elementwise_row(std::string_view name);

/** One step of a chain: a row's value with a the value so far and b the operand, c the operand behind it. */
struct ElementwiseStep {
  std::string_view row;
  int operand = 0;      // 1, 2 or 3; 0 is the value so far itself
  bool turned = false;  // a and b change places
  float p = 0, q = 0;
};

struct ElementwiseOperand {
  Memory memory;
  ElementType type;
  Shape shape;
};

inline constexpr size_t kMostElementwiseOperands = 4;  // the first value among them
inline constexpr size_t kMostElementwiseSteps = 6;
inline constexpr int kMostElementwiseAxes = 6;  // that broadcast in different ways

/** numpy's broadcast. Fails where the shapes do not fit. */
Shape broadcast_shape(const Lowering& lowering, const std::vector<Shape>& shapes);

/** Computes the steps in float, from operand 0 on, into the result, whose shape is that of the broadcast. */
void lower_elementwise(Lowering& lowering, const std::vector<ElementwiseOperand>& operands,
                       const std::vector<ElementwiseStep>& steps, const ElementwiseOperand& result);

}  // namespace ortolan::gpu
