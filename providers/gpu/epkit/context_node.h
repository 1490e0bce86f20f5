// EPContext nodes: nodes of compiled models that hold a group, or name the file that does.
#pragma once

#include <filesystem>

#include "gpu/core/graph/stored_group.h"
#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

/** What the entries ep.context_* of a session ask for. */
struct ContextOptions {
  bool wanted = false;          // nodes for what is compiled
  bool embedded = false;        // they hold it; else files beside the model do
  std::filesystem::path model;  // that is written, or that a model in memory would be; empty: beside the source
  std::string name_prefix;      // of the nodes
};

ContextOptions read_context_options(const Host& host, const OrtSessionOptions* session);

bool is_context_node(std::string_view domain, std::string_view op);

/** Why a provider does not take an EPContext node; empty where it does. */
std::string refuse_context(const Node& node, const std::string& provider);

/** The attribute that is not read before the group is compiled. */
inline constexpr const char* kContextContent = "ep_cache_context";

/** Whether the graph to compile is an EPContext node. */
bool holds_context(const Host& host, const OrtGraph* graph);

/** The group in the EPContext node of a graph to compile, with its inputs and outputs as those of the fused node.
 *  Throws Failure, which says how to mend it, for nodes that hold none, or none for such a device. */
Graph read_context(const Host& host, const ContextOptions& options, const DeviceTraits& traits, const OrtGraph* graph,
                   const OrtNode* fused_node, std::vector<int>& input_positions);

/** What compiled models say of their groups' format, and the judgement of what one says. */
const char* stored_format();
OrtCompiledModelCompatibility judge_format(std::string_view format);

/** Makes EPContext nodes of one provider. */
class ContextWriter {
 public:
  ContextWriter(const Host& host, const ContextOptions& options, std::string provider, std::string version,
                const DeviceTraits& traits)
      : host_(host), options_(options), provider_(std::move(provider)), version_(std::move(version)), traits_(traits) {}

  bool is_wanted() const { return options_.wanted; }
  /** The node for a group, which the caller releases. Writes the group's file where it is to have one. */
  OrtNode* make(const OrtGraph* graph, const OrtNode* fused_node, const Graph& group) const;

 private:
  std::string place(const OrtGraph* graph, std::span<const std::byte> content) const;

  const Host host_;
  const ContextOptions options_;
  const std::string provider_, version_;
  const DeviceTraits traits_;
};

}  // namespace ortolan::gpu::epkit
