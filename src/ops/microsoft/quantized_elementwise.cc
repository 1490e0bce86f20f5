// Elementwise operators on quantised bytes, each tensor with a scale and a zero point of its own: QLinearAdd and
// QLinearMul, QLinearLeakyRelu, QLinearSigmoid, QLinearSoftmax (attribute opset says by which rule axis counts),
// QLinearWhere, QLinearConcat; and MulInteger, whose products are not scaled.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

/** Inputs after the first that may be left out must be present one by one. */
void require_inputs(const InferContext& context, std::initializer_list<size_t> indices) {
  for (size_t i : indices) {
    require(context.has_input(i), ErrorCode::kInvalidGraph, "required input ", i, " is left out; connect it");
  }
}

SymbolicShape broadcast_if_known(const SymbolicShape& a, const SymbolicShape& b) {
  return a.has_rank() && b.has_rank() ? broadcast(a, b) : SymbolicShape();
}

void qlinear_binary(InferContext& context) {
  require_inputs(context, {3, 4, 6});
  context.set_output(0, context.element(0), broadcast_if_known(context.shape(0), context.shape(3)));
}

void mul_integer(InferContext& context) {
  require_inputs(context, {2});
  context.set_output(0, ElementType::kInt32, broadcast_if_known(context.shape(0), context.shape(2)));
}

void qlinear_where(InferContext& context) {
  require_inputs(context, {4, 5, 7});
  SymbolicShape values = broadcast_if_known(context.shape(1), context.shape(4));
  context.set_output(0, context.element(1), broadcast_if_known(context.shape(0), values));
}

void qlinear_softmax(InferContext& context) {
  require_inputs(context, {3});
  const Node& node = context.node();
  int64_t opset = node.int_of("opset");
  if (context.has_shape(0)) checked_axis(node.int_or("axis", opset < 13 ? 1 : -1), context.shape(0).rank());
  context.set_output(0, context.element(0), context.shape(0));
}

/** X, its scale and zero point, scale and zero point of the result. */
void qlinear_unary(InferContext& context) {
  require_inputs(context, {3});
  context.set_output(0, context.element(0), context.shape(0));
}

/** Inputs: scale and zero point of the result, then triples of tensor, scale and zero point. */
void qlinear_concat(InferContext& context) {
  size_t count = context.input_count();
  require(count >= 5 && (count - 2) % 3 == 0, ErrorCode::kInvalidGraph, "the node has ", count,
          " inputs; it needs 2 and three more for each tensor");
  std::optional<DimVector> dims;
  size_t axis = 0;
  for (size_t i = 2; i < count; i += 3) {
    const SymbolicShape& shape = context.shape(i);
    if (!shape.has_rank()) return context.set_output(0, context.element(1), {});
    if (!dims) {
      dims = shape.dims();
      axis = checked_axis(context.node().int_of("axis"), dims->size());
      continue;
    }
    require(shape.rank() == dims->size(), ErrorCode::kInvalidArgument, "input ", i, " has shape ", shape,
            ", but earlier inputs have rank ", dims->size(), "; all must have the same rank");
    for (size_t d = 0; d < dims->size(); ++d) {
      Dim &known = (*dims)[d], next = shape[d];
      bool fits = d == axis || !known.known() || !next.known() || known == next;
      require(fits, ErrorCode::kInvalidArgument, "input ", i, " has shape ", shape, ", but earlier inputs are ",
              SymbolicShape(*dims), "; only dimension ", axis, " may differ");
      known = d == axis ? add(known, next) : known.known() ? known : next;
    }
  }
  context.set_output(0, context.element(1), *dims);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft",
     "QLinearAdd",
     1,
     kLatest,
     {2, 8},
     1,
     qlinear_binary,
     {{1, ElementType::kFloat}, {4, ElementType::kFloat}, {6, ElementType::kFloat}, {kTheRest, kByteTypes, 'T'}}},
    {"com.microsoft",
     "QLinearMul",
     1,
     kLatest,
     {2, 8},
     1,
     qlinear_binary,
     {{1, ElementType::kFloat}, {4, ElementType::kFloat}, {6, ElementType::kFloat}, {kTheRest, kByteTypes, 'T'}}},
    {"com.microsoft", "MulInteger", 1, kLatest, {1, 4}, 1, mul_integer, {{kTheRest, kByteTypes, 'T'}}},
    {"com.microsoft",
     "QLinearLeakyRelu",
     1,
     kLatest,
     {2, 5},
     1,
     qlinear_unary,
     {{1, ElementType::kFloat}, {3, ElementType::kFloat}, {kTheRest, kByteTypes, 'T'}}},
    {"com.microsoft",
     "QLinearSigmoid",
     1,
     kLatest,
     {2, 5},
     1,
     qlinear_unary,
     {{1, ElementType::kFloat}, {3, ElementType::kFloat}, {kTheRest, kByteTypes, 'T'}}},
    {"com.microsoft",
     "QLinearSoftmax",
     1,
     kLatest,
     {2, 5},
     1,
     qlinear_softmax,
     {{1, ElementType::kFloat}, {3, ElementType::kFloat}, {kTheRest, kByteTypes, 'T'}}},
    {"com.microsoft",
     "QLinearWhere",
     1,
     kLatest,
     {3, 9},
     1,
     qlinear_where,
     {{0, ElementType::kBool},
      {2, ElementType::kFloat},
      {5, ElementType::kFloat},
      {7, ElementType::kFloat},
      {kTheRest, kByteTypes, 'T'}}},
    {"com.microsoft",
     "QLinearConcat",
     1,
     kLatest,
     {5, kVariadic},
     1,
     qlinear_concat,
     {{0, ElementType::kFloat}, {1, kByteTypes}, {kTheRest, kByteTypes | ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable quantized_elementwise_rows;
const SchemaTable quantized_elementwise_rows(kRows);
}  // namespace ortolan::ops::microsoft
