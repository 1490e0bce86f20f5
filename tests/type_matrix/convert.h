// Values and one-node models in another element type.
#pragma once

#include <set>
#include <string>

#include "common/value.h"

namespace ortolan::type_matrix {
using namespace tools;

enum class Class { kFloat, kInteger, kOther };
Class class_of(ElementType type);

/** The value with its elements in another type, each the nearest that it can hold; fractions between -2 and 2 are
    stretched before they become integers. Sequences item by item. Between text and numbers by writing and counting. */
Value converted(const Value& value, ElementType type);

/** The element type that the specification calls so, as "tensor(float)" or "optional(seq(tensor(int8)))"; undefined
    for those without one, as maps. */
ElementType type_of_declaration(const std::string& declared);
/** As the specification has it: "float", "double". */
std::string spec_name(ElementType type);
ElementType type_of_spec_name(const std::string& name);

/** What differs between an expected value and what another element type gave, "" for nothing. Elements that the other
    type cannot hold, or that integers round, may differ by as much. */
std::string difference_across(const Value& expected, const Value& actual, ElementType computed_in);

}  // namespace ortolan::type_matrix
