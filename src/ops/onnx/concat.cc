// Concat joins tensors along `axis` (default 1 before opset 4, required since).
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** The elements of all inputs one after the other, where each input's length is known. */
std::optional<DimVector> joined_content(const InferContext& context) {
  DimVector all;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_shape(i) || context.shape(i).rank() != 1) return std::nullopt;
    if (auto content = element_dims(context, i)) {
      all.append(content->begin(), content->end());
      if (all.size() > kMaxRank) return std::nullopt;
      continue;
    }
    Dim length = context.shape(i)[0];
    if (!length.known() || length.value() > kMaxRank) return std::nullopt;
    all.resize(all.size() + static_cast<size_t>(length.value()));
    if (all.size() > kMaxRank) return std::nullopt;
  }
  return all;
}

/** Takes the dimensions that `next` knows and `dims` does not; adds up those on the axis. */
void join(DimVector& dims, const SymbolicShape& next, size_t axis, size_t input) {
  require(next.rank() == dims.size(), ErrorCode::kInvalidGraph, "input ", input, " has shape ", next,
          ", but earlier inputs have rank ", dims.size(), "; all must have the same rank");
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i == axis) {
      dims[i] = add(dims[i], next[i]);
      continue;
    }
    require(!dims[i].known() || !next[i].known() || dims[i] == next[i], ErrorCode::kInvalidArgument, "input ", input,
            " has shape ", next, ", but dimension ", i, " of earlier inputs is ", SymbolicShape(DimVector{dims[i]}),
            "; only dimension ", axis, " may differ");
    if (next[i].known() || dims[i] == Dim{}) dims[i] = next[i];
  }
}

void concat_rule(InferContext& context) {
  const Node& node = context.node();
  int64_t wanted = context.opset() < 4 ? node.int_or("axis", 1) : node.int_of("axis");
  std::optional<DimVector> dims;
  size_t axis = 0;
  bool all_known = true;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_shape(i)) {
      all_known = false;
    } else if (!dims) {
      dims = context.shape(i).dims();
      axis = checked_axis(wanted, dims->size());
    } else {
      join(*dims, context.shape(i), axis, i);
    }
  }
  if (dims && !all_known) (*dims)[axis] = Dim{};
  context.set_output(0, context.element(0), dims ? SymbolicShape(*dims) : SymbolicShape{});
  bool integer = context.element(0) == ElementType::kInt64 || context.element(0) == ElementType::kInt32;
  if (!integer) return;
  if (auto content = joined_content(context)) context.set_content(0, *content);
}

constexpr SchemaRow kRows[] = {
    {"", "Concat", 1, kLatest, {1, kVariadic}, 1, concat_rule, {{kTheRest, kAllTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable concat_rows;
const SchemaTable concat_rows(kRows);

}  // namespace ortolan::ops::onnx
