// The environment and what belongs to it: key-value lists, devices, memory, allocators. Include onnxruntime_cxx_api.h
// instead of this file.
#pragma once

#include "onnxruntime_cxx_numbers.h"

namespace Ort {

struct Allocator;
struct KeyValuePairs;
struct MemoryAllocation;
struct Session;
struct SyncStream;
struct Value;

namespace detail {

template <typename T>
struct KeyValuePairsImpl : Base<T> {
  using Base<T>::Base;

  /** The value of a key, borrowed; NULL when it is not in the list. */
  const char* GetValue(const char* key) const { return GetApi().GetKeyValue(this->p_, key); }

  std::unordered_map<std::string, std::string> GetKeyValuePairs() const {
    std::vector<const char*> keys, values;
    GetKeyValuePairs(keys, values);
    std::unordered_map<std::string, std::string> entries;
    for (size_t i = 0; i < keys.size(); ++i) entries.emplace(keys[i], values[i]);
    return entries;
  }

  /** Keys and values, borrowed until the list changes. */
  void GetKeyValuePairs(std::vector<const char*>& keys, std::vector<const char*>& values) const {
    const char* const* key_array = nullptr;
    const char* const* value_array = nullptr;
    size_t count = 0;
    GetApi().GetKeyValuePairs(this->p_, &key_array, &value_array, &count);
    keys.assign(key_array, key_array + count);
    values.assign(value_array, value_array + count);
  }
};

}  // namespace detail

using ConstKeyValuePairs = detail::KeyValuePairsImpl<detail::Unowned<const OrtKeyValuePairs>>;

/** A list of keys and values. */
struct KeyValuePairs : detail::KeyValuePairsImpl<OrtKeyValuePairs> {
  explicit KeyValuePairs(std::nullptr_t) {}
  /** Takes ownership. */
  explicit KeyValuePairs(OrtKeyValuePairs* p) : KeyValuePairsImpl<OrtKeyValuePairs>{p} {}
  KeyValuePairs() { GetApi().CreateKeyValuePairs(&p_); }
  explicit KeyValuePairs(const std::unordered_map<std::string, std::string>& kv_pairs) : KeyValuePairs() {
    for (const auto& [key, value] : kv_pairs) Add(key.c_str(), value.c_str());
  }

  /** Adds copies, or replaces the value of the key. */
  void Add(const char* key, const char* value) { GetApi().AddKeyValuePair(p_, key, value); }
  void Remove(const char* key) { GetApi().RemoveKeyValuePair(p_, key); }
  ConstKeyValuePairs GetConst() const { return ConstKeyValuePairs{p_}; }
};

namespace detail {

template <typename T>
struct HardwareDeviceImpl : Base<T> {
  using Base<T>::Base;

  OrtHardwareDeviceType Type() const { return GetApi().HardwareDevice_Type(this->p_); }
  uint32_t VendorId() const { return GetApi().HardwareDevice_VendorId(this->p_); }
  uint32_t DeviceId() const { return GetApi().HardwareDevice_DeviceId(this->p_); }
  const char* Vendor() const { return GetApi().HardwareDevice_Vendor(this->p_); }
  ConstKeyValuePairs Metadata() const { return ConstKeyValuePairs{GetApi().HardwareDevice_Metadata(this->p_)}; }
};

template <typename T>
struct MemoryInfoImpl : Base<T> {
  using Base<T>::Base;

  std::string GetAllocatorName() const { return Get<const char*>(GetApi().MemoryInfoGetName, this->p_); }
  OrtAllocatorType GetAllocatorType() const { return Get<OrtAllocatorType>(GetApi().MemoryInfoGetType, this->p_); }
  int GetDeviceId() const { return Get<int>(GetApi().MemoryInfoGetId, this->p_); }
  OrtMemoryInfoDeviceType GetDeviceType() const {
    OrtMemoryInfoDeviceType type{};
    GetApi().MemoryInfoGetDeviceType(this->p_, &type);
    return type;
  }
  OrtMemType GetMemoryType() const { return Get<OrtMemType>(GetApi().MemoryInfoGetMemType, this->p_); }
  OrtDeviceMemoryType GetDeviceMemoryType() const { return GetApi().MemoryInfoGetDeviceMemType(this->p_); }
  uint32_t GetVendorId() const { return GetApi().MemoryInfoGetVendorId(this->p_); }

  /** Whether both describe the same memory. */
  template <typename U>
  bool operator==(const MemoryInfoImpl<U>& o) const {
    return Get<int>(GetApi().CompareMemoryInfo, static_cast<const OrtMemoryInfo*>(*this),
                    static_cast<const OrtMemoryInfo*>(o)) == 0;
  }
};

}  // namespace detail

using ConstHardwareDevice = detail::HardwareDeviceImpl<detail::Unowned<const OrtHardwareDevice>>;

/** A description of memory that somebody else owns. */
using ConstMemoryInfo = detail::MemoryInfoImpl<detail::Unowned<const OrtMemoryInfo>>;

/** A description of memory: device, use, allocator. */
struct MemoryInfo : detail::MemoryInfoImpl<OrtMemoryInfo> {
  /** The description of ordinary memory. */
  static MemoryInfo CreateCpu(OrtAllocatorType type, OrtMemType mem_type1) {
    return MemoryInfo{detail::Get<OrtMemoryInfo*>(GetApi().CreateCpuMemoryInfo, type, mem_type1)};
  }

  explicit MemoryInfo(std::nullptr_t) {}
  /** Takes ownership. */
  explicit MemoryInfo(OrtMemoryInfo* p) : MemoryInfoImpl<OrtMemoryInfo>{p} {}
  MemoryInfo(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type) {
    ThrowOnError(GetApi().CreateMemoryInfo(name, type, id, mem_type, &p_));
  }
  MemoryInfo(const char* name, OrtMemoryInfoDeviceType device_type, uint32_t vendor_id, uint32_t device_id,
             OrtDeviceMemoryType mem_type, size_t alignment, OrtAllocatorType allocator_type) {
    ThrowOnError(GetApi().CreateMemoryInfo_V2(name, device_type, vendor_id, static_cast<int32_t>(device_id), mem_type,
                                              alignment, allocator_type, &p_));
  }
  ConstMemoryInfo GetConst() const { return ConstMemoryInfo{p_}; }
};

/** Memory from an allocator, given back at the end. */
struct MemoryAllocation {
  MemoryAllocation(OrtAllocator* allocator, void* p, size_t size) : allocator_(allocator), p_(p), size_(size) {}
  ~MemoryAllocation() {
    if (p_ != nullptr) detail::AllocatedFree{allocator_}(p_);
  }
  MemoryAllocation(const MemoryAllocation&) = delete;
  MemoryAllocation& operator=(const MemoryAllocation&) = delete;
  MemoryAllocation(MemoryAllocation&& o) noexcept
      : allocator_(o.allocator_), p_(std::exchange(o.p_, nullptr)), size_(std::exchange(o.size_, 0)) {}
  MemoryAllocation& operator=(MemoryAllocation&& o) noexcept {
    std::swap(allocator_, o.allocator_);
    std::swap(p_, o.p_);
    std::swap(size_, o.size_);
    return *this;
  }

  void* get() { return p_; }
  size_t size() const { return size_; }

 private:
  OrtAllocator* allocator_;
  void* p_;
  size_t size_;
};

namespace detail {

template <typename T>
struct AllocatorImpl : Base<T> {
  using Base<T>::Base;

  void* Alloc(size_t size) { return Get<void*>(GetApi().AllocatorAlloc, this->p_, size); }
  MemoryAllocation GetAllocation(size_t size) { return MemoryAllocation(this->p_, Alloc(size), size); }
  void Free(void* p) { ThrowOnError(GetApi().AllocatorFree(this->p_, p)); }
  ConstMemoryInfo GetInfo() const {
    return ConstMemoryInfo{Get<const OrtMemoryInfo*>(GetApi().AllocatorGetInfo, this->p_)};
  }
  /** What the allocator counts. */
  KeyValuePairs GetStats() const { return KeyValuePairs{Get<OrtKeyValuePairs*>(GetApi().AllocatorGetStats, this->p_)}; }
  /** Gives unused memory back to the system, where the allocator can. */
  void Shrink() {
    if (this->p_->version >= 25 && this->p_->Shrink != nullptr) ThrowOnError(this->p_->Shrink(this->p_));
  }
};

}  // namespace detail

/** The allocator of ordinary memory, one for all. */
struct AllocatorWithDefaultOptions : detail::AllocatorImpl<detail::Unowned<OrtAllocator>> {
  explicit AllocatorWithDefaultOptions(std::nullptr_t) {}
  AllocatorWithDefaultOptions() { ThrowOnError(GetApi().GetAllocatorWithDefaultOptions(&p_)); }
};

/** An allocator that somebody else owns. */
using UnownedAllocator = detail::AllocatorImpl<detail::Unowned<OrtAllocator>>;

/** An allocator of a session. */
struct Allocator : detail::AllocatorImpl<OrtAllocator> {
  explicit Allocator(std::nullptr_t) {}
  /** Takes ownership. */
  explicit Allocator(OrtAllocator* p) : AllocatorImpl<OrtAllocator>{p} {}
  Allocator(const Session& session, const OrtMemoryInfo* memory_info);
};

/** Settings of an arena. */
struct ArenaCfg : detail::Base<OrtArenaCfg> {
  explicit ArenaCfg(std::nullptr_t) {}
  /** The most bytes it may hold (0: no limit), 0 to double its growth or 1 to take what is asked for, bytes of its
   *  first block, bytes that may stay unused in a chunk; -1 takes the default of each. */
  ArenaCfg(size_t max_mem, int arena_extend_strategy, int initial_chunk_size_bytes, int max_dead_bytes_per_chunk) {
    ThrowOnError(GetApi().CreateArenaCfg(max_mem, arena_extend_strategy, initial_chunk_size_bytes,
                                         max_dead_bytes_per_chunk, &p_));
  }
  explicit ArenaCfg(const std::unordered_map<std::string, size_t>& arena_config) {
    std::vector<const char*> keys;
    std::vector<size_t> values;
    for (const auto& [key, value] : arena_config) {
      keys.push_back(key.c_str());
      values.push_back(value);
    }
    ThrowOnError(GetApi().CreateArenaCfgV2(keys.data(), values.data(), keys.size(), &p_));
  }
};

namespace detail {

template <typename T>
struct SyncStreamImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** The native stream. */
  void* GetHandle() const { return GetApi().SyncStream_GetHandle(this->p_); }
};

template <typename T>
struct EpDeviceImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  const char* EpName() const { return GetApi().EpDevice_EpName(this->p_); }
  const char* EpVendor() const { return GetApi().EpDevice_EpVendor(this->p_); }
  ConstKeyValuePairs EpMetadata() const { return ConstKeyValuePairs{GetApi().EpDevice_EpMetadata(this->p_)}; }
  ConstKeyValuePairs EpOptions() const { return ConstKeyValuePairs{GetApi().EpDevice_EpOptions(this->p_)}; }
  ConstHardwareDevice Device() const { return ConstHardwareDevice{GetApi().EpDevice_Device(this->p_)}; }
  /** The memory of that kind on the device; holds NULL when there is none. */
  ConstMemoryInfo GetMemoryInfo(OrtDeviceMemoryType memory_type) const {
    return ConstMemoryInfo{GetApi().EpDevice_MemoryInfo(this->p_, memory_type)};
  }
  SyncStream CreateSyncStream(ConstKeyValuePairs stream_options = {}) const;
};

template <typename T>
struct DeviceEpIncompatibilityDetailsImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** Bits of OrtDeviceEpIncompatibilityReason. */
  uint32_t GetReasonsBitmask() const {
    return Get<uint32_t>(GetApi().DeviceEpIncompatibilityDetails_GetReasonsBitmask, this->p_);
  }
  /** The reasons in words, borrowed; NULL when there are none. */
  const char* GetNotes() const { return Get<const char*>(GetApi().DeviceEpIncompatibilityDetails_GetNotes, this->p_); }
  /** The provider's own number for it. */
  int32_t GetErrorCode() const { return Get<int32_t>(GetApi().DeviceEpIncompatibilityDetails_GetErrorCode, this->p_); }
};

}  // namespace detail

using UnownedSyncStream = detail::SyncStreamImpl<detail::Unowned<OrtSyncStream>>;

/** A queue of work on a device. */
struct SyncStream : detail::SyncStreamImpl<OrtSyncStream> {
  explicit SyncStream(std::nullptr_t) {}
  /** Takes ownership. */
  explicit SyncStream(OrtSyncStream* p) : SyncStreamImpl<OrtSyncStream>{p} {}
};

/** A provider and a device that it can use, owned by the environment. */
using ConstEpDevice = detail::EpDeviceImpl<detail::Unowned<const OrtEpDevice>>;

/** The same, made by a plugin library. */
struct EpDevice : detail::EpDeviceImpl<OrtEpDevice> {
  explicit EpDevice(std::nullptr_t) {}
  /** Takes ownership. */
  explicit EpDevice(OrtEpDevice* p) : EpDeviceImpl<OrtEpDevice>{p} {}
  /** Copies the lists, which may be empty wrappers. */
  EpDevice(OrtEpFactory& ep_factory, ConstHardwareDevice& hardware_device, ConstKeyValuePairs ep_metadata = {},
           ConstKeyValuePairs ep_options = {}) {
    ThrowOnError(GetEpApi().CreateEpDevice(&ep_factory, hardware_device, ep_metadata, ep_options, &p_));
  }
};

/** Why a provider cannot use a device. */
struct DeviceEpIncompatibilityDetails : detail::DeviceEpIncompatibilityDetailsImpl<OrtDeviceEpIncompatibilityDetails> {
  explicit DeviceEpIncompatibilityDetails(std::nullptr_t) {}
  /** Takes ownership. */
  explicit DeviceEpIncompatibilityDetails(OrtDeviceEpIncompatibilityDetails* p)
      : DeviceEpIncompatibilityDetailsImpl<OrtDeviceEpIncompatibilityDetails>{p} {}
};

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
