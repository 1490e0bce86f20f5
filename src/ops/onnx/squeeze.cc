// Squeeze removes dimensions of 1, Unsqueeze puts them in; axes are an attribute up to opset 12, then an input.
#include "ops/element_dims.h"
#include "ops/view_shapes.h"

namespace ortolan::ops::onnx {
namespace {

void keep_content(InferContext& context, size_t rank) {
  auto content = element_dims(context, 0);
  if (content && rank <= 1) context.set_content(0, *content);
}

DimVector without(const SymbolicShape& input, const std::vector<int64_t>& axes) {
  DimVector dims;
  std::vector<size_t> gone;
  for (int64_t axis : axes) gone.push_back(checked_axis(axis, input.rank()));
  for (size_t i = 0; i < input.rank(); ++i) {
    if (std::ranges::find(gone, i) == gone.end()) {
      dims.push_back(input[i]);
    } else {
      require(!input[i].known() || input[i].is(1), ErrorCode::kInvalidGraph, "dimension ", i, " of the input of shape ",
              input, " is squeezed but is not 1");
    }
  }
  return dims;
}

void squeeze_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  IntList axes = ints_from(context, "axes", 1);
  SymbolicShape shape;
  if (input.has_rank() && axes.values) {
    shape = without(input, *axes.values);
  } else if (input.has_rank() && !axes.given && input.fully_known()) {
    shape = squeezed(input.concrete(), std::nullopt);
  } else if (Dim count = length_of(context, 1); input.has_rank() && axes.given && count.known()) {
    auto rank = static_cast<int64_t>(input.rank());
    if (count.value() <= rank) shape = SymbolicShape::of_rank(static_cast<size_t>(rank - count.value()));
  }
  context.set_output(0, context.element(0), shape);
  if (shape.has_rank()) keep_content(context, shape.rank());
}

DimVector with(const SymbolicShape& input, const std::vector<int64_t>& axes) {
  size_t rank = input.rank() + axes.size();
  require(rank <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidGraph, "the result would have rank ", rank,
          "; ranks up to ", kMaxRank, " are supported");
  std::vector<size_t> added = checked_axes(axes, rank);
  DimVector dims;
  size_t next = 0;
  for (size_t i = 0; i < rank; ++i) {
    bool one = std::ranges::find(added, i) != added.end();
    dims.push_back(one ? Dim(1) : input[next++]);
  }
  return dims;
}

void unsqueeze_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  IntList axes = ints_from(context, "axes", 1);
  require(axes.given, ErrorCode::kInvalidGraph, "axes are missing; give them as ",
          context.opset() < 13 ? "an attribute" : "input 1");
  SymbolicShape shape;
  if (input.has_rank() && axes.values) {
    shape = with(input, *axes.values);
  } else if (Dim count = length_of(context, 1); input.has_rank() && count.known() && count.value() <= kMaxRank) {
    shape = SymbolicShape::of_rank(input.rank() + static_cast<size_t>(count.value()));
  }
  context.set_output(0, context.element(0), shape);
  if (shape.has_rank()) keep_content(context, shape.rank());
}

constexpr SchemaRow kRows[] = {
    {"", "Squeeze", 1, 12, 1, 1, squeeze_rule, {{0, kAllTypes}}},
    {"", "Squeeze", 13, kLatest, {1, 2}, 1, squeeze_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
    {"", "Unsqueeze", 1, 12, 1, 1, unsqueeze_rule, {{0, kAllTypes}}},
    {"", "Unsqueeze", 13, kLatest, 2, 1, unsqueeze_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable squeeze_rows;
const SchemaTable squeeze_rows(kRows);

}  // namespace ortolan::ops::onnx
