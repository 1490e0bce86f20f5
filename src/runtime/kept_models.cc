// Compiled models that sessions keep for later ones.
#include "runtime/kept_models.h"

#include <filesystem>
#include <memory>

#include "base/mapped_file.h"
#include "graph/graph.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::runtime {
namespace {

constexpr const char* kFolder = "ortolan.compiled_model_folder";

/** A number for what a compiled model is made of. */
class Digest {
 public:
  Digest() : state_(XXH3_createState(), XXH3_freeState) { XXH3_64bits_reset(state_.get()); }
  void add(std::span<const std::byte> bytes) {
    const uint64_t size = bytes.size();
    XXH3_64bits_update(state_.get(), &size, sizeof size);
    XXH3_64bits_update(state_.get(), bytes.data(), bytes.size());
  }
  void add(std::string_view text) { add(std::as_bytes(std::span(text))); }
  uint64_t value() const { return XXH3_64bits_digest(state_.get()); }

 private:
  std::unique_ptr<XXH3_state_t, XXH_errorcode (*)(XXH3_state_t*)> state_;
};

bool is_for_providers(const std::string& key) { return key.starts_with("ep.") && !key.starts_with("ep.context_"); }

}  // namespace

bool keeps_compiled_models(const SessionOptions& options) { return !options.config_or(kFolder, "").empty(); }

std::string kept_model_path(const graph::Model& source, const SessionOptions& options) {
  Digest digest;
  for (const auto& file : source.files) digest.add(file->bytes());
  for (const ProviderRequest& request : options.providers) digest.add(request.name);
  for (const auto& [key, value] : options.config) {
    if (is_for_providers(key)) digest.add(join(key, '=', value));
  }
  char number[17];
  std::snprintf(number, sizeof number, "%016llx", static_cast<unsigned long long>(digest.value()));
  const std::filesystem::path folder(options.config_or(kFolder, ""));
  return folder / join(std::filesystem::path(source.path).stem().string(), '_', number, "_ctx.onnx");
}

SessionOptions keeping_options(const SessionOptions& options, const std::string& path) {
  std::error_code failed;  // writing says why, where the folder cannot be made
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), failed);
  SessionOptions keeping = options;
  keeping.config["ep.context_enable"] = "1";
  keeping.config["ep.context_embed_mode"] = "1";
  keeping.config["ep.context_file_path"] = path;
  keeping.replace_compiled_model = true;
  return keeping;
}

}  // namespace ortolan::runtime
