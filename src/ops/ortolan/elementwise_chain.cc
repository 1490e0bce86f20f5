// ElementwiseChain: elementwise operators run as one; see ops/elementwise_program.h. The result has the shape that all
// inputs broadcast to, as that of the operators one after the other.
#include "ops/elementwise_program.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::ortolan {
namespace {

SymbolicShape broadcast_all(const InferContext& context) {
  SymbolicShape shape = context.shape(0);
  for (size_t i = 1; i < context.input_count(); ++i) shape = broadcast(shape, context.shape(i));
  return shape;
}

/** Finds the step whose operands do not broadcast, and throws its error. */
void fail_at_step(const InferContext& context) {
  std::vector<SymbolicShape> shapes;
  for (size_t i = 0; i < context.input_count(); ++i) shapes.push_back(context.shape(i));
  for (const ElementwiseStep& step : read_program(context.node())) {
    const SymbolicShape& a = shapes[static_cast<size_t>(step.a)];
    try {
      shapes.push_back(step.b < 0 ? a : broadcast(a, shapes[static_cast<size_t>(step.b)]));
    } catch (const Error& error) {
      throw error.within(step.label());
    }
  }
}

void rule(InferContext& context) {
  try {
    context.set_output(0, context.element(0), broadcast_all(context));
  } catch (const Error&) {
    fail_at_step(context);
    throw;
  }
}

constexpr SchemaRow kRows[] = {
    {"ortolan",
     "ElementwiseChain",
     1,
     kLatest,
     {1, kVariadic},
     1,
     rule,
     {{0, ElementType::kFloat}, {kTheRest, ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable elementwise_chain_rows;
const SchemaTable elementwise_chain_rows(kRows);
}  // namespace ortolan::ops::ortolan
