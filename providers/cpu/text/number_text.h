// Numbers as text and back, as casts to and from strings need them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tensor/element_type.h"

namespace ortolan::cpu {
using namespace tensor;

/** The shortest text that gives the number back: "0.1", "1.0", "1e-05", "1e+16", "nan", "-inf". For narrow types `type`
    says which precision counts. */
std::string to_text(double value, ElementType type);
std::string to_text(int64_t value);
std::string to_text(uint64_t value);

/** The number that `text` spells, spaces around it allowed, rounded once to T: float, double, int64_t or uint64_t.
    Integers may be spelled as "3.0" or "1e3"; their fraction is dropped. Throws kInvalidArgument for other text. */
template <class T>
T number_from(std::string_view text);

}  // namespace ortolan::cpu
