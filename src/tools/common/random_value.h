// Inputs made up from their type: the same seed gives the same values.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "value.h"

namespace ortolan::tools {

struct RandomRules {
  std::map<std::string, int64_t> dims;                 // symbolic dimension -> size; the rest get 1
  std::map<std::string, int64_t> bounds;               // input -> integers are below this; the rest get 0 and 1
  std::map<std::string, std::vector<int64_t>> shapes;  // input -> whole shape
  uint64_t seed = 1;
};

// Adds whole shapes from "input:1,3,224,224 other:2,5"; `option` is what errors name.
void add_shapes(const std::string& text, const char* option, RandomRules& rules);

// Floats are even in -1 to 1. Throws for types that cannot be made up.
Value random_value(const std::string& name, const TypeSpec& type, const RandomRules& rules);

}  // namespace ortolan::tools
