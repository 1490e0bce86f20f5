// Asks the driver for its devices.
#include "cuda/platform.h"

#include <algorithm>

#include "cuda/compiler.h"
#include "cuda/ready.h"
#include "gpu/device/checks.h"

namespace ortolan::gpu::cuda {
namespace {

constexpr int kLongestName = 256, kMostDevices = 64;
constexpr uint32_t kMostRows = 65535;  // of a grid, by y and z
constexpr int kFirstWithHalf = 53, kFirstWithUnits = 75, kFirstWithAll = 80;

/** A number of a device; 0 where the driver does not tell. */
int number_of(const Driver& driver, CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  return driver.cuDeviceGetAttribute(&value, attribute, device) == kSuccess ? value : 0;
}

std::string name_of(const Driver& driver, CUdevice device) {
  char name[kLongestName] = {};
  CUresult code = driver.cuDeviceGetName(name, kLongestName - 1, device);
  return code == kSuccess && name[0] != '\0' ? name : "a GPU without a name";
}

size_t memory_of(const Driver& driver, CUdevice device) {
  size_t bytes = 0;
  return driver.cuDeviceTotalMem(&bytes, device) == kSuccess ? bytes : 0;
}

std::string version_of(const Driver& driver) {
  int version = 0;
  driver.cuDriverGetVersion(&version);
  return "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/** What makes kernels, and what it makes. */
std::string kernels_for(const Compiler* compiler, int capability) {
  return compiler == nullptr ? ready_target(capability) + " of this library"
                             : compiler->target(capability) + " by " + compiler->name();
}

FoundDevice describe(const Driver& driver, CUdevice device) {
  auto number = [&](CUdevice_attribute attribute) { return number_of(driver, device, attribute); };
  const int capability = number(kComputeCapabilityMajor) * 10 + number(kComputeCapabilityMinor);
  DeviceTraits traits;
  traits.name = name_of(driver, device);
  traits.vendor = "NVIDIA";
  traits.driver = version_of(driver) + ", " + kernels_for(Compiler::find(), capability);
  traits.max_group_items = number(kMaxThreadsPerBlock);
  traits.max_groups = {kMostGroups, kMostRows, kMostRows};
  traits.shared_bytes = static_cast<size_t>(std::max(number(kMaxSharedMemoryPerBlock), 0));
  traits.memory_bytes = traits.max_buffer_bytes = memory_of(driver, device);
  traits.compute_units = number(kMultiprocessorCount);
  traits.has_int64 = true;
  traits.has_half_arithmetic = capability >= kFirstWithHalf;
  const bool takes_all = capability >= kFirstWithAll;
  traits.matrix_units = {capability >= kFirstWithUnits, takes_all, takes_all, takes_all};
  return {device, capability, with_sane_bounds(std::move(traits))};
}

bool may_be_used(const Driver& driver, CUdevice device) {
  return number_of(driver, device, kComputeMode) != kComputeModeProhibited;
}

}  // namespace

std::vector<FoundDevice> find_devices() {
  const Driver& cuda = driver();
  int count = 0;
  check(cuda, cuda.cuDeviceGetCount(&count), "cuDeviceGetCount", [] { return std::string("the number of GPUs"); });
  std::vector<FoundDevice> found;
  for (int i = 0; i < std::min(count, kMostDevices); i++) {
    CUdevice device = 0;
    if (cuda.cuDeviceGet(&device, i) == kSuccess && may_be_used(cuda, device)) found.push_back(describe(cuda, device));
  }
  if (found.empty()) {
    throw Error(ErrorKind::kNoDevice, "cuda: the driver of " + version_of(cuda) +
                                          " has no GPU that this process may use; CUDA_VISIBLE_DEVICES or the "
                                          "compute mode (nvidia-smi -c) may hide it");
  }
  return found;
}

}  // namespace ortolan::gpu::cuda
