// Where the nodes of a loaded model run, why, and what is copied between devices.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "common/session.h"

namespace ortolan::tools {

struct Placement {
  std::string node;  // its name or, where it has none, that of its first output
  std::string type, provider, reason;
  int group = -1;  // nodes of one number were made one by their provider
  std::vector<std::string> inputs, outputs;
};

struct ValueCopy {
  std::string value, from, to;
};

struct PlacementReport {
  std::vector<Placement> nodes;
  std::vector<ValueCopy> copies;
  // Nodes by provider.
  std::map<std::string, int> counts() const;
};

// The session must have been made with the entry session.record_ep_graph_assignment_info = 1. Reasons, edges and copies
// come from functions that other libraries lack: there they are empty.
PlacementReport read_placements(const Session& session);

// The graph as a page that needs nothing else: nodes coloured by provider, copies drawn, reasons when pointed at.
std::string placement_page(const std::string& title, const PlacementReport& report);

}  // namespace ortolan::tools
