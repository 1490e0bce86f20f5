// Pictures, probabilities and tensors as text for a terminal.
#pragma once

#include <string>
#include <vector>

#include "common/array_file.h"
#include "common/value.h"

namespace ortolan::tools {

// The picture in block characters, a line a row of it; large pictures are scaled down.
std::vector<std::string> picture_lines(const Picture& picture);

struct Score {
  std::string label;
  double value = 0;
};
// One line a class: label, value, bar. Values that sum to one are shown in percent.
std::vector<std::string> score_lines(const std::vector<Score>& scores);
// Two blocks of lines side by side.
std::string side_by_side(const std::vector<std::string>& left, const std::vector<std::string>& right);

// A value's type, range and first elements.
std::string describe(const std::string& name, const Value& value, size_t shown);

}  // namespace ortolan::tools
