// ortolan explain: the provider of every node of the model, and why it is that one; as a table, JSON or a picture.
#include <cstdio>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/files.h"
#include "common/options.h"
#include "common/terminal.h"
#include "placements.h"

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
};

CommandLine command_line(Settings& s) {
  return {
      "ortolan explain [OPTION...] MODEL",
      "Loads the model and lists its nodes, each with the provider that runs it and why, and what is copied between "
      "devices.",
      {{'e', "provider", "NAME", "execution provider asked first (default cpu); again for more, in order",
        into(s.session.providers)},
       {0, "plugin", "'NAME|PATH ...'", "register provider libraries", into(s.session.plugins)},
       {'o', "level", "N", "optimisation level (default 99)", into(s.session.level, "-o")},
       {0, "html", "FILE", "write a page with a picture of the graph", into(s.page_path)},
       {0, "json", nullptr, "print as JSON", turn(s.json)},
       {0, "library", "PATH", "use this library instead of the linked one", into(s.library_path)}}};
}

}  // namespace

int explain_command(int argc, char** argv) {
  Settings settings;
  settings.session.entries = {{"session.record_ep_graph_assignment_info", "1"}};
  std::vector<std::string> rest = parse(argc, argv, command_line(settings));
  if (rest.size() != 1) fail_usage("give one model, for example: ortolan explain model.onnx");
  Library library = choose_library(settings.library_path);
  auto environment = environment_for(library, settings.session);
  Session session(library, environment.get(), model_path(rest[0]), settings.session);
  PlacementReport report = read_placements(session);
  if (!settings.page_path.empty()) write_file(settings.page_path, placement_page(rest[0], report));
  settings.json ? print_json(report) : print_text(report);
  return 0;
}

}  // namespace ortolan::tools
