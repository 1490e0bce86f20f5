// Steps over the code points of UTF-8 text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ortolan::cpu {

/** Reads the code point at `at` and moves past it; false, with nothing changed, where it is not valid UTF-8. */
bool read_code_point(std::string_view text, size_t& at, uint32_t& code);
/** The number of code points of `text`; nothing where it is not valid UTF-8. */
std::optional<size_t> count_code_points(std::string_view text);
/** Where the code point at `at` ends; 0 where it is not valid UTF-8. */
size_t end_beyond_ascii(std::string_view text, size_t at);
inline size_t end_of_character(std::string_view text, size_t at) {
  return static_cast<uint8_t>(text[at]) < 0x80 ? at + 1 : end_beyond_ascii(text, at);
}

}  // namespace ortolan::cpu
