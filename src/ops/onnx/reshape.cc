// Reshape views a tensor with another shape (an attribute in opset 1, an input since 5; allowzero since 14); Flatten
// folds it to two dimensions around `axis`.
#include "ops/element_dims.h"
#include "ops/view_shapes.h"

namespace ortolan::ops::onnx {
namespace {

/** The one dimension of `shape` that is unknown, from the number of elements: equal symbols cancel out. */
Dim open_dim(const SymbolicShape& input, const DimVector& shape) {
  DimVector left = input.dims();
  int64_t have = 1, taken = 1;
  for (Dim dim : shape) {
    auto equal = std::ranges::find_if(left, [&](Dim other) { return dim.is_symbol() && dim == other; });
    if (equal != left.end()) {
      left.erase(equal);
    } else if (dim.is_symbol()) {
      return {};
    } else if (dim.known()) {
      taken = checked_mul(taken, dim.value());
    }
  }
  Dim symbol;
  for (Dim dim : left) {
    if (!dim.known() && (symbol.is_symbol() || !dim.is_symbol())) return {};
    if (dim.known()) have = checked_mul(have, dim.value());
    if (!dim.known()) symbol = dim;
  }
  if (symbol.is_symbol()) return have == taken ? symbol : Dim{};
  return taken > 0 && have % taken == 0 ? Dim(have / taken) : Dim{};
}

SymbolicShape symbolic_reshape(const SymbolicShape& input, const DimVector& target, bool allow_zero) {
  DimVector shape = target;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (!shape[i].is(0) || allow_zero) continue;
    require(!input.has_rank() || i < input.rank(), ErrorCode::kInvalidGraph, "dimension ", i,
            " of the wanted shape is 0, which copies the input's, but the input has shape ", input);
    shape[i] = input.has_rank() ? input[i] : Dim{};
  }
  auto is_open = [](Dim dim) { return dim == Dim{}; };
  if (input.has_rank() && std::ranges::count_if(shape, is_open) == 1) {
    *std::ranges::find_if(shape, is_open) = open_dim(input, shape);
  }
  return shape;
}

void reshape_rule(InferContext& context) {
  bool allow_zero = context.node().int_or("allowzero", 0) != 0;
  IntList target = ints_from(context, "shape", 1);
  if (context.opset() < 5 && !target.given) target = {true, std::vector<int64_t>{}};
  const SymbolicShape& input = context.shape(0);
  SymbolicShape shape;
  if (target.values && input.has_rank() && input.fully_known()) {
    shape = reshaped(input.concrete(), *target.values, allow_zero);
  } else if (target.values) {
    DimVector dims;
    for (int64_t dim : *target.values) {
      require(dim >= -1, ErrorCode::kInvalidGraph, "the wanted shape holds ", dim, "; it must be -1 or not negative");
      dims.push_back(Dim(dim));
    }
    shape = symbolic_reshape(input, dims, allow_zero);
  } else if (auto dims = element_dims(context, 1)) {
    shape = symbolic_reshape(input, *dims, allow_zero);
  } else if (Dim rank = length_of(context, 1); rank.known() && rank.value() <= kMaxRank) {
    shape = SymbolicShape::of_rank(static_cast<size_t>(rank.value()));
  }
  context.set_output(0, context.element(0), shape);
  if (auto content = element_dims(context, 0); content && shape.has_rank() && shape.rank() <= 1) {
    context.set_content(0, *content);
  }
}

void flatten_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank()) {
    context.set_output(0, context.element(0), SymbolicShape::of_rank(2));
    return;
  }
  int64_t axis = context.node().int_or("axis", 1);
  auto rank = static_cast<int64_t>(input.rank());
  require(axis >= -rank && axis <= rank, ErrorCode::kInvalidGraph, "axis ", axis, " is outside [", -rank, ", ", rank,
          "] for an input of rank ", rank);
  if (axis < 0) axis += rank;
  Dim rows(1), columns(1);
  for (int64_t i = 0; i < rank; ++i) (i < axis ? rows : columns) = multiply(i < axis ? rows : columns, input[i]);
  context.set_output(0, context.element(0), DimVector{rows, columns});
}

constexpr SchemaRow kRows[] = {
    {"", "Reshape", 1, 4, {1, 2}, 1, reshape_rule, {{0, kAllTypes}}},
    {"", "Reshape", 5, kLatest, 2, 1, reshape_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
    {"", "Flatten", 1, kLatest, 1, 1, flatten_rule, {{0, kAllTypes}}},
};

}  // namespace

extern const SchemaTable reshape_rows;
const SchemaTable reshape_rows(kRows);

}  // namespace ortolan::ops::onnx
