// Families of operators, for pictures: each has a name and a colour.
#pragma once

#include <span>
#include <string>

namespace ortolan::tools {

struct OperatorFamily {
  const char* name;
  const char* colour;
};

// In the order of legends.
std::span<const OperatorFamily> operator_families();
// The family's place in that list; an operator that is not known belongs to the last.
size_t family_of(const std::string& operator_type);

}  // namespace ortolan::tools
