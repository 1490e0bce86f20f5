// ortolan explain: the provider of every node of the model, and why it is that one, or the time that every node takes;
// as a table, JSON or a picture.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/files.h"
#include "common/options.h"
#include "common/terminal.h"
#include "placements.h"
#include "time_report.h"

namespace ortolan::tools {
namespace {

void print_text(const PlacementReport& report) {
  Table table({"node", "operator", "provider", "why"});
  for (const Placement& p : report.nodes) table.add({p.node, p.type, p.provider, p.reason});
  std::printf("%s\n", table.text().c_str());
  for (const auto& [provider, count] : report.counts())
    std::printf("%s: %d of %zu nodes\n", provider.c_str(), count, report.nodes.size());
  if (report.copies.empty()) return;
  Table copies({"value copied", "from", "to"});
  for (const ValueCopy& copy : report.copies) copies.add({copy.value, copy.from, copy.to});
  std::printf("\n%s", copies.text().c_str());
}

void print_json(const PlacementReport& report) {
  auto out = nlohmann::ordered_json::array();
  for (const Placement& p : report.nodes) {
    out.push_back({{"node", p.node}, {"operator", p.type}, {"provider", p.provider}, {"reason", p.reason}});
  }
  std::printf("%s\n", out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

struct Settings {
  SessionConfig session;
  std::string library_path, page_path;
  bool json = false;
  bool time = false;
  std::string time_option;  // the last given that --time alone has
  int runs = 0, top = 0;
  RandomRules rules;
  std::string data_folder, picture_path;
};

// An option that only --time has.
Option time_option(Settings& s, Option option) {
  option.set = [&s, set = option.set, name = option.name, letter = option.letter](const std::string& text) {
    s.time_option = *name ? join("--", name) : join("-", letter);
    set(text);
  };
  return option;
}

std::vector<Option> time_options(Settings& s) {
  auto set_runs = [&s](const std::string& text) {
    into(s.runs, "--runs")(text);
    if (s.runs < 1) fail_usage("--runs must be 1 or more");
  };
  auto set_dim = [&s](const std::string& text) {
    auto [name, size] = parse_pair(text, '=', "--dim");
    s.rules.dims[name] = parse_integer(size, name);
  };
  std::vector<Option> options = {
      {0, "runs", "N", "runs under the profile, and as many without (default: about two seconds of each)", set_runs},
      {0, "svg", "FILE", "write the picture alone", into(s.picture_path)},
      {0, "top", "N", "nodes of the table, the rest in one line (default: all)", into(s.top, "--top")},
      {'x', "threads", "N", "threads inside an operator", into(s.session.threads, "-x")},
      {0, "data", "FOLDER", "inputs from a test data set", into(s.data_folder)},
      {0, "dim", "NAME=SIZE", "size of a symbolic dimension of made-up inputs (default 1)", set_dim},
      {'f', "", "NAME:SIZE", "the same, and the session is made for that size", into_sizes(s.session.dimensions)},
      {0, "shape", "'NAME:D,D NAME:D'", "shapes of made-up inputs",
       [&s](const std::string& text) { add_shapes(text, "--shape", s.rules); }}};
  for (Option& option : options) option = time_option(s, option);
  return options;
}

CommandLine command_line(Settings& s) {
  CommandLine line = {
      "ortolan explain [OPTION...] MODEL",
      "Loads the model and lists its nodes, each with the provider that runs it and why, and what is copied between\n"
      "devices. With --time it runs the model under a profile and lists how long each node takes, with its kernel, "
      "its\n"
      "instruction set, arithmetic and memory traffic a second. Inputs are made up.",
      {{'e', "provider", "NAME", "execution provider asked first (default cpu); again for more, in order",
        into(s.session.providers)},
       {0, "plugin", "'NAME|PATH ...'", "register provider libraries", into(s.session.plugins)},
       {'o', "level", "N", "optimisation level (default 99)", into(s.session.level, "-o")},
       {0, "html", "FILE", "write a page with a picture: the graph or, with --time, where the time goes",
        into(s.page_path)},
       {0, "json", nullptr, "print as JSON", turn(s.json)},
       {0, "library", "PATH", "use this library instead of the linked one", into(s.library_path)},
       {0, "time", nullptr, "show the time of each node; the options below go with it", turn(s.time)}}};
  for (Option& option : time_options(s)) line.options.push_back(std::move(option));
  return line;
}

void explain_placement(const Library& library, OrtEnv* environment, const std::string& model, Settings& settings) {
  settings.session.entries = {{"session.record_ep_graph_assignment_info", "1"}};
  Session session(library, environment, model_path(model), settings.session);
  PlacementReport report = read_placements(session);
  if (!settings.page_path.empty()) write_file(settings.page_path, placement_page(model, report));
  settings.json ? print_json(report) : print_text(report);
}

void explain_time(const Library& library, OrtEnv* environment, const std::string& model, Settings& settings) {
  for (const auto& [name, size] : settings.session.dimensions) settings.rules.dims[name] = size;
  auto inputs = [&](const Session& session) {
    return settings.data_folder.empty() ? made_up_data(session, settings.rules)
                                        : read_data_set(settings.data_folder, session);
  };
  TimeReport report = measure_times(library, environment, model_path(model), settings.session, inputs, settings.runs);
  if (!settings.page_path.empty()) write_file(settings.page_path, time_page(report));
  if (!settings.picture_path.empty()) write_file(settings.picture_path, time_picture(report));
  std::fputs((settings.json ? time_json(report) : time_text(report, settings.top)).c_str(), stdout);
}

}  // namespace

int explain_command(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> rest = parse(argc, argv, command_line(settings));
  if (rest.size() != 1) fail_usage("give one model, for example: ortolan explain model.onnx");
  if (!settings.time && !settings.time_option.empty()) fail_usage(settings.time_option, " goes with --time");
  Library library = choose_library(settings.library_path);
  auto environment = environment_for(library, settings.session);
  (settings.time ? explain_time : explain_placement)(library, environment.get(), rest[0], settings);
  return 0;
}

}  // namespace ortolan::tools
