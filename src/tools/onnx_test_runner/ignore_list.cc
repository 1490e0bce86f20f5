// Reading and applying an ignore list.
#include "ignore_list.h"

#include "common/files.h"

namespace ortolan::tools {

IgnoreList::IgnoreList(const std::string& path) {
  int number = 0;
  for (const std::string& raw : read_lines(path)) {
    ++number;
    std::string line = trimmed(raw);
    if (line.empty() || line[0] == '#') continue;
    size_t comma = line.find(',');
    std::string reason = comma == std::string::npos ? "" : trimmed(line.substr(comma + 1));
    if (reason.empty()) fail(path, ":", number, ": '", line, "' gives no reason; write: name, reason");
    bool by_chance = line[0] == '~';
    entries_[trimmed(line.substr(by_chance, comma - by_chance))] = {reason, by_chance};
  }
}

void IgnoreList::apply(CaseResult& result) const {
  auto found = entries_.find(result.name);
  if (found == entries_.end()) return;
  if (result.outcome != Outcome::kPassed) {
    result.outcome = Outcome::kIgnored;
    result.reason = found->second.reason;
  } else if (!found->second.by_chance) {
    result.outcome = Outcome::kPassedIgnored;
    result.reason = "remove it from the ignore list (" + found->second.reason + ")";
  }
}

}  // namespace ortolan::tools
