// Where: elements of X where the condition holds, else of Y; all three broadcast.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void where_shape(InferContext& context) {
  ElementType element = context.element(1) != ElementType::kUndefined ? context.element(1) : context.element(2);
  SymbolicShape shape;
  if (context.has_shape(0) && context.has_shape(1) && context.has_shape(2)) {
    shape = broadcast(context.shape(0), broadcast(context.shape(1), context.shape(2)));
  }
  context.set_output(0, element, std::move(shape));
}

constexpr SchemaRow kRows[] = {{"",
                                "Where",
                                9,
                                kLatest,
                                3,
                                1,
                                where_shape,
                                {{0, ElementType::kBool, 'B'}, {1, kAllTypes, 'T'}, {2, kAllTypes, 'T'}}}};

}  // namespace

extern const SchemaTable where_rows;
constinit const SchemaTable where_rows(kRows);

}  // namespace ortolan::ops::onnx
