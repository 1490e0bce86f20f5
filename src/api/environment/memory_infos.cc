// Memory infos: making, comparing and reading them.
#include "api/arguments.h"
#include "api/guard.h"
#include "tensor/allocator.h"

namespace ortolan::api {
namespace {

/** The device and vendor (PCI number) that an allocator's name stands for. */
struct KnownName {
  std::string_view name;
  DeviceType device;
  uint32_t vendor;
  bool host_accessible;
};
constexpr uint32_t kNvidia = 0x10de, kAmd = 0x1002, kIntel = 0x8086, kMicrosoft = 0x1414, kQualcomm = 0x5143,
                   kHuawei = 0x19e5;
constexpr KnownName kKnownNames[] = {
    {"Cpu", DeviceType::kCpu, 0, true},
    {"Cuda", DeviceType::kGpu, kNvidia, false},
    {"CudaPinned", DeviceType::kGpu, kNvidia, true},
    {"Hip", DeviceType::kGpu, kAmd, false},
    {"HipPinned", DeviceType::kGpu, kAmd, true},
    {"Cann", DeviceType::kNpu, kHuawei, false},
    {"CannPinned", DeviceType::kNpu, kHuawei, true},
    {"DML", DeviceType::kGpu, kMicrosoft, false},
    {"OpenVINO_CPU", DeviceType::kCpu, kIntel, true},
    {"OpenVINO_GPU", DeviceType::kGpu, kIntel, false},
    {"OpenVINO_RT", DeviceType::kCpu, kIntel, true},
    {"OpenVINO_RT_NPU", DeviceType::kNpu, kIntel, false},
    {"QnnHtpShared", DeviceType::kNpu, kQualcomm, true},
    {"WebGPU_Buffer", DeviceType::kGpu, 0, false},
    {"WebGPU_Buf", DeviceType::kGpu, 0, false},
    {"WebNN_Tensor", DeviceType::kGpu, 0, false},
    {"WebNN_Ten", DeviceType::kGpu, 0, false},
};

MemoryInfo info_by_name(std::string_view name, int allocator_type, int id, MemoryType memory_type) {
  for (const KnownName& known : kKnownNames) {
    if (known.name != name) continue;
    return {std::string(name), allocator_type, memory_type, {known.device, known.vendor, id}, known.host_accessible};
  }
  fail(ErrorCode::kInvalidArgument, "no device is known for memory called '", name,
       "'; use CreateMemoryInfo_V2, which takes the device");
}

void check_kinds(OrtAllocatorType type, int memory_type) {
  require(type >= OrtInvalidAllocator && type <= OrtReadOnlyAllocator, ErrorCode::kInvalidArgument, "allocator type ",
          static_cast<int>(type), " is none of OrtAllocatorType's");
  require(memory_type >= OrtMemTypeCPUInput && memory_type <= OrtMemTypeDefault, ErrorCode::kInvalidArgument,
          "memory type ", memory_type, " is none of OrtMemType's");
}

}  // namespace

OrtStatus* ORT_API_CALL CreateMemoryInfo(const char* name, OrtAllocatorType type, int id, OrtMemType mem_type,
                                         OrtMemoryInfo** out) noexcept {
  return guard([&] {
    check_kinds(type, mem_type);
    give(out, info_by_name(text(name, "name"), type, id, static_cast<MemoryType>(mem_type)));
  });
}

OrtStatus* ORT_API_CALL CreateCpuMemoryInfo(OrtAllocatorType type, OrtMemType mem_type, OrtMemoryInfo** out) noexcept {
  return CreateMemoryInfo("Cpu", type, 0, mem_type, out);
}

OrtStatus* ORT_API_CALL CreateMemoryInfo_V2(const char* name, OrtMemoryInfoDeviceType device_type, uint32_t vendor_id,
                                            int32_t device_id, OrtDeviceMemoryType mem_type, size_t alignment,
                                            OrtAllocatorType allocator_type, OrtMemoryInfo** out) noexcept {
  return guard([&] {
    check_kinds(allocator_type, OrtMemTypeDefault);
    require(device_type >= 0 && device_type <= OrtMemoryInfoDeviceType_NPU, ErrorCode::kInvalidArgument, "device type ",
            static_cast<int>(device_type), " is none of OrtMemoryInfoDeviceType's");
    Device device{static_cast<DeviceType>(device_type), vendor_id, device_id};
    bool accessible = device.type == DeviceType::kCpu || mem_type == OrtDeviceMemoryType_HOST_ACCESSIBLE;
    MemoryType type = accessible && device.type != DeviceType::kCpu ? MemoryType::kCpuOutput : MemoryType::kDefault;
    give(out, MemoryInfo{text(name, "name"), allocator_type, type, device, accessible, alignment});
  });
}

void ORT_API_CALL ReleaseMemoryInfo(OrtMemoryInfo* info) noexcept { release(info); }

OrtStatus* ORT_API_CALL CompareMemoryInfo(const OrtMemoryInfo* info1, const OrtMemoryInfo* info2, int* out) noexcept {
  return guard([&] { put(out, unwrap(info1, "info1") == unwrap(info2, "info2") ? 0 : -1); });
}

OrtStatus* ORT_API_CALL MemoryInfoGetName(const OrtMemoryInfo* info, const char** out) noexcept {
  return guard([&] { put(out, unwrap(info, "ptr").name.c_str()); });
}

OrtStatus* ORT_API_CALL MemoryInfoGetId(const OrtMemoryInfo* info, int* out) noexcept {
  return guard([&] { put(out, unwrap(info, "ptr").device.id); });
}

OrtStatus* ORT_API_CALL MemoryInfoGetMemType(const OrtMemoryInfo* info, OrtMemType* out) noexcept {
  return guard([&] { put(out, unwrap(info, "ptr").memory_type); });
}

OrtStatus* ORT_API_CALL MemoryInfoGetType(const OrtMemoryInfo* info, OrtAllocatorType* out) noexcept {
  return guard([&] { put(out, unwrap(info, "ptr").allocator_type); });
}

void ORT_API_CALL MemoryInfoGetDeviceType(const OrtMemoryInfo* info, OrtMemoryInfoDeviceType* out) noexcept {
  if (info != nullptr && out != nullptr) {
    *out = static_cast<OrtMemoryInfoDeviceType>(unwrap_optional(info)->device.type);
  }
}

OrtDeviceMemoryType ORT_API_CALL MemoryInfoGetDeviceMemType(const OrtMemoryInfo* info) noexcept {
  const MemoryInfo* core = unwrap_optional(info);
  bool pinned = core != nullptr && core->device.type != DeviceType::kCpu && core->host_accessible;
  return pinned ? OrtDeviceMemoryType_HOST_ACCESSIBLE : OrtDeviceMemoryType_DEFAULT;
}

uint32_t ORT_API_CALL MemoryInfoGetVendorId(const OrtMemoryInfo* info) noexcept {
  return info == nullptr ? 0 : unwrap_optional(info)->device.vendor;
}

}  // namespace ortolan::api
