// Giving every node of a model to an execution provider.
#include "runtime/partitioner.h"

#include <unordered_map>

namespace ortolan::runtime {
namespace {

using Reasons = std::unordered_map<const Node*, std::vector<std::pair<std::string, std::string>>>;

void claim(Graph& graph, ExecutionProvider& provider, Reasons& reasons) {
  Capability capability = provider.get_capability(graph);
  for (const NodeGroup& group : capability.groups) {
    for (const Node* node : group.nodes) {
      if (node->provider.empty()) const_cast<Node*>(node)->provider = provider.type();
    }
  }
  for (Declined& declined : capability.declined) {
    reasons[declined.node].emplace_back(provider.type(), std::move(declined.reason));
  }
}

[[noreturn]] void fail_unclaimed(const Node& node, const Reasons& reasons) {
  std::string text = join(node.label(), ": no execution provider runs it");
  if (auto found = reasons.find(&node); found != reasons.end()) {
    for (const auto& [provider, reason] : found->second) base::append(text, join("; ", provider, ": ", reason));
  }
  fail(ErrorCode::kNotImplemented, text, "; convert the model, or register a provider or custom operator for it");
}

NodeAssignment describe(const Node& node, Reasons& reasons) {
  NodeAssignment assignment{node.name, node.op_type, node.domain, node.provider, {}};
  if (auto found = reasons.find(&node); found != reasons.end()) assignment.declined = std::move(found->second);
  return assignment;
}

}  // namespace

std::vector<NodeAssignment> partition(Graph& graph, std::span<const std::unique_ptr<ExecutionProvider>> providers) {
  std::vector<NodeAssignment> assignments;
  for_each_graph(graph, [&](Graph& part) {
    Reasons reasons;
    for (const auto& provider : providers) claim(part, *provider, reasons);
    for (const auto& node : part.nodes()) {
      if (node->provider.empty()) fail_unclaimed(*node, reasons);
      assignments.push_back(describe(*node, reasons));
    }
  });
  return assignments;
}

}  // namespace ortolan::runtime
