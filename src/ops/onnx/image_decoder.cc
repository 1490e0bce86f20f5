// ImageDecoder: the bytes of an image file to pixels [height, width, channels].
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void image_decoder(InferContext& context) {
  context.require_rank(0, 1, 1);
  std::string_view format = context.node().string_or("pixel_format", "RGB");
  require(format == "RGB" || format == "BGR" || format == "Grayscale", ErrorCode::kInvalidGraph, "pixel_format is '",
          format, "'; it must be RGB, BGR or Grayscale");
  context.set_output(0, ElementType::kUInt8, DimVector{Dim(), Dim(), format == "Grayscale" ? 1 : 3});
}

constexpr SchemaRow kRows[] = {
    {"", "ImageDecoder", 20, kLatest, 1, 1, image_decoder, {{0, ElementType::kUInt8}}},
};

}  // namespace

extern const SchemaTable image_decoder_rows;
constinit const SchemaTable image_decoder_rows(kRows);

}  // namespace ortolan::ops::onnx
