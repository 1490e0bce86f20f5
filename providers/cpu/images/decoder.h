// What the decoders of one format each share: bytes, the sink, and how they give up.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cpu/images/images.h"

namespace ortolan::images {

using Bytes = std::span<const uint8_t>;

/** Why a file cannot be decoded. Never thrown through a frame of a format's library. */
struct Failure {
  std::string text;
};

/** Memory for the picture, red, green, blue. Throws Failure for no pixels, too many, or where the caller gives up. */
uint8_t* pixels_for(const OrtolanImageSink& sink, uint64_t height, uint64_t width);

void decode_jpeg(Bytes bytes, const OrtolanImageSink& sink);
void decode_png(Bytes bytes, const OrtolanImageSink& sink);
void decode_tiff(Bytes bytes, const OrtolanImageSink& sink);
void decode_webp(Bytes bytes, const OrtolanImageSink& sink);
void decode_jpeg2000(Bytes bytes, const OrtolanImageSink& sink);

}  // namespace ortolan::images
