// Compiling models: what the caller asks for, and the call that writes the compiled model.
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/environment/environments.h"
#include "api/graph/external_initializers.h"
#include "api/graph/model_builder.h"
#include "api/guard.h"
#include "api/status.h"
#include "onnx/reader.h"
#include "runtime/session/ep_context.h"
#include "runtime/session/session_builder.h"

namespace ortolan::api {

/** OrtModelCompilationOptions. */
struct CompilationRequest {
  runtime::SessionOptions options;
  runtime::CompiledOutput output;
  std::string source_path;  // one of these three is set
  std::span<const std::byte> source_bytes;
  const ModelDraft* source_model = nullptr;
  OrtAllocator* allocator = nullptr;  // of a model written to memory
  void** buffer = nullptr;
  size_t* buffer_size = nullptr;
};

namespace {

using runtime::NothingCompiled;
using Bytes = std::span<const std::byte>;

constexpr const char* kOptions = "model_compile_options";
constexpr const char* kPathEntry = "ep.context_file_path";
constexpr const char* kEmbedEntry = "ep.context_embed_mode";

CompilationRequest& request_of(OrtModelCompilationOptions* options) { return unwrap(options, kOptions); }

void set_switch(CompilationRequest& request, const char* key, bool on) { request.options.config[key] = on ? "1" : "0"; }

/** The source that is set last counts. */
void forget_source(CompilationRequest& request) {
  request.source_path.clear();
  request.source_bytes = {};
  request.source_model = nullptr;
}

void forget_output(CompilationRequest& request) {
  request.output.path.clear();
  request.output.write = nullptr;
  request.buffer = nullptr;
}

/** Collects the model in memory from the caller's allocator. */
class CallersBuffer {
 public:
  explicit CallersBuffer(OrtAllocator* allocator) : allocator_(allocator) {}
  CallersBuffer(const CallersBuffer&) = delete;
  CallersBuffer& operator=(const CallersBuffer&) = delete;
  ~CallersBuffer() {
    if (block_ != nullptr) allocator_->Free(allocator_, block_);
  }
  void write(Bytes piece, uint64_t total) {
    if (block_ == nullptr) block_ = static_cast<std::byte*>(allocate_for_caller(allocator_, total));
    std::memcpy(block_ + size_, piece.data(), piece.size());
    size_ += piece.size();
  }
  size_t size() const { return size_; }
  void* release() { return std::exchange(block_, nullptr); }

 private:
  OrtAllocator* allocator_;
  std::byte* block_ = nullptr;
  size_t size_ = 0;
};

std::unique_ptr<graph::Model> read_source(const CompilationRequest& request, const onnx::ReadOptions& read) {
  if (request.source_model != nullptr) return build_model(*request.source_model, request.options);
  if (request.source_bytes.data() != nullptr) return onnx::read_model_bytes({request.source_bytes, nullptr}, read);
  return onnx::read_model_file(request.source_path, read);
}

void compile_model(const OrtEnv* env, const CompilationRequest& request) {
  bool from_file = !request.source_path.empty();
  require(from_file || request.source_bytes.data() != nullptr || request.source_model != nullptr,
          ErrorCode::kInvalidArgument, "the compilation has no source; set a model file, bytes or a model");
  require(!from_file || ::access(request.source_path.c_str(), F_OK) == 0, ErrorCode::kInvalidArgument,
          "the model to compile, '", request.source_path, "', does not exist");
  runtime::SessionBuilder builder(environment_of(env), request.options, nullptr);
  runtime::CompiledOutput output = request.output;
  CallersBuffer buffer(request.allocator);
  if (request.buffer != nullptr) {
    output.write = [&](Bytes piece, uint64_t total) { buffer.write(piece, total); };
  }
  builder.write_compiled([&](const onnx::ReadOptions& read) { return read_source(request, read); }, output);
  if (request.buffer == nullptr) return;
  *request.buffer_size = buffer.size();
  *request.buffer = buffer.release();
}

/** Asks the caller's function where an initializer goes. */
std::optional<ExternalPlace> ask_for_place(OrtGetInitializerLocationFunc function, void* state, const std::string& name,
                                           const Tensor& tensor) {
  Value value(tensor);
  std::optional<ExternalInitializer> now;
  if (const ExternalPlace* place = place_of(tensor)) {
    now = ExternalInitializer{place->file, static_cast<int64_t>(place->offset), place->bytes};
  }
  OrtExternalInitializerInfo* chosen = nullptr;
  auto* present = wrap<const OrtExternalInitializerInfo>(now ? &*now : nullptr);
  check_status(function(state, name.c_str(), wrap<const OrtValue>(&value), present, &chosen));
  if (chosen == nullptr) return std::nullopt;
  require(chosen != present, ErrorCode::kInvalidArgument,
          "the function that places initializers gave back its "
          "argument external_info for '",
          name, "'; it must make an object of its own");
  std::unique_ptr<ExternalInitializer> place(unwrap_optional(chosen));
  require(!place->path.empty() && place->offset >= 0, ErrorCode::kInvalidArgument, "initializer '", name,
          "' cannot be at offset ", place->offset, " of the file '", place->path, "'");
  return ExternalPlace{place->path, static_cast<uint64_t>(place->offset), place->bytes};
}

std::string with_slash(const char* folder) {
  std::string path = folder;
  if (!path.empty() && path.back() != '/') path += '/';
  return path;
}

}  // namespace

void ORT_API_CALL ReleaseModelCompilationOptions(OrtModelCompilationOptions* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL CreateModelCompilationOptionsFromSessionOptions(const OrtEnv* env,
                                                                        const OrtSessionOptions* session_options,
                                                                        OrtModelCompilationOptions** out) noexcept {
  return guard([&] {
    environment_of(env);
    CompilationRequest request;
    request.options = unwrap(session_options, "session_options");
    request.options.level = runtime::RewriteLevel::kNone;
    request.output.path = request.options.config_or(kPathEntry, "");
    request.output.external_file = request.options.config_or("ep.context_model_external_initializers_file_name", "");
    set_switch(request, "ep.context_enable", true);
    set_switch(request, "session.disable_model_compile", false);
    give(out, std::move(request));
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetInputModelPath(OrtModelCompilationOptions* options,
                                                                  const char* input_model_path) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    std::string path = text(input_model_path, "input_model_path");
    require(!path.empty(), ErrorCode::kInvalidArgument, "input_model_path is empty");
    forget_source(request);
    request.source_path = std::move(path);
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetInputModelFromBuffer(OrtModelCompilationOptions* options,
                                                                        const void* data, size_t size) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    require_argument(data, "input_model_data");
    require(size != 0, ErrorCode::kInvalidArgument, "input_model_data_size is 0; a model has bytes");
    forget_source(request);
    request.source_bytes = {static_cast<const std::byte*>(data), size};
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetInputModel(OrtModelCompilationOptions* options,
                                                              const OrtModel* model) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    const ModelDraft& draft = unwrap(model, "model");
    forget_source(request);
    request.source_model = &draft;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelPath(OrtModelCompilationOptions* options,
                                                                   const char* output_model_path) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    std::string path = text(output_model_path, "output_model_path");
    require(!path.empty(), ErrorCode::kInvalidArgument, "output_model_path is empty");
    forget_output(request);
    request.output.path = path;
    request.options.config[kPathEntry] = std::move(path);
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelBuffer(OrtModelCompilationOptions* options,
                                                                     OrtAllocator* allocator, void** buffer,
                                                                     size_t* buffer_size) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    require_argument(allocator, "allocator");
    require_argument(buffer, "output_model_buffer_ptr");
    require_argument(buffer_size, "output_model_buffer_size_ptr");
    forget_output(request);
    request.allocator = allocator;
    request.buffer = buffer;
    request.buffer_size = buffer_size;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelWriteFunc(OrtModelCompilationOptions* options,
                                                                        OrtWriteBufferFunc write_func,
                                                                        void* state) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    require(write_func != nullptr, ErrorCode::kInvalidArgument, "argument 'write_func' must not be NULL");
    forget_output(request);
    request.output.write = [write_func, state](Bytes piece, uint64_t) {
      if (!piece.empty()) check_status(write_func(state, piece.data(), piece.size()));
    };
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelExternalInitializersFile(
    OrtModelCompilationOptions* options, const char* path, size_t threshold) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    std::string file = text(path, "external_initializers_file_path");
    require(!file.empty(), ErrorCode::kInvalidArgument, "external_initializers_file_path is empty");
    request.output.place = nullptr;
    request.output.external_file = std::move(file);
    request.output.external_threshold = threshold;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(
    OrtModelCompilationOptions* options, OrtGetInitializerLocationFunc function, void* state) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    require(function != nullptr, ErrorCode::kInvalidArgument,
            "argument 'get_initializer_location_func' must not be NULL");
    request.output.place = [function, state](const std::string& name, const Tensor& tensor) {
      return ask_for_place(function, state, name, tensor);
    };
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetEpContextEmbedMode(OrtModelCompilationOptions* options,
                                                                      bool embed) noexcept {
  return guard([&] { set_switch(request_of(options), kEmbedEntry, embed); });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetEpContextBinaryInformation(OrtModelCompilationOptions* options,
                                                                              const char* output_directory,
                                                                              const char* model_name) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    std::string folder = with_slash(text(output_directory, "output_directory"));
    std::string name = text(model_name, "model_name");
    struct stat status {};
    require(::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode), ErrorCode::kInvalidArgument,
            "output_directory '", output_directory, "' is no folder");
    require(!name.empty() && name.find('/') == std::string::npos, ErrorCode::kInvalidArgument, "model_name is '", name,
            "'; it must be the name of a file, without a folder");
    request.options.config[kPathEntry] = folder + name;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetWeightlessEnabled(OrtModelCompilationOptions* options,
                                                                     bool use_weightless) noexcept {
  return guard([&] {
    set_switch(request_of(options), "ep.enable_weightless", use_weightless);
    set_switch(request_of(options), "ep.enable_weightless_ep_context_nodes", use_weightless);
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetFlags(OrtModelCompilationOptions* options, uint32_t flags) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    bool needs_nodes = (flags & OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED) != 0;
    request.output.nothing_compiled = needs_nodes ? NothingCompiled::kFail : NothingCompiled::kWriteAnyway;
    request.output.overwrite = (flags & OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS) == 0;
  });
}

OrtStatus* ORT_API_CALL ModelCompilationOptions_SetGraphOptimizationLevel(OrtModelCompilationOptions* options,
                                                                          GraphOptimizationLevel level) noexcept {
  return guard([&] {
    CompilationRequest& request = request_of(options);
    bool known = (level >= ORT_DISABLE_ALL && level <= ORT_ENABLE_LAYOUT) || level == ORT_ENABLE_ALL;
    require(known, ErrorCode::kInvalidArgument, "graph optimization level ", static_cast<int>(level),
            " is none of 0, 1, 2, 3 and 99");
    request.options.level = static_cast<runtime::RewriteLevel>(level);
  });
}

OrtStatus* ORT_API_CALL CompileModel(const OrtEnv* env, const OrtModelCompilationOptions* model_options) noexcept {
  return guard([&] { compile_model(env, unwrap(model_options, "model_options")); });
}

OrtStatus* ORT_API_CALL SessionOptionsSetWeightlessSourceModelBuffer(OrtSessionOptions* options, const void* data,
                                                                     size_t size) noexcept {
  return guard([&] {
    auto& source = unwrap(options, "options").weightless_source;
    require_argument(data, "source_model_data");
    require(size != 0, ErrorCode::kInvalidArgument, "source_model_data_length is 0; a model has bytes");
    source = {static_cast<const std::byte*>(data), size};
  });
}

OrtStatus* ORT_API_CALL SessionOptionsGetWeightlessSourceModelBuffer(const OrtSessionOptions* session_options,
                                                                     const void** data, size_t* size) noexcept {
  return guard([&] {
    auto bytes = unwrap(session_options, "session_options").weightless_source;
    require_argument(size, "source_model_data_length");
    put(data, bytes.data(), "source_model_data");
    *size = bytes.size();
  });
}

}  // namespace ortolan::api
