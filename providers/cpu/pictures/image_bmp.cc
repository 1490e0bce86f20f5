// BMP: 1 to 32 bits a pixel, palettes, bit fields, and the two run-length codes.
#include <algorithm>
#include <bit>
#include <cstring>

#include "base/threads/polled_loop.h"
#include "cpu/pictures/image_decoding.h"

namespace ortolan::cpu {
namespace {

enum Compression : uint32_t { kRgb = 0, kRle8 = 1, kRle4 = 2, kFields = 3, kAlphaFields = 6 };

struct Picture {
  std::span<const uint8_t> file;
  int64_t width = 0, height = 0;
  bool top_down = false;
  uint32_t bits = 0, compression = kRgb, palette_at = 0, palette_entry = 4, colours = 0, pixels_at = 0;
  uint32_t masks[3] = {};
  uint8_t palette[256][3] = {};

  uint32_t word(size_t at, size_t bytes) const {
    require(at + bytes <= file.size(), ErrorCode::kInvalidArgument, "the BMP file is cut off after ", file.size(),
            " bytes");
    uint32_t value = 0;
    for (size_t i = 0; i < bytes; ++i) value |= uint32_t{file[at + i]} << (8 * i);
    return value;
  }
  /** Row y of the file as a row of the picture. */
  int64_t row(int64_t y) const { return top_down ? y : height - 1 - y; }
};

void read_sizes(Picture& p) {
  uint32_t header = p.word(14, 4);
  bool old = header == 12;
  require(old || (header >= 16 && header <= 1024), ErrorCode::kInvalidArgument, "the BMP file has a header of ", header,
          " bytes, which no version has");
  p.pixels_at = p.word(10, 4);
  auto signed_word = [&](size_t at) { return int64_t{static_cast<int32_t>(p.word(at, 4))}; };
  p.width = old ? int64_t{p.word(18, 2)} : signed_word(18);
  int64_t height = old ? int64_t{p.word(20, 2)} : signed_word(22);
  p.top_down = height < 0;
  p.height = height < 0 ? -height : height;
  p.bits = p.word(old ? 24 : 28, 2);
  p.palette_entry = old ? 3 : 4;
  p.palette_at = 14 + header;
  if (header >= 20) p.compression = p.word(30, 4);
  if (header >= 36) p.colours = p.word(46, 4);
  check_picture_size(p.height, p.width);
  if (p.compression == kFields || p.compression == kAlphaFields) {
    for (uint32_t i = 0; i < 3; ++i) p.masks[i] = p.word(54 + 4 * i, 4);
    if (header == 40) p.palette_at += p.compression == kFields ? 12 : 16;
  }
}

void check_form(const Picture& p) {
  bool fields = p.compression == kFields || p.compression == kAlphaFields;
  bool known = p.compression == kRgb ? p.bits == 1 || p.bits == 2 || p.bits == 4 || p.bits == 8 || p.bits == 16 ||
                                           p.bits == 24 || p.bits == 32
               : fields ? p.bits == 16 || p.bits == 32
                        : (p.compression == kRle8 && p.bits == 8) || (p.compression == kRle4 && p.bits == 4);
  require(known, ErrorCode::kInvalidArgument, "the BMP file has ", p.bits, " bits a pixel in form ", p.compression,
          ", which is not known");
}

void read_palette(Picture& p) {
  if (p.bits > 8) return;
  uint32_t count = std::min(p.colours ? p.colours : 1u << p.bits, 1u << p.bits);
  for (uint32_t i = 0; i < count; ++i) {
    size_t at = size_t{p.palette_at} + size_t{i} * p.palette_entry;
    for (size_t c = 0; c < 3; ++c) p.palette[i][c] = static_cast<uint8_t>(p.word(at + 2 - c, 1));
  }
}

/** The bits of `mask` in `value`, scaled to a byte. */
uint8_t field(uint32_t value, uint32_t mask) {
  if (mask == 0) return 0;
  int shift = std::countr_zero(mask);
  uint64_t most = mask >> shift;
  return static_cast<uint8_t>((uint64_t{(value & mask) >> shift} * 255 + most / 2) / most);
}

void read_row(const Picture& p, const uint8_t* from, uint8_t* to) {
  for (int64_t x = 0; x < p.width; ++x, to += 3) {
    if (p.bits <= 8) {
      auto bit = static_cast<uint32_t>(x * p.bits % 8);
      uint32_t index = from[x * p.bits / 8] >> (8 - p.bits - bit) & ((1u << p.bits) - 1);
      std::memcpy(to, p.palette[index], 3);
    } else if (p.bits == 24 || (p.bits == 32 && p.compression == kRgb)) {
      const uint8_t* pixel = from + x * (p.bits / 8);
      to[0] = pixel[2], to[1] = pixel[1], to[2] = pixel[0];
    } else {
      uint32_t value = 0;
      std::memcpy(&value, from + x * (p.bits / 8), p.bits / 8);
      for (int c = 0; c < 3; ++c) to[c] = field(value, p.masks[c]);
    }
  }
}

void read_rows(const Picture& p, uint8_t* pixels) {
  int64_t stride = (p.width * p.bits + 31) / 32 * 4;
  base::TerminatePoll poll;
  for (int64_t y = 0; y < p.height; ++y) {
    poll.work(4 * p.width);
    read_row(p, p.file.data() + p.pixels_at + y * stride, pixels + p.row(y) * p.width * 3);
  }
}

/** Run-length codes: pairs of a count and a colour (or two in turn), or a zero and what to do. */
class RunLengths {
 public:
  RunLengths(const Picture& p, uint8_t* pixels) : p_(p), pixels_(pixels), at_(p.pixels_at) {}

  void read() {
    base::TerminatePoll poll;
    for (bool ended = false; !ended;) {
      poll.work(64);
      uint32_t count = next(), value = next();
      if (count > 0) {
        for (uint32_t i = 0; i < count; ++i) put(p_.bits == 8 ? value : i % 2 == 0 ? value >> 4 : value & 15);
      } else if (value == 0) {
        x_ = 0, ++y_;
      } else if (value == 1) {
        ended = true;
      } else if (value == 2) {
        x_ += next();
        y_ += next();
      } else {
        literal(value);
      }
    }
  }

 private:
  uint32_t next() { return p_.word(at_++, 1); }
  void literal(uint32_t count) {
    uint32_t value = 0, bytes = p_.bits == 8 ? count : (count + 1) / 2;
    for (uint32_t i = 0; i < count; ++i) {
      if (p_.bits == 8 || i % 2 == 0) value = next();
      put(p_.bits == 8 ? value : i % 2 == 0 ? value >> 4 : value & 15);
    }
    at_ += bytes % 2;
  }
  void put(uint32_t colour) {
    if (x_ < p_.width && y_ < p_.height) {
      std::memcpy(pixels_ + (p_.row(y_) * p_.width + x_) * 3, p_.palette[colour], 3);
    }
    ++x_;
  }

  const Picture& p_;
  uint8_t* pixels_;
  size_t at_;
  int64_t x_ = 0, y_ = 0;
};

}  // namespace

void decode_bmp(std::span<const uint8_t> file, PixelMemory memory) {
  Picture p;
  p.file = file;
  read_sizes(p);
  check_form(p);
  read_palette(p);
  if (p.bits == 16 && p.compression == kRgb) {
    p.masks[0] = 0x7c00, p.masks[1] = 0x3e0, p.masks[2] = 0x1f;
  }
  bool runs = p.compression == kRle8 || p.compression == kRle4;
  int64_t needed = runs ? 2 : (p.width * p.bits + 31) / 32 * 4 * p.height;
  auto left = static_cast<int64_t>(file.size()) - static_cast<int64_t>(p.pixels_at);
  require(needed <= left, ErrorCode::kInvalidArgument, "the BMP file has ", left, " bytes for pixels that take ",
          needed, "; it is cut off");
  uint8_t* pixels = memory(p.height, p.width);
  if (!runs) return read_rows(p, pixels);
  base::polled_loop(p.width * p.height, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) std::memcpy(pixels + 3 * i, p.palette[0], 3);
  });
  RunLengths(p, pixels).read();
}

}  // namespace ortolan::cpu
