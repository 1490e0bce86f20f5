// WebP by libwebp; animations are refused.
#include <webp/decode.h>

#include "cpu/images/decoder.h"

namespace ortolan::images {

void decode_webp(Bytes bytes, const OrtolanImageSink& sink) {
  WebPBitstreamFeatures features;
  if (WebPGetFeatures(bytes.data(), bytes.size(), &features) != VP8_STATUS_OK) {
    throw Failure{"the WebP header is damaged or cut off"};
  }
  if (features.has_animation) throw Failure{"the WebP file is an animation; give a still picture"};
  auto width = static_cast<size_t>(features.width), height = static_cast<size_t>(features.height);
  uint8_t* pixels = pixels_for(sink, height, width);
  uint8_t* done =
      WebPDecodeRGBInto(bytes.data(), bytes.size(), pixels, width * height * 3, static_cast<int>(width) * 3);
  if (done == nullptr) throw Failure{"the WebP data are damaged or cut off"};
}

}  // namespace ortolan::images
