// JPEG by libjpeg, with its default smooth upsampling of chroma.
#include <csetjmp>
#include <cstdio>
#include <memory>
#include <vector>

// After <cstdio>, which it needs.
#include <jerror.h>
#include <jpeglib.h>

#include "cpu/images/decoder.h"

namespace ortolan::images {
namespace {

constexpr int kMostScans = 500;  // of a progressive file; each costs as much as the whole picture

/** The library's state, with a way back out of it. */
struct Jpeg {
  jpeg_decompress_struct state{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf out;
  char text[JMSG_LENGTH_MAX] = {};
  bool incomplete = false;
};

[[noreturn]] void give_up(j_common_ptr state) {
  auto* jpeg = static_cast<Jpeg*>(state->client_data);
  state->err->format_message(state, jpeg->text);
  std::longjmp(jpeg->out, 1);
}

void take_note(j_common_ptr state, int level) {
  int code = state->err->msg_code;
  if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER)) {
    static_cast<Jpeg*>(state->client_data)->incomplete = true;
  }
}

void count_scans(j_common_ptr state) {
  if (state->is_decompressor && reinterpret_cast<j_decompress_ptr>(state)->input_scan_number > kMostScans) {
    state->err->msg_code = JERR_BAD_PROGRESSION;
    give_up(state);
  }
}

/** The three stages each run inside of one setjmp; nothing with a destructor lives in them. False: text says why. */
bool read_header(Jpeg& jpeg, Bytes bytes) {
  if (setjmp(jpeg.out) != 0) return false;
  jpeg_create_decompress(&jpeg.state);
  jpeg.state.progress = &jpeg.progress;
  jpeg_mem_src(&jpeg.state, bytes.data(), static_cast<unsigned long>(bytes.size()));
  jpeg_read_header(&jpeg.state, TRUE);
  bool four = jpeg.state.jpeg_color_space == JCS_CMYK || jpeg.state.jpeg_color_space == JCS_YCCK;
  jpeg.state.out_color_space = four ? JCS_CMYK : JCS_RGB;
  return true;
}

bool read_rows(Jpeg& jpeg, uint8_t* row, uint8_t* pixels) {
  if (setjmp(jpeg.out) != 0) return false;
  jpeg_start_decompress(&jpeg.state);
  size_t width = jpeg.state.output_width;
  while (jpeg.state.output_scanline < jpeg.state.output_height) {
    uint8_t* to = pixels + jpeg.state.output_scanline * width * 3;
    JSAMPROW line = row != nullptr ? row : to;
    jpeg_read_scanlines(&jpeg.state, &line, 1);
    if (row == nullptr) continue;
    bool inverted = jpeg.state.saw_Adobe_marker;
    for (size_t i = 0; i < width; ++i) {
      for (size_t c = 0; c < 3; ++c) {
        unsigned ink = row[4 * i + c], black = row[4 * i + 3];
        if (!inverted) ink = 255 - ink, black = 255 - black;
        to[3 * i + c] = static_cast<uint8_t>((ink * black + 127) / 255);
      }
    }
  }
  jpeg_finish_decompress(&jpeg.state);
  return true;
}

}  // namespace

void decode_jpeg(Bytes bytes, const OrtolanImageSink& sink) {
  auto jpeg = std::make_unique<Jpeg>();
  jpeg->state.client_data = jpeg.get();
  jpeg->state.err = jpeg_std_error(&jpeg->errors);
  jpeg->errors.error_exit = give_up;
  jpeg->errors.emit_message = take_note;
  jpeg->progress.progress_monitor = count_scans;
  struct Release {
    Jpeg& jpeg;
    ~Release() { jpeg_destroy_decompress(&jpeg.state); }
  } release{*jpeg};
  if (!read_header(*jpeg, bytes)) throw Failure{jpeg->text};
  uint8_t* pixels = pixels_for(sink, jpeg->state.image_height, jpeg->state.image_width);
  std::vector<uint8_t> row(jpeg->state.out_color_space == JCS_CMYK ? size_t{4} * jpeg->state.image_width : 0);
  if (!read_rows(*jpeg, row.empty() ? nullptr : row.data(), pixels)) throw Failure{jpeg->text};
  if (jpeg->incomplete) throw Failure{"the JPEG data are cut off or damaged"};
}

}  // namespace ortolan::images
