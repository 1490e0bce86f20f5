// Compiled models: writing them, and what must hold of those that are read.
#include "runtime/session/ep_context.h"

#include <sys/stat.h>

#include <algorithm>
#include <unordered_map>

#include "onnx/external_data.h"
#include "onnx/writer.h"
#include "runtime/providers/node_groups.h"

namespace ortolan::runtime {
namespace {

constexpr const char* kWhere = "ep_context.cc";
constexpr std::string_view kKeyPrefix = "ep_compatibility_info.";

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<size_t>(slash, 1));
}

using Replacements = std::unordered_map<const Node*, const Graph*>;

std::unordered_set<std::string_view, base::TextHash> names_of(const std::vector<ValueInfo*>& values) {
  std::unordered_set<std::string_view, base::TextHash> names;
  for (const ValueInfo* value : values) {
    if (value != nullptr) names.insert(value->name);
  }
  return names;
}

/** A provider's answer for a fused node: one EPContext node that reads what is there and makes what is read. */
void check_context(const FusedOperator& fused, const Node& node) {
  const Graph* context = fused.context();
  require(context != nullptr, ErrorCode::kFail, "provider ", fused.provider(), " compiled the group '", fused.name,
          "' but gave no EPContext node for it, so no compiled model can be written; perhaps it does not support this, "
          "or the model is compiled already");
  bool one = context->nodes().size() == 1 && is_ep_context(*context->nodes().front());
  require(one, ErrorCode::kFail, "provider ", fused.provider(), " gave for the group '", fused.name,
          "' something else than one EPContext node of domain com.microsoft");
  const Node& given = *context->nodes().front();
  for (const ValueInfo* input : given.inputs()) {
    require(input == nullptr || node.graph().find_visible(input->name) != nullptr, ErrorCode::kFail, "provider ",
            fused.provider(), " gave ", given.label(), ", whose input '", input->name, "' is no value of the graph");
  }
  const auto made = names_of(given.outputs()), wanted = names_of(node.outputs());
  for (const ValueInfo* output : node.outputs()) {
    require(made.contains(output->name), ErrorCode::kFail, "provider ", fused.provider(), " gave ", given.label(),
            ", which does not make the group's output '", output->name, "'");
  }
  for (const ValueInfo* output : given.outputs()) {
    require(output == nullptr || wanted.contains(output->name), ErrorCode::kFail, "provider ", fused.provider(),
            " gave ", given.label(), ", whose output '", output->name, "' is none of the group's");
  }
}

/** The EPContext node for each fused node. */
Replacements find_replacements(const Model& model, std::span<const std::unique_ptr<CustomOperator>> operators) {
  std::unordered_map<const ops::SchemaRow*, const FusedOperator*> fused;
  for (const auto& row : operators) {
    if (const auto* found = dynamic_cast<const FusedOperator*>(row.get())) fused.emplace(found, found);
  }
  Replacements replacements;
  if (fused.empty()) return replacements;
  for_each_graph(*model.graph, [&](const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      auto found = fused.find(node->schema);
      if (found == fused.end()) continue;
      check_context(*found->second, *node);
      replacements.emplace(node.get(), found->second->context());
    }
  });
  return replacements;
}

void write_to(const Model& model, const CompiledOutput& output, const onnx::WriteOptions& options) {
  if (output.write) return onnx::write_model(model, options, "", output.write);
  onnx::write_model_file(model, compiled_path(output, model.path), options);
}

/** The judgement; a factory that fails to give one fails the session. */
Compatibility judge(const ProviderFactory& factory, const std::string& info) {
  try {
    return factory.judge(info);
  } catch (const Error& error) {
    fail(ErrorCode::kFail, "provider ", factory.type(),
         " cannot judge what it compiled for this model: ", error.text());
  }
}

}  // namespace

std::optional<CompiledOutput> compiled_output_of(const SessionOptions& options) {
  if (options.config_or("ep.context_enable", "0") != "1") return std::nullopt;
  CompiledOutput output;
  output.path = options.config_or("ep.context_file_path", "");
  output.overwrite = options.replace_compiled_model;
  output.nothing_compiled = NothingCompiled::kSkip;
  output.external_file = options.config_or("ep.context_model_external_initializers_file_name", "");
  return output;
}

std::string compiled_path(const CompiledOutput& output, const std::string& source_path) {
  std::string path = output.path;
  if (path.empty()) {
    require(!source_path.empty(), ErrorCode::kFail,
            "nothing says where the compiled model goes: the source has no path; set the output of the compilation, or "
            "the session entry ep.context_file_path");
    size_t dot = source_path.rfind('.'), slash = source_path.rfind('/');
    bool ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    path = source_path.substr(0, ending ? dot : std::string::npos) + "_ctx.onnx";
  }
  struct stat status {};
  bool there = ::stat(path.c_str(), &status) == 0;
  require(path.back() != '/' && !(there && S_ISDIR(status.st_mode)), ErrorCode::kInvalidArgument,
          "the compiled model cannot be written to '", path, "', which is a folder; name a file");
  require(!there || output.overwrite, ErrorCode::kFail, "the compiled model is not written to '", path,
          "', as that file exists already; remove it or name another");
  return path;
}

void write_compiled_model(const Model& model, std::span<const std::unique_ptr<CustomOperator>> operators,
                          const CompiledOutput& output, std::vector<std::pair<std::string, std::string>> metadata,
                          const Logger& logger) {
  Replacements replacements = find_replacements(model, operators);
  if (replacements.empty()) {
    require(output.nothing_compiled != NothingCompiled::kFail, ErrorCode::kFail,
            "no provider of the session compiled any node of the model; register one that can, or compile a model that "
            "is not compiled already");
    if (output.nothing_compiled == NothingCompiled::kSkip) {
      return logger.log(
          Severity::kWarning, kWhere,
          "no compiled model is written, as no provider gave an EPContext node for any part of the model");
    }
  }
  onnx::WriteOptions options;
  options.external_file = output.external_file;
  options.external_threshold = output.external_threshold;
  options.replacements = &replacements;
  options.metadata = std::move(metadata);
  if (!output.place) return write_to(model, output, options);
  auto place = [&](std::string_view name, const Tensor& value) { return output.place(std::string(name), value); };
  onnx::PlaceInitializer place_initializer(place);
  options.place = &place_initializer;
  write_to(model, output, options);
}

std::string compatibility_key(std::string_view provider) { return join(kKeyPrefix, provider); }

const std::string* find_compatibility_info(std::span<const std::pair<std::string, std::string>> metadata,
                                           std::string_view provider) {
  std::string wanted = compatibility_key(provider);
  for (const auto& [key, value] : metadata) {
    if (key == wanted) return &value;
  }
  return nullptr;
}

void check_compatibility(const Model& model, const ProviderFactory& factory, const SessionOptions& options,
                         const Logger& logger) {
  const std::string* info = find_compatibility_info(model.metadata, factory.type());
  if (info == nullptr) return;
  Compatibility judgement = judge(factory, *info);
  require(judgement != Compatibility::kUnsupported, ErrorCode::kFail, "provider ", factory.type(),
          " cannot run what it compiled for this model (its compatibility info is '", *info,
          "'); compile the source model anew");
  if (judgement != Compatibility::kPreferRecompilation) return;
  std::string text = join("provider ", factory.type(),
                          " runs what it compiled for this model below its best (its "
                          "compatibility info is '",
                          *info, "'); compile the source model anew");
  require(options.config_or("session.fail_on_suboptimal_compiled_model", "0") != "1", ErrorCode::kFail, text);
  logger.log(Severity::kWarning, kWhere, text);
}

bool is_ep_context(const Node& node) { return node.op_type == "EPContext" && node.domain == "com.microsoft"; }

void read_context_data(Model& model, const SessionOptions& options) {
  if (!options.read_context_data) return;
  for_each_graph(*model.graph, [&](Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (!is_ep_context(*node) || node->int_or("embed_mode", 1) != 0) continue;
      std::string name(node->string_or("ep_cache_context", ""));
      if (name.empty()) continue;
      try {
        node->set_attribute("ep_cache_context", options.read_context_data(name));
      } catch (const Error& error) {
        throw error.within(
            join(node->label(), ": the function that reads data of compiled nodes, asked for '", name, "'"));
      }
      node->set_attribute("embed_mode", int64_t{1});
    }
  });
}

void check_context_files(const Model& model, const SessionOptions& options) {
  std::string beside = model.path.empty() ? std::string(options.config_or("ep.context_file_path", "")) : model.path;
  std::string folder = beside.empty() ? "" : folder_of(beside);
  for_each_graph(*model.graph, [&](const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (!is_ep_context(*node) || node->int_or("embed_mode", 1) != 0) continue;
      std::string file(node->string_or("ep_cache_context", ""));
      if (!file.empty()) onnx::check_beneath(folder, model.path, file, join(node->label(), ": ep_cache_context"));
    }
  });
}

std::string advice_for_unclaimed(const Node& ep_context) {
  std::string_view source = ep_context.string_or("source", "");
  if (source.empty()) return "it holds what an execution provider compiled; register that provider for the session";
  return join("it holds what execution provider '", source, "' compiled; register that provider for the session");
}

}  // namespace ortolan::runtime
