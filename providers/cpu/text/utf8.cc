// Decoding and validation of UTF-8.
#include "cpu/text/utf8.h"

#include <cstring>

namespace ortolan::cpu {
namespace {

template <class Word>
bool any_high_bit(const char* bytes, size_t count) {
  constexpr Word kHighBits = static_cast<Word>(0x8080808080808080u);
  Word all = 0, word;
  for (size_t at = 0; at + sizeof(Word) <= count; at += sizeof(Word)) {
    std::memcpy(&word, bytes + at, sizeof(Word));
    all |= word;
  }
  std::memcpy(&word, bytes + count - sizeof(Word), sizeof(Word));  // the last ones, some of them again
  return ((all | word) & kHighBits) != 0;
}

bool is_ascii(std::string_view text) {
  size_t count = text.size();
  if (count >= 8) return !any_high_bit<uint64_t>(text.data(), count);
  if (count >= 4) return !any_high_bit<uint32_t>(text.data(), count);
  return count == 0 || ((text[0] | text[count / 2] | text[count - 1]) & 0x80) == 0;
}

}  // namespace

std::optional<size_t> count_code_points(std::string_view text) {
  if (is_ascii(text)) return text.size();
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    size_t end = end_of_character(text, at);
    if (end == 0) return std::nullopt;
    at = end;
  }
  return count;
}

size_t end_beyond_ascii(std::string_view text, size_t at) {
  uint32_t code = 0;
  return read_code_point(text, at, code) ? at : 0;
}

bool read_code_point(std::string_view text, size_t& at, uint32_t& code) {
  const auto first = static_cast<uint8_t>(text[at]);
  const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4 || length > text.size() - at) return false;
  uint32_t value = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto next = static_cast<uint8_t>(text[at + i]);
    if ((next & 0xc0) != 0x80) return false;
    value = value << 6 | (next & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kLeast[length] || value > 0x10ffff || surrogate) return false;
  at += length;
  code = value;
  return true;
}

}  // namespace ortolan::cpu
