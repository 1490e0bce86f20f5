// Settings of sessions, of runs and of providers. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_values.h"

namespace Ort {

/** Settings of runs. */
struct RunOptions : detail::Base<OrtRunOptions> {
  explicit RunOptions(std::nullptr_t) {}
  RunOptions() { ThrowOnError(GetApi().CreateRunOptions(&p_)); }

  RunOptions& SetRunLogVerbosityLevel(int level) { return Done(GetApi().RunOptionsSetRunLogVerbosityLevel(p_, level)); }
  int GetRunLogVerbosityLevel() const { return detail::Get<int>(GetApi().RunOptionsGetRunLogVerbosityLevel, p_); }
  RunOptions& SetRunLogSeverityLevel(int level) { return Done(GetApi().RunOptionsSetRunLogSeverityLevel(p_, level)); }
  int GetRunLogSeverityLevel() const { return detail::Get<int>(GetApi().RunOptionsGetRunLogSeverityLevel, p_); }
  RunOptions& SetRunTag(const char* run_tag) { return Done(GetApi().RunOptionsSetRunTag(p_, run_tag)); }
  const char* GetRunTag() const { return detail::Get<const char*>(GetApi().RunOptionsGetRunTag, p_); }
  RunOptions& AddConfigEntry(const char* config_key, const char* config_value) {
    return Done(GetApi().AddRunConfigEntry(p_, config_key, config_value));
  }
  /** Borrowed; NULL when there is no such entry. */
  const char* GetConfigEntry(const char* config_key) { return GetApi().GetRunConfigEntry(p_, config_key); }
  /** Asks all runs with these options to stop soon, with an exception. Any thread may call it. */
  RunOptions& SetTerminate() { return Done(GetApi().RunOptionsSetTerminate(p_)); }
  /** Makes the options usable again. */
  RunOptions& UnsetTerminate() { return Done(GetApi().RunOptionsUnsetTerminate(p_)); }
  /** The adapter must live as long as runs use the options. */
  RunOptions& AddActiveLoraAdapter(const LoraAdapter& adapter) {
    return Done(GetApi().RunOptionsAddActiveLoraAdapter(p_, adapter));
  }
  /** The stream must live as long as runs use the options. */
  RunOptions& SetSyncStream(OrtSyncStream* stream) {
    GetApi().RunOptionsSetSyncStream(p_, stream);
    return *this;
  }
  RunOptions& EnableProfiling(const ORTCHAR_T* profile_file_prefix) {
    return Done(GetApi().RunOptionsEnableProfiling(p_, profile_file_prefix));
  }
  RunOptions& DisableProfiling() { return Done(GetApi().RunOptionsDisableProfiling(p_)); }

 private:
  RunOptions& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

namespace detail {

/** The key of a session entry for a custom operator: "custom_op.NAME.CONFIG". */
inline std::string MakeCustomOpConfigEntryKey(const char* custom_op_name, const char* config) {
  return std::string{"custom_op."} + custom_op_name + "." + config;
}

}  // namespace detail

/** Session entries for custom operators of a library. */
struct CustomOpConfigs {
  CustomOpConfigs() = default;
  ~CustomOpConfigs() = default;
  CustomOpConfigs(const CustomOpConfigs&) = default;
  CustomOpConfigs& operator=(const CustomOpConfigs&) = default;
  CustomOpConfigs(CustomOpConfigs&&) = default;
  CustomOpConfigs& operator=(CustomOpConfigs&&) = default;

  /** Adds an entry, or replaces its value. */
  CustomOpConfigs& AddConfig(const char* custom_op_name, const char* config_key, const char* config_value) {
    flat_configs_[detail::MakeCustomOpConfigEntryKey(custom_op_name, config_key)] = config_value;
    return *this;
  }
  /** All entries by the keys that they have in a session. */
  const std::unordered_map<std::string, std::string>& GetFlattenedConfigs() const { return flat_configs_; }

 private:
  std::unordered_map<std::string, std::string> flat_configs_;
};

struct SessionOptions;

namespace detail {

template <typename T>
struct ConstSessionOptionsImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** A copy that is independent of this. */
  SessionOptions Clone() const;
  /** The value of an entry, which must be there. */
  std::string GetConfigEntry(const char* config_key) const {
    return GetSizedString(GetApi().GetSessionConfigEntry, this->p_, config_key);
  }
  bool HasConfigEntry(const char* config_key) const {
    return Get<int>(GetApi().HasSessionConfigEntry, this->p_, config_key) != 0;
  }
  std::string GetConfigEntryOrDefault(const char* config_key, const std::string& def) const {
    return HasConfigEntry(config_key) ? GetConfigEntry(config_key) : def;
  }
  KeyValuePairs GetConfigEntries() const {
    return KeyValuePairs{Get<OrtKeyValuePairs*>(GetApi().GetSessionOptionsConfigEntries, this->p_)};
  }
  bool GetMemPatternEnabled() const { return Get<int>(GetApi().GetMemPatternEnabled, this->p_) != 0; }
  ExecutionMode GetExecutionMode() const { return Get<ExecutionMode>(GetApi().GetSessionExecutionMode, this->p_); }
};

template <typename T>
struct SessionOptionsImpl : ConstSessionOptionsImpl<T> {
  using B = ConstSessionOptionsImpl<T>;
  using B::B;

  /** Threads that share the work of one operator, the caller's included; 0 chooses. */
  SessionOptionsImpl& SetIntraOpNumThreads(int intra_op_num_threads) {
    return Done(GetApi().SetIntraOpNumThreads(this->p_, intra_op_num_threads));
  }
  /** Threads that run nodes side by side in the parallel mode; 0 chooses. */
  SessionOptionsImpl& SetInterOpNumThreads(int inter_op_num_threads) {
    return Done(GetApi().SetInterOpNumThreads(this->p_, inter_op_num_threads));
  }
  SessionOptionsImpl& SetGraphOptimizationLevel(GraphOptimizationLevel graph_optimization_level) {
    return Done(GetApi().SetSessionGraphOptimizationLevel(this->p_, graph_optimization_level));
  }
  SessionOptionsImpl& SetDeterministicCompute(bool value) {
    return Done(GetApi().SetDeterministicCompute(this->p_, value));
  }
  SessionOptionsImpl& EnableCpuMemArena() { return Done(GetApi().EnableCpuMemArena(this->p_)); }
  SessionOptionsImpl& DisableCpuMemArena() { return Done(GetApi().DisableCpuMemArena(this->p_)); }
  SessionOptionsImpl& EnableMemPattern() { return Done(GetApi().EnableMemPattern(this->p_)); }
  SessionOptionsImpl& DisableMemPattern() { return Done(GetApi().DisableMemPattern(this->p_)); }
  /** Where the session saves the model as it is after rewriting. */
  SessionOptionsImpl& SetOptimizedModelFilePath(const ORTCHAR_T* optimized_model_file) {
    return Done(GetApi().SetOptimizedModelFilePath(this->p_, optimized_model_file));
  }
  SessionOptionsImpl& EnableProfiling(const ORTCHAR_T* profile_file_prefix) {
    return Done(GetApi().EnableProfiling(this->p_, profile_file_prefix));
  }
  SessionOptionsImpl& DisableProfiling() { return Done(GetApi().DisableProfiling(this->p_)); }
  SessionOptionsImpl& EnableOrtCustomOps() { return Done(GetApi().EnableOrtCustomOps(this->p_)); }
  SessionOptionsImpl& SetExecutionMode(ExecutionMode execution_mode) {
    return Done(GetApi().SetSessionExecutionMode(this->p_, execution_mode));
  }
  /** With true, sessions that are being created with these options stop soon. Any thread may call it. */
  SessionOptionsImpl& SetLoadCancellationFlag(bool value) {
    return Done(GetApi().SessionOptionsSetLoadCancellationFlag(this->p_, value));
  }
  SessionOptionsImpl& SetLogId(const char* logid) { return Done(GetApi().SetSessionLogId(this->p_, logid)); }
  SessionOptionsImpl& SetLogSeverityLevel(int level) {
    return Done(GetApi().SetSessionLogSeverityLevel(this->p_, level));
  }
  SessionOptionsImpl& SetLogVerbosityLevel(int level) {
    return Done(GetApi().SetSessionLogVerbosityLevel(this->p_, level));
  }
  /** Sends the session's log lines to the function, which any thread may call. */
  SessionOptionsImpl& SetUserLoggingFunction(OrtLoggingFunction user_logging_function, void* user_logging_param) {
    return Done(GetApi().SetUserLoggingFunction(this->p_, user_logging_function, user_logging_param));
  }
  /** The domain must outlive the sessions. */
  SessionOptionsImpl& Add(OrtCustomOpDomain* custom_op_domain) {
    return Done(GetApi().AddCustomOpDomain(this->p_, custom_op_domain));
  }
  /** The session uses the thread pools of the environment. */
  SessionOptionsImpl& DisablePerSessionThreads() { return Done(GetApi().DisablePerSessionThreads(this->p_)); }
  SessionOptionsImpl& AddConfigEntry(const char* config_key, const char* config_value) {
    return Done(GetApi().AddSessionConfigEntry(this->p_, config_key, config_value));
  }
  /** The value must live as long as the sessions. */
  SessionOptionsImpl& AddInitializer(const char* name, const OrtValue* ort_val) {
    return Done(GetApi().AddInitializer(this->p_, name, ort_val));
  }
  /** The values must live as long as the options are used to create sessions. */
  SessionOptionsImpl& AddExternalInitializers(const std::vector<std::string>& names,
                                              const std::vector<Value>& ort_values) {
    if (names.size() != ort_values.size()) {
      ORT_CXX_API_THROW("There are not as many names as initializers.", ORT_INVALID_ARGUMENT);
    }
    return Done(GetApi().AddExternalInitializers(this->p_, CStrings(names).data(), Pointers(ort_values.data()),
                                                 ort_values.size()));
  }
  /** Contents of files that the model names as external data, which must live until the session is created. */
  SessionOptionsImpl& AddExternalInitializersFromFilesInMemory(
      const std::vector<std::basic_string<ORTCHAR_T>>& external_initializer_file_names,
      const std::vector<char*>& external_initializer_file_buffer_array,
      const std::vector<size_t>& external_initializer_file_lengths) {
    const size_t count = external_initializer_file_names.size();
    if (external_initializer_file_buffer_array.size() != count || external_initializer_file_lengths.size() != count) {
      ORT_CXX_API_THROW("There are not as many names of files as buffers and lengths.", ORT_INVALID_ARGUMENT);
    }
    std::vector<const ORTCHAR_T*> names;
    for (const auto& name : external_initializer_file_names) names.push_back(name.c_str());
    return Done(GetApi().AddExternalInitializersFromFilesInMemory(this->p_, names.data(),
                                                                  external_initializer_file_buffer_array.data(),
                                                                  external_initializer_file_lengths.data(), count));
  }
  SessionOptionsImpl& AddFreeDimensionOverride(const char* dim_denotation, int64_t dim_value) {
    return Done(GetApi().AddFreeDimensionOverride(this->p_, dim_denotation, dim_value));
  }
  SessionOptionsImpl& AddFreeDimensionOverrideByName(const char* dim_name, int64_t dim_value) {
    return Done(GetApi().AddFreeDimensionOverrideByName(this->p_, dim_name, dim_value));
  }

  /** Providers choose nodes in the order in which they are added. One that is not here throws. */
  SessionOptionsImpl& AppendExecutionProvider_CPU(int use_arena) {
    return Done(OrtSessionOptionsAppendExecutionProvider_CPU(this->p_, use_arena));
  }
  SessionOptionsImpl& AppendExecutionProvider_CUDA(const OrtCUDAProviderOptions& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_CUDA(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_CUDA_V2(const OrtCUDAProviderOptionsV2& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_CUDA_V2(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_ROCM(const OrtROCMProviderOptions& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_ROCM(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_OpenVINO(const OrtOpenVINOProviderOptions& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_OpenVINO(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_OpenVINO_V2(
      const std::unordered_map<std::string, std::string>& provider_options = {}) {
    const KeysAndValues entries{provider_options};
    return Done(GetApi().SessionOptionsAppendExecutionProvider_OpenVINO_V2(this->p_, entries.keys.data(),
                                                                           entries.values.data(), entries.size()));
  }
  SessionOptionsImpl& AppendExecutionProvider_TensorRT(const OrtTensorRTProviderOptions& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_TensorRT(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_TensorRT_V2(const OrtTensorRTProviderOptionsV2& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_TensorRT_V2(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_MIGraphX(const OrtMIGraphXProviderOptions& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_MIGraphX(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_CANN(const OrtCANNProviderOptions& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_CANN(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_Dnnl(const OrtDnnlProviderOptions& provider_options) {
    return Done(GetApi().SessionOptionsAppendExecutionProvider_Dnnl(this->p_, &provider_options));
  }
  SessionOptionsImpl& AppendExecutionProvider_VitisAI(
      const std::unordered_map<std::string, std::string>& provider_options = {}) {
    const KeysAndValues entries{provider_options};
    return Done(GetApi().SessionOptionsAppendExecutionProvider_VitisAI(this->p_, entries.keys.data(),
                                                                       entries.values.data(), entries.size()));
  }
  /** A provider by its name or short name. */
  SessionOptionsImpl& AppendExecutionProvider(
      const std::string& provider_name, const std::unordered_map<std::string, std::string>& provider_options = {}) {
    const KeysAndValues entries{provider_options};
    return Done(GetApi().SessionOptionsAppendExecutionProvider(this->p_, provider_name.c_str(), entries.keys.data(),
                                                               entries.values.data(), entries.size()));
  }
  /** A provider for these devices, which must all be of one provider. */
  SessionOptionsImpl& AppendExecutionProvider_V2(Env& env, const std::vector<ConstEpDevice>& ep_devices,
                                                 const KeyValuePairs& ep_options) {
    std::vector<const char*> keys, values;
    ep_options.GetKeyValuePairs(keys, values);
    return Append(env, ep_devices, keys, values);
  }
  SessionOptionsImpl& AppendExecutionProvider_V2(Env& env, const std::vector<ConstEpDevice>& ep_devices,
                                                 const std::unordered_map<std::string, std::string>& ep_options) {
    const KeysAndValues entries{ep_options};
    return Append(env, ep_devices, entries.keys, entries.values);
  }
  /** Lets the session choose among all devices by a rule. */
  SessionOptionsImpl& SetEpSelectionPolicy(OrtExecutionProviderDevicePolicy policy) {
    return Done(GetApi().SessionOptionsSetEpSelectionPolicy(this->p_, policy));
  }
  /** Lets a function choose. */
  SessionOptionsImpl& SetEpSelectionPolicy(EpSelectionDelegate delegate, void* state = nullptr) {
    return Done(GetApi().SessionOptionsSetEpSelectionPolicyDelegate(this->p_, delegate, state));
  }

  SessionOptionsImpl& SetCustomCreateThreadFn(OrtCustomCreateThreadFn ort_custom_create_thread_fn) {
    return Done(GetApi().SessionOptionsSetCustomCreateThreadFn(this->p_, ort_custom_create_thread_fn));
  }
  SessionOptionsImpl& SetCustomThreadCreationOptions(void* ort_custom_thread_creation_options) {
    return Done(GetApi().SessionOptionsSetCustomThreadCreationOptions(this->p_, ort_custom_thread_creation_options));
  }
  SessionOptionsImpl& SetCustomJoinThreadFn(OrtCustomJoinThreadFn ort_custom_join_thread_fn) {
    return Done(GetApi().SessionOptionsSetCustomJoinThreadFn(this->p_, ort_custom_join_thread_fn));
  }
  /** Loads a library of custom operators; it is closed when nothing uses it any more. */
  SessionOptionsImpl& RegisterCustomOpsLibrary(const ORTCHAR_T* library_name,
                                               const CustomOpConfigs& custom_op_configs = {}) {
    for (const auto& [key, value] : custom_op_configs.GetFlattenedConfigs()) {
      AddConfigEntry(key.c_str(), value.c_str());
    }
    return Done(GetApi().RegisterCustomOpsLibrary_V2(this->p_, library_name));
  }
  /** Calls a function of the process, found by name, that registers custom operators. */
  SessionOptionsImpl& RegisterCustomOpsUsingFunction(const char* registration_function_name) {
    return Done(GetApi().RegisterCustomOpsUsingFunction(this->p_, registration_function_name));
  }
  /** The bytes of the model that a compiled model without weights was made from; they must live as long as the
   *  sessions. */
  SessionOptionsImpl& SetWeightlessSourceModelBuffer(const void* source_model_data, size_t source_model_data_length) {
    return Done(
        GetApi().SessionOptionsSetWeightlessSourceModelBuffer(this->p_, source_model_data, source_model_data_length));
  }

 private:
  SessionOptionsImpl& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }

  SessionOptionsImpl& Append(Env& env, const std::vector<ConstEpDevice>& ep_devices,
                             const std::vector<const char*>& keys, const std::vector<const char*>& values) {
    const std::vector<const OrtEpDevice*> devices(ep_devices.begin(), ep_devices.end());
    return Done(GetApi().SessionOptionsAppendExecutionProvider_V2(this->p_, env, devices.data(), devices.size(),
                                                                  keys.data(), values.data(), keys.size()));
  }
};

}  // namespace detail

using UnownedSessionOptions = detail::SessionOptionsImpl<detail::Unowned<OrtSessionOptions>>;
using ConstSessionOptions = detail::ConstSessionOptionsImpl<detail::Unowned<const OrtSessionOptions>>;

/** Settings of sessions. They may be changed or end after a session was created with them. */
struct SessionOptions : detail::SessionOptionsImpl<OrtSessionOptions> {
  explicit SessionOptions(std::nullptr_t) {}
  SessionOptions() { ThrowOnError(GetApi().CreateSessionOptions(&p_)); }
  /** Takes ownership. */
  explicit SessionOptions(OrtSessionOptions* p) : SessionOptionsImpl<OrtSessionOptions>{p} {}

  UnownedSessionOptions GetUnowned() const { return UnownedSessionOptions{p_}; }
  ConstSessionOptions GetConst() const { return ConstSessionOptions{p_}; }
};

template <typename T>
SessionOptions detail::ConstSessionOptionsImpl<T>::Clone() const {
  return SessionOptions{Get<OrtSessionOptions*>(GetApi().CloneSessionOptions, this->p_)};
}

/** Settings of the TensorRT provider. */
struct TensorRTProviderOptions : detail::Base<OrtTensorRTProviderOptionsV2> {
  TensorRTProviderOptions(std::nullptr_t) {}
  TensorRTProviderOptions() { ThrowOnError(GetApi().CreateTensorRTProviderOptions(&p_)); }

  void Update(const std::unordered_map<std::string, std::string>& options) {
    const detail::KeysAndValues entries{options};
    ThrowOnError(
        GetApi().UpdateTensorRTProviderOptions(p_, entries.keys.data(), entries.values.data(), entries.size()));
  }
  void UpdateWithValue(const char* key, void* value) {
    ThrowOnError(GetApi().UpdateTensorRTProviderOptionsWithValue(p_, key, value));
  }
  void* GetOptionByName(const char* name) const {
    return detail::Get<void*>(GetApi().GetTensorRTProviderOptionsByName, p_, name);
  }
  /** All entries as "key=value;…". */
  std::string GetTensorRTProviderOptionsAsString() const {
    return detail::GetAllocatedString(GetApi().GetTensorRTProviderOptionsAsString, p_, AllocatorWithDefaultOptions{})
        .get();
  }
};

/** Settings of the CUDA provider. */
struct CUDAProviderOptions : detail::Base<OrtCUDAProviderOptionsV2> {
  CUDAProviderOptions(std::nullptr_t) {}
  CUDAProviderOptions() { ThrowOnError(GetApi().CreateCUDAProviderOptions(&p_)); }

  void Update(const std::unordered_map<std::string, std::string>& options) {
    const detail::KeysAndValues entries{options};
    ThrowOnError(GetApi().UpdateCUDAProviderOptions(p_, entries.keys.data(), entries.values.data(), entries.size()));
  }
  void UpdateWithValue(const char* key, void* value) {
    ThrowOnError(GetApi().UpdateCUDAProviderOptionsWithValue(p_, key, value));
  }
  void* GetOptionByName(const char* name) const {
    return detail::Get<void*>(GetApi().GetCUDAProviderOptionsByName, p_, name);
  }
  /** All entries as "key=value;…". */
  std::string GetCUDAProviderOptionsAsString() const {
    return detail::GetAllocatedString(GetApi().GetCUDAProviderOptionsAsString, p_, AllocatorWithDefaultOptions{}).get();
  }
};

}  // namespace Ort
