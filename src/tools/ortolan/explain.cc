// ortolan explain: the provider of every node of the optimised model, and why it is that one.
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/files.h"
#include "common/options.h"
#include "common/session.h"
#include "common/terminal.h"
#include "ortolan.h"

namespace ortolan::tools {
namespace {

struct Placement {
  std::string node, type, provider, reason;
};

// Why the providers before left the node: from functions that our library has beyond the table, others do not.
class Declines {
 public:
  explicit Declines(const Library& library) : library_(library) {
    count_ = reinterpret_cast<decltype(count_)>(library.symbol("OrtEpAssignedNodeGetDeclineCount"));
    get_ = reinterpret_cast<decltype(get_)>(library.symbol("OrtEpAssignedNodeGetDecline"));
  }

  std::string reason(const OrtEpAssignedNode* node) const {
    std::string text;
    size_t count = count_ && get_ ? library_.get<size_t>(count_, node) : 0;
    for (size_t i = 0; i < count; ++i) {
      const char *provider = nullptr, *reason = nullptr;
      library_.check(get_(node, i, &provider, &reason));
      text += join(text.empty() ? "" : "; ", provider, ": ", reason);
    }
    return text.empty() ? "first of the session's providers to take it" : text;
  }

 private:
  const Library& library_;
  decltype(&OrtEpAssignedNodeGetDeclineCount) count_ = nullptr;
  decltype(&OrtEpAssignedNodeGetDecline) get_ = nullptr;
};

Placement read_node(const Library& library, const OrtEpAssignedNode* node, const std::string& provider,
                    const Declines& declines) {
  Placement placement;
  placement.node = library.get<const char*>(library->EpAssignedNode_GetName, node);
  placement.type = library.get<const char*>(library->EpAssignedNode_GetOperatorType, node);
  std::string domain = library.get<const char*>(library->EpAssignedNode_GetDomain, node);
  if (!domain.empty() && domain != "ai.onnx") placement.type = domain + "." + placement.type;
  placement.provider = provider;
  placement.reason = declines.reason(node);
  return placement;
}

std::vector<Placement> read_placements(const Session& session) {
  const Library& library = session.library();
  Declines declines(library);
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  size_t count = 0;
  library.check(library->Session_GetEpGraphAssignmentInfo(session.get(), &subgraphs, &count));
  std::vector<Placement> placements;
  for (size_t i = 0; i < count; ++i) {
    std::string provider = library.get<const char*>(library->EpAssignedSubgraph_GetEpName, subgraphs[i]);
    const OrtEpAssignedNode* const* nodes = nullptr;
    size_t node_count = 0;
    library.check(library->EpAssignedSubgraph_GetNodes(subgraphs[i], &nodes, &node_count));
    for (size_t n = 0; n < node_count; ++n) placements.push_back(read_node(library, nodes[n], provider, declines));
  }
  return placements;
}

void print_text(const std::vector<Placement>& placements) {
  Table table({"node", "operator", "provider", "why"});
  std::map<std::string, int> counts;
  for (const Placement& p : placements) {
    table.add({p.node, p.type, p.provider, p.reason});
    ++counts[p.provider];
  }
  std::printf("%s\n", table.text().c_str());
  for (const auto& [provider, count] : counts)
    std::printf("%s: %d of %zu nodes\n", provider.c_str(), count, placements.size());
}

void print_json(const std::vector<Placement>& placements) {
  auto out = nlohmann::ordered_json::array();
  for (const Placement& p : placements) {
    out.push_back({{"node", p.node}, {"operator", p.type}, {"provider", p.provider}, {"reason", p.reason}});
  }
  std::printf("%s\n", out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace

int explain_command(int argc, char** argv) {
  SessionConfig config;
  config.entries = {{"session.record_ep_graph_assignment_info", "1"}};
  std::string library_path;
  bool json = false;
  std::vector<std::string> rest =
      parse(argc, argv,
            {"ortolan explain [OPTION...] MODEL",
             "Loads the model and lists its nodes after optimisation, each with the provider that runs it and why.",
             {{'e', "provider", "NAME", "execution provider asked first (default cpu)", into(config.provider)},
              {'o', "level", "N", "optimisation level (default 99)", into(config.level, "-o")},
              {0, "json", nullptr, "print as JSON", turn(json)},
              {0, "library", "PATH", "use this library instead of the linked one", into(library_path)}}});
  if (rest.size() != 1) fail_usage("give one model, for example: ortolan explain model.onnx");
  Library library = choose_library(library_path);
  auto environment = create_environment(library);
  Session session(library, environment.get(), model_path(rest[0]), config);
  std::vector<Placement> placements = read_placements(session);
  json ? print_json(placements) : print_text(placements);
  return 0;
}

}  // namespace ortolan::tools
