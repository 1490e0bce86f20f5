// The one error class of the programs: a text for the user. Programs print it and end with a status of 1 or 2.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace ortolan::tools {

class ToolError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Wrong use of a program: its own status, and the program points to --help.
class UsageError : public ToolError {
 public:
  using ToolError::ToolError;
};

template <class... Parts>
std::string join(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
  throw ToolError(join(parts...));
}

template <class... Parts>
[[noreturn]] void fail_usage(const Parts&... parts) {
  throw UsageError(join(parts...));
}

}  // namespace ortolan::tools
