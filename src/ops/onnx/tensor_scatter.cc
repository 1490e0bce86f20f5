// TensorScatter writes new positions into a cache of keys or values, each sequence at an index of its own.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void tensor_scatter(InferContext& context) {
  const Node& node = context.node();
  std::string_view mode = node.string_or("mode", "linear");
  require(mode == "linear" || mode == "circular", ErrorCode::kInvalidGraph, "mode is '", mode,
          "'; it must be linear or circular");
  context.require_rank(2, 1, 1);
  context.set_output(0, context.element(0), context.shape(0));
  if (!context.has_shape(0)) return;
  const SymbolicShape &cache = context.shape(0), &update = context.shape(1);
  size_t axis = checked_axis(node.int_or("axis", -2), cache.rank());
  require(axis > 0, ErrorCode::kInvalidGraph, "axis is the batch dimension of past_cache ", cache,
          "; it must be a later one");
  if (!update.has_rank()) return;
  context.require_rank(1, cache.rank(), cache.rank());
  for (size_t i = 0; i < cache.rank(); ++i) {
    if (!cache[i].known() || !update[i].known()) continue;
    int64_t room = cache[i].value(), size = update[i].value();
    require(i == axis ? size <= room : size == room, ErrorCode::kInvalidArgument, "update ", update,
            " does not fit past_cache ", cache, " in dimension ", i);
  }
}

constexpr SchemaRow kRows[] = {
    {"",
     "TensorScatter",
     24,
     kLatest,
     {2, 3},
     1,
     tensor_scatter,
     {{0, kAllTypes, 'T'}, {1, kAllTypes, 'T'}, {2, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable tensor_scatter_rows;
constinit const SchemaTable tensor_scatter_rows(kRows);

}  // namespace ortolan::ops::onnx
