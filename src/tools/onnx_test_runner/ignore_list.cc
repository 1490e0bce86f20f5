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
    reasons_[trimmed(line.substr(0, comma))] = reason;
  }
}

void IgnoreList::apply(CaseResult& result) const {
  auto found = reasons_.find(result.name);
  if (found == reasons_.end()) return;
  if (result.outcome == Outcome::kPassed) {
    result.outcome = Outcome::kPassedIgnored;
    result.reason = "remove it from the ignore list (" + found->second + ")";
  } else {
    result.outcome = Outcome::kIgnored;
    result.reason = found->second;
  }
}

}  // namespace ortolan::tools
