// What the sources say of an operator's attributes: their names and kinds, and the strings that stand beside them.
#pragma once

#include <string>
#include <vector>

#include "graph/attribute.h"

namespace ortolan::test {

/** An attribute that a shape rule or a kernel asks for. */
struct AttributeWord {
  std::string name;
  graph::AttributeKind kind = graph::AttributeKind::kUndefined;  // undefined: only looked for
  bool required = false;
};

struct OperatorWords {
  std::vector<AttributeWord> attributes;
  std::vector<std::string> strings;  // without spaces, as "SAME_UPPER"; likely values of string attributes
};

/** Read from the source files that name the operator in quotes, and from those that these include; it lives as long as
    the process. Empty where the sources are not at hand. */
const OperatorWords& words_of(const std::string& op);

}  // namespace ortolan::test
