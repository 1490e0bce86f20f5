// Command lines by way of getopt_long_only.
#include "options.h"

#include <getopt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "error.h"
#include "files.h"

namespace ortolan::tools {
namespace {

constexpr int kLongOnly = 256;  // values of long options begin here

void print_help(const CommandLine& line) {
  std::printf("usage: %s\n\n%s\n\noptions:\n", line.usage, line.description);
  for (const Option& option : line.options) {
    std::string left = option.letter ? std::string("-") + option.letter : "   ";
    if (*option.name) left += std::string(option.letter ? ", --" : " --") + option.name;
    if (option.argument) left += std::string(" ") + option.argument;
    std::printf("  %-34s %s\n", left.c_str(), option.help);
  }
}

std::string letters(const CommandLine& line) {
  std::string text = ":";
  for (const Option& option : line.options) {
    if (!option.letter) continue;
    text += option.letter;
    if (option.argument) text += ':';
  }
  return text;
}

const Option& find(const CommandLine& line, int code) {
  if (code >= kLongOnly) return line.options[code - kLongOnly];
  return *std::find_if(line.options.begin(), line.options.end(), [&](const Option& o) { return o.letter == code; });
}

}  // namespace

std::vector<std::string> parse(int argc, char** argv, const CommandLine& line) {
  std::vector<option> names;
  int help = 0;
  for (size_t i = 0; i < line.options.size(); ++i) {
    const Option& o = line.options[i];
    if (*o.name) names.push_back({o.name, o.argument ? required_argument : no_argument, nullptr, int(i) + kLongOnly});
  }
  names.push_back({"help", no_argument, &help, 1});
  names.push_back({});
  opterr = 0;
  optind = 0;  // begin anew: sub-commands parse the rest of their program's arguments
  std::string short_names = letters(line);
  for (int code; (code = getopt_long_only(argc, argv, short_names.c_str(), names.data(), nullptr)) != -1;) {
    if (help) {
      print_help(line);
      std::exit(0);
    }
    if (code == '?') fail_usage("unknown option ", argv[optind - 1]);
    if (code == ':') fail_usage("option ", argv[optind - 1], " needs a value");
    find(line, code).set(optarg ? optarg : "");
    optarg = nullptr;
  }
  return {argv + optind, argv + argc};
}

std::function<void(const std::string&)> into(std::string& target) {
  return [&target](const std::string& text) { target = text; };
}

std::function<void(const std::string&)> into(std::vector<std::string>& target) {
  return [&target](const std::string& text) { target.push_back(text); };
}

std::function<void(const std::string&)> into(int& target, const char* what) {
  return [&target, what](const std::string& text) {
    long long value = parse_integer(text, what);
    if (value < 0 || value > 1 << 30) fail_usage(what, " must be from 0 to ", 1 << 30, ", not ", value);
    target = int(value);
  };
}

std::function<void(const std::string&)> into(double& target, const char* what) {
  return [&target, what](const std::string& text) { target = parse_number(text, what); };
}

std::function<void(const std::string&)> into_sizes(std::vector<std::pair<std::string, int64_t>>& target) {
  return [&target](const std::string& text) {
    auto [name, size] = parse_pair(text, ':', "a dimension");
    target.emplace_back(name, parse_integer(size, name));
  };
}

std::function<void(const std::string&)> pairs_into(std::vector<std::pair<std::string, std::string>>& target,
                                                   const char* what) {
  return [&target, what](const std::string& text) {
    for (const std::string& word : split(text, ' ')) {
      if (!word.empty()) target.push_back(parse_pair(word, '|', what));
    }
  };
}

std::function<void(const std::string&)> turn(bool& target, bool value) {
  return [&target, value](const std::string&) { target = value; };
}

int run_program(const char* name, const std::function<int()>& body) {
  try {
    return body();
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s\nTry: %s --help\n", name, error.what(), name);
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace ortolan::tools
