// Reads the sources of shape rules and kernels for the attributes of operators.
#include "operator_words.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace ortolan::test {
namespace {

using graph::AttributeKind;
namespace fs = std::filesystem;

struct SourceFile {
  std::vector<AttributeWord> attributes;
  std::set<std::string> strings;
  std::vector<std::string> includes;  // stems, as "convolution_geometry"
};

struct Reader {
  const char* function;
  AttributeKind kind;
  bool required;
};
constexpr Reader kReaders[] = {
    {"int_or", AttributeKind::kInt, false},         {"int_of", AttributeKind::kInt, true},
    {"float_or", AttributeKind::kFloat, false},     {"float_of", AttributeKind::kFloat, true},
    {"string_or", AttributeKind::kString, false},   {"string_of", AttributeKind::kString, true},
    {"ints", AttributeKind::kInts, false},          {"floats", AttributeKind::kFloats, false},
    {"strings", AttributeKind::kStrings, false},    {"tensor_of", AttributeKind::kTensor, true},
    {"graph_of", AttributeKind::kGraph, true},      {"subgraph", AttributeKind::kGraph, true},
    {"infer_subgraph", AttributeKind::kGraph, true}};

std::string word_before(const std::string& text, size_t end) {
  size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '_')) --begin;
  return text.substr(begin, end - begin);
}

/** Takes the literal of `text` that is the argument `function("…"` as an attribute's name, where it is one. */
void note_attribute(const std::string& function, const std::string& literal, SourceFile& file) {
  for (const Reader& reader : kReaders) {
    if (function == reader.function) file.attributes.push_back({literal, reader.kind, reader.required});
  }
  if (function == "has_attribute" || function == "find_attribute") file.attributes.push_back({literal});
}

void read_line(const std::string& line, SourceFile& file) {
  size_t start = line.find_first_not_of(' ');
  if (start != std::string::npos && line.compare(start, 2, "//") == 0) return;
  bool include = line.rfind("#include \"", 0) == 0;
  for (size_t open = line.find('"'); open != std::string::npos; open = line.find('"', open + 1)) {
    size_t close = line.find('"', open + 1);
    if (close == std::string::npos) return;
    std::string literal = line.substr(open + 1, close - open - 1);
    if (include) {
      file.includes.push_back(fs::path(literal).stem());
    } else if (literal.find_first_of(" \\") == std::string::npos) {
      file.strings.insert(literal);
      if (open > 0 && line[open - 1] == '(') note_attribute(word_before(line, open - 1), literal, file);
    }
    open = close;
  }
}

/** By stem; a header and its source, a schema and its kernel file are one. */
using Sources = std::map<std::string, SourceFile>;

const Sources& sources() {
  static const Sources& all = *[] {
    auto* map = new Sources;
    for (const char* folder : {"/src/ops", "/providers/cpu"}) {
      std::error_code none;
      for (const auto& entry : fs::recursive_directory_iterator(std::string(ORTOLAN_SOURCE_DIR) + folder, none)) {
        auto extension = entry.path().extension();
        if (extension != ".cc" && extension != ".h") continue;
        std::ifstream stream(entry.path());
        SourceFile& file = (*map)[entry.path().stem()];
        for (std::string line; std::getline(stream, line);) read_line(line, file);
      }
    }
    map->erase("default_attributes");
    return map;
  }();
  return all;
}

void collect(const std::string& stem, int depth, std::set<std::string>& seen, OperatorWords& words) {
  auto found = sources().find(stem);
  if (found == sources().end() || !seen.insert(stem).second) return;
  const SourceFile& file = found->second;
  for (const AttributeWord& word : file.attributes) {
    bool known = std::ranges::any_of(
        words.attributes, [&](const AttributeWord& one) { return one.name == word.name && one.kind == word.kind; });
    if (!known) words.attributes.push_back(word);
  }
  words.strings.insert(words.strings.end(), file.strings.begin(), file.strings.end());
  if (depth == 0) return;
  for (const std::string& included : file.includes) collect(included, depth - 1, seen, words);
}

/** Drops what is only looked for when its kind is known too. */
void drop_unknown_kinds(OperatorWords& words) {
  auto& all = words.attributes;
  std::erase_if(all, [&](const AttributeWord& word) {
    return word.kind == AttributeKind::kUndefined && std::ranges::any_of(all, [&](const AttributeWord& other) {
             return other.name == word.name && other.kind != AttributeKind::kUndefined;
           });
  });
}

}  // namespace

const OperatorWords& words_of(const std::string& op) {
  static auto& known = *new std::map<std::string, OperatorWords>;
  auto [found, added] = known.try_emplace(op);
  if (!added) return found->second;
  std::set<std::string> seen;
  for (const auto& [stem, file] : sources()) {
    if (file.strings.contains(op)) collect(stem, 2, seen, found->second);
  }
  drop_unknown_kinds(found->second);
  return found->second;
}

}  // namespace ortolan::test
