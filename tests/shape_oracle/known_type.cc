// Comparing statements about values.
#include "known_type.h"

#include <algorithm>

namespace shape_oracle {
namespace {

bool contradict(const KnownType& a, const KnownType& b) {
  if (a.element && b.element && a.element != b.element) return true;
  if (!a.has_rank || !b.has_rank) return false;
  if (a.dims.size() != b.dims.size()) return true;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i] >= 0 && b.dims[i] >= 0 && a.dims[i] != b.dims[i]) return true;
  }
  return false;
}

}  // namespace

std::string to_text(const KnownType& type) {
  std::string text = "type " + std::to_string(type.element) + (type.has_rank ? " [" : " of unknown rank");
  for (int64_t dim : type.dims) text += (text.back() == '[' ? "" : ",") + (dim < 0 ? "?" : std::to_string(dim));
  return text + (type.has_rank ? "]" : "");
}

Knowledge compare_knowledge(const std::map<std::string, KnownType>& first,
                            const std::map<std::string, KnownType>& second) {
  Knowledge result;
  for (const auto& [name, type] : first) {
    auto found = second.find(name);
    if (found == second.end()) continue;
    for (size_t i = 0; i < type.dims.size(); ++i) {
      if (type.dims[i] < 0) continue;
      bool known = i < found->second.dims.size() && found->second.dims[i] >= 0;
      ++(known ? result.both : result.only_first);
      if (!known) result.example = "'" + name + "' is " + to_text(found->second) + ", could be " + to_text(type);
    }
  }
  return result;
}

std::string contradiction(const std::map<std::string, KnownType>& expected,
                          const std::map<std::string, KnownType>& actual) {
  for (const auto& [name, type] : expected) {
    auto found = actual.find(name);
    if (found == actual.end() || !contradict(type, found->second)) continue;
    return "'" + name + "' is " + to_text(found->second) + ", expected " + to_text(type);
  }
  return "";
}

}  // namespace shape_oracle
