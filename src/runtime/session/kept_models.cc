// Compiled models that sessions keep for later ones.
#include "runtime/session/kept_models.h"

#include <filesystem>

#include "base/digest.h"
#include "base/memory/mapped_file.h"
#include "graph/graph.h"

namespace ortolan::runtime {
namespace {

constexpr const char* kFolder = "ortolan.compiled_model_folder";

bool is_for_providers(const std::string& key) { return key.starts_with("ep.") && !key.starts_with("ep.context_"); }

}  // namespace

bool keeps_compiled_models(const SessionOptions& options) { return !options.config_or(kFolder, "").empty(); }

std::string kept_model_path(const graph::Model& source, const SessionOptions& options) {
  base::Digest digest;
  for (const auto& file : source.files) digest.add(file->bytes());
  for (const ProviderRequest& request : options.providers) digest.add(request.name);
  for (const auto& [key, value] : options.config) {
    if (is_for_providers(key)) digest.add(join(key, '=', value));
  }
  const std::filesystem::path folder(options.config_or(kFolder, ""));
  return folder /
         join(std::filesystem::path(source.path).stem().string(), '_', base::hex_of(digest.value()), "_ctx.onnx");
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
