// TIFF by libtiff: the first picture of a file, as libtiff makes RGB of it.
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/images/decoder.h"

namespace ortolan::images {
namespace {

struct Input {
  Bytes bytes;
  uint64_t at = 0;
  std::string error;
};

tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t count) {
  auto& input = *static_cast<Input*>(handle);
  if (count <= 0 || input.at >= input.bytes.size()) return 0;
  auto size = std::min<uint64_t>(static_cast<uint64_t>(count), input.bytes.size() - input.at);
  std::memcpy(to, input.bytes.data() + input.at, size);
  input.at += size;
  return static_cast<tmsize_t>(size);
}

tmsize_t refuse_write(thandle_t, void*, tmsize_t) { return 0; }

toff_t seek(thandle_t handle, toff_t offset, int whence) {
  auto& input = *static_cast<Input*>(handle);
  if (whence == SEEK_SET) input.at = offset;
  if (whence == SEEK_CUR) input.at += offset;
  if (whence == SEEK_END) input.at = input.bytes.size() + offset;
  return input.at;
}

int close_nothing(thandle_t) { return 0; }
toff_t size_of(thandle_t handle) { return static_cast<Input*>(handle)->bytes.size(); }

int keep_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  char text[200];
  std::vsnprintf(text, sizeof text, format, arguments);
  static_cast<Input*>(user)->error = text;
  return 1;
}

int ignore(TIFF*, void*, const char*, const char*, va_list) { return 1; }

using Tiff = std::unique_ptr<TIFF, decltype(&TIFFClose)>;

Tiff open(Input& input, uint64_t max_pixels) {
  std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(), TIFFOpenOptionsFree);
  if (!options) throw Failure{"libtiff cannot start"};
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), keep_error, &input);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), ignore, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(max_pixels * 8));
  return {TIFFClientOpenExt("input", "rm", &input, read_bytes, refuse_write, seek, close_nothing, size_of, nullptr,
                            nullptr, options.get()),
          TIFFClose};
}

}  // namespace

void decode_tiff(Bytes bytes, const OrtolanImageSink& sink) {
  Input input{bytes};
  Tiff tiff = open(input, sink.max_pixels);
  auto failure = [&] { return Failure{input.error.empty() ? "libtiff cannot read the file" : input.error}; };
  if (!tiff) throw failure();
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height);
  char reason[1024] = {};
  if (!TIFFRGBAImageOK(tiff.get(), reason)) throw Failure{reason};
  uint8_t* pixels = pixels_for(sink, height, width);
  size_t count = size_t{width} * height;
  std::vector<uint32_t> raster(count);
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, raster.data(), ORIENTATION_TOPLEFT, 1)) throw failure();
  for (size_t i = 0; i < count; ++i) {
    pixels[3 * i] = static_cast<uint8_t>(TIFFGetR(raster[i]));
    pixels[3 * i + 1] = static_cast<uint8_t>(TIFFGetG(raster[i]));
    pixels[3 * i + 2] = static_cast<uint8_t>(TIFFGetB(raster[i]));
  }
}

}  // namespace ortolan::images
