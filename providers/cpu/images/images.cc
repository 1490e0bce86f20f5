// Finds the format of a file by its first bytes and hands it to that format's decoder.
#include "cpu/images/images.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string_view>

#include "cpu/images/decoder.h"

namespace ortolan::images {
namespace {

using namespace std::string_view_literals;

struct Format {
  std::string_view first;  // the bytes of the file at `at`
  size_t at;
  void (*decode)(Bytes, const OrtolanImageSink&);
};

constexpr Format kFormats[] = {
    {"\xff\xd8\xff"sv, 0, decode_jpeg},
    {"\x89PNG\r\n\x1a\n"sv, 0, decode_png},
    {"II*\0"sv, 0, decode_tiff},
    {"MM\0*"sv, 0, decode_tiff},
    {"II+\0"sv, 0, decode_tiff},
    {"MM\0+"sv, 0, decode_tiff},
    {"WEBP"sv, 8, decode_webp},
    {"\0\0\0\x0cjP  \r\n\x87\n"sv, 0, decode_jpeg2000},
    {"\xff\x4f\xff\x51"sv, 0, decode_jpeg2000},
};

void decode(Bytes bytes, const OrtolanImageSink& sink) {
  for (const Format& format : kFormats) {
    if (bytes.size() < format.at + format.first.size()) continue;
    if (std::memcmp(bytes.data() + format.at, format.first.data(), format.first.size()) != 0) continue;
    return format.decode(bytes, sink);
  }
  throw Failure{"no known format begins with these bytes"};
}

}  // namespace

uint8_t* pixels_for(const OrtolanImageSink& sink, uint64_t height, uint64_t width) {
  if (height == 0 || width == 0) throw Failure{"the picture has no pixels"};
  if (width > sink.max_pixels / height) {
    throw Failure{"the picture has " + std::to_string(width) + " x " + std::to_string(height) +
                  " pixels, more than the limit of " + std::to_string(sink.max_pixels)};
  }
  uint8_t* pixels = sink.pixels(sink.context, height, width);
  if (pixels == nullptr) throw Failure{"there is no memory for the picture"};
  return pixels;
}

}  // namespace ortolan::images

int ortolan_decode_image(const uint8_t* data, size_t size, const OrtolanImageSink* sink, char* error,
                         size_t error_size) {
  try {
    ortolan::images::decode({data, size}, *sink);
    return 0;
  } catch (const ortolan::images::Failure& failure) {
    std::snprintf(error, error_size, "%s", failure.text.c_str());
  } catch (const std::exception& exception) {
    std::snprintf(error, error_size, "%s", exception.what());
  }
  return 1;
}
