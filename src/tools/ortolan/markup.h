// Text for HTML and SVG.
#pragma once

#include <string>
#include <vector>

namespace ortolan::tools {

// Safe between tags and in quoted attributes.
std::string escaped(const std::string& text);
// At most `most` bytes and an ellipsis, cut between UTF-8 sequences.
std::string shortened(const std::string& text, size_t most);
// A table; the first row is its head, and what stands under a title that begins with '>' gets the class "n".
std::string html_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace ortolan::tools
