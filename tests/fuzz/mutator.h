// Random changes of a target's input. Each target is linked with one of two: message_mutator.cc changes models message
// by message, so that most results still get past the reader; byte_mutator.cc changes bytes and lines of anything.
#pragma once

#include <random>
#include <string>
#include <string_view>

namespace ortolan::fuzz {

/** `input` with a few parts changed, left out, doubled, or taken from `other` (which may be empty). */
std::string mutate(std::string_view input, std::string_view other, std::mt19937& random);

}  // namespace ortolan::fuzz
