// Decoding of pictures into rows of red, green and blue bytes.
#pragma once

#include <span>

#include "base/function_ref.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** Gives memory for height * width pixels of three bytes each, red, green and blue, without gaps. May throw. */
using PixelMemory = base::FunctionRef<uint8_t*(int64_t height, int64_t width)>;

/** Pixels of a picture at most: what a file of a few bytes can make us allocate. */
inline constexpr int64_t kMostPixels = int64_t{1} << 28;
/** Throws for a picture without pixels or with too many. */
void check_picture_size(int64_t height, int64_t width);

/** Decodes a file of any of the formats that ImageDecoder knows: transparency is dropped, samples of more than 8 bits
    are scaled down, grey becomes three equal bytes; EXIF's orientation is not applied. Throws for files that are
    damaged, cut off or of no known format. JPEG, PNG, TIFF, WebP and JPEG 2000 need the module libortolan_images;
    kNotImplemented says so where it is missing. */
void decode_picture(std::span<const uint8_t> file, PixelMemory memory);

/** The formats that need no library. The file begins as theirs do. */
void decode_bmp(std::span<const uint8_t> file, PixelMemory memory);
void decode_pnm(std::span<const uint8_t> file, PixelMemory memory);
/** By the module. */
void decode_by_module(std::span<const uint8_t> file, PixelMemory memory);

}  // namespace ortolan::cpu
