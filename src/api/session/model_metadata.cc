// What describes a session's model, and where its nodes run.
#include <map>

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/session/session_object.h"
#include "ortolan.h"

namespace ortolan::api {
namespace {

using runtime::NodeAssignment;

OrtStatus* copy_field(const OrtModelMetadata* metadata, std::string ModelDescription::*field, OrtAllocator* allocator,
                      char** out) noexcept {
  return guard([&] {
    const ModelDescription& core = unwrap(metadata, "model_metadata");
    require_argument(out, "value");
    *out = copy_text(allocator, core.*field);
  });
}

/** Nodes that their provider made one are a subgraph; every other node is one for itself. */
void collect_assignments(SessionObject& session) {
  std::map<int, size_t> place_of_group;
  for (const NodeAssignment& node : session.core->assignments()) {
    auto [group, added] = place_of_group.try_emplace(node.group, session.assigned.size());
    if (added || node.group < 0) {
      session.assigned.push_back({node.provider, {&node}});
    } else {
      session.assigned[group->second].nodes.push_back(&node);
    }
  }
  for (const AssignedSubgraph& subgraph : session.assigned) session.assigned_handles.push_back(&subgraph);
}

}  // namespace

ModelDescription describe_model(const graph::Model& model) {
  ModelDescription result;
  result.producer = model.producer_name;
  if (model.graph != nullptr) {
    result.graph_name = model.graph->name;
    result.graph_description = model.graph->doc;
  }
  result.domain = model.domain;
  result.description = model.doc;
  result.version = model.model_version;
  result.custom = model.metadata;
  return result;
}

OrtStatus* ORT_API_CALL SessionGetModelMetadata(const OrtSession* session, OrtModelMetadata** out) noexcept {
  return guard([&] { give(out, describe_model(described_session(session).model())); });
}

void ORT_API_CALL ReleaseModelMetadata(OrtModelMetadata* metadata) noexcept { release(metadata); }

OrtStatus* ORT_API_CALL ModelMetadataGetProducerName(const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                                     char** value) noexcept {
  return copy_field(metadata, &ModelDescription::producer, allocator, value);
}
OrtStatus* ORT_API_CALL ModelMetadataGetGraphName(const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                                  char** value) noexcept {
  return copy_field(metadata, &ModelDescription::graph_name, allocator, value);
}
OrtStatus* ORT_API_CALL ModelMetadataGetGraphDescription(const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                                         char** value) noexcept {
  return copy_field(metadata, &ModelDescription::graph_description, allocator, value);
}
OrtStatus* ORT_API_CALL ModelMetadataGetDomain(const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                               char** value) noexcept {
  return copy_field(metadata, &ModelDescription::domain, allocator, value);
}
OrtStatus* ORT_API_CALL ModelMetadataGetDescription(const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                                    char** value) noexcept {
  return copy_field(metadata, &ModelDescription::description, allocator, value);
}

OrtStatus* ORT_API_CALL ModelMetadataGetVersion(const OrtModelMetadata* metadata, int64_t* value) noexcept {
  return guard([&] { put(value, unwrap(metadata, "model_metadata").version, "value"); });
}

OrtStatus* ORT_API_CALL ModelMetadataLookupCustomMetadataMap(const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                                             const char* key, char** value) noexcept {
  return guard([&] {
    const ModelDescription& core = unwrap(metadata, "model_metadata");
    std::string_view wanted = text(key, "key");
    require_argument(value, "value");
    char* found = nullptr;
    for (const auto& [name, content] : core.custom) {
      if (found == nullptr && name == wanted) found = copy_text(allocator, content);
    }
    *value = found;
  });
}

OrtStatus* ORT_API_CALL ModelMetadataGetCustomMetadataMapKeys(const OrtModelMetadata* metadata, OrtAllocator* allocator,
                                                              char*** keys, int64_t* num_keys) noexcept {
  return guard([&] {
    std::vector<std::string_view> names;
    for (const auto& [name, content] : unwrap(metadata, "model_metadata").custom) names.push_back(name);
    require_argument(num_keys, "num_keys");
    require_argument(keys, "keys");
    *keys = copy_texts(allocator, names);
    *num_keys = static_cast<int64_t>(names.size());
  });
}

OrtStatus* ORT_API_CALL Session_GetEpGraphAssignmentInfo(const OrtSession* session,
                                                         const OrtEpAssignedSubgraph* const** ep_subgraphs,
                                                         size_t* num_ep_subgraphs) noexcept {
  return guard([&] {
    auto& object = const_cast<SessionObject&>(unwrap(session, "session"));
    require(session_of(session).options().config_or("session.record_ep_graph_assignment_info", "0") == "1",
            ErrorCode::kInvalidArgument,
            "assignments are given for sessions made with the config entry session.record_ep_graph_assignment_info "
            "set to 1");
    require_argument(num_ep_subgraphs, "num_ep_subgraphs");
    std::call_once(object.assignments_made, [&] { collect_assignments(object); });
    put(ep_subgraphs, wrap_array<const OrtEpAssignedSubgraph>(object.assigned_handles.data()), "ep_subgraphs");
    *num_ep_subgraphs = object.assigned_handles.size();
  });
}

OrtStatus* ORT_API_CALL EpAssignedSubgraph_GetEpName(const OrtEpAssignedSubgraph* subgraph, const char** out) noexcept {
  return guard([&] { put(out, unwrap(subgraph, "ep_subgraph").provider.c_str()); });
}

OrtStatus* ORT_API_CALL EpAssignedSubgraph_GetNodes(const OrtEpAssignedSubgraph* subgraph,
                                                    const OrtEpAssignedNode* const** ep_nodes,
                                                    size_t* num_ep_nodes) noexcept {
  return guard([&] {
    const auto& nodes = unwrap(subgraph, "ep_subgraph").nodes;
    require_argument(num_ep_nodes, "num_ep_nodes");
    put(ep_nodes, wrap_array<const OrtEpAssignedNode>(nodes.data()), "ep_nodes");
    *num_ep_nodes = nodes.size();
  });
}

OrtStatus* ORT_API_CALL EpAssignedNode_GetName(const OrtEpAssignedNode* node, const char** out) noexcept {
  return guard([&] { put(out, unwrap(node, "ep_node").node_name.c_str()); });
}
OrtStatus* ORT_API_CALL EpAssignedNode_GetDomain(const OrtEpAssignedNode* node, const char** out) noexcept {
  return guard([&] { put(out, unwrap(node, "ep_node").domain.c_str()); });
}
OrtStatus* ORT_API_CALL EpAssignedNode_GetOperatorType(const OrtEpAssignedNode* node, const char** out) noexcept {
  return guard([&] { put(out, unwrap(node, "ep_node").op_type.c_str()); });
}

}  // namespace ortolan::api

using namespace ortolan;
using namespace ortolan::api;

OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetDeclineCount(const OrtEpAssignedNode* node, size_t* out) noexcept {
  return guard([&] { put(out, unwrap(node, "ep_node").declined.size()); });
}

OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetDecline(const OrtEpAssignedNode* node, size_t index, const char** provider,
                                                    const char** reason) noexcept {
  return guard([&] {
    const auto& declined = unwrap(node, "ep_node").declined;
    require(index < declined.size(), ErrorCode::kInvalidArgument, "decline ", index, " is asked for; the node has ",
            declined.size());
    require_argument(reason, "reason");
    put(provider, declined[index].first.c_str(), "provider");
    *reason = declined[index].second.c_str();
  });
}
