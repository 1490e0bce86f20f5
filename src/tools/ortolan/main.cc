// ortolan: runs, inspects and explains models, and says what the library offers.
#include <cstdio>
#include <cstring>

#include "commands.h"
#include "common/error.h"
#include "common/options.h"

namespace ortolan::tools {
namespace {

struct Command {
  const char* name;
  const char* help;
  int (*run)(int, char**);
};

constexpr Command kCommands[] = {
    {"run", "run a model on a picture, on files or on made-up inputs", run_command},
    {"inspect", "inputs, outputs, opsets, metadata and operators of a model", inspect_command},
    {"explain", "which provider runs each node, and why", explain_command},
    {"prepare", "write a model as sessions of many processes map it", prepare_command},
    {"api", "which functions of the interface are implemented", api_command},
    {"operators", "the operators of the library with versions and types", operators_command},
    {"devices", "the providers and devices on this machine", devices_command},
};

void print_commands(FILE* file) {
  std::fputs("usage: ortolan COMMAND [OPTION...] [ARGUMENT...]\n\ncommands (each has --help):\n", file);
  for (const Command& command : kCommands) std::fprintf(file, "  %-9s %s\n", command.name, command.help);
}

int dispatch(int argc, char** argv) {
  if (argc < 2) {
    print_commands(stderr);
    return 2;
  }
  if (!std::strcmp(argv[1], "--help") || !std::strcmp(argv[1], "-h") || !std::strcmp(argv[1], "help")) {
    print_commands(stdout);
    return 0;
  }
  for (const Command& command : kCommands) {
    if (!std::strcmp(argv[1], command.name)) return command.run(argc - 1, argv + 1);
  }
  fail_usage("there is no command '", argv[1],
             "'; the commands are run, inspect, explain, prepare, api, operators and devices");
}

}  // namespace
}  // namespace ortolan::tools

int main(int argc, char** argv) {
  return ortolan::tools::run_program("ortolan", [&] { return ortolan::tools::dispatch(argc, argv); });
}
