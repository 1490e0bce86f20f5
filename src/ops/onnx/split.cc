// Split cuts a tensor along `axis` into one piece per output: of the lengths in `split` (input 1 in opset 1 and from
// 13, an attribute between), else equal ones; from opset 18 num_outputs pieces of which the last may be shorter.
#include "ops/split_lengths.h"

#include "ops/element_dims.h"

namespace ortolan::ops::onnx {
namespace {

/** The lengths along the axis, unknown where they are not sure yet. */
DimVector piece_dims(const InferContext& context, Dim dim, size_t parts) {
  const Node& node = context.node();
  IntList split = ints_from(context, "split", 1);
  if (split.given && !split.values) return element_dims(context, 1).value_or(DimVector(parts, Dim{}));
  if (split.values && split.values->empty()) split = {};
  bool uneven = node.has_attribute("num_outputs");
  require(!uneven || node.int_of("num_outputs") == static_cast<int64_t>(parts), ErrorCode::kInvalidGraph,
          "num_outputs is ", node.int_or("num_outputs", 0), ", but the node has ", parts, " outputs");
  DimVector pieces(parts, Dim{});
  if (split.values && !dim.known()) {
    for (size_t i = 0; i < std::min(parts, split.values->size()); ++i) pieces[i] = Dim((*split.values)[i]);
  } else if (dim.known()) {
    auto lengths = split_lengths(dim.value(), static_cast<int64_t>(parts), split.values, uneven);
    for (size_t i = 0; i < parts; ++i) pieces[i] = lengths[i];
  } else if (parts == 1) {
    pieces[0] = dim;
  }
  return pieces;
}

void split_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  size_t parts = context.output_count();
  if (!input.has_rank()) {
    for (size_t i = 0; i < parts; ++i) context.set_output(i, context.element(0), {});
    return;
  }
  size_t axis = checked_axis(context.node().int_or("axis", 0), input.rank());
  DimVector pieces = piece_dims(context, input[axis], parts);
  require(pieces.size() == parts, ErrorCode::kInvalidGraph, "split has ", pieces.size(), " lengths for ", parts,
          " outputs");
  for (size_t i = 0; i < parts; ++i) {
    DimVector dims = input.dims();
    dims[axis] = pieces[i];
    context.set_output(i, context.element(0), dims);
  }
  auto content = input.rank() == 1 ? element_dims(context, 0) : std::nullopt;
  size_t next = 0;
  for (size_t i = 0; content && i < parts && pieces[i].known(); ++i) {
    auto length = static_cast<size_t>(pieces[i].value());
    if (length > content->size() - next) break;
    context.set_content(i, DimVector(content->begin() + next, content->begin() + next + length));
    next += length;
  }
}

constexpr SchemaRow kRows[] = {
    {"", "Split", 1, 1, {1, 2}, {1, kVariadic}, split_rule, {{kTheRest, kAllTypes}}},
    {"", "Split", 2, 12, 1, {1, kVariadic}, split_rule, {{0, kAllTypes}}},
    {"", "Split", 13, kLatest, {1, 2}, {1, kVariadic}, split_rule, {{0, kAllTypes}, {1, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable split_rows;
const SchemaTable split_rows(kRows);

}  // namespace ortolan::ops::onnx
