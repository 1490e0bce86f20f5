// Cases that are known to fail: a file of lines "name, reason"; "~name, reason" for one that passes by chance.
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
  // An ignored case that fails becomes kIgnored with the list's reason; one that passes becomes kPassedIgnored, unless
  // it may pass by chance.
  void apply(CaseResult& result) const;

 private:
  struct Entry {
    std::string reason;
    bool by_chance;
  };
  std::map<std::string, Entry> entries_;
};

}  // namespace ortolan::tools
