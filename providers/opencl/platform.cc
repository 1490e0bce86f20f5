// Asks the drivers for their devices.
#include "opencl/platform.h"

#include <CL/cl_ext.h>

#include <algorithm>

#include "gpu/device/checks.h"
#include "opencl/codes.h"

namespace ortolan::gpu::opencl {
namespace {

constexpr int kMostGroupItems = 4096;
constexpr int kMostComputeUnits = 65536;
constexpr cl_uint kMostFound = 64;  // platforms, and devices of one
constexpr size_t kLongestText = 65536;

/** A text that a driver tells with get(bytes, value, bytes_out): cut at its end mark, without outer spaces. */
template <class Get>
std::string told_text(Get&& get) {
  size_t bytes = 0;
  if (get(0, nullptr, &bytes) != CL_SUCCESS || bytes == 0) return "";
  std::string text(std::min(bytes, kLongestText), '\0');
  if (get(text.size(), text.data(), nullptr) != CL_SUCCESS) return "";
  text.resize(std::min(text.find('\0'), text.size()));
  size_t first = text.find_first_not_of(" \t\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

std::string device_text(cl_device_id device, cl_device_info what) {
  return told_text(
      [&](size_t bytes, void* value, size_t* out) { return clGetDeviceInfo(device, what, bytes, value, out); });
}

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  return told_text(
      [&](size_t bytes, void* value, size_t* out) { return clGetPlatformInfo(platform, what, bytes, value, out); });
}

/** A number of a device; 0 where it does not tell. */
template <class Number>
Number device_number(cl_device_id device, cl_device_info what) {
  Number value = 0;
  return clGetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : 0;
}

bool has_version_1_2(cl_device_id device) {
  std::string version = device_text(device, CL_DEVICE_VERSION);
  return version.rfind("OpenCL ", 0) == 0 && version.substr(7, 3) >= "1.2";
}

bool can_run_kernels(cl_device_id device) {
  return device_number<cl_bool>(device, CL_DEVICE_AVAILABLE) &&
         device_number<cl_bool>(device, CL_DEVICE_ENDIAN_LITTLE) &&
         device_number<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE) && has_version_1_2(device);
}

int wide_vectors(cl_device_id device) {
  cl_uint width = std::max(device_number<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT),
                           device_number<cl_uint>(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT));
  return width >= 16 ? 16 : 8;
}

int bounded(cl_uint value, int most) { return static_cast<int>(std::min<cl_uint>(value, most)); }

DeviceType type_of(cl_device_type type) {
  return type & CL_DEVICE_TYPE_CPU           ? DeviceType::kCpu
         : type & CL_DEVICE_TYPE_ACCELERATOR ? DeviceType::kAccelerator
                                             : DeviceType::kGpu;
}

DeviceTraits traits_of(cl_platform_id platform, cl_device_id device) {
  DeviceTraits traits;
  traits.type = type_of(device_number<cl_device_type>(device, CL_DEVICE_TYPE));
  traits.name = device_text(device, CL_DEVICE_NAME);
  traits.vendor = device_text(device, CL_DEVICE_VENDOR);
  traits.driver = device_text(device, CL_DRIVER_VERSION) + ", " + device_text(device, CL_DEVICE_VERSION) + ", " +
                  platform_text(platform, CL_PLATFORM_VERSION);
  const bool is_processor = traits.type == DeviceType::kCpu;
  traits.kind = is_processor ? DeviceClass::kWide : DeviceClass::kGpu;
  traits.vector_width = is_processor ? wide_vectors(device) : 4;
  traits.max_group_items =
      static_cast<int>(std::min<size_t>(device_number<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE), kMostGroupItems));
  traits.shared_bytes = device_number<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  traits.memory_bytes = device_number<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  traits.max_buffer_bytes = device_number<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  traits.offset_alignment = device_number<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8;
  traits.compute_units = bounded(device_number<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS), kMostComputeUnits);
  traits.has_half_arithmetic = has_half_arithmetic(
      device_text(device, CL_DEVICE_EXTENSIONS), device_number<cl_device_fp_config>(device, CL_DEVICE_HALF_FP_CONFIG));
  traits.has_int64 = device_text(device, CL_DEVICE_PROFILE) == "FULL_PROFILE";
  return with_sane_bounds(std::move(traits));
}

std::vector<cl_platform_id> platforms() {
  cl_uint count = 0;
  if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_platform_id> found(std::min(count, kMostFound));
  if (clGetPlatformIDs(static_cast<cl_uint>(found.size()), found.data(), nullptr) != CL_SUCCESS) return {};
  return found;
}

std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  constexpr cl_device_type kTypes = CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_ACCELERATOR;
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, kTypes, 0, nullptr, &count) != CL_SUCCESS || count == 0) return {};
  std::vector<cl_device_id> found(std::min(count, kMostFound));
  if (clGetDeviceIDs(platform, kTypes, static_cast<cl_uint>(found.size()), found.data(), nullptr) != CL_SUCCESS)
    return {};
  return found;
}

}  // namespace

bool has_half_arithmetic(const std::string& extensions, cl_device_fp_config config) {
  constexpr cl_device_fp_config kNeeded = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN;
  return (' ' + extensions + ' ').find(" cl_khr_fp16 ") != std::string::npos && (config & kNeeded) == kNeeded;
}

std::vector<FoundDevice> find_devices() {
  std::vector<FoundDevice> found;
  for (cl_platform_id platform : platforms()) {
    for (cl_device_id device : devices_of(platform)) {
      if (!can_run_kernels(device)) continue;
      found.push_back(
          {platform, device, device_number<cl_uint>(device, CL_DEVICE_VENDOR_ID), traits_of(platform, device)});
    }
  }
  if (found.empty()) {
    throw Error(
        ErrorKind::kNoDevice,
        "opencl: no installed driver has a device that runs kernels of OpenCL 1.2; install one of the packages "
        "pocl-opencl-icd (any processor), intel-opencl-icd (GPUs of Intel), nvidia-opencl-icd (GPUs of NVIDIA), "
        "mesa-opencl-icd (GPUs of AMD)");
  }
  return found;
}

}  // namespace ortolan::gpu::opencl
