// onnxruntime_perf_test: how long a model takes to load and to run.
#include <cstdio>

#include "common/devices.h"
#include "common/files.h"
#include "common/terminal.h"
#include "measure_model.h"

namespace ortolan::tools {
namespace {

void print_devices(const std::vector<Device>& devices) {
  Table table({">number", "provider", "kind", "vendor", ">vendor id", ">device id"});
  for (size_t i = 0; i < devices.size(); ++i) {
    const Device& d = devices[i];
    table.add(
        {std::to_string(i), d.provider, d.kind, d.vendor, std::to_string(d.vendor_id), std::to_string(d.device_id)});
  }
  std::fputs(table.text().c_str(), stdout);
}

// The devices that --plugin_eps and --select_ep_devices name.
std::vector<const OrtEpDevice*> choose_devices(const std::vector<Device>& devices, const PerfSettings& settings) {
  std::vector<const OrtEpDevice*> chosen;
  for (const std::string& text : split(settings.selected_devices, ';')) {
    long long number = parse_integer(text, "--select_ep_devices");
    if (number < 0 || number >= (long long)devices.size()) {
      fail_usage("--select_ep_devices: there is no device ", number, "; --list_ep_devices shows them");
    }
    chosen.push_back(devices[number].handle);
  }
  for (const std::string& provider : split(settings.plugin_providers, ';')) {
    size_t before = chosen.size();
    for (const Device& device : devices) {
      if (settings.selected_devices.empty() && device.provider == provider) chosen.push_back(device.handle);
    }
    if (settings.selected_devices.empty() && chosen.size() == before) fail("provider ", provider, " offers no device");
  }
  return chosen;
}

void compile(const Library& library, OrtEnv* environment, const std::string& model, const PerfSettings& settings) {
  const OrtCompileApi* compiler = library->GetCompileApi();
  if (!compiler) fail("the library cannot compile models");
  auto session = make_session_options(library, environment, settings.session);
  auto options = library.make<OrtModelCompilationOptions>(
      library->GetCompileApi()->CreateModelCompilationOptionsFromSessionOptions,
      compiler->ReleaseModelCompilationOptions, environment, session.get());
  library.check(compiler->ModelCompilationOptions_SetInputModelPath(options.get(), model.c_str()));
  library.check(compiler->ModelCompilationOptions_SetOutputModelPath(options.get(), settings.compile_path.c_str()));
  library.check(compiler->CompileModel(environment, options.get()));
  std::printf("Compiled model: %s\n", settings.compile_path.c_str());
}

int run(int argc, char** argv) {
  PerfSettings settings;
  std::vector<std::string> rest = parse(argc, argv, perf_command_line(settings));
  Library library = choose_library(settings.library_path);
  auto environment = environment_for(library, settings.session,
                                     settings.verbose ? ORT_LOGGING_LEVEL_VERBOSE : ORT_LOGGING_LEVEL_WARNING);
  bool needs_devices =
      settings.list_devices || !settings.selected_devices.empty() || !settings.plugin_providers.empty();
  std::vector<Device> devices;
  if (needs_devices) devices = list_devices(library, environment.get());
  if (settings.list_devices) {
    print_devices(devices);
    return 0;
  }
  if (rest.empty() || rest.size() > 2) fail_usage("give a model, and a result file if you like");
  if (settings.concurrent < 1) fail_usage("-c must be 1 or more");
  settings.session.devices = choose_devices(devices, settings);
  for (const std::string& word : split(settings.plugin_options, ' ')) {
    if (!word.empty()) settings.session.provider_options.push_back(parse_pair(word, '|', "--plugin_ep_options"));
  }
  for (const auto& [name, size] : settings.session.dimensions) settings.rules.dims[name] = size;
  std::string model = model_path(rest[0]);
  if (!settings.compile_path.empty()) {
    compile(library, environment.get(), model, settings);
    return 0;
  }
  PerfResult result = measure_model(library, environment.get(), model, settings);
  std::fputs((settings.json ? json_report(result) : text_report(result, settings)).c_str(), stdout);
  if (rest.size() == 2) write_file(rest[1], result_line(result, model, settings.session.providers));
  return 0;
}

}  // namespace
}  // namespace ortolan::tools

int main(int argc, char** argv) {
  return ortolan::tools::run_program("onnxruntime_perf_test", [&] { return ortolan::tools::run(argc, argv); });
}
