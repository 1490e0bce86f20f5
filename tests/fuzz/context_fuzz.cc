// Fuzz target: any bytes are compiled by the tests' plugin into a model with EPContext nodes, whose bytes are loaded
// and run; and are loaded as such a model themselves. Files that EPContext nodes name are looked for in a folder of its
// own.
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "session_run.h"

using namespace ortolan::fuzz;

namespace {

/** A folder with a file that nodes may name, and a link out of it that they may not follow. */
const std::string& folder() {
  static const auto& made = *[] {
    char pattern[] = "/tmp/context_fuzz.XXXXXX";
    auto* path = new std::string(mkdtemp(pattern));
    std::ofstream(*path + "/data.bin") << "multiply";
    std::filesystem::create_symlink("/etc/hostname", *path + "/link.bin");
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return path;
  }();
  return made;
}

const OrtEpDevice* plugin_device() {
  static const OrtEpDevice* found = [] {
    ok(api().RegisterExecutionProviderLibrary(environment(), "context", CONTEXT_PLUGIN));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    ok(api().GetEpDevices(environment(), &devices, &count));
    for (size_t i = 0; i < count; ++i) {
      if (std::strcmp(api().EpDevice_EpName(devices[i]), "ContextExecutionProvider") == 0) return devices[i];
    }
    return static_cast<const OrtEpDevice*>(nullptr);
  }();
  if (found == nullptr) std::abort();
  return found;
}

OrtSessionOptions* options_with_plugin() {
  OrtSessionOptions* options = limited_options(ORT_ENABLE_ALL);
  const OrtEpDevice* device = plugin_device();
  ok(api().SessionOptionsAppendExecutionProvider_V2(options, environment(), &device, 1, nullptr, nullptr, 0));
  ok(api().AddSessionConfigEntry(options, "ep.context_file_path", (folder() + "/model.onnx").c_str()));
  return options;
}

OrtStatus* append(void* state, const void* buffer, size_t bytes) {
  static_cast<std::string*>(state)->append(static_cast<const char*>(buffer), bytes);
  return nullptr;
}

/** The compiled model; empty where the bytes are none or the plugin takes nothing. */
std::string compiled(const uint8_t* data, size_t size, const OrtSessionOptions* options, bool embedded) {
  const OrtCompileApi& compile = *api().GetCompileApi();
  OrtModelCompilationOptions* compilation = nullptr;
  std::string bytes;
  if (!ok(compile.CreateModelCompilationOptionsFromSessionOptions(environment(), options, &compilation))) return bytes;
  ok(compile.ModelCompilationOptions_SetInputModelFromBuffer(compilation, data, size));
  ok(compile.ModelCompilationOptions_SetEpContextEmbedMode(compilation, embedded));
  ok(compile.ModelCompilationOptions_SetEpContextBinaryInformation(compilation, folder().c_str(), "model.onnx"));
  ok(compile.ModelCompilationOptions_SetOutputModelWriteFunc(compilation, append, &bytes));
  if (!ok(compile.CompileModel(environment(), compilation))) bytes.clear();
  compile.ReleaseModelCompilationOptions(compilation);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  OrtSessionOptions* options = options_with_plugin();
  load_and_run({data, size}, options);
  std::string bytes = compiled(data, size, options, data[size / 3] % 4 != 0);
  if (!bytes.empty()) load_and_run({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, options);
  api().ReleaseSessionOptions(options);
  return 0;
}
