// Changes models message by message, so that most results still get past the reader.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace ortolan::fuzz {

/** `model` with a few fields changed, left out, doubled, or taken from `other` (which may be empty). */
std::string mutate(std::string_view model, std::string_view other, std::mt19937& random);

}  // namespace ortolan::fuzz
