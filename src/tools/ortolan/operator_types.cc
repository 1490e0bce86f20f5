// Grouping and shortening lists of types.
#include "operator_types.h"

#include <algorithm>
#include <map>
#include <vector>

#include "common/files.h"

namespace ortolan::tools {
namespace {

struct Group {
  const char* name;
  std::vector<std::string> members;
};

const std::vector<Group>& groups() {
  static const auto& all = *new std::vector<Group>{
      {"int8-64", {"int8", "int16", "int32", "int64"}},
      {"uint8-64", {"uint8", "uint16", "uint32", "uint64"}},
      {"float8", {"float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz"}},
  };
  return all;
}

void shorten(std::vector<std::string>& types) {
  for (const Group& group : groups()) {
    auto place = [&](const std::string& member) { return std::find(types.begin(), types.end(), member); };
    bool whole = std::all_of(group.members.begin(), group.members.end(),
                             [&](const std::string& member) { return place(member) != types.end(); });
    if (!whole) continue;
    *place(group.members[0]) = group.name;
    for (size_t i = 1; i < group.members.size(); ++i) types.erase(place(group.members[i]));
  }
}

// What stands around the element type: "seq(tensor(float))" is {"seq", "float"}, "map(int64, float)" is {"", itself}.
std::pair<std::string, std::string> parts_of(const std::string& type) {
  size_t begin = type.find("tensor(");
  if (begin == std::string::npos || type.starts_with("sparse")) return {"", type};
  size_t end = type.find(')', begin);
  std::string around = type.substr(0, begin);
  return {around.empty() ? "" : around.substr(0, around.size() - 1), type.substr(begin + 7, end - begin - 7)};
}

}  // namespace

std::string type_list(const std::string& types, bool brief) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<std::string>> by_wrapper;
  for (const std::string& type : split(types, '|')) {
    auto [wrapper, element] = parts_of(type);
    if (!by_wrapper.count(wrapper)) order.push_back(wrapper);
    by_wrapper[wrapper].push_back(element);
  }
  std::string text;
  for (const std::string& wrapper : order) {
    std::vector<std::string>& elements = by_wrapper[wrapper];
    if (brief) shorten(elements);
    std::string list;
    for (const std::string& element : elements) list += (list.empty() ? "" : ", ") + element;
    if (!wrapper.empty())
      list = wrapper + "(" + list + std::string(std::count(wrapper.begin(), wrapper.end(), '(') + 1, ')');
    text += (text.empty() ? "" : ", ") + list;
  }
  return text;
}

}  // namespace ortolan::tools
