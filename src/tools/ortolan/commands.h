// The sub-commands of the program ortolan. Each parses its own arguments (argv[0] is its name) and gives the status.
#pragma once

namespace ortolan::tools {

int run_command(int argc, char** argv);
int inspect_command(int argc, char** argv);
int explain_command(int argc, char** argv);
int prepare_command(int argc, char** argv);
int api_command(int argc, char** argv);
int operators_command(int argc, char** argv);
int devices_command(int argc, char** argv);

}  // namespace ortolan::tools
