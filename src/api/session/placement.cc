// Flat functions that say more about where nodes run than the table can: which values flow between them and which of
// those are copied between devices.
#include "api/arguments.h"
#include "api/guard.h"
#include "api/session/session_object.h"
#include "ortolan.h"

using namespace ortolan;
using namespace ortolan::api;

namespace {

/** The names of a node's values; the caller's room for them may be smaller, so that it can ask for the count first. */
OrtStatus* give_names(const std::vector<std::string>& names, const char** out, size_t room, size_t* count) noexcept {
  return guard([&] {
    auto given = array(out, room, "names");
    for (size_t i = 0; i < room && i < names.size(); ++i) given[i] = names[i].c_str();
    put(count, names.size(), "count");
  });
}

}  // namespace

OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetInputs(const OrtEpAssignedNode* node, const char** names, size_t room,
                                                   size_t* count) noexcept {
  OrtStatus* status = guard([&] { unwrap(node, "node"); });
  return status != nullptr ? status : give_names(unwrap_optional(node)->inputs, names, room, count);
}

OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetOutputs(const OrtEpAssignedNode* node, const char** names, size_t room,
                                                    size_t* count) noexcept {
  OrtStatus* status = guard([&] { unwrap(node, "node"); });
  return status != nullptr ? status : give_names(unwrap_optional(node)->outputs, names, room, count);
}

OrtStatus* ORT_API_CALL OrtSessionGetCopyCount(const OrtSession* session, size_t* out) noexcept {
  return guard([&] { put(out, session_of(session).copies().size()); });
}

OrtStatus* ORT_API_CALL OrtSessionGetCopy(const OrtSession* session, size_t index, const char** value,
                                          const char** from, const char** to) noexcept {
  return guard([&] {
    const auto& copies = session_of(session).copies();
    require(index < copies.size(), ErrorCode::kInvalidArgument, "copy ", index, " of ", copies.size());
    put(value, copies[index].value.c_str(), "value");
    put(from, copies[index].from.c_str(), "from");
    put(to, copies[index].to.c_str(), "to");
  });
}
