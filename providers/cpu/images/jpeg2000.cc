// JPEG 2000, as a file or a bare code stream, by OpenJPEG.
#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "cpu/images/decoder.h"

namespace ortolan::images {
namespace {

struct Input {
  Bytes bytes;
  size_t at = 0;
  std::string error;
};

OPJ_SIZE_T read_bytes(void* to, OPJ_SIZE_T count, void* user) {
  auto& input = *static_cast<Input*>(user);
  size_t left = input.bytes.size() - input.at, size = std::min<size_t>(count, left);
  if (size == 0) return static_cast<OPJ_SIZE_T>(-1);
  std::memcpy(to, input.bytes.data() + input.at, size);
  input.at += size;
  return size;
}

OPJ_OFF_T skip_bytes(OPJ_OFF_T count, void* user) {
  auto& input = *static_cast<Input*>(user);
  if (count < 0) return -1;
  auto size = std::min<uint64_t>(static_cast<uint64_t>(count), input.bytes.size() - input.at);
  input.at += size;
  return size == 0 && count > 0 ? -1 : static_cast<OPJ_OFF_T>(size);
}

OPJ_BOOL seek(OPJ_OFF_T offset, void* user) {
  auto& input = *static_cast<Input*>(user);
  if (offset < 0 || static_cast<uint64_t>(offset) > input.bytes.size()) return OPJ_FALSE;
  input.at = static_cast<size_t>(offset);
  return OPJ_TRUE;
}

void keep_error(const char* text, void* user) {
  std::string& error = static_cast<Input*>(user)->error;
  if (error.empty()) error = text;
  while (!error.empty() && error.back() == '\n') error.pop_back();
}

using Stream = std::unique_ptr<opj_stream_t, decltype(&opj_stream_destroy)>;
using Codec = std::unique_ptr<opj_codec_t, decltype(&opj_destroy_codec)>;
using Image = std::unique_ptr<opj_image_t, decltype(&opj_image_destroy)>;

Stream open(Input& input) {
  Stream stream(opj_stream_create(1 << 16, OPJ_TRUE), opj_stream_destroy);
  if (!stream) throw Failure{"OpenJPEG cannot start"};
  opj_stream_set_user_data(stream.get(), &input, nullptr);
  opj_stream_set_user_data_length(stream.get(), input.bytes.size());
  opj_stream_set_read_function(stream.get(), read_bytes);
  opj_stream_set_skip_function(stream.get(), skip_bytes);
  opj_stream_set_seek_function(stream.get(), seek);
  return stream;
}

/** Samples of one component, made 8-bit, at positions of the whole picture. */
class Samples {
 public:
  explicit Samples(const opj_image_comp_t& component) : component_(component) {
    if (component.data == nullptr || component.w == 0 || component.h == 0 || component.prec == 0 ||
        component.prec > 31) {
      throw Failure{"a component of the JPEG 2000 picture has no samples"};
    }
    shift_ = component.sgnd ? int64_t{1} << (component.prec - 1) : 0;
    most_ = (int64_t{1} << component.prec) - 1;
  }
  int64_t at(uint32_t y, uint32_t x) const {
    uint32_t row = std::min(y / std::max(component_.dy, 1u), component_.h - 1);
    uint32_t column = std::min(x / std::max(component_.dx, 1u), component_.w - 1);
    int64_t value = std::clamp<int64_t>(component_.data[size_t{row} * component_.w + column] + shift_, 0, most_);
    return most_ == 255 ? value : (value * 255 + most_ / 2) / most_;
  }

 private:
  const opj_image_comp_t& component_;
  int64_t shift_, most_;
};

uint8_t to_byte(double value) { return static_cast<uint8_t>(std::clamp(value + 0.5, 0.0, 255.0)); }

void write_pixels(const opj_image_t& image, uint32_t height, uint32_t width, uint8_t* pixels) {
  bool colours = image.numcomps >= 3, luma_first = image.color_space == OPJ_CLRSPC_SYCC;
  Samples first(image.comps[0]), second(image.comps[colours ? 1 : 0]), third(image.comps[colours ? 2 : 0]);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x, pixels += 3) {
      int64_t a = first.at(y, x), b = second.at(y, x), c = third.at(y, x);
      if (colours && luma_first) {
        auto luma = static_cast<double>(a), blue = static_cast<double>(b - 128), red = static_cast<double>(c - 128);
        pixels[0] = to_byte(luma + 1.402 * red);
        pixels[1] = to_byte(luma - 0.344136 * blue - 0.714136 * red);
        pixels[2] = to_byte(luma + 1.772 * blue);
      } else {
        pixels[0] = static_cast<uint8_t>(a), pixels[1] = static_cast<uint8_t>(b), pixels[2] = static_cast<uint8_t>(c);
      }
    }
  }
}

}  // namespace

void decode_jpeg2000(Bytes bytes, const OrtolanImageSink& sink) {
  Input input{bytes};
  Stream stream = open(input);
  Codec codec(opj_create_decompress(bytes[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2), opj_destroy_codec);
  if (!codec) throw Failure{"OpenJPEG cannot start"};
  opj_set_error_handler(codec.get(), keep_error, &input);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  auto failure = [&] { return Failure{input.error.empty() ? "OpenJPEG cannot read the file" : input.error}; };
  if (!opj_setup_decoder(codec.get(), &parameters)) throw failure();
  opj_image_t* header = nullptr;
  bool read = opj_read_header(stream.get(), codec.get(), &header);
  Image image(header, opj_image_destroy);
  if (!read || !image) throw failure();
  if (image->x1 <= image->x0 || image->y1 <= image->y0 || image->numcomps == 0) throw Failure{"the picture is empty"};
  uint32_t width = image->x1 - image->x0, height = image->y1 - image->y0;
  if (uint64_t{width} * height > sink.max_pixels / image->numcomps) {
    throw Failure{"the picture has " + std::to_string(width) + " x " + std::to_string(height) + " pixels of " +
                  std::to_string(image->numcomps) + " components, more than the limit"};
  }
  if (!opj_decode(codec.get(), stream.get(), image.get())) throw failure();
  opj_end_decompress(codec.get(), stream.get());
  write_pixels(*image, height, width, pixels_for(sink, height, width));
}

}  // namespace ortolan::images
