// Session options from a SessionConfig, loading, reading the ports, running.
#include "session.h"

#include <dlfcn.h>
#include <strings.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "devices.h"
#include "files.h"

namespace ortolan::tools {
namespace {

using CountSlot = decltype(OrtApi::SessionGetInputCount);
using NameSlot = decltype(OrtApi::SessionGetInputName);
using TypeSlot = decltype(OrtApi::SessionGetInputTypeInfo);

std::vector<Port> read_ports(const Library& library, const OrtSession* session, CountSlot count, NameSlot name,
                             TypeSlot type) {
  std::vector<Port> ports(library.get<size_t>(count, session));
  for (size_t i = 0; i < ports.size(); ++i) {
    ports[i].name = library.take(library.get<char*>(name, session, i, library.allocator()));
    auto info = library.make<OrtTypeInfo>(type, library->ReleaseTypeInfo, session, i);
    ports[i].type = read_type(library, info.get());
  }
  return ports;
}

bool is_cpu(const std::string& provider) { return provider_name(provider) == "CPUExecutionProvider"; }

// The plugin library that a provider's name stands for; empty when there is no such file.
std::string plugin_path(const Library& library, const std::string& provider) {
  std::string stem = provider;
  for (char& letter : stem) letter = char(std::tolower(letter));
  Dl_info info{};
  if (!dladdr(reinterpret_cast<const void*>(library->GetEpApi), &info) || !info.dli_fname) return {};
  std::error_code error;
  for (const auto& runtime :
       {std::filesystem::path(info.dli_fname), std::filesystem::canonical(info.dli_fname, error)}) {
    for (const char* folder : {"", ORTOLAN_PROVIDER_FOLDER}) {
      auto path = runtime.parent_path() / folder / ("libonnxruntime_ep_" + stem + ".so");
      if (!runtime.empty() && std::filesystem::exists(path, error)) return path.string();
    }
  }
  return {};
}

std::pair<std::vector<const char*>, std::vector<const char*>> option_arrays(const SessionConfig& config) {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : config.provider_options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return {keys, values};
}

void append_devices(const Library& library, OrtEnv* environment, OrtSessionOptions* options,
                    const std::vector<const OrtEpDevice*>& devices, const SessionConfig& config) {
  auto [keys, values] = option_arrays(config);
  library.check(library->SessionOptionsAppendExecutionProvider_V2(options, environment, devices.data(), devices.size(),
                                                                  keys.data(), values.data(), keys.size()));
}

void append_provider(const Library& library, OrtEnv* environment, OrtSessionOptions* options,
                     const std::string& provider, const SessionConfig& config) {
  auto devices = devices_of(list_devices(library, environment), provider);
  if (!devices.empty()) return append_devices(library, environment, options, devices, config);
  auto [keys, values] = option_arrays(config);
  // The slot wants the short name: without the common ending.
  std::string name = provider_name(provider);
  std::string stem = name.substr(0, name.size() - std::string("ExecutionProvider").size());
  library.check(
      library->SessionOptionsAppendExecutionProvider(options, stem.c_str(), keys.data(), values.data(), keys.size()));
}

void set_lists(const Library& library, OrtSessionOptions* options, const SessionConfig& config) {
  for (const auto& [key, value] : config.entries) {
    library.check(library->AddSessionConfigEntry(options, key.c_str(), value.c_str()));
  }
  for (const auto& [name, size] : config.dimensions) {
    library.check(library->AddFreeDimensionOverrideByName(options, name.c_str(), size));
  }
  for (const auto& [name, size] : config.denotations) {
    library.check(library->AddFreeDimensionOverride(options, name.c_str(), size));
  }
}

}  // namespace

Handle<OrtEnv> environment_for(const Library& library, const SessionConfig& config, OrtLoggingLevel level) {
  auto environment = create_environment(library, level);
  register_plugins(library, environment.get(), config.plugins);
  for (const std::string& provider : config.providers) {
    if (is_cpu(provider) || !devices_of(list_devices(library, environment.get()), provider).empty()) continue;
    std::string path = plugin_path(library, provider);
    if (path.empty()) continue;
    library.check(library->RegisterExecutionProviderLibrary(environment.get(), provider.c_str(), path.c_str()));
  }
  return environment;
}

std::string provider_name(const std::string& given) {
  constexpr const char* kKnown[] = {"CPU",      "CUDA",     "OpenCL", "Vulkan", "Dnnl",
                                    "OpenVINO", "TensorRT", "WebGPU", "QNN",    "XNNPACK"};
  const std::string ending = "ExecutionProvider";
  if (given.size() > ending.size() && given.ends_with(ending)) return given;
  for (const char* known : kKnown) {
    if (!strcasecmp(known, given.c_str())) return known + ending;
  }
  return given + ending;
}

Handle<OrtSessionOptions> make_session_options(const Library& library, OrtEnv* environment,
                                               const SessionConfig& config) {
  auto options = library.make<OrtSessionOptions>(library->CreateSessionOptions, library->ReleaseSessionOptions);
  OrtSessionOptions* raw = options.get();
  library.check(library->SetSessionGraphOptimizationLevel(raw, GraphOptimizationLevel(config.level)));
  library.check(library->SetSessionExecutionMode(raw, config.parallel ? ORT_PARALLEL : ORT_SEQUENTIAL));
  if (config.threads) library.check(library->SetIntraOpNumThreads(raw, config.threads));
  if (config.inter_threads) library.check(library->SetInterOpNumThreads(raw, config.inter_threads));
  if (!config.arena) library.check(library->DisableCpuMemArena(raw));
  if (!config.memory_pattern) library.check(library->DisableMemPattern(raw));
  if (config.log_severity >= 0) library.check(library->SetSessionLogSeverityLevel(raw, config.log_severity));
  if (!config.optimized_path.empty()) {
    library.check(library->SetOptimizedModelFilePath(raw, config.optimized_path.c_str()));
  }
  if (!config.profile_prefix.empty()) library.check(library->EnableProfiling(raw, config.profile_prefix.c_str()));
  if (!config.custom_ops_library.empty()) {
    library.check(library->RegisterCustomOpsLibrary_V2(raw, config.custom_ops_library.c_str()));
  }
  set_lists(library, raw, config);
  if (!config.devices.empty()) append_devices(library, environment, raw, config.devices, config);
  for (const std::string& provider : config.providers) {
    if (!is_cpu(provider)) append_provider(library, environment, raw, provider, config);
  }
  return options;
}

Session::Session(const Library& library, OrtEnv* environment, const std::string& model_path,
                 const SessionConfig& config)
    : library_(library), session_(nullptr, library->ReleaseSession) {
  auto options = make_session_options(library, environment, config);
  if (config.in_memory) {
    std::string content = read_file(model_path);
    session_ = library.make<OrtSession>(library->CreateSessionFromArray, library->ReleaseSession, environment,
                                        static_cast<const void*>(content.data()), content.size(), options.get());
  } else {
    session_ = library.make<OrtSession>(library->CreateSession, library->ReleaseSession, environment,
                                        model_path.c_str(), options.get());
  }
  inputs_ = read_ports(library, get(), library->SessionGetInputCount, library->SessionGetInputName,
                       library->SessionGetInputTypeInfo);
  outputs_ = read_ports(library, get(), library->SessionGetOutputCount, library->SessionGetOutputName,
                        library->SessionGetOutputTypeInfo);
}

std::vector<Handle<OrtValue>> Session::run(const std::vector<const OrtValue*>& inputs, const OrtRunOptions* options) {
  std::vector<const char*> input_names, output_names;
  std::vector<const OrtValue*> given;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    input_names.push_back(inputs_[i].name.c_str());
    given.push_back(inputs[i]);
  }
  for (const Port& output : outputs_) output_names.push_back(output.name.c_str());
  std::vector<OrtValue*> raw(outputs_.size());
  OrtStatus* status = library_->Run(get(), options, input_names.data(), given.data(), given.size(), output_names.data(),
                                    output_names.size(), raw.data());
  std::vector<Handle<OrtValue>> results;
  for (OrtValue* value : raw) results.emplace_back(value, library_->ReleaseValue);
  library_.check(status);
  return results;
}

PreparedRun::PreparedRun(Session& session, const std::vector<const OrtValue*>& inputs, const OrtRunOptions* options)
    : session_(session), options_(options) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i]) continue;
    input_names_.push_back(session.inputs()[i].name.c_str());
    inputs_.push_back(inputs[i]);
  }
  for (const Port& output : session.outputs()) output_names_.push_back(output.name.c_str());
  outputs_.resize(output_names_.size());
}

double PreparedRun::operator()() {
  const OrtApi& api = *session_.library().api;
  std::fill(outputs_.begin(), outputs_.end(), nullptr);
  auto start = std::chrono::steady_clock::now();
  OrtStatus* status = api.Run(session_.get(), options_, input_names_.data(), inputs_.data(), inputs_.size(),
                              output_names_.data(), output_names_.size(), outputs_.data());
  auto end = std::chrono::steady_clock::now();
  for (OrtValue* value : outputs_) api.ReleaseValue(value);
  session_.library().check(status);
  return std::chrono::duration<double, std::milli>(end - start).count();
}

std::map<std::string, std::string> Session::metadata() const {
  auto metadata =
      library_.make<OrtModelMetadata>(library_->SessionGetModelMetadata, library_->ReleaseModelMetadata, get());
  OrtAllocator* allocator = library_.allocator();
  char** keys = nullptr;
  int64_t count = 0;
  library_.check(library_->ModelMetadataGetCustomMetadataMapKeys(metadata.get(), allocator, &keys, &count));
  std::map<std::string, std::string> out;
  for (int64_t i = 0; i < count; ++i) {
    std::string key = library_.take(keys[i]);
    out[key] = library_.take(
        library_.get<char*>(library_->ModelMetadataLookupCustomMetadataMap, metadata.get(), allocator, key.c_str()));
  }
  if (keys) allocator->Free(allocator, keys);
  return out;
}

std::string Session::end_profiling() {
  return library_.take(library_.get<char*>(library_->SessionEndProfiling, get(), library_.allocator()));
}

}  // namespace ortolan::tools
