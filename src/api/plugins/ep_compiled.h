// What a plugin compiles: groups of nodes shown to it, and the kernels that it gives back.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/graph/graph_objects.h"
#include "onnxruntime_ep_c_api.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::api {

/** OrtNodeComputeContext. */
struct NodeComputeContext {
  std::string name;
};

/** The node that a group becomes, as its provider sees it for as long as it lives. */
struct CompiledNode {
  CompiledNode(const runtime::FusedGroup& group, const std::string& provider);
  graph::Graph graph;  // holds the node and its values, nothing else
  std::unique_ptr<DetachedNode> shown;
};

/** What one call of Compile gave. */
class ComputeInfos {
 public:
  /** Calls Compile; throws what it reports and what it leaves out. `ep` outlives the result. */
  static std::shared_ptr<ComputeInfos> make(OrtEp& ep, const std::string& provider,
                                            std::vector<const OrtGraph*>& graphs,
                                            std::vector<const OrtNode*>& fused_nodes);
  ComputeInfos(const ComputeInfos&) = delete;
  ComputeInfos& operator=(const ComputeInfos&) = delete;
  ~ComputeInfos();

  OrtNodeComputeInfo& info(size_t i) const { return *infos_[i]; }
  /** A graph with the EPContext node for group i; NULL when there is none. */
  std::shared_ptr<graph::Graph> context_graph(size_t i, const runtime::FusedGroup& group) const;
  const std::string& provider() const { return provider_; }

 private:
  ComputeInfos(OrtEp& ep, std::string provider, size_t count);
  OrtEp& ep_;
  std::string provider_;
  std::vector<OrtNodeComputeInfo*> infos_;
  std::vector<OrtNode*> context_nodes_;
};

/** The kernel of compiled group i. */
std::unique_ptr<runtime::OpKernel> make_compiled_kernel(std::shared_ptr<ComputeInfos> infos, size_t i,
                                                        std::string node_name);

}  // namespace ortolan::api
