// ortolan prepare: writes a model as sessions map it: rewritten, its weights packed for this processor.
#include <cstdio>
#include <filesystem>

#include "commands.h"
#include "common/options.h"
#include "common/session.h"

namespace ortolan::tools {
namespace {

struct PrepareSettings {
  SessionConfig session;
  std::string prepared_path, library_path;
  bool check = false;
};

CommandLine prepare_command_line(PrepareSettings& s) {
  return {
      "ortolan prepare [OPTION...] MODEL",
      "Writes the model as this library, on this processor, makes it for a session on the CPU: rewritten, with packed\n"
      "weights. Sessions from that file start at once, and all processes share its memory. Nothing is done where the\n"
      "file is there already and the model has not changed.",
      {{0, "to", "FILE", "the file (default: MODEL with the ending .prepared)", into(s.prepared_path)},
       {0, "check", nullptr, "MODEL is a prepared model: check every byte of it", turn(s.check)},
       {'o', "level", "N", "optimisation level (default 99)", into(s.session.level, "-o")},
       {'f', "", "NAME:SIZE", "the size of a symbolic dimension", into_sizes(s.session.dimensions)},
       {'C', "config", "'K|V K|V'", "session config entries", pairs_into(s.session.entries, "-C")},
       {0, "library", "PATH", "use this library instead of the linked one", into(s.library_path)}}};
}

}  // namespace

int prepare_command(int argc, char** argv) {
  PrepareSettings settings;
  std::vector<std::string> arguments = parse(argc, argv, prepare_command_line(settings));
  if (arguments.size() != 1) fail_usage("one MODEL is needed");
  const std::string& model = arguments[0];
  std::string& written = settings.prepared_path;
  if (settings.check) {
    written = model;
    settings.session.entries.emplace_back("ortolan.check_prepared_model", "1");
  } else {
    if (written.empty()) written = std::filesystem::path(model).replace_extension(".prepared");
    settings.session.entries.emplace_back("ortolan.prepared_model_path", written);
  }
  const Library library = choose_library(settings.library_path);
  const Handle<OrtEnv> environment = environment_for(library, settings.session, ORT_LOGGING_LEVEL_WARNING);
  const Session session(library, environment.get(), model, settings.session);
  std::printf("%s: %.1f MB%s\n", written.c_str(), static_cast<double>(std::filesystem::file_size(written)) / 1e6,
              settings.check ? ", all as it was written" : "");
  return 0;
}

}  // namespace ortolan::tools
