// The portable formats: PBM, PGM and PPM as text and as bytes, and PAM.
#include <algorithm>
#include <string>

#include "base/threads/polled_loop.h"
#include "cpu/pictures/image_decoding.h"

namespace ortolan::cpu {
namespace {

/** Reads text and samples one after the other; throws where the file ends. */
class Reader {
 public:
  explicit Reader(std::span<const uint8_t> file) : file_(file) {}

  int byte() {
    require(at_ < file_.size(), ErrorCode::kInvalidArgument, "the PNM file is cut off after ", file_.size(), " bytes");
    return file_[at_++];
  }
  /** The next word; comments run from # to the end of their line. */
  std::string word() {
    std::string word;
    int c = byte();
    while (is_space(c) || c == '#') {
      while (c == '#' && byte() != '\n') {
      }
      c = byte();
    }
    for (; !is_space(c); c = at_ < file_.size() ? byte() : ' ') {
      require(word.size() < 32, ErrorCode::kInvalidArgument, "the PNM header has a word of more than 32 letters");
      word += static_cast<char>(c);
    }
    return word;
  }
  int64_t number() { return number_of(word()); }
  /** A digit 0 or 1 that may stand without space around it. */
  int bit() {
    int c = byte();
    while (is_space(c)) c = byte();
    require(c == '0' || c == '1', ErrorCode::kInvalidArgument, "a PBM text holds other letters than 0 and 1");
    return c - '0';
  }
  static int64_t number_of(const std::string& word) {
    bool digits = !word.empty() && word.size() <= 9 &&
                  std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
    require(digits, ErrorCode::kInvalidArgument, "the PNM file has '", word, "' where a number must stand");
    return std::stoll(word);
  }
  size_t left() const { return file_.size() - at_; }

 private:
  static bool is_space(int c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  std::span<const uint8_t> file_;
  size_t at_ = 2;
};

struct Header {
  int64_t width = 0, height = 0, depth = 1, most = 1;
  bool text = false, bits = false;
};

Header read_pam(Reader& reader) {
  Header h;
  for (std::string word = reader.word(); word != "ENDHDR"; word = reader.word()) {
    if (word == "WIDTH") h.width = reader.number();
    if (word == "HEIGHT") h.height = reader.number();
    if (word == "DEPTH") h.depth = reader.number();
    if (word == "MAXVAL") h.most = reader.number();
    if (word == "TUPLTYPE") reader.word();
  }
  return h;
}

Header read_header(Reader& reader, int kind) {
  if (kind == 7) return read_pam(reader);
  Header h;
  h.text = kind <= 3;
  h.bits = kind == 1 || kind == 4;
  h.depth = kind == 3 || kind == 6 ? 3 : 1;
  h.width = reader.number();
  h.height = reader.number();
  if (!h.bits) h.most = reader.number();
  return h;
}

/** The samples of one row as bytes; a set bit is black. */
void read_row(Reader& reader, const Header& h, std::vector<uint8_t>& row) {
  int bits = 0;
  base::TerminatePoll poll;
  for (size_t i = 0; i < row.size(); ++i) {
    poll.work(h.text ? 8 : 1);
    if (h.bits && !h.text) {
      bits = i % 8 == 0 ? reader.byte() : bits << 1;
      row[i] = bits & 0x80 ? 0 : 255;
      continue;
    }
    if (h.bits) {
      row[i] = reader.bit() ? 0 : 255;
      continue;
    }
    int64_t sample = h.text ? reader.number() : reader.byte();
    if (!h.text && h.most > 255) sample = sample << 8 | reader.byte();
    row[i] = static_cast<uint8_t>((std::min(sample, h.most) * 255 + h.most / 2) / h.most);
  }
}

}  // namespace

void decode_pnm(std::span<const uint8_t> file, PixelMemory memory) {
  Reader reader(file);
  Header h = read_header(reader, file[1] - '0');
  check_picture_size(h.height, h.width);
  require(h.depth >= 1 && h.depth <= 4 && h.most >= 1 && h.most <= 65535, ErrorCode::kInvalidArgument,
          "the PNM file has ", h.depth, " samples a pixel up to ", h.most, "; it needs 1 to 4, and at most 65535");
  // Each sample takes a bit at least, so a short file cannot make us allocate much.
  int64_t samples = h.width * h.height * h.depth;
  require(samples / 8 <= static_cast<int64_t>(reader.left()), ErrorCode::kInvalidArgument, "the PNM file has ",
          reader.left(), " bytes for ", samples, " samples; it is cut off");
  uint8_t* pixels = memory(h.height, h.width);
  std::vector<uint8_t> row(static_cast<size_t>(h.width * h.depth));
  base::TerminatePoll poll;
  for (int64_t y = 0; y < h.height; ++y) {
    poll.work(std::ssize(row) * (h.text ? 8 : 2));
    read_row(reader, h, row);
    for (int64_t x = 0; x < h.width; ++x, pixels += 3) {
      const uint8_t* from = row.data() + x * h.depth;
      for (int c = 0; c < 3; ++c) pixels[c] = from[h.depth >= 3 ? c : 0];
    }
  }
}

}  // namespace ortolan::cpu
