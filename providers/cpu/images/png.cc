// PNG by libpng: 8 bits a sample, without transparency.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <memory>
#include <vector>

#include "cpu/images/decoder.h"

namespace ortolan::images {
namespace {

constexpr png_alloc_size_t kMostChunk = 8 << 20;  // bytes of an auxiliary chunk

struct Png {
  png_structp state = nullptr;
  png_infop info = nullptr;
  Bytes bytes;
  size_t at = 0;
  char text[200] = {};
  ~Png() { png_destroy_read_struct(&state, &info, nullptr); }
};

[[noreturn]] void give_up(png_structp state, png_const_charp text) {
  auto* png = static_cast<Png*>(png_get_error_ptr(state));
  std::strncpy(png->text, text, sizeof png->text - 1);
  png_longjmp(state, 1);
}

void ignore(png_structp, png_const_charp) {}

void read_bytes(png_structp state, png_bytep to, size_t count) {
  auto* png = static_cast<Png*>(png_get_io_ptr(state));
  if (count > png->bytes.size() - png->at) png_error(state, "the PNG data are cut off");
  std::memcpy(to, png->bytes.data() + png->at, count);
  png->at += count;
}

/** Nothing with a destructor lives in these two: errors jump out of them. */
bool read_header(Png& png) {
  if (setjmp(png_jmpbuf(png.state)) != 0) return false;
  png_set_read_fn(png.state, &png, read_bytes);
  png_set_chunk_malloc_max(png.state, kMostChunk);
  png_read_info(png.state, png.info);
  png_set_expand(png.state);
  png_set_scale_16(png.state);
  png_set_gray_to_rgb(png.state);
  png_set_strip_alpha(png.state);
  png_set_interlace_handling(png.state);
  png_read_update_info(png.state, png.info);
  return true;
}

bool read_rows(Png& png, png_bytepp rows) {
  if (setjmp(png_jmpbuf(png.state)) != 0) return false;
  png_read_image(png.state, rows);
  png_read_end(png.state, nullptr);
  return true;
}

}  // namespace

void decode_png(Bytes bytes, const OrtolanImageSink& sink) {
  auto png = std::make_unique<Png>();
  png->bytes = bytes;
  png->state = png_create_read_struct(PNG_LIBPNG_VER_STRING, png.get(), give_up, ignore);
  if (png->state != nullptr) png->info = png_create_info_struct(png->state);
  if (png->info == nullptr) throw Failure{"libpng cannot start"};
  if (!read_header(*png)) throw Failure{png->text};
  size_t height = png_get_image_height(png->state, png->info), width = png_get_image_width(png->state, png->info);
  if (png_get_rowbytes(png->state, png->info) != width * 3) throw Failure{"the PNG does not expand to RGB"};
  uint8_t* pixels = pixels_for(sink, height, width);
  std::vector<png_bytep> rows(height);
  for (size_t i = 0; i < height; ++i) rows[i] = pixels + i * width * 3;
  if (!read_rows(*png, rows.data())) throw Failure{png->text};
}

}  // namespace ortolan::images
