// Cases that are known to fail: a file of lines "name, reason".
#pragma once

#include <map>
#include <string>

#include "test_case.h"

namespace ortolan::tools {

class IgnoreList {
 public:
  IgnoreList() = default;
  // Empty lines and lines that begin with '#' are skipped. A line without a reason is an error.
  explicit IgnoreList(const std::string& path);
  // An ignored case that fails becomes kIgnored with the list's reason; one that passes becomes kPassedIgnored.
  void apply(CaseResult& result) const;

 private:
  std::map<std::string, std::string> reasons_;
};

}  // namespace ortolan::tools
