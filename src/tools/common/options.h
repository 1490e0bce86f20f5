// Command lines: long names with one or two dashes, short letters, values, and the help text made from them.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ortolan::tools {

struct Option {
  char letter;           // 0: none
  const char* name;      // long name; "": none
  const char* argument;  // what the help calls the value; null: a switch
  const char* help;
  std::function<void(const std::string&)> set;  // gets "" for a switch
};

struct CommandLine {
  const char* usage;        // after "usage: "
  const char* description;  // one line or more
  std::vector<Option> options;
};

// Calls set for each option given, and gives the remaining arguments. --help prints the help and ends the program.
// Throws UsageError for unknown options and missing values.
std::vector<std::string> parse(int argc, char** argv, const CommandLine& line);

// Setters for the common cases.
std::function<void(const std::string&)> into(std::string& target);
// Adds each value given.
std::function<void(const std::string&)> into(std::vector<std::string>& target);
std::function<void(const std::string&)> into(int& target, const char* what);
std::function<void(const std::string&)> into(double& target, const char* what);
// Adds "NAME:SIZE", a dimension's.
std::function<void(const std::string&)> into_sizes(std::vector<std::pair<std::string, int64_t>>& target);
// Adds each of "KEY|VALUE KEY|VALUE"; `what` names the option in errors.
std::function<void(const std::string&)> pairs_into(std::vector<std::pair<std::string, std::string>>& target,
                                                   const char* what);
std::function<void(const std::string&)> turn(bool& target, bool value = true);

// Runs a program's body: prints what went wrong, and gives the exit status (1: failed, 2: wrong use).
int run_program(const char* name, const std::function<int()>& body);

}  // namespace ortolan::tools
