// Constant gives the value in one of its attributes; ConstantOfShape fills a tensor of the shape in its input with the
// one element of attribute `value` (float 0 by default).
#include "ops/element_dims.h"

namespace ortolan::ops::onnx {
namespace {

void set_constant(InferContext& context, ElementType type, size_t rank, size_t count) {
  Shape shape;
  if (rank == 1) shape.push_back(static_cast<int64_t>(count));
  context.set_output(0, type, shape);
}

DimVector dims_of(std::span<const int64_t> values) {
  DimVector dims;
  for (int64_t value : values) dims.push_back(Dim(value));
  return dims;
}

void tensor_constant(InferContext& context, const Tensor& value) {
  context.set_output(0, value.type(), value.shape());
  bool small = value.rank() <= 1 && value.element_count() <= 64;
  if (small && (value.type() == ElementType::kInt64 || value.type() == ElementType::kInt32)) {
    context.set_content(0, dims_of(to_int64s(value)));
  }
}

void constant_rule(InferContext& context) {
  const Node& node = context.node();
  const Attribute* found = nullptr;
  for (const Attribute& attribute : node.attributes()) {
    if (attribute.name.starts_with("value") || attribute.name == "sparse_value") {
      require(found == nullptr, ErrorCode::kInvalidGraph, "attributes '", found ? found->name : "", "' and '",
              attribute.name, "' are both given; a constant has one value");
      found = &attribute;
    }
  }
  require(found != nullptr, ErrorCode::kInvalidGraph,
          "no value is given; set one of the attributes value, value_int, …");
  switch (found->kind()) {
    case AttributeKind::kTensor:
      return tensor_constant(context, std::get<Tensor>(found->value));
    case AttributeKind::kSparseTensor: {
      const auto& sparse = *std::get<std::shared_ptr<SparseTensor>>(found->value);
      return context.set_output(0, sparse.type, sparse.dense_shape);
    }
    case AttributeKind::kFloat:
      return set_constant(context, ElementType::kFloat, 0, 1);
    case AttributeKind::kInt:
      set_constant(context, ElementType::kInt64, 0, 1);
      return context.set_content(0, DimVector{Dim(std::get<int64_t>(found->value))});
    case AttributeKind::kString:
      return set_constant(context, ElementType::kString, 0, 1);
    case AttributeKind::kFloats:
      return set_constant(context, ElementType::kFloat, 1, node.floats(found->name).size());
    case AttributeKind::kInts:
      set_constant(context, ElementType::kInt64, 1, node.ints(found->name).size());
      if (node.ints(found->name).size() <= 64) context.set_content(0, dims_of(node.ints(found->name)));
      return;
    case AttributeKind::kStrings:
      return set_constant(context, ElementType::kString, 1, node.strings(found->name).size());
    default:
      fail(ErrorCode::kInvalidGraph, "attribute '", found->name, "' is of a kind that is no constant");
  }
}

void constant_of_shape_rule(InferContext& context) {
  const Node& node = context.node();
  ElementType type = ElementType::kFloat;
  const Tensor* value = nullptr;
  if (node.has_attribute("value")) {
    value = &node.tensor_of("value");
    require(value->element_count() == 1, ErrorCode::kInvalidGraph, "attribute 'value' holds ", value->element_count(),
            " elements; it must hold one");
    type = value->type();
  }
  SymbolicShape shape;
  if (auto values = context.int64s(0)) {
    for (int64_t dim : *values) require(dim >= 0, ErrorCode::kInvalidArgument, "dimension ", dim, " is negative");
  }
  if (auto dims = element_dims(context, 0)) {
    require(dims->size() <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidArgument, "the wanted shape has rank ",
            dims->size(), "; ranks up to ", kMaxRank, " are supported");
    shape = *dims;
  } else if (Dim rank = length_of(context, 0); rank.known() && rank.value() <= kMaxRank) {
    shape = SymbolicShape::of_rank(static_cast<size_t>(rank.value()));
  }
  context.set_output(0, type, shape);
  bool small = shape.has_rank() && shape.rank() <= 1 && shape.fully_known() && shape.element_count().value() <= 64;
  if (small && value != nullptr && type == ElementType::kInt64) {
    context.set_content(0, DimVector(static_cast<size_t>(shape.element_count().value()), Dim(*value->data<int64_t>())));
  }
}

constexpr SchemaRow kRows[] = {
    {"", "Constant", 1, kLatest, 0, 1, constant_rule},
    {"", "ConstantOfShape", 9, kLatest, 1, 1, constant_of_shape_rule, {{0, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable constant_rows;
const SchemaTable constant_rows(kRows);

}  // namespace ortolan::ops::onnx
