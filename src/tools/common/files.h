// Whole files and folders.
#pragma once

#include <string>
#include <vector>

namespace ortolan::tools {

std::string read_file(const std::string& path);
// Lines without their line ends.
std::vector<std::string> read_lines(const std::string& path);
void write_file(const std::string& path, const std::string& content);
// The model that a user names: a file, or model.onnx in a folder.
std::string model_path(const std::string& given);
// Splits at every separator; the empty text gives no parts.
std::vector<std::string> split(const std::string& text, char separator);
std::string trimmed(const std::string& text);
// The whole text as a number, or a UsageError that names what it is for.
long long parse_integer(const std::string& text, const std::string& what);
double parse_number(const std::string& text, const std::string& what);
// "name=value" or "name:value" with the given separator, or a UsageError.
std::pair<std::string, std::string> parse_pair(const std::string& text, char separator, const std::string& what);

}  // namespace ortolan::tools
