// Readers of .npy, PGM and PPM.
#include "array_file.h"

#include <algorithm>
#include <cstring>

#include "files.h"

namespace ortolan::tools {
namespace {

struct NpyType {
  const char* text;
  ElementType type;
};

constexpr NpyType kNpyTypes[] = {
    {"<f4", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},     {"<f8", ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {"<f2", ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},   {"<i8", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {"<i4", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},     {"<i2", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {"|i1", ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},      {"<u8", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {"<u4", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},    {"<u2", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {"|u1", ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},     {"|b1", ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
    {"<c8", ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64}, {"<c16", ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128},
};

// The text after a key of the header, up to the end character.
std::string header_field(const std::string& path, const std::string& header, const std::string& key, char begin,
                         char end) {
  size_t at = header.find("'" + key + "'");
  size_t from = at == std::string::npos ? at : header.find(begin, header.find(':', at));
  size_t to = from == std::string::npos ? from : header.find(end, from + 1);
  if (to == std::string::npos) fail(path, ": the .npy header has no '", key, "'");
  return header.substr(from + 1, to - from - 1);
}

ElementType npy_type(const std::string& path, const std::string& text) {
  for (const NpyType& row : kNpyTypes) {
    if (text == row.text) return row.type;
  }
  fail(path, ": .npy type '", text, "' is not supported; save little-endian numbers");
}

// Reads the header's numbers and skips comments.
class PictureReader {
 public:
  PictureReader(const std::string& path, const std::string& content) : path_(path), content_(content) {}

  int number() {
    skip_blanks();
    size_t start = at_;
    int value = 0;
    while (at_ < content_.size() && std::isdigit(static_cast<unsigned char>(content_[at_])) && value < 1 << 24) {
      value = value * 10 + (content_[at_++] - '0');
    }
    if (at_ == start) fail(path_, ": a number is missing at byte ", at_);
    return value;
  }
  int binary(int width) {
    if (at_ + width > content_.size()) fail(path_, ": the file ends inside the pixels");
    int value = 0;
    for (int i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(content_[at_++]);
    return value;
  }
  void skip(size_t bytes) { at_ += bytes; }

 private:
  void skip_blanks() {
    while (at_ < content_.size()) {
      if (content_[at_] == '#') {
        at_ = std::min(content_.find('\n', at_), content_.size());
      } else if (!std::isspace(static_cast<unsigned char>(content_[at_]))) {
        return;
      } else {
        ++at_;
      }
    }
  }

  const std::string& path_;
  const std::string& content_;
  size_t at_ = 0;
};

// Mean over the source pixels that the target pixel covers; the nearest one where it covers none.
float resampled(const Picture& picture, int channel, double top, double bottom, double left, double right) {
  int y0 = int(top), x0 = int(left);
  int y1 = std::clamp(int(bottom), y0 + 1, picture.height), x1 = std::clamp(int(right), x0 + 1, picture.width);
  double sum = 0;
  for (int y = y0; y < y1; ++y) {
    for (int x = x0; x < x1; ++x) {
      sum += picture.pixels[(size_t(y) * picture.width + x) * picture.channels + channel];
    }
  }
  return float(sum / ((y1 - y0) * (x1 - x0)));
}

float blended(const Picture& picture, int channel, int channels, double top, double bottom, double left, double right) {
  if (channels == picture.channels || picture.channels == 1) {
    return resampled(picture, picture.channels == 1 ? 0 : channel, top, bottom, left, right);
  }
  constexpr float kLuma[] = {0.299f, 0.587f, 0.114f};
  float sum = 0;
  for (int c = 0; c < 3; ++c) sum += kLuma[c] * resampled(picture, c, top, bottom, left, right);
  return sum;
}

}  // namespace

Value read_npy(const std::string& path) {
  std::string content = read_file(path);
  if (content.size() < 12 || content.compare(0, 6, "\x93NUMPY") != 0) fail(path, " is no .npy file");
  size_t prefix = content[6] == 1 ? 10 : 12;
  size_t length = 0;
  for (size_t i = prefix; i-- > 8;) length = length << 8 | static_cast<unsigned char>(content[i]);
  if (prefix + length > content.size()) fail(path, ": the .npy header is cut off");
  std::string header = content.substr(prefix, length);
  if (header.find("'fortran_order': True") != std::string::npos) {
    fail(path, " is stored column by column; save numpy.ascontiguousarray of it");
  }
  std::vector<int64_t> shape;
  for (const std::string& part : split(header_field(path, header, "shape", '(', ')'), ',')) {
    if (!trimmed(part).empty()) shape.push_back(parse_integer(trimmed(part), path + ": a dimension"));
  }
  Value value = make_tensor(npy_type(path, header_field(path, header, "descr", '\'', '\'')), shape);
  if (content.size() - prefix - length < value.bytes.size()) fail(path, ": the file ends inside the data");
  std::memcpy(value.bytes.data(), content.data() + prefix + length, value.bytes.size());
  return value;
}

Picture read_picture(const std::string& path) {
  std::string content = read_file(path);
  char kind = content.size() > 2 && content[0] == 'P' ? content[1] : 0;
  if (kind != '2' && kind != '3' && kind != '5' && kind != '6') {
    fail(path, " is no PGM or PPM picture; convert it, for example with: convert PICTURE out.ppm");
  }
  PictureReader reader(path, content);
  reader.skip(2);
  Picture picture;
  picture.channels = kind == '3' || kind == '6' ? 3 : 1;
  picture.width = reader.number();
  picture.height = reader.number();
  int top = reader.number();
  if (picture.width < 1 || picture.height < 1 || top < 1 || top > 65535 || picture.width > 32768 ||
      picture.height > 32768) {
    fail(path, ": a picture of ", picture.width, "x", picture.height, " with greatest value ", top, " is not possible");
  }
  bool binary = kind >= '5';
  reader.skip(binary ? 1 : 0);
  size_t count = size_t(picture.width) * picture.height * picture.channels;
  if (count > content.size()) fail(path, ": the file is too short for ", picture.width, "x", picture.height, " pixels");
  picture.pixels.resize(count);
  for (float& pixel : picture.pixels) {
    pixel = float(binary ? reader.binary(top > 255 ? 2 : 1) : reader.number()) / float(top);
  }
  return picture;
}

std::vector<float> planes(const Picture& picture, int channels, int height, int width) {
  std::vector<float> out;
  out.reserve(size_t(channels) * height * width);
  double dy = double(picture.height) / height, dx = double(picture.width) / width;
  for (int c = 0; c < channels; ++c) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        out.push_back(blended(picture, c, channels, y * dy, (y + 1) * dy, x * dx, (x + 1) * dx));
      }
    }
  }
  return out;
}

}  // namespace ortolan::tools
