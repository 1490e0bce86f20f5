// Col2Im adds up columns of blocks into the image they were cut from.
#include "ops/element_dims.h"

namespace ortolan::ops::onnx {
namespace {

void require_each(const std::vector<int64_t>& values, int64_t least, const char* what) {
  for (int64_t value : values) {
    require(value >= least && value <= int64_t{1} << 40, ErrorCode::kInvalidArgument, what, " holds ", value,
            "; entries must be at least ", least);
  }
}

void col2im_rule(InferContext& context) {
  context.require_rank(0, 3, 3);
  auto image = context.int64s(1), block = context.int64s(2);
  const SymbolicShape& input = context.shape(0);
  if (image) require_each(*image, 0, "image_shape");
  if (block) require_each(*block, 1, "block_shape");
  require_each(context.node().ints("dilations"), 1, "dilations");
  require_each(context.node().ints("strides"), 1, "strides");
  require_each(context.node().ints("pads"), 0, "pads");
  if (!image || !block) return context.set_output(0, context.element(0), {});
  size_t spatial = image->size();
  require(block->size() == spatial && spatial <= 16, ErrorCode::kInvalidArgument, "image_shape has ", spatial,
          " entries and block_shape ", block->size(), "; both must have the same number, at most 16");
  DimVector dims{input.has_rank() ? input[0] : Dim{}, Dim{}};
  int64_t taps = checked_size(*block);
  if (input.has_rank() && input[1].known()) {
    require(input[1].value() % taps == 0, ErrorCode::kInvalidArgument, "dimension 1 of the input of shape ", input,
            " is not a multiple of the block's ", taps, " elements");
    dims[1] = input[1].value() / taps;
  }
  for (int64_t size : *image) dims.push_back(size);
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"",
     "Col2Im",
     18,
     kLatest,
     3,
     1,
     col2im_rule,
     {{0, kNumericTypes | kComplexTypes | ElementType::kBool | ElementType::kString},
      {1, ElementType::kInt64},
      {2, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable col2im_rows;
const SchemaTable col2im_rows(kRows);

}  // namespace ortolan::ops::onnx
