// ortolan inspect: what a model file says about itself, read from the file alone; a file in ORT format by way of the
// library.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/error.h"
#include "common/files.h"
#include "common/model_file.h"
#include "common/options.h"
#include "common/session.h"
#include "common/temporary_folder.h"
#include "common/terminal.h"

namespace ortolan::tools {
namespace {

using Json = nlohmann::ordered_json;

// Operators by how often they occur, most often first.
std::vector<std::pair<int, std::string>> histogram(const ModelFile& model) {
  std::map<std::string, int> counts;
  for (const ModelFile::Node& node : model.nodes) ++counts[node.operator_name()];
  std::vector<std::pair<int, std::string>> rows;
  for (const auto& [name, count] : counts) rows.emplace_back(count, name);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  return rows;
}

void print_ports(const char* title, const std::vector<ModelFile::Port>& ports) {
  Table table({title, "type"});
  for (const ModelFile::Port& port : ports) table.add({port.name, port.type});
  if (!table.empty()) std::printf("%s\n", table.text().c_str());
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + (name.empty() ? "-" : name);
  return text;
}

// The node's name or, where it has none, that of its first output.
std::string shown_name(const ModelFile::Node& node) {
  auto first = std::ranges::find_if_not(node.outputs, &std::string::empty);
  return node.name.empty() && first != node.outputs.end() ? *first : node.name;
}

void print_nodes(const ModelFile& model) {
  Table table({">node", "operator", "name", "inputs", "outputs"});
  for (size_t i = 0; i < model.nodes.size(); ++i) {
    const ModelFile::Node& node = model.nodes[i];
    std::string indent(2 * size_t(node.depth), ' ');
    table.add({std::to_string(i), indent + node.operator_name(), shown_name(node), joined(node.inputs),
               joined(node.outputs)});
  }
  std::printf("\n%s", table.text().c_str());
}

void print_text(const ModelFile& model, bool nodes) {
  Table facts({"model", model.path});
  facts.add({"graph", model.graph});
  if (!model.description.empty()) facts.add({"description", model.description});
  facts.add({"producer", model.producer});
  facts.add({"format (IR)", std::to_string(model.ir_version)});
  for (const auto& [domain, version] : model.opsets) {
    facts.add({"opset " + (domain.empty() ? "ai.onnx" : domain), std::to_string(version)});
  }
  facts.add({"weights", join(model.weight_count, ", ", megabytes(double(model.weight_bytes)))});
  facts.add({"functions", std::to_string(model.function_count)});
  for (const auto& [key, value] : model.metadata) facts.add({"metadata " + key, value.substr(0, 100)});
  std::printf("%s\n", facts.text().c_str());
  print_ports("input", model.inputs);
  print_ports("output", model.outputs);
  Table operators({">nodes", "operator"});
  for (const auto& [count, name] : histogram(model)) operators.add({std::to_string(count), name});
  operators.add({std::to_string(model.nodes.size()), "in all"});
  std::fputs(operators.text().c_str(), stdout);
  if (nodes) print_nodes(model);
}

Json to_json(const ModelFile& model) {
  Json out = {{"path", model.path},
              {"graph", model.graph},
              {"producer", model.producer},
              {"ir_version", model.ir_version},
              {"opsets", model.opsets},
              {"metadata", model.metadata},
              {"weights", model.weight_count},
              {"weight_bytes", model.weight_bytes}};
  for (const auto& port : model.inputs) out["inputs"].push_back({{"name", port.name}, {"type", port.type}});
  for (const auto& port : model.outputs) out["outputs"].push_back({{"name", port.name}, {"type", port.type}});
  for (const auto& [count, name] : histogram(model)) out["operators"][name] = count;
  for (const auto& node : model.nodes) {
    out["nodes"].push_back({{"operator", node.operator_name()},
                            {"name", node.name},
                            {"depth", node.depth},
                            {"inputs", node.inputs},
                            {"outputs", node.outputs}});
  }
  return out;
}

bool is_ort_format(const std::string& path) {
  char head[8] = {};
  std::ifstream(path, std::ios::binary).read(head, sizeof head);
  return std::string(head + 4, 4) == "ORTM";
}

// The library loads the model, rewrites nothing and saves it as ONNX.
ModelFile read_ort_format(const std::string& path, const std::string& library_path) {
  Library library = choose_library(library_path);
  TemporaryFolder folder;
  SessionConfig config;
  config.level = 0;
  config.optimized_path = (folder.path() / "model.onnx").string();
  config.entries = {{"session.save_model_format", "ONNX"}};
  auto environment = environment_for(library, config);
  Session(library, environment.get(), path, config);
  ModelFile model = read_model_file(config.optimized_path);
  model.path = path;
  return model;
}

}  // namespace

int inspect_command(int argc, char** argv) {
  bool nodes = false, json = false;
  std::string library_path;
  std::vector<std::string> rest = parse(
      argc, argv,
      {"ortolan inspect [OPTION...] MODEL",
       "Reads a model file, in ONNX's or ORT format, and prints its inputs, outputs, opsets, metadata and operators.",
       {{'n', "nodes", nullptr, "list every node", turn(nodes)},
        {0, "json", nullptr, "print everything as JSON", turn(json)},
        {0, "library", "PATH", "for files in ORT format: use this library instead of the linked one",
         into(library_path)}}});
  if (rest.size() != 1) fail_usage("give one model, for example: ortolan inspect model.onnx");
  std::string path = model_path(rest[0]);
  ModelFile model = is_ort_format(path) ? read_ort_format(path, library_path) : read_model_file(path);
  if (json) {
    std::printf("%s\n", to_json(model).dump(1, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    print_text(model, nodes);
  }
  return 0;
}

}  // namespace ortolan::tools
