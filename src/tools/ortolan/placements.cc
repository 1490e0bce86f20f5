// Reading where nodes run from a session.
#include "placements.h"

#include <algorithm>

#include "ortolan.h"

namespace ortolan::tools {
namespace {

// What our library tells beyond the table.
class Extensions {
 public:
  explicit Extensions(const Library& library) : library_(library) {
    find(decline_count_, "OrtEpAssignedNodeGetDeclineCount");
    find(decline_, "OrtEpAssignedNodeGetDecline");
    find(inputs_, "OrtEpAssignedNodeGetInputs");
    find(outputs_, "OrtEpAssignedNodeGetOutputs");
    find(copy_count_, "OrtSessionGetCopyCount");
    find(copy_, "OrtSessionGetCopy");
  }

  // Why the providers before left the node.
  std::string reason(const OrtEpAssignedNode* node) const {
    if (decline_count_ == nullptr || decline_ == nullptr) return {};
    std::string text;
    size_t count = library_.get<size_t>(decline_count_, node);
    for (size_t i = 0; i < count; ++i) {
      const char *provider = nullptr, *reason = nullptr;
      library_.check(decline_(node, i, &provider, &reason));
      text += join(text.empty() ? "" : "; ", provider, ": ", reason);
    }
    return text.empty() ? "first of the session's providers to take it" : text;
  }

  std::vector<std::string> inputs(const OrtEpAssignedNode* node) const { return names(inputs_, node); }
  std::vector<std::string> outputs(const OrtEpAssignedNode* node) const { return names(outputs_, node); }

  std::vector<ValueCopy> copies(const OrtSession* session) const {
    std::vector<ValueCopy> copies;
    size_t count = copy_count_ && copy_ ? library_.get<size_t>(copy_count_, session) : 0;
    for (size_t i = 0; i < count; ++i) {
      const char *value = nullptr, *from = nullptr, *to = nullptr;
      library_.check(copy_(session, i, &value, &from, &to));
      copies.push_back({value, from, to});
    }
    return copies;
  }

 private:
  template <class Function>
  void find(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(library_.symbol(name));
  }

  std::vector<std::string> names(decltype(&OrtEpAssignedNodeGetInputs) get, const OrtEpAssignedNode* node) const {
    if (get == nullptr) return {};
    size_t count = 0;
    library_.check(get(node, nullptr, 0, &count));
    std::vector<const char*> texts(count);
    library_.check(get(node, texts.data(), count, &count));
    return {texts.begin(), texts.end()};
  }

  const Library& library_;
  decltype(&OrtEpAssignedNodeGetDeclineCount) decline_count_ = nullptr;
  decltype(&OrtEpAssignedNodeGetDecline) decline_ = nullptr;
  decltype(&OrtEpAssignedNodeGetInputs) inputs_ = nullptr;
  decltype(&OrtEpAssignedNodeGetOutputs) outputs_ = nullptr;
  decltype(&OrtSessionGetCopyCount) copy_count_ = nullptr;
  decltype(&OrtSessionGetCopy) copy_ = nullptr;
};

Placement read_node(const Library& library, const OrtEpAssignedNode* node, const Extensions& extensions) {
  Placement placement;
  placement.node = library.get<const char*>(library->EpAssignedNode_GetName, node);
  placement.type = library.get<const char*>(library->EpAssignedNode_GetOperatorType, node);
  std::string domain = library.get<const char*>(library->EpAssignedNode_GetDomain, node);
  if (!domain.empty() && domain != "ai.onnx") placement.type = domain + "." + placement.type;
  placement.reason = extensions.reason(node);
  placement.inputs = extensions.inputs(node);
  placement.outputs = extensions.outputs(node);
  auto first = std::ranges::find_if_not(placement.outputs, &std::string::empty);
  if (placement.node.empty() && first != placement.outputs.end()) placement.node = *first;
  return placement;
}

}  // namespace

std::map<std::string, int> PlacementReport::counts() const {
  std::map<std::string, int> counts;
  for (const Placement& placement : nodes) ++counts[placement.provider];
  return counts;
}

PlacementReport read_placements(const Session& session) {
  const Library& library = session.library();
  Extensions extensions(library);
  const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
  size_t count = 0;
  library.check(library->Session_GetEpGraphAssignmentInfo(session.get(), &subgraphs, &count));
  PlacementReport report;
  for (size_t i = 0; i < count; ++i) {
    std::string provider = library.get<const char*>(library->EpAssignedSubgraph_GetEpName, subgraphs[i]);
    const OrtEpAssignedNode* const* nodes = nullptr;
    size_t node_count = 0;
    library.check(library->EpAssignedSubgraph_GetNodes(subgraphs[i], &nodes, &node_count));
    for (size_t n = 0; n < node_count; ++n) {
      report.nodes.push_back(read_node(library, nodes[n], extensions));
      report.nodes.back().provider = provider;
      if (node_count > 1) report.nodes.back().group = int(i);
    }
  }
  report.copies = extensions.copies(session.get());
  return report;
}

}  // namespace ortolan::tools
