// What stands behind OrtSession, and the model's description behind OrtModelMetadata.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "onnxruntime_c_api.h"
#include "runtime/session/session.h"

namespace ortolan::api {

/** OrtEpAssignedSubgraph: the nodes that a provider took together. */
struct AssignedSubgraph {
  std::string provider;
  std::vector<const runtime::NodeAssignment*> nodes;
};

struct EditorSession;

/** Either `core` or, before a session of the model editor is finalised, `editor` is there. */
struct SessionObject {
  std::unique_ptr<runtime::Session> core;
  std::shared_ptr<EditorSession> editor;
  std::once_flag assignments_made;
  std::vector<AssignedSubgraph> assigned;
  std::vector<const AssignedSubgraph*> assigned_handles;
};

/** The session; throws when the handle is NULL or the session is not finalised. */
const runtime::Session& session_of(const OrtSession* session);
/** The same, but for a session that is not finalised one that only knows its model, inputs and outputs. */
const runtime::Session& described_session(const OrtSession* session);

/** OrtModelMetadata. */
struct ModelDescription {
  std::string producer;
  std::string graph_name;
  std::string graph_description;
  std::string domain;
  std::string description;
  int64_t version = 0;
  std::vector<std::pair<std::string, std::string>> custom;
};
ModelDescription describe_model(const graph::Model& model);

}  // namespace ortolan::api
