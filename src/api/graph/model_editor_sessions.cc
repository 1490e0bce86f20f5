// Sessions of built models, and sessions whose loaded model is changed before they are made ready.
#include "api/arguments.h"
#include "api/environment/environments.h"
#include "api/graph/model_builder.h"
#include "api/guard.h"
#include "api/session/session_object.h"
#include "onnx/reader.h"
#include "runtime/kernels/packed_weights.h"
#include "runtime/session/session_builder.h"

namespace ortolan::api {

/** A session before it is made ready. */
struct EditorSession {
  runtime::SessionBuilder builder;
  runtime::SessionOptions options;
  bool is_spoilt = false;  // by an edit or a finalisation that failed halfway
};

const runtime::Session& described_session(const OrtSession* handle) {
  const SessionObject& session = unwrap(handle, "session");
  return session.core != nullptr ? *session.core : session.editor->builder.session();
}

namespace {

using runtime::SessionOptions;

const SessionOptions& options_of(const OrtSessionOptions* options) {
  static const auto& defaults = *new SessionOptions;
  return options != nullptr ? *unwrap_optional(options) : defaults;
}

/** The editor of a session that is not ready yet and may be changed. */
EditorSession& editor_of(OrtSession* handle) {
  SessionObject& session = unwrap(handle, "session");
  require(session.editor != nullptr, ErrorCode::kInvalidArgument,
          "the session is ready to run, so its model cannot be changed; make one with CreateModelEditorSession");
  require(!session.editor->is_spoilt, ErrorCode::kFail,
          "an earlier change of the session's model failed and left it incomplete; create the session again");
  return *session.editor;
}

/** Does what leaves the model incomplete when it fails. */
template <class Change>
void change(EditorSession& editor, Change&& apply) {
  editor.is_spoilt = true;
  apply();
  editor.is_spoilt = false;
}

template <class Read>
OrtStatus* create_editor_session(const OrtEnv* env, const OrtSessionOptions* options, OrtSession** out,
                                 Read&& read) noexcept {
  return guard([&] {
    require_argument(out, "out");
    *out = nullptr;
    const SessionOptions& given = options_of(options);
    auto session = std::make_unique<SessionObject>();
    session->editor = std::make_shared<EditorSession>(
        EditorSession{runtime::SessionBuilder(environment_of(env), given, nullptr), given});
    session->editor->builder.load(read);
    *out = wrap<OrtSession>(std::move(session));
  });
}

}  // namespace

OrtStatus* ORT_API_CALL CreateSessionFromModel(const OrtEnv* env, const OrtModel* model,
                                               const OrtSessionOptions* options, OrtSession** out) noexcept {
  return guard([&] {
    require_argument(out, "out");
    *out = nullptr;
    const SessionOptions& given = options_of(options);
    auto environment = environment_of(env);
    auto session = std::make_unique<SessionObject>();
    session->core = runtime::Session::from_model(environment, build_model(unwrap(model, "model"), given), given);
    *out = wrap<OrtSession>(std::move(session));
  });
}

OrtStatus* ORT_API_CALL CreateModelEditorSession(const OrtEnv* env, const char* model_path,
                                                 const OrtSessionOptions* options, OrtSession** out) noexcept {
  return create_editor_session(env, options, out, [&](const onnx::ReadOptions& read) {
    return onnx::read_model_file(text(model_path, "model_path"), read);
  });
}

OrtStatus* ORT_API_CALL CreateModelEditorSessionFromArray(const OrtEnv* env, const void* model_data,
                                                          size_t model_data_length, const OrtSessionOptions* options,
                                                          OrtSession** out) noexcept {
  return create_editor_session(env, options, out, [&](const onnx::ReadOptions& read) {
    auto bytes = array(static_cast<const std::byte*>(model_data), model_data_length, "model_data");
    onnx::ReadOptions copying = read;
    copying.copy_bytes = true;
    return onnx::read_model_bytes({bytes, nullptr}, copying);
  });
}

OrtStatus* ORT_API_CALL SessionGetOpsetForDomain(const OrtSession* session, const char* domain, int* opset) noexcept {
  return guard([&] {
    const auto& opsets = described_session(session).model().context->opsets;
    std::string wanted = text(domain, "domain");
    auto found = opsets.find(wanted == "ai.onnx" ? "" : wanted);
    require(found != opsets.end(), ErrorCode::kFail, "the session's model uses no operator set '", wanted, "'");
    put(opset, found->second, "opset");
  });
}

OrtStatus* ORT_API_CALL ApplyModelToModelEditorSession(OrtSession* session, OrtModel* model) noexcept {
  return guard([&] {
    EditorSession& editor = editor_of(session);
    const ModelDraft& draft = unwrap(model, "model");
    check_draft(editor.builder.model(), draft);
    change(editor, [&] {
      apply_draft(editor.builder.model(), draft, editor.options);
      editor.builder.describe();
    });
  });
}

OrtStatus* ORT_API_CALL FinalizeModelEditorSession(OrtSession* session, const OrtSessionOptions* options,
                                                   OrtPrepackedWeightsContainer* container) noexcept {
  return guard([&] {
    SessionObject& object = unwrap(session, "session");
    EditorSession& editor = editor_of(session);
    change(editor, [&] {
      if (options != nullptr) editor.builder.set_options(*unwrap_optional(options));
      if (container != nullptr) {
        editor.builder.set_weights({std::shared_ptr<void>(), unwrap_optional(container)});
      }
      object.core = editor.builder.finish();
    });
    object.editor.reset();
  });
}

}  // namespace ortolan::api
