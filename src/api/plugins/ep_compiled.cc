// What a plugin compiles: the call, the kernels, the EPContext nodes.
#include "api/plugins/ep_compiled.h"

#include <algorithm>

#include "api/arguments.h"
#include "api/graph/model_drafts.h"
#include "api/guard.h"
#include "api/plugins/ep_members.h"

namespace ortolan::api {
namespace {

/** Computes one compiled group. */
class CompiledKernel final : public runtime::OpKernel {
 public:
  CompiledKernel(std::shared_ptr<ComputeInfos> infos, size_t i, std::string node_name)
      : infos_(std::move(infos)), info_(infos_->info(i)), compute_(info_.Compute), context_{std::move(node_name)} {
    require(info_.CreateState != nullptr && compute_ != nullptr && info_.ReleaseState != nullptr, ErrorCode::kEpFail,
            "execution provider ", infos_->provider(),
            ": CreateState, Compute and ReleaseState of an OrtNodeComputeInfo must not be NULL");
    check_plugin(info_.CreateState(&info_, wrap<OrtNodeComputeContext>(&context_), &state_), infos_->provider(),
                 "CreateState");
  }
  CompiledKernel(const CompiledKernel&) = delete;
  CompiledKernel& operator=(const CompiledKernel&) = delete;
  ~CompiledKernel() override { info_.ReleaseState(&info_, state_); }

  void compute(runtime::KernelContext& context) const override {
    check_plugin(compute_(&info_, state_, wrap<OrtKernelContext>(&context)), infos_->provider(), "Compute");
  }

 private:
  std::shared_ptr<ComputeInfos> infos_;
  OrtNodeComputeInfo& info_;
  decltype(OrtNodeComputeInfo::Compute) compute_;
  NodeComputeContext context_;
  void* state_ = nullptr;
};

/** Values of `graph` with those names, made where they are not there; NULL for empty names. */
std::vector<graph::ValueInfo*> values_named(graph::Graph& graph, std::span<const std::string> names,
                                            std::span<graph::ValueInfo* const> known) {
  std::unordered_map<std::string_view, const graph::TypeInfo*, base::TextHash> types;
  for (const graph::ValueInfo* value : known) types.emplace(value->name, &value->type);
  std::vector<graph::ValueInfo*> values;
  for (const std::string& name : names) {
    graph::ValueInfo* value = name.empty() ? nullptr : graph.find(name);
    if (value == nullptr && !name.empty()) {
      auto same = types.find(name);
      value = graph.add_value(name, same == types.end() ? graph::TypeInfo() : *same->second);
    }
    values.push_back(value);
  }
  return values;
}

std::vector<std::string> names_of(std::span<graph::ValueInfo* const> values) {
  std::vector<std::string> names;
  for (const graph::ValueInfo* value : values) names.push_back(value->name);
  return names;
}

}  // namespace

CompiledNode::CompiledNode(const runtime::FusedGroup& group, const std::string& provider)
    : graph(group.graph->shared_context()) {
  auto inputs = values_named(graph, names_of(group.inputs), group.inputs);
  auto outputs = values_named(graph, names_of(group.outputs), group.outputs);
  graph::Node* node = graph.add_node(group.name, group.name, "", std::move(inputs), std::move(outputs));
  node->opset = 1;
  node->provider = provider;
  shown = std::make_unique<DetachedNode>(*node);
}

ComputeInfos::ComputeInfos(OrtEp& ep, std::string provider, size_t count)
    : ep_(ep), provider_(std::move(provider)), infos_(count), context_nodes_(count) {}

std::shared_ptr<ComputeInfos> ComputeInfos::make(OrtEp& ep, const std::string& provider,
                                                 std::vector<const OrtGraph*>& graphs,
                                                 std::vector<const OrtNode*>& fused_nodes) {
  auto compile = member_if(ep, &OrtEp::Compile, 23);
  require(compile != nullptr && member_if(ep, &OrtEp::ReleaseNodeComputeInfos, 23) != nullptr, ErrorCode::kEpFail,
          "execution provider ", provider,
          " claims nodes to compile, but its Compile or ReleaseNodeComputeInfos is NULL");
  std::shared_ptr<ComputeInfos> made(new ComputeInfos(ep, provider, graphs.size()));
  std::vector<OrtNodeComputeInfo*> infos(graphs.size());
  std::vector<OrtNode*> context_nodes(graphs.size());
  check_plugin(compile(&ep, graphs.data(), fused_nodes.data(), graphs.size(), infos.data(), context_nodes.data()),
               provider,
               "Compile");  // which, where it fails, keeps what it made
  made->infos_ = std::move(infos);
  made->context_nodes_ = std::move(context_nodes);
  require(std::ranges::none_of(made->infos_, [](const auto* info) { return info == nullptr; }), ErrorCode::kEpFail,
          "execution provider ", provider, ": Compile succeeded but gave no compute info for one of ", graphs.size(),
          " graphs");
  return made;
}

ComputeInfos::~ComputeInfos() {
  for (OrtNode* node : context_nodes_) ReleaseNode(node);
  std::erase(infos_, nullptr);
  auto release = ep_.ReleaseNodeComputeInfos;
  if (!infos_.empty()) release(&ep_, infos_.data(), infos_.size());
}

std::shared_ptr<graph::Graph> ComputeInfos::context_graph(size_t i, const runtime::FusedGroup& group) const {
  if (context_nodes_[i] == nullptr) return nullptr;
  const NodeDraft* draft = unwrap_optional(context_nodes_[i])->draft();
  require(draft != nullptr, ErrorCode::kEpFail, "execution provider ", provider_,
          ": an EPContext node must be one that it created with CreateNode");
  auto made = std::make_shared<graph::Graph>(group.graph->shared_context());
  auto inputs = values_named(*made, draft->inputs, group.inputs);
  auto outputs = values_named(*made, draft->outputs, group.outputs);
  graph::Node* node = made->add_node(draft->name, draft->op_type, draft->domain, std::move(inputs), std::move(outputs));
  node->opset = 1;
  for (const graph::Attribute& attribute : draft->attributes) node->set_attribute(attribute.name, attribute.value);
  return made;
}

std::unique_ptr<runtime::OpKernel> make_compiled_kernel(std::shared_ptr<ComputeInfos> infos, size_t i,
                                                        std::string node_name) {
  return std::make_unique<CompiledKernel>(std::move(infos), i, std::move(node_name));
}

const char* ORT_API_CALL NodeComputeContext_NodeName(const OrtNodeComputeContext* context) noexcept {
  return context == nullptr ? nullptr : unwrap_optional(context)->name.c_str();
}

}  // namespace ortolan::api
