// Key-value lists, devices, memory, allocators, streams. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_numbers.h"

namespace Ort {

struct Allocator;
struct KeyValuePairs;
struct MemoryAllocation;
struct Session;
struct SyncStream;

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

namespace detail {

template <typename T>
SyncStream EpDeviceImpl<T>::CreateSyncStream(ConstKeyValuePairs stream_options) const {
  return SyncStream{Get<OrtSyncStream*>(GetApi().CreateSyncStreamForEpDevice, static_cast<const OrtEpDevice*>(*this),
                                        static_cast<const OrtKeyValuePairs*>(stream_options))};
}

}  // namespace detail

}  // namespace Ort
