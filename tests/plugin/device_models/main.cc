// device_models: runs models on a provider of a plugin library and on the CPU provider of the same runtime, and demands
// equal outputs and that the device has most of the work.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>

#include "common/compare_values.h"
#include "common/data_set.h"
#include "common/devices.h"
#include "common/files.h"
#include "common/options.h"
#include "common/temporary_folder.h"
#include "profile.h"

namespace ortolan::device_models {
namespace {

namespace fs = std::filesystem;
using tools::Session;

constexpr int kSkipped = 77;
const std::string kCpu = "CPUExecutionProvider";

struct Settings {
  std::string plugins, provider;
  double share = 95;        // of the operations, in percent
  double tolerance = 1e-4;  // of the greatest value of an output
};

struct Model {
  std::string label, path, data_folder;
  tools::RandomRules rules;
  std::optional<tools::Tolerance> tolerance;  // that its data states
};

/** What a run on one of the two sides gave. */
struct Result {
  std::vector<tools::Value> outputs;
  std::vector<NodeWork> nodes;  // of the profile
};

tools::CommandLine command_line(Settings& s) {
  return {
      "device_models [OPTION...] LIBRARY MODEL...",
      "MODEL is a file, or a folder with model.onnx and, as an option, test_data_set_0, or a folder of such folders;\n"
      "MODEL@name=size,... sets symbolic dimensions. Ends with status 77 where none of the models is there.",
      {{0, "plugin", "NAME|PATH", "register this provider library", tools::into(s.plugins)},
       {'e', "provider", "NAME", "the provider whose devices run the models", tools::into(s.provider)},
       {0, "share", "PERCENT", "of the operations that must be on the device (default 95)",
        tools::into(s.share, "--share")},
       {0, "tolerance", "X", "greatest difference, as a part of an output's greatest value (default 1e-4)",
        tools::into(s.tolerance, "--tolerance")}}};
}

void add_sizes(const std::string& list, std::map<std::string, int64_t>& target) {
  for (const std::string& item : tools::split(list, ',')) {
    auto [name, value] = tools::parse_pair(item, '=', list);
    target.emplace(name, tools::parse_integer(value, name));
  }
}

/** The folders in a folder that has no model itself, by name; else the argument. */
std::vector<std::string> models_of(const std::string& argument) {
  if (!fs::is_directory(argument) || fs::exists(tools::model_path(argument))) return {argument};
  std::vector<std::string> folders;
  for (const fs::directory_entry& entry : fs::directory_iterator(argument)) {
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

Model read_model(const std::string& argument) {
  Model model;
  size_t at = argument.rfind('@');
  std::string given = argument.substr(0, at);
  model.path = tools::model_path(given);
  model.label = fs::path(given).stem().string() + (at == std::string::npos ? "" : argument.substr(at));
  if (at != std::string::npos) add_sizes(argument.substr(at + 1), model.rules.dims);
  fs::path data = fs::path(model.path).parent_path() / "test_data_set_0";
  if (fs::exists(data)) model.data_folder = data;
  model.tolerance = tools::stated_tolerance(fs::path(model.path).parent_path());
  return model;
}

/** Sizes and bounds that the command line does not give come from the model's metadata. */
tools::DataSet make_data(const Session& session, Model model) {
  if (!model.data_folder.empty()) return read_data_set(model.data_folder, session);
  auto metadata = session.metadata();
  add_sizes(metadata["bench.dims"], model.rules.dims);
  add_sizes(metadata["bench.bounds"], model.rules.bounds);
  return made_up_data(session, model.rules);
}

Result run(const tools::Library& library, OrtEnv* environment, const Model& model, tools::SessionConfig config) {
  tools::TemporaryFolder folder;
  config.profile_prefix = (folder.path() / "profile").string();
  Session session(library, environment, model.path, config);
  auto inputs = make_inputs(session, environment, make_data(session, model));
  Result result;
  for (const auto& output : session.run(tools::pointers(inputs))) {
    result.outputs.push_back(from_library(library, output.get()));
  }
  result.nodes = read_profile(session.end_profiling());
  return result;
}

double operations(const std::vector<NodeWork>& nodes) {
  double sum = 0;
  for (const NodeWork& node : nodes) sum += node.provider == kCpu ? node.operations : 0;
  return sum;
}

/** The greatest difference of all outputs, each in parts of its greatest value. */
double difference(const Result& found, const Result& wanted) {
  double greatest = 0;
  for (size_t i = 0; i < wanted.outputs.size(); i++) {
    tools::Distance distance = tools::distance(found.outputs[i], wanted.outputs[i]);
    if (!distance.comparable) tools::fail("output ", i, " has another type or shape than on the CPU");
    if (distance.mismatches > 0) tools::fail(distance.mismatches, " integers or NaN of output ", i, " differ");
    greatest = std::max(greatest, distance.relative);
  }
  return greatest;
}

/** 16-bit floats may differ by eight of their last places: a softmax raises what its 16-bit input rounds. */
double tolerance_of(const Result& result, double tolerance) {
  auto is_half = [](const tools::Value& value) { return value.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16; };
  bool any = std::any_of(result.outputs.begin(), result.outputs.end(), is_half);
  return any ? std::max(tolerance, 8.0 / 1024) : tolerance;
}

/** Whether few numbers miss, as the model's data states: another order of sums takes what is quantized to the next
 * step. */
bool is_within_stated(const Model& model, const Result& found, const Result& wanted) {
  if (!model.tolerance || model.tolerance->share == 0) return false;
  for (size_t i = 0; i < wanted.outputs.size(); i++) {
    if (!tools::difference(wanted.outputs[i], found.outputs[i], *model.tolerance).empty()) return false;
  }
  return true;
}

void print_left(const std::vector<NodeWork>& nodes) {
  for (const NodeWork& node : nodes) {
    if (node.provider == kCpu) {
      std::printf("  on the CPU: %s (%s), %.0f operations\n", node.node.c_str(), node.type.c_str(), node.operations);
    }
  }
}

/** Whether the model is as it must be. */
bool check(const Model& model, const tools::Library& library, OrtEnv* environment, const Settings& settings) {
  tools::SessionConfig config;
  config.level = 0;  // the CPU runs the nodes as they stand in the file
  Result alone = run(library, environment, model, config);
  config.level = 99;
  config.devices = devices_of(list_devices(library, environment), settings.provider);
  if (config.devices.empty()) tools::fail("the plugin shows no device of ", settings.provider);
  config.devices.resize(1);
  Result shared = run(library, environment, model, config);
  double far = difference(shared, alone), all = operations(alone.nodes), left = operations(shared.nodes);
  double share = 100 * (1 - left / all);
  auto on_cpu = std::count_if(shared.nodes.begin(), shared.nodes.end(), [](auto& n) { return n.provider == kCpu; });
  std::printf(
      "%s: %.2f %% of %.4g operations on the device, %zu nodes, %zd of them on the CPU; outputs differ by %.1e\n",
      model.label.c_str(), share, all, alone.nodes.size(), on_cpu, far);
  bool equal = far <= tolerance_of(alone, settings.tolerance) || is_within_stated(model, shared, alone);
  bool good = share >= settings.share && equal;
  if (!good) print_left(shared.nodes);
  std::fflush(stdout);
  return good;
}

bool try_model(const Model& model, const tools::Library& library, OrtEnv* environment, const Settings& settings) {
  try {
    return check(model, library, environment, settings);
  } catch (const tools::ToolError& error) {
    std::printf("%s: %s\n", model.label.c_str(), error.what());
    return false;
  }
}

int run_all(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> arguments = parse(argc, argv, command_line(settings)), models;
  if (arguments.size() < 2) tools::fail_usage("give a library and a model");
  for (size_t i = 1; i < arguments.size(); i++) {
    for (std::string& model : models_of(arguments[i])) models.push_back(std::move(model));
  }
  tools::Library library = tools::open_library(arguments[0]);
  auto environment = create_environment(library);
  register_plugins(library, environment.get(), settings.plugins);
  int status = kSkipped;
  for (const std::string& argument : models) {
    Model model = read_model(argument);
    if (!fs::exists(model.path)) {
      std::printf("%s: skipped, there is no such model\n", model.label.c_str());
      continue;
    }
    bool good = try_model(model, library, environment.get(), settings);
    status = !good ? 1 : status == kSkipped ? 0 : status;
  }
  return status;
}

}  // namespace
}  // namespace ortolan::device_models

int main(int argc, char** argv) {
  return ortolan::tools::run_program("device_models", [&] { return ortolan::device_models::run_all(argc, argv); });
}
