// compile_cases PLUGIN NAME FROM TO: compiles the model of each case beneath the folder FROM for the provider's device,
// into the same place beneath TO, beside links to the case's data: half with the groups inside, half with files.
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>

#include "onnxruntime_c_api.h"

namespace {

namespace fs = std::filesystem;

const OrtApi& api() { return *OrtGetApiBase()->GetApi(ORT_API_VERSION); }

bool ok(OrtStatus* status, const std::string& what) {
  if (status == nullptr) return true;
  std::printf("%s: %s\n", what.c_str(), api().GetErrorMessage(status));
  api().ReleaseStatus(status);
  return false;
}

const OrtEpDevice* find_device(const OrtEnv* env, const char* name) {
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  ok(api().GetEpDevices(env, &devices, &count), "devices");
  for (size_t i = 0; i < count; i++) {
    if (std::strstr(api().EpDevice_EpName(devices[i]), name) != nullptr) return devices[i];
  }
  return nullptr;
}

bool compile(OrtEnv* env, const OrtSessionOptions* options, const fs::path& from, const fs::path& to, bool embedded) {
  const OrtCompileApi& c = *api().GetCompileApi();
  OrtModelCompilationOptions* compilation = nullptr;
  if (!ok(c.CreateModelCompilationOptionsFromSessionOptions(env, options, &compilation), "options")) return false;
  ok(c.ModelCompilationOptions_SetInputModelPath(compilation, from.c_str()), "input");
  ok(c.ModelCompilationOptions_SetOutputModelPath(compilation, to.c_str()), "output");
  ok(c.ModelCompilationOptions_SetEpContextEmbedMode(compilation, embedded), "mode");
  bool done = ok(c.CompileModel(env, compilation), from.string());
  c.ReleaseModelCompilationOptions(compilation);
  return done;
}

/** All of a case but its model. A model that does not compile is left to whoever runs the case. */
void link_data(const fs::path& from, const fs::path& to, bool with_model) {
  for (const auto& entry : fs::directory_iterator(from)) {
    if (!with_model && entry.path().filename() == "model.onnx") continue;
    fs::remove(to / entry.path().filename());
    fs::create_symlink(fs::absolute(entry.path()), to / entry.path().filename());
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 5) return 2;
  const fs::path from = arguments[3], to = arguments[4];
  OrtEnv* env = nullptr;
  OrtSessionOptions* options = nullptr;
  if (!ok(api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, "compile_cases", &env), "environment")) return 1;
  if (!ok(api().RegisterExecutionProviderLibrary(env, "tested", arguments[1]), "plugin")) return 1;
  const OrtEpDevice* device = find_device(env, arguments[2]);
  if (device == nullptr || !ok(api().CreateSessionOptions(&options), "options")) return 1;
  if (!ok(api().SessionOptionsAppendExecutionProvider_V2(options, env, &device, 1, nullptr, nullptr, 0), "provider")) {
    return 1;
  }
  fs::remove_all(to);
  int cases = 0, compiled = 0;
  for (const auto& entry : fs::recursive_directory_iterator(from)) {
    if (entry.path().filename() != "model.onnx") continue;
    const fs::path folder = entry.path().parent_path(), target = to / fs::relative(folder, from);
    fs::create_directories(target);
    bool done = compile(env, options, entry.path(), target / "model.onnx", ++cases % 2 == 0);
    link_data(folder, target, !done);
    compiled += done;
  }
  std::printf("%d of %d cases compiled\n", compiled, cases);
  api().ReleaseSessionOptions(options);
  ok(api().UnregisterExecutionProviderLibrary(env, "tested"), "plugin");
  api().ReleaseEnv(env);
  return 0;
}
