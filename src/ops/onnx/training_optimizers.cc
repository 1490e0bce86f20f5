// Adagrad, Adam, Momentum of ai.onnx.preview.training: one step of an optimiser over n tensors. After the learning rate
// and the count of updates, inputs are n values, n gradients, then n of each state; outputs are values and states.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void step_shape(InferContext& context, size_t states) {
  size_t groups = 2 + states;
  size_t tensors = context.input_count() - 2;
  size_t n = tensors / groups;
  require(tensors == n * groups && n > 0 && context.output_count() <= n * (1 + states), ErrorCode::kInvalidGraph,
          "the node has ", context.input_count(), " inputs and ", context.output_count(),
          " outputs; for n tensors give 2 + ", groups, "n inputs and ", 1 + states, "n outputs");
  for (size_t i = 0; i < context.output_count(); ++i) {
    size_t input = i < n ? 2 + i : 2 + n + i;  // the gradients have no output
    context.set_output(i, context.element(input), context.shape(input));
  }
}

void one_state(InferContext& context) { step_shape(context, 1); }
void two_states(InferContext& context) { step_shape(context, 2); }

constexpr char kDomain[] = "ai.onnx.preview.training";

constexpr SchemaRow row(const char* name, ShapeRule rule) {
  return {
      kDomain,        name,           1,    kLatest,
      {3, kVariadic}, {1, kVariadic}, rule, {{0, kFloat32And64}, {1, ElementType::kInt64}, {kTheRest, kFloat32And64}}};
}

constexpr SchemaRow kRows[] = {row("Adagrad", one_state), row("Adam", two_states), row("Momentum", one_state)};

}  // namespace

extern const SchemaTable training_optimizers_rows;
constinit const SchemaTable training_optimizers_rows(kRows);

}  // namespace ortolan::ops::onnx
