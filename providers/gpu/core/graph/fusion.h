// Elementwise nodes join the launch that makes what they alone read.
//
// A node whose launch can do more to its result leaves its output open: nothing is launched yet. An elementwise node
// that is the only reader of an open value takes it over with its own steps behind, and leaves its output open again.
// Whatever else asks for the elements has the launch made first. So what cannot join is right all the same: it reads
// memory.
#pragma once

#include "gpu/core/elements/elementwise.h"
#include "gpu/core/elements/layout.h"

namespace ortolan::gpu {

/** What makes a value and can do steps to it before it is stored. */
struct Head {
  /** Whether it does all steps of a chain itself, whose operand 0 is the value as the node has it. The chain's shape
   * has as many elements in the same order, but may be another view of them. */
  std::function<bool(const Chain& chain)> takes;
  /** Launches, with the steps of a chain that it takes, into the result, of the chain's type. By then the node's inputs
   *  are stored, but for those with a layout. Not called where nothing needs the value. */
  std::function<void(Lowering& l, const Chain& chain, Memory result)> launch;
};

/** A value that is not stored yet, and what stores it. With a layout it is elements of memory in another order. */
struct OpenValue {
  Head head;
  Lowering lowering;  // of the head's node
  Chain chain;
  int readers;  // of its elements, the group's outputs among them
  std::optional<Memory> memory = {};
  std::optional<Layout> layout = {};

  /** The value's memory; launches where that has not been done. */
  Memory store();
};

/** Says the shape of an output, of the type of input 0, that the head makes when its elements are asked for. */
void open_output(Lowering& l, size_t i, const Shape& shape, Head head);
/** The output has elements of input 0's type that lie like that, and are copied when the output's memory is asked for.
 */
void open_layout(Lowering& l, size_t output, const Shape& shape, Layout layout);
/** How the elements of an input lie that is open with a layout, in the input's shape. Nothing for other inputs, and
 * where no distances say it. */
std::optional<Layout> layout_of(Lowering& l, size_t input);

/** An operand whose memory is asked for when it is needed. */
ElementwiseOperand elementwise_operand(const Lowering& l, size_t input);
/** Asks for the memory of such operands, but of one. */
void store_operands(Lowering& l, std::vector<ElementwiseOperand>& operands, int but = -1);

/** The steps over these operands as an output of a type, behind those of an operand that is open, or open itself.
 * Between steps values are not rounded to float16. */
void lower_elementwise_output(Lowering& l, const std::vector<ElementwiseOperand>& operands,
                              const std::vector<ElementwiseStep>& steps, ElementType type,
                              ElementType arithmetic = ElementType::kFloat, size_t output = 0);

/** For each value the nodes and outputs that need its elements. */
std::vector<int> count_readers(const Graph& graph);

}  // namespace ortolan::gpu
