// Reading and writing files, and the small texts that options and lists are made of.
#include "files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "error.h"

namespace ortolan::tools {

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read ", path, ": ", std::strerror(errno));
  std::ostringstream content;
  content << file.rdbuf();
  if (file.bad()) fail("cannot read ", path, ": ", std::strerror(errno));
  return content.str();
}

std::vector<std::string> read_lines(const std::string& path) {
  std::istringstream content(read_file(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(content, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    lines.push_back(line);
  }
  return lines;
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream file(path, std::ios::binary);
  file << content;
  file.flush();
  if (!file) fail("cannot write ", path, ": ", std::strerror(errno));
}

std::string model_path(const std::string& given) {
  return std::filesystem::is_directory(given) ? given + "/model.onnx" : given;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  size_t start = 0;
  for (size_t end; (end = text.find(separator, start)) != std::string::npos; start = end + 1) {
    parts.push_back(text.substr(start, end - start));
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::string trimmed(const std::string& text) {
  const char* blanks = " \t\r\n";
  size_t start = text.find_first_not_of(blanks);
  if (start == std::string::npos) return {};
  return text.substr(start, text.find_last_not_of(blanks) - start + 1);
}

long long parse_integer(const std::string& text, const std::string& what) {
  char* end = nullptr;
  errno = 0;
  long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end || errno) fail_usage(what, " must be a whole number, not '", text, "'");
  return value;
}

double parse_number(const std::string& text, const std::string& what) {
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end) fail_usage(what, " must be a number, not '", text, "'");
  return value;
}

std::pair<std::string, std::string> parse_pair(const std::string& text, char separator, const std::string& what) {
  // Names may hold the separator themselves (as "input:0"), values do not.
  size_t at = text.rfind(separator);
  if (at == std::string::npos || at == 0)
    fail_usage(what, " must look like NAME", separator, "VALUE, not '", text, "'");
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace ortolan::tools
