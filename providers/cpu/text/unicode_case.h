// Case mapping of UTF-8 text by Unicode's simple one-to-one mappings, whatever the locale.
#pragma once

#include <string>
#include <string_view>

namespace ortolan::cpu {

/** The text in lower or upper case. Bytes that are not valid UTF-8 stay as they are. */
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

}  // namespace ortolan::cpu
