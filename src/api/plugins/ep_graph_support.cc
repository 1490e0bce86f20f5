// What a plugin says about graphs: which nodes it takes, why it leaves others, and what it makes of groups.
#include <unordered_set>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_compiled.h"
#include "api/plugins/ep_members.h"
#include "api/plugins/ep_provider.h"

namespace ortolan::api {
namespace {

using runtime::NodeGroup;

/** The core node behind one of the graph that the provider is asked about. */
const graph::Node* node_of(const EpGraphSupport& support, const OrtNode* handle) {
  const graph::Node* node = unwrap(handle, "node").core();
  require(node != nullptr && support.graph.find(*node) != nullptr, ErrorCode::kInvalidArgument,
          "a node is not of the graph that the provider is asked about");
  return node;
}

/** Adds what the plugin says of nodes that it could have taken and did not, where nothing is known yet. */
void add_reasons(EpGraphSupport& support, const OrtEp& ep, GetEpRefusalReasonFn reason_of) {
  runtime::Capability& capability = support.capability;
  std::unordered_set<const graph::Node*> settled;
  for (const NodeGroup& group : capability.groups) settled.insert(group.nodes.begin(), group.nodes.end());
  for (const runtime::Declined& declined : capability.declined) settled.insert(declined.node);
  for (const NodeObject& node : support.graph.nodes()) {
    if (!node.provider().empty() || settled.contains(node.core())) continue;
    const char* reason = reason_of(&ep, wrap<const OrtNode>(&node));
    if (reason != nullptr && *reason != '\0') capability.declined.push_back({node.core(), reason});
  }
}

}  // namespace

runtime::Capability PluginExecutionProvider::get_capability(const graph::Graph& graph) {
  GraphObject shown(graph, origin_);
  EpGraphSupport support{*this, shown, {}};
  if (auto ask = member_if(*ep_, &OrtEp::GetCapability, 23)) {
    check_plugin(ask(ep_.get(), wrap<const OrtGraph>(&shown), wrap<OrtEpGraphSupportInfo>(&support)), name_,
                 "GetCapability");
    if (library_->refusal_reason() != nullptr) add_reasons(support, *ep_, library_->refusal_reason());
  }
  return std::move(support.capability);
}

std::vector<runtime::CompiledGroup> PluginExecutionProvider::compile(std::span<const runtime::FusedGroup> groups) {
  std::vector<std::unique_ptr<GraphObject>> parts;  // for the call only
  std::vector<const OrtGraph*> graphs;
  std::vector<const OrtNode*> nodes;
  for (const runtime::FusedGroup& group : groups) {
    std::vector<const graph::ValueInfo*> inputs(group.inputs.begin(), group.inputs.end());
    std::vector<const graph::ValueInfo*> outputs(group.outputs.begin(), group.outputs.end());
    GraphPart part{group.nodes, inputs, outputs};
    parts.push_back(std::make_unique<GraphObject>(*group.graph, part, origin_));
    graphs.push_back(wrap<const OrtGraph>(parts.back().get()));
    fused_.push_back(std::make_unique<CompiledNode>(group, name_));
    nodes.push_back(wrap<const OrtNode>(&fused_.back()->shown->node()));
  }
  auto infos = ComputeInfos::make(*ep_, name_, graphs, nodes);
  std::vector<runtime::CompiledGroup> compiled;
  for (size_t i = 0; i < groups.size(); ++i) {
    compiled.push_back({make_compiled_kernel(infos, i, groups[i].name), infos->context_graph(i, groups[i])});
  }
  return compiled;
}

std::string PluginExecutionProvider::compatibility_info(const graph::Graph& graph) {
  auto ask = member_if(*ep_, &OrtEp::GetCompiledModelCompatibilityInfo, 23);
  if (ask == nullptr) return {};
  GraphObject shown(graph, origin_);
  const char* info = ask(ep_.get(), wrap<const OrtGraph>(&shown));
  return info == nullptr ? "" : info;
}

runtime::WeightlessSupport PluginExecutionProvider::weightless_support() const {
  auto ask = member_if(*ep_, &OrtEp::GetWeightlessSupport, 29);
  if (ask == nullptr) return runtime::WeightlessSupport::kUnknown;
  OrtWeightlessSupport support = OrtWeightlessSupport_NONE;
  check_plugin(ask(ep_.get(), &support), name_, "GetWeightlessSupport");
  return static_cast<runtime::WeightlessSupport>(support);
}

OrtStatus* ORT_API_CALL EpGraphSupportInfo_AddNodesToFuse(OrtEpGraphSupportInfo* graph_support_info,
                                                          const OrtNode* const* nodes, size_t num_nodes,
                                                          const OrtNodeFusionOptions* options) noexcept {
  return guard([&] {
    EpGraphSupport& support = unwrap(graph_support_info, "graph_support_info");
    require(num_nodes != 0, ErrorCode::kInvalidArgument, "num_nodes is 0; a group needs at least one node");
    NodeGroup group;
    for (const OrtNode* node : array(nodes, num_nodes, "nodes")) group.nodes.push_back(node_of(support, node));
    group.compile = true;
    group.drop_constants = options != nullptr && options->drop_constant_initializers;
    support.capability.groups.push_back(std::move(group));
  });
}

OrtStatus* ORT_API_CALL EpGraphSupportInfo_AddSingleNode(OrtEpGraphSupportInfo* graph_support_info,
                                                         const OrtNode* node) noexcept {
  return guard([&] {
    EpGraphSupport& support = unwrap(graph_support_info, "graph_support_info");
    const graph::Node* core = node_of(support, node);
    std::string why;
    if (support.provider.find_kernel(*core, &why) != nullptr) {
      support.capability.groups.push_back({{core}});
    } else {
      support.capability.declined.push_back({core, join("claimed without a kernel: ", why)});
    }
  });
}

OrtStatus* ORT_API_CALL EpGraphSupportInfo_LookUpKernel(OrtEpGraphSupportInfo* graph_support_info, const OrtNode* node,
                                                        const OrtKernelDef** out_kernel_def) noexcept {
  return guard([&] {
    EpGraphSupport& support = unwrap(graph_support_info, "graph_support_info");
    const graph::Node* core = node_of(support, node);
    std::string why;
    const PluginKernel* kernel = support.provider.find_kernel(*core, &why);
    if (kernel == nullptr) support.capability.declined.push_back({core, std::move(why)});
    put(out_kernel_def, kernel == nullptr ? nullptr : wrap<const OrtKernelDef>(&kernel->def), "out_kernel_def");
  });
}

}  // namespace ortolan::api
