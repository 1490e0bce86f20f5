// Running a session: at once, later, and with bound inputs and outputs.
#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/plugins/ep_registry.h"
#include "api/session/session_object.h"
#include "api/status.h"
#include "runtime/session/io_binding.h"

namespace ortolan::api {
namespace {

using runtime::IoBinding;
using runtime::RunOptions;

/** Run options are only read by a run, but the core counts on being able to hold them. */
RunOptions* run_options(const OrtRunOptions* options) { return unwrap_optional(const_cast<OrtRunOptions*>(options)); }

std::vector<const Value*> input_values(const OrtValue* const* inputs, size_t count) {
  std::vector<const Value*> values;
  values.reserve(count);
  for (const OrtValue* input : array(inputs, count, "inputs")) values.push_back(&unwrap(input, "inputs[i]"));
  return values;
}

std::span<const char* const> names(const char* const* items, size_t count, const char* what) {
  auto span = array(items, count, what);
  for (const char* item : span) {
    require(item != nullptr && *item != '\0', ErrorCode::kInvalidArgument, what, " has an empty name");
  }
  return span;
}

/** The values that the caller brings for outputs; empty ones where it brings none. */
std::vector<Value> output_values(OrtValue* const* outputs, size_t count) {
  std::vector<Value> values(count);
  auto given = array(outputs, count, "outputs");
  for (size_t i = 0; i < count; ++i) {
    if (given[i] != nullptr) values[i] = *unwrap_optional(given[i]);
  }
  return values;
}

/** Hands results out: into the values that the caller brought, as new values elsewhere. */
void give_outputs(std::vector<Value>& values, OrtValue** outputs) {
  std::vector<std::unique_ptr<Value>> made(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (outputs[i] == nullptr) made[i] = std::make_unique<Value>(std::move(values[i]));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (made[i] != nullptr) {
      outputs[i] = wrap<OrtValue>(std::move(made[i]));
    } else {
      *unwrap_optional(outputs[i]) = std::move(values[i]);
    }
  }
}

/** A run that goes on after RunAsync returns. */
struct PendingRun {
  std::vector<Value> values;
  OrtValue** outputs;
  RunAsyncCallbackFn callback;
  void* user_data;

  void finish(const base::Error* error) {
    OrtStatus* status = guard([&] {
      if (error != nullptr) throw *error;
      give_outputs(values, outputs);
    });
    callback(user_data, outputs, values.size(), status);
  }
};

}  // namespace

OrtStatus* ORT_API_CALL Run(OrtSession* session, const OrtRunOptions* options, const char* const* input_names,
                            const OrtValue* const* inputs, size_t input_len, const char* const* output_names,
                            size_t output_names_len, OrtValue** outputs) noexcept {
  return guard([&] {
    const runtime::Session& core = session_of(session);
    require(output_names_len != 0, ErrorCode::kInvalidArgument, "no output is asked for; at least one is needed");
    std::vector<Value> values = output_values(outputs, output_names_len);
    core.run(run_options(options), names(input_names, input_len, "input_names"), input_values(inputs, input_len),
             names(output_names, output_names_len, "output_names"), values);
    give_outputs(values, outputs);
  });
}

OrtStatus* ORT_API_CALL RunAsync(OrtSession* session, const OrtRunOptions* options, const char* const* input_names,
                                 const OrtValue* const* inputs, size_t input_len, const char* const* output_names,
                                 size_t output_names_len, OrtValue** outputs, RunAsyncCallbackFn callback,
                                 void* user_data) noexcept {
  return guard([&] {
    const runtime::Session& core = session_of(session);
    require(callback != nullptr, ErrorCode::kInvalidArgument, "run_async_callback must not be NULL");
    require(output_names_len != 0, ErrorCode::kInvalidArgument, "no output is asked for; at least one is needed");
    auto ins = names(input_names, input_len, "input_names");
    auto outs = names(output_names, output_names_len, "output_names");
    auto pending = std::make_shared<PendingRun>(
        PendingRun{output_values(outputs, output_names_len), outputs, callback, user_data});
    core.run_async(run_options(options), {ins.begin(), ins.end()}, input_values(inputs, input_len),
                   {outs.begin(), outs.end()}, pending->values,
                   [pending](const base::Error* error) { pending->finish(error); });
  });
}

OrtStatus* ORT_API_CALL CreateIoBinding(OrtSession* session, OrtIoBinding** out) noexcept {
  return guard([&] { give(out, IoBinding(session_of(session))); });
}

void ORT_API_CALL ReleaseIoBinding(OrtIoBinding* binding) noexcept { release(binding); }

OrtStatus* ORT_API_CALL RunWithBinding(OrtSession* session, const OrtRunOptions* options,
                                       const OrtIoBinding* binding_ptr) noexcept {
  return guard([&] {
    auto& binding = const_cast<IoBinding&>(unwrap(binding_ptr, "binding_ptr"));
    require(&binding.session() == &session_of(session), ErrorCode::kInvalidArgument,
            "the binding was made for another session");
    binding.run(run_options(options));
  });
}

OrtStatus* ORT_API_CALL BindInput(OrtIoBinding* binding, const char* name, const OrtValue* value) noexcept {
  return guard([&] { unwrap(binding, "binding_ptr").bind_input(text(name, "name"), unwrap(value, "val_ptr")); });
}

OrtStatus* ORT_API_CALL BindOutput(OrtIoBinding* binding, const char* name, const OrtValue* value) noexcept {
  return guard([&] { unwrap(binding, "binding_ptr").bind_output(text(name, "name"), unwrap(value, "val_ptr")); });
}

OrtStatus* ORT_API_CALL BindOutputToDevice(OrtIoBinding* binding, const char* name,
                                           const OrtMemoryInfo* mem_info) noexcept {
  return guard([&] {
    unwrap(binding, "binding_ptr").bind_output(text(name, "name"), place_of(unwrap(mem_info, "mem_info_ptr")));
  });
}

OrtStatus* ORT_API_CALL GetBoundOutputNames(const OrtIoBinding* binding, OrtAllocator* allocator, char** buffer,
                                            size_t** lengths, size_t* count) noexcept {
  return guard([&] {
    const auto& bound = unwrap(binding, "binding_ptr").output_names();
    require_argument(buffer, "buffer");
    require_argument(lengths, "lengths");
    require_argument(count, "count");
    std::string joined;
    for (const std::string& name : bound) joined += name;
    *lengths = nullptr;
    *buffer = nullptr;
    *count = bound.size();
    if (bound.empty()) return;
    *lengths = static_cast<size_t*>(allocate_for_caller(allocator, bound.size() * sizeof(size_t)));
    for (size_t i = 0; i < bound.size(); ++i) (*lengths)[i] = bound[i].size();
    *buffer = copy_text(allocator, joined);
  });
}

OrtStatus* ORT_API_CALL GetBoundOutputValues(const OrtIoBinding* binding, OrtAllocator* allocator, OrtValue*** output,
                                             size_t* output_count) noexcept {
  return guard([&] {
    std::vector<Value> values = unwrap(binding, "binding_ptr").outputs();
    require_argument(output, "output");
    require_argument(output_count, "output_count");
    *output = nullptr;
    *output_count = 0;
    if (values.empty()) return;
    auto** handles = static_cast<OrtValue**>(allocate_for_caller(allocator, values.size() * sizeof(OrtValue*)));
    std::fill_n(handles, values.size(), nullptr);
    give_outputs(values, handles);
    *output = handles;
    *output_count = values.size();
  });
}

void ORT_API_CALL ClearBoundInputs(OrtIoBinding* binding) noexcept {
  if (binding != nullptr) unwrap_optional(binding)->clear_inputs();
}

void ORT_API_CALL ClearBoundOutputs(OrtIoBinding* binding) noexcept {
  if (binding != nullptr) unwrap_optional(binding)->clear_outputs();
}

OrtStatus* ORT_API_CALL SynchronizeBoundInputs(OrtIoBinding* binding) noexcept {
  return guard([&] { unwrap(binding, "binding_ptr").session().synchronize(); });
}
OrtStatus* ORT_API_CALL SynchronizeBoundOutputs(OrtIoBinding* binding) noexcept {
  return guard([&] { unwrap(binding, "binding_ptr").session().synchronize(); });
}

}  // namespace ortolan::api
