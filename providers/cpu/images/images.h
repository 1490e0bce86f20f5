// The one function of libortolan_images, the module that decodes images by the libraries of their formats. It is loaded
// when the first such image comes, so that the runtime itself depends on none of these libraries.
#pragma once

#include <stddef.h>
#include <stdint.h>

extern "C" {

/** Where a picture goes. */
struct OrtolanImageSink {
  void* context;
  uint64_t max_pixels;
  /** Memory for height * width pixels of three bytes, red, green and blue, without gaps; NULL to give up. Called at
     most once, and not while a format's library runs. It must not throw. */
  uint8_t* (*pixels)(void* context, uint64_t height, uint64_t width);
};

/** Decodes a JPEG, PNG, TIFF, WebP or JPEG 2000 file of `size` bytes. Returns 0, or 1 with the reason as a text in
    `error`, of at most `error_size` bytes. May be called by many threads at once. */
typedef int OrtolanDecodeImage(const uint8_t* data, size_t size, const OrtolanImageSink* sink, char* error,
                               size_t error_size);
__attribute__((visibility("default"))) OrtolanDecodeImage ortolan_decode_image;
}
