// Integer tensors as lists of dimensions.
#include "ops/element_dims.h"

namespace ortolan::ops {
namespace {

constexpr int64_t kMaxElements = 1024;

}  // namespace

std::optional<DimVector> element_dims(const InferContext& context, size_t i) {
  ElementType type = context.element(i);
  if (type != ElementType::kInt64 && type != ElementType::kInt32) return std::nullopt;
  const Tensor* value = context.value(i);
  if (value == nullptr) return context.dims(i);
  if (value->type() != type || value->rank() > 1 || value->element_count() > kMaxElements) return std::nullopt;
  DimVector dims;
  for (int64_t element : to_int64s(*value)) dims.push_back(Dim(element));
  return dims;
}

Dim length_of(const InferContext& context, size_t i) {
  if (!context.has_shape(i)) return {};
  const SymbolicShape& shape = context.shape(i);
  return shape.rank() == 0 ? Dim(1) : shape.rank() == 1 ? shape[0] : shape.element_count();
}

IntList ints_from(const InferContext& context, const char* attribute, size_t input) {
  if (context.has_input(input)) return {true, context.int64s(input)};
  if (!context.node().has_attribute(attribute)) return {};
  return {true, context.node().ints(attribute)};
}

}  // namespace ortolan::ops
