// Text for HTML and SVG.
#include "markup.h"

#include "common/error.h"

namespace ortolan::tools {

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return out;
}

std::string shortened(const std::string& text, size_t most) {
  if (text.size() <= most) return text;
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  std::string out = "<table>\n";
  for (const auto& row : rows) {
    bool head = &row == rows.data();
    const char* cell = head ? "th" : "td";
    out += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      bool figures = rows[0][i].starts_with('>');
      std::string text = head && figures ? row[i].substr(1) : row[i];
      out += join("<", cell, figures ? " class=\"n\"" : "", ">", escaped(text), "</", cell, ">");
    }
    out += "</tr>\n";
  }
  return out + "</table>\n";
}

}  // namespace ortolan::tools
