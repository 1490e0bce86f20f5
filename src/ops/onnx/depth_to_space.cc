// DepthToSpace moves blocks of channels into height and width (mode CRD from opset 11), SpaceToDepth the other way.
#include "ops/infer_context.h"

namespace ortolan::ops::onnx {
namespace {

int64_t block_size(const InferContext& context) {
  int64_t block = context.node().int_of("blocksize");
  require(block > 0 && block <= 1 << 15, ErrorCode::kInvalidGraph, "blocksize is ", block,
          "; it must be from 1 to 32768");
  return block;
}

Dim divided(Dim dim, int64_t by, const char* what) {
  if (!dim.known()) return by == 1 ? dim : Dim{};
  require(dim.value() % by == 0, ErrorCode::kInvalidArgument, what, " ", dim.value(), " is not a multiple of ", by);
  return dim.value() / by;
}

void depth_to_space_rule(InferContext& context) {
  int64_t block = block_size(context);
  context.require_rank(0, 4, 4);
  const SymbolicShape& in = context.shape(0);
  if (!in.has_rank()) return context.set_output(0, context.element(0), SymbolicShape::of_rank(4));
  context.set_output(0, context.element(0),
                     DimVector{in[0], divided(in[1], block * block, "the number of channels"), multiply(in[2], block),
                               multiply(in[3], block)});
}

void space_to_depth_rule(InferContext& context) {
  int64_t block = block_size(context);
  context.require_rank(0, 4, 4);
  const SymbolicShape& in = context.shape(0);
  if (!in.has_rank()) return context.set_output(0, context.element(0), SymbolicShape::of_rank(4));
  context.set_output(0, context.element(0),
                     DimVector{in[0], multiply(in[1], block * block), divided(in[2], block, "the height"),
                               divided(in[3], block, "the width")});
}

constexpr SchemaRow kRows[] = {
    {"", "DepthToSpace", 1, kLatest, 1, 1, depth_to_space_rule, {{0, kAllTypes}}},
    {"", "SpaceToDepth", 1, kLatest, 1, 1, space_to_depth_rule, {{0, kAllTypes}}},
};

}  // namespace

extern const SchemaTable depth_to_space_rows;
const SchemaTable depth_to_space_rows(kRows);

}  // namespace ortolan::ops::onnx
