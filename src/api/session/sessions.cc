// Sessions: made from files and bytes, what they take and give, and profiling.
#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/plugins/ep_registry.h"
#include "api/session/session_object.h"
#include "api/values/type_descriptions.h"
#include "runtime/kernels/packed_weights.h"

namespace ortolan::api {
namespace {

using runtime::Session;
using runtime::SessionOptions;
using runtime::SessionValue;
using SessionValues = std::vector<SessionValue>;

/** The caller's container as a pointer that does not own: it must outlive the session. */
std::shared_ptr<runtime::PackedWeightsCache> shared_weights(OrtPrepackedWeightsContainer* container) {
  return {std::shared_ptr<void>(), unwrap_optional(container)};
}

/** Runs `make(environment, options, weights)` and hands the session out; on failure *out is NULL. */
template <class Make>
OrtStatus* create_session(const OrtEnv* env, const OrtSessionOptions* options, OrtPrepackedWeightsContainer* container,
                          OrtSession** out, Make&& make) noexcept {
  return guard([&] {
    require_argument(out, "out");
    *out = nullptr;
    const SessionOptions defaults;
    auto object = std::make_unique<SessionObject>();
    object->core =
        make(environment_of(env), options == nullptr ? defaults : *unwrap_optional(options), shared_weights(container));
    *out = wrap<OrtSession>(std::move(object));
  });
}

const SessionValue& value_at(const SessionValues& values, size_t index, const char* what) {
  require(index < values.size(), ErrorCode::kFail, "index ", index, " is out of range; the session has ", values.size(),
          " ", what);
  return values[index];
}

OrtStatus* count_of(const OrtSession* session, const SessionValues& (Session::*values)() const, size_t* out) noexcept {
  return guard([&] { put(out, (described_session(session).*values)().size()); });
}

OrtStatus* name_of(const OrtSession* session, const SessionValues& (Session::*values)() const, const char* what,
                   size_t index, OrtAllocator* allocator, char** out) noexcept {
  return guard([&] {
    const SessionValue& value = value_at((described_session(session).*values)(), index, what);
    require_argument(out, "value");
    *out = copy_text(allocator, value.name);
  });
}

OrtStatus* type_of(const OrtSession* session, const SessionValues& (Session::*values)() const, const char* what,
                   size_t index, OrtTypeInfo** out) noexcept {
  return guard([&] {
    const Session& core = described_session(session);
    const SessionValue& value = value_at((core.*values)(), index, what);
    give(out, describe(value.type, &core.model().context->symbols), "type_info");
  });
}

}  // namespace

const Session& session_of(const OrtSession* handle) {
  const SessionObject& session = unwrap(handle, "session");
  require(session.core != nullptr, ErrorCode::kFail,
          "the session is not ready yet; call FinalizeModelEditorSession first");
  return *session.core;
}

OrtStatus* ORT_API_CALL CreateSessionWithPrepackedWeightsContainer(const OrtEnv* env, const char* model_path,
                                                                   const OrtSessionOptions* options,
                                                                   OrtPrepackedWeightsContainer* container,
                                                                   OrtSession** out) noexcept {
  return create_session(env, options, container, out, [&](auto environment, auto& core_options, auto weights) {
    return Session::from_file(environment, text(model_path, "model_path"), core_options, weights);
  });
}

OrtStatus* ORT_API_CALL CreateSession(const OrtEnv* env, const char* model_path, const OrtSessionOptions* options,
                                      OrtSession** out) noexcept {
  return CreateSessionWithPrepackedWeightsContainer(env, model_path, options, nullptr, out);
}

OrtStatus* ORT_API_CALL CreateSessionFromArrayWithPrepackedWeightsContainer(const OrtEnv* env, const void* model_data,
                                                                            size_t model_data_length,
                                                                            const OrtSessionOptions* options,
                                                                            OrtPrepackedWeightsContainer* container,
                                                                            OrtSession** out) noexcept {
  return create_session(env, options, container, out, [&](auto environment, auto& core_options, auto weights) {
    auto bytes = array(static_cast<const std::byte*>(model_data), model_data_length, "model_data");
    return Session::from_bytes(environment, bytes, core_options, weights);
  });
}

OrtStatus* ORT_API_CALL CreateSessionFromArray(const OrtEnv* env, const void* model_data, size_t model_data_length,
                                               const OrtSessionOptions* options, OrtSession** out) noexcept {
  return CreateSessionFromArrayWithPrepackedWeightsContainer(env, model_data, model_data_length, options, nullptr, out);
}

void ORT_API_CALL ReleaseSession(OrtSession* session) noexcept {
  const std::unique_ptr<SessionObject> ended(unwrap_optional(session));
  if (ended != nullptr && ended->core != nullptr) Session::end(std::move(ended->core));
}

OrtStatus* ORT_API_CALL CreatePrepackedWeightsContainer(OrtPrepackedWeightsContainer** out) noexcept {
  return guard([&] {
    require_argument(out, "out");
    *out = wrap<OrtPrepackedWeightsContainer>(
        std::make_unique<runtime::PackedWeightsCache>(runtime::WeightsKey::kContent));
  });
}

void ORT_API_CALL ReleasePrepackedWeightsContainer(OrtPrepackedWeightsContainer* container) noexcept {
  release(container);
}

OrtStatus* ORT_API_CALL SessionGetInputCount(const OrtSession* session, size_t* out) noexcept {
  return count_of(session, &Session::inputs, out);
}
OrtStatus* ORT_API_CALL SessionGetOutputCount(const OrtSession* session, size_t* out) noexcept {
  return count_of(session, &Session::outputs, out);
}
OrtStatus* ORT_API_CALL SessionGetOverridableInitializerCount(const OrtSession* session, size_t* out) noexcept {
  return count_of(session, &Session::overridable_initializers, out);
}

OrtStatus* ORT_API_CALL SessionGetInputName(const OrtSession* session, size_t index, OrtAllocator* allocator,
                                            char** value) noexcept {
  return name_of(session, &Session::inputs, "inputs", index, allocator, value);
}
OrtStatus* ORT_API_CALL SessionGetOutputName(const OrtSession* session, size_t index, OrtAllocator* allocator,
                                             char** value) noexcept {
  return name_of(session, &Session::outputs, "outputs", index, allocator, value);
}
OrtStatus* ORT_API_CALL SessionGetOverridableInitializerName(const OrtSession* session, size_t index,
                                                             OrtAllocator* allocator, char** value) noexcept {
  return name_of(session, &Session::overridable_initializers, "overridable initializers", index, allocator, value);
}

OrtStatus* ORT_API_CALL SessionGetInputTypeInfo(const OrtSession* session, size_t index,
                                                OrtTypeInfo** type_info) noexcept {
  return type_of(session, &Session::inputs, "inputs", index, type_info);
}
OrtStatus* ORT_API_CALL SessionGetOutputTypeInfo(const OrtSession* session, size_t index,
                                                 OrtTypeInfo** type_info) noexcept {
  return type_of(session, &Session::outputs, "outputs", index, type_info);
}
OrtStatus* ORT_API_CALL SessionGetOverridableInitializerTypeInfo(const OrtSession* session, size_t index,
                                                                 OrtTypeInfo** type_info) noexcept {
  return type_of(session, &Session::overridable_initializers, "overridable initializers", index, type_info);
}

OrtStatus* ORT_API_CALL SessionGetMemoryInfoForInputs(const OrtSession* session, const OrtMemoryInfo** infos,
                                                      size_t num_inputs) noexcept {
  return guard([&] {
    const runtime::Session& core = session_of(session);
    auto given = array(infos, num_inputs, "infos");
    require(num_inputs == core.inputs().size(), ErrorCode::kInvalidArgument, "num_inputs is ", num_inputs,
            ", but there are ", core.inputs().size());
    for (size_t i = 0; i < num_inputs; ++i) given[i] = wrap<const OrtMemoryInfo>(&core.input_memory(i));
  });
}
OrtStatus* ORT_API_CALL SessionGetMemoryInfoForOutputs(const OrtSession* session, const OrtMemoryInfo** infos,
                                                       size_t num_outputs) noexcept {
  return guard([&] {
    const runtime::Session& core = session_of(session);
    auto given = array(infos, num_outputs, "infos");
    require(num_outputs == core.outputs().size(), ErrorCode::kInvalidArgument, "num_outputs is ", num_outputs,
            ", but there are ", core.outputs().size());
    for (size_t i = 0; i < num_outputs; ++i) given[i] = wrap<const OrtMemoryInfo>(&core.output_memory(i));
  });
}

OrtStatus* ORT_API_CALL CreateAllocator(const OrtSession* session, const OrtMemoryInfo* mem_info,
                                        OrtAllocator** out) noexcept {
  return guard([&] {
    const MemoryInfo& memory = place_of(unwrap(mem_info, "mem_info"));
    auto allocator = session_of(session).allocator(memory);
    require(allocator != nullptr, ErrorCode::kInvalidArgument, "the session has no allocator for memory '", memory.name,
            "' on device ", memory.device.id);
    require_argument(out, "out");
    *out = new_api_allocator(std::move(allocator));
  });
}

OrtStatus* ORT_API_CALL SessionGetProfilingStartTimeNs(const OrtSession* session, uint64_t* out) noexcept {
  return guard([&] { put(out, session_of(session).profiling_start()); });
}

OrtStatus* ORT_API_CALL SessionEndProfiling(OrtSession* session, OrtAllocator* allocator, char** out) noexcept {
  return guard([&] {
    require_argument(out, "out");
    session_of(session);  // throws when it is not ready
    *out = copy_text(allocator, unwrap_optional(session)->core->end_profiling());
  });
}

OrtStatus* ORT_API_CALL SetEpDynamicOptions(OrtSession* session, const char* const* keys, const char* const* values,
                                            size_t kv_len) noexcept {
  return guard([&] {
    const Session& core = session_of(session);
    auto names = array(keys, kv_len, "keys");
    auto texts = array(values, kv_len, "values");
    std::vector<std::pair<std::string, std::string>> options;
    for (size_t i = 0; i < kv_len; ++i) {
      std::string_view key = text(names[i], "keys[i]");
      std::string_view value = text(texts[i], "values[i]");
      bool known = key == "ep.dynamic.workload_type" && (value == "Default" || value == "Efficient");
      require(known || core.providers().size() > 1, ErrorCode::kInvalidArgument, "no provider of the session takes '",
              value, "' for the dynamic option '", key, "'");
      options.emplace_back(key, value);
    }
    core.set_dynamic_options(options);
  });
}

}  // namespace ortolan::api
