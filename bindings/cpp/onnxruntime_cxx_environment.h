// The environment and what sessions share by it. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_devices.h"

namespace Ort {

struct Value;

/** Settings of the thread pools that sessions share. */
struct ThreadingOptions : detail::Base<OrtThreadingOptions> {
  ThreadingOptions() { ThrowOnError(GetApi().CreateThreadingOptions(&p_)); }

  ThreadingOptions& SetGlobalIntraOpNumThreads(int intra_op_num_threads) {
    return Done(GetApi().SetGlobalIntraOpNumThreads(p_, intra_op_num_threads));
  }
  ThreadingOptions& SetGlobalInterOpNumThreads(int inter_op_num_threads) {
    return Done(GetApi().SetGlobalInterOpNumThreads(p_, inter_op_num_threads));
  }
  ThreadingOptions& SetGlobalSpinControl(int allow_spinning) {
    return Done(GetApi().SetGlobalSpinControl(p_, allow_spinning));
  }
  ThreadingOptions& SetGlobalDenormalAsZero() { return Done(GetApi().SetGlobalDenormalAsZero(p_)); }
  ThreadingOptions& SetGlobalIntraOpThreadAffinity(const char* affinity_string) {
    return Done(GetApi().SetGlobalIntraOpThreadAffinity(p_, affinity_string));
  }
  ThreadingOptions& SetGlobalCustomCreateThreadFn(OrtCustomCreateThreadFn ort_custom_create_thread_fn) {
    return Done(GetApi().SetGlobalCustomCreateThreadFn(p_, ort_custom_create_thread_fn));
  }
  ThreadingOptions& SetGlobalCustomThreadCreationOptions(void* ort_custom_thread_creation_options) {
    return Done(GetApi().SetGlobalCustomThreadCreationOptions(p_, ort_custom_thread_creation_options));
  }
  ThreadingOptions& SetGlobalCustomJoinThreadFn(OrtCustomJoinThreadFn ort_custom_join_thread_fn) {
    return Done(GetApi().SetGlobalCustomJoinThreadFn(p_, ort_custom_join_thread_fn));
  }

 private:
  ThreadingOptions& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }
};

/** The environment of the process: logging and what sessions share. It must outlive whatever is made with it. */
struct Env : detail::Base<OrtEnv> {
  explicit Env(std::nullptr_t) {}
  Env(OrtLoggingLevel logging_level = ORT_LOGGING_LEVEL_WARNING, const char* logid = "") {
    Made(GetApi().CreateEnv(logging_level, logid, &p_));
  }
  /** Sends log lines to the function, which any thread may call. */
  Env(OrtLoggingLevel logging_level, const char* logid, OrtLoggingFunction logging_function, void* logger_param) {
    Made(GetApi().CreateEnvWithCustomLogger(logging_function, logger_param, logging_level, logid, &p_));
  }
  /** With thread pools that sessions share. */
  Env(const OrtThreadingOptions* tp_options, OrtLoggingLevel logging_level = ORT_LOGGING_LEVEL_WARNING,
      const char* logid = "") {
    Made(GetApi().CreateEnvWithGlobalThreadPools(logging_level, logid, tp_options, &p_));
  }
  Env(const OrtThreadingOptions* tp_options, OrtLoggingFunction logging_function, void* logger_param,
      OrtLoggingLevel logging_level = ORT_LOGGING_LEVEL_WARNING, const char* logid = "") {
    Made(GetApi().CreateEnvWithCustomLoggerAndGlobalThreadPools(logging_function, logger_param, logging_level, logid,
                                                                tp_options, &p_));
  }
  explicit Env(const OrtEnvCreationOptions* options) { Made(GetApi().CreateEnvWithOptions(options, &p_)); }
  /** Takes ownership. */
  explicit Env(OrtEnv* p) : Base<OrtEnv>{p} {}

  Env& EnableTelemetryEvents() { return Done(GetApi().EnableTelemetryEvents(p_)); }
  Env& DisableTelemetryEvents() { return Done(GetApi().DisableTelemetryEvents(p_)); }
  Env& UpdateEnvWithCustomLogLevel(OrtLoggingLevel log_severity_level) {
    return Done(GetApi().UpdateEnvWithCustomLogLevel(p_, log_severity_level));
  }
  Env& CreateAndRegisterAllocator(const OrtMemoryInfo* mem_info, const OrtArenaCfg* arena_cfg) {
    return Done(GetApi().CreateAndRegisterAllocator(p_, mem_info, arena_cfg));
  }
  Env& CreateAndRegisterAllocatorV2(const std::string& provider_type, const OrtMemoryInfo* mem_info,
                                    const std::unordered_map<std::string, std::string>& options,
                                    const OrtArenaCfg* arena_cfg) {
    const detail::KeysAndValues entries{options};
    return Done(GetApi().CreateAndRegisterAllocatorV2(p_, provider_type.c_str(), mem_info, arena_cfg,
                                                      entries.keys.data(), entries.values.data(), entries.size()));
  }
  /** The allocator must outlive the environment, or be taken back first. */
  Env& RegisterAllocator(OrtAllocator* allocator) { return Done(GetApi().RegisterAllocator(p_, allocator)); }
  Env& UnregisterAllocator(const OrtMemoryInfo* mem_info) { return Done(GetApi().UnregisterAllocator(p_, mem_info)); }
  Env& SetPerSessionThreadPoolCallbacks(const OrtThreadPoolCallbacksConfig& config) {
    return Done(GetApi().SetPerSessionThreadPoolCallbacks(p_, &config));
  }

  /** Loads a plugin library under a name; its devices then are in GetEpDevices. */
  Env& RegisterExecutionProviderLibrary(const char* registration_name, const std::basic_string<ORTCHAR_T>& path) {
    return Done(GetApi().RegisterExecutionProviderLibrary(p_, registration_name, path.c_str()));
  }
  Env& UnregisterExecutionProviderLibrary(const char* registration_name) {
    return Done(GetApi().UnregisterExecutionProviderLibrary(p_, registration_name));
  }
  std::vector<ConstEpDevice> GetEpDevices() const {
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().GetEpDevices(p_, &devices, &count));
    std::vector<ConstEpDevice> wrapped;
    for (size_t i = 0; i < count; ++i) wrapped.emplace_back(devices[i]);
    return wrapped;
  }
  size_t GetNumHardwareDevices() const { return detail::Get<size_t>(GetApi().GetNumHardwareDevices, p_); }
  std::vector<ConstHardwareDevice> GetHardwareDevices() const {
    return detail::GetWrapped<ConstHardwareDevice>(GetApi().GetHardwareDevices, p_, GetNumHardwareDevices());
  }
  DeviceEpIncompatibilityDetails GetHardwareDeviceEpIncompatibilityDetails(const char* ep_name,
                                                                           ConstHardwareDevice hw) const {
    return DeviceEpIncompatibilityDetails{detail::Get<OrtDeviceEpIncompatibilityDetails*>(
        GetApi().GetHardwareDeviceEpIncompatibilityDetails, p_, ep_name, static_cast<const OrtHardwareDevice*>(hw))};
  }

  /** Copies tensors one by one between devices; with a stream the copies are only put into it. */
  Status CopyTensors(const std::vector<Value>& src_tensors, const std::vector<Value>& dst_tensors,
                     OrtSyncStream* stream) const;
  /** One tensor. */
  Status CopyTensor(const OrtValue* src_tensor, OrtValue* dst_tensor, OrtSyncStream* stream) const {
    return Status{GetApi().CopyTensors(p_, &src_tensor, &dst_tensor, stream, 1)};
  }
  /** The allocator that sessions share for that memory of a device; the environment owns it. */
  UnownedAllocator CreateSharedAllocator(const OrtEpDevice* ep_device, OrtDeviceMemoryType mem_type,
                                         OrtAllocatorType allocator_type, const OrtKeyValuePairs* allocator_options) {
    return UnownedAllocator{detail::Get<OrtAllocator*>(GetApi().CreateSharedAllocator, p_, ep_device, mem_type,
                                                       allocator_type, allocator_options)};
  }
  /** Holds NULL when there is none. */
  UnownedAllocator GetSharedAllocator(const OrtMemoryInfo* mem_info) {
    return UnownedAllocator{detail::Get<OrtAllocator*>(GetApi().GetSharedAllocator, p_, mem_info)};
  }
  void ReleaseSharedAllocator(const OrtEpDevice* ep_device, OrtDeviceMemoryType mem_type) {
    ThrowOnError(GetApi().ReleaseSharedAllocator(p_, ep_device, mem_type));
  }

 private:
  Env& Done(OrtStatus* status) {
    ThrowOnError(status);
    return *this;
  }

  // Says which language the program is written in.
  void Made(OrtStatus* status) {
    ThrowOnError(status);
    if (p_ != nullptr) ThrowOnError(GetApi().SetLanguageProjection(p_, ORT_PROJECTION_CPLUSPLUS));
  }
};

/** A set of operators that the program implements. It must outlive the sessions that use it. */
struct CustomOpDomain : detail::Base<OrtCustomOpDomain> {
  using Base = detail::Base<OrtCustomOpDomain>;
  using Base::Base;

  explicit CustomOpDomain(std::nullptr_t) {}
  explicit CustomOpDomain(const char* domain) { ThrowOnError(GetApi().CreateCustomOpDomain(domain, &p_)); }

  /** The operator is not copied and must live as long as the domain. */
  void Add(const OrtCustomOp* op) { ThrowOnError(GetApi().CustomOpDomain_Add(p_, op)); }
};

/** Parameters that runs may add to a model. */
struct LoraAdapter : detail::Base<OrtLoraAdapter> {
  using Base = detail::Base<OrtLoraAdapter>;
  using Base::Base;

  explicit LoraAdapter(std::nullptr_t) {}
  /** NULL allocator: the parameters stay in CPU memory. */
  static LoraAdapter CreateLoraAdapter(const std::basic_string<ORTCHAR_T>& adapter_path, OrtAllocator* allocator) {
    return LoraAdapter{detail::Get<OrtLoraAdapter*>(GetApi().CreateLoraAdapter, adapter_path.c_str(), allocator)};
  }
  static LoraAdapter CreateLoraAdapterFromArray(const void* bytes, size_t num_bytes, OrtAllocator* allocator) {
    return LoraAdapter{detail::Get<OrtLoraAdapter*>(GetApi().CreateLoraAdapterFromArray, bytes, num_bytes, allocator)};
  }
};

/** Packed weights that sessions share. It must outlive them. */
struct PrepackedWeightsContainer : detail::Base<OrtPrepackedWeightsContainer> {
  using Base = detail::Base<OrtPrepackedWeightsContainer>;

  explicit PrepackedWeightsContainer(std::nullptr_t) {}
  explicit PrepackedWeightsContainer(OrtPrepackedWeightsContainer* p) : Base{p} {}
  PrepackedWeightsContainer() { ThrowOnError(GetApi().CreatePrepackedWeightsContainer(&p_)); }
};

}  // namespace Ort
