// Expand broadcasts a tensor to a shape; Tile repeats it along each dimension (in opset 1 along one axis).
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void expand_rule(InferContext& context) {
  if (auto values = context.int64s(1)) {
    for (int64_t dim : *values) {
      require(dim >= 0, ErrorCode::kInvalidArgument, "dimension ", dim, " of the wanted shape is negative");
    }
  }
  SymbolicShape shape;
  if (auto dims = element_dims(context, 1)) {
    require(dims->size() <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidArgument, "the wanted shape has rank ",
            dims->size(), "; ranks up to ", kMaxRank, " are supported");
    if (context.has_shape(0)) shape = broadcast(context.shape(0), *dims);
  } else if (Dim rank = length_of(context, 1); rank.known() && rank.value() <= kMaxRank && context.has_shape(0)) {
    shape = SymbolicShape::of_rank(std::max(static_cast<size_t>(rank.value()), context.shape(0).rank()));
  }
  context.set_output(0, context.element(0), shape);
  auto content = element_dims(context, 0);
  if (content && content->size() == 1 && shape.has_rank() && shape.rank() <= 1 && shape.fully_known()) {
    int64_t count = shape.element_count().value();
    if (count <= kMaxRank) context.set_content(0, DimVector(static_cast<size_t>(count), (*content)[0]));
  }
}

/** A repeat count as a number; throws for a negative one. */
void check_repeats(const std::vector<int64_t>& repeats) {
  for (int64_t count : repeats) {
    require(count >= 0, ErrorCode::kInvalidArgument, "repeats hold ", count, "; they must not be negative");
  }
}

void tile_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  if (auto repeats = context.int64s(1)) check_repeats(*repeats);
  if (!input.has_rank()) return context.set_output(0, context.element(0), {});
  auto repeats = element_dims(context, 1);
  DimVector dims(input.rank(), Dim{});
  if (repeats) {
    require(repeats->size() == dims.size(), ErrorCode::kInvalidArgument, "repeats has ", repeats->size(),
            " entries for an input of shape ", input);
    for (size_t i = 0; i < dims.size(); ++i) dims[i] = multiply(input[i], (*repeats)[i]);
  }
  context.set_output(0, context.element(0), dims);
}

/** A scalar of any numeric type as an integer. */
std::optional<int64_t> scalar_value(const InferContext& context, size_t i) {
  const Tensor* value = context.value(i);
  if (value == nullptr) return std::nullopt;
  require(value->element_count() == 1, ErrorCode::kInvalidArgument, "input ", i, " has shape ", value->shape(),
          "; it must hold one element");
  return dispatch<kFloat32And64 | kIntegerTypes>(value->type(), [&]<class T>(TypeTag<T>) {
    double number = static_cast<double>(*value->data<T>());
    require(number >= -1e15 && number <= 1e15, ErrorCode::kInvalidArgument, "input ", i, " holds ", number,
            ", which is out of range");
    return static_cast<int64_t>(number);
  });
}

void tile_one_axis_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank()) return context.set_output(0, context.element(0), {});
  DimVector dims = input.dims();
  auto axis = scalar_value(context, 2);
  auto repeats = scalar_value(context, 1);
  if (!axis || !repeats) return context.set_output(0, context.element(0), SymbolicShape::of_rank(dims.size()));
  check_repeats({*repeats});
  Dim& dim = dims[checked_axis(*axis, dims.size())];
  dim = multiply(dim, *repeats);
  context.set_output(0, context.element(0), dims);
}

constexpr TypeSet kCount = kFloat32And64 | kIntegerTypes;
constexpr SchemaRow kRows[] = {
    {"", "Expand", 8, kLatest, 2, 1, expand_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
    {"", "Tile", 1, 5, 3, 1, tile_one_axis_rule, {{0, kAllTypes}, {kTheRest, kCount}}},
    {"", "Tile", 6, kLatest, 2, 1, tile_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable expand_rows;
const SchemaTable expand_rows(kRows);

}  // namespace ortolan::ops::onnx
