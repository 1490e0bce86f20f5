// Models from arguments, inputs by the model's metadata, and the options of the sessions that are measured.
#include "model.h"

#include <filesystem>
#include <map>

#include "common/error.h"
#include "common/files.h"

namespace ortolan::bench {
namespace {

namespace fs = std::filesystem;

void add_defaults(const std::string& list, std::map<std::string, int64_t>& target) {
  for (const std::string& item : tools::split(list, ',')) {
    auto [name, value] = tools::parse_pair(item, '=', "model metadata");
    target.emplace(name, tools::parse_integer(value, name));
  }
}

}  // namespace

Model read_model(const std::string& argument, const tools::RandomRules& rules) {
  Model model;
  size_t at = argument.rfind('@');
  model.path = argument.substr(0, at);
  model.rules = rules;
  std::string sizes = at == std::string::npos ? "" : argument.substr(at + 1);
  for (const std::string& item : tools::split(sizes, ',')) {
    auto [name, value] = tools::parse_pair(item, '=', argument);
    model.rules.dims[name] = tools::parse_integer(value, argument);
  }
  if (fs::is_directory(model.path)) model.path = fs::path(model.path) / "model.onnx";
  if (!fs::exists(model.path)) tools::fail("no model ", model.path);
  fs::path file(model.path);
  model.label = file.stem() == "model" ? file.parent_path().filename().string() : file.stem().string();
  if (!sizes.empty()) model.label += "@" + sizes;
  return model;
}

tools::DataSet make_data(const tools::Session& session, const Model& model) {
  if (!model.data_folder.empty()) return read_data_set(model.data_folder, session);
  tools::RandomRules rules = model.rules;
  auto metadata = session.metadata();
  add_defaults(metadata["bench.dims"], rules.dims);
  add_defaults(metadata["bench.bounds"], rules.bounds);
  return tools::made_up_data(session, rules);
}

tools::SessionConfig session_config(const Side& side, int threads, int level) {
  tools::SessionConfig config;
  if (!side.provider.empty()) config.providers = {side.provider};
  config.threads = threads;
  config.inter_threads = 1;
  config.level = level;
  // Worker threads that still spin after a run would take the processor from the other library.
  config.entries = {{"session.force_spinning_stop", "1"}};
  return config;
}

}  // namespace ortolan::bench
