/* Calls about the environment, its plugin libraries and devices, and memory. */
#include "texts.h"

static OrtThreadingOptions* pools_of(int intra_threads, int inter_threads, int spin, OrtStatus** status) {
  OrtThreadingOptions* pools = NULL;
  if (!(*status = OrtCreateThreadingOptions(&pools)) &&
      !(*status = OrtSetGlobalIntraOpNumThreads(pools, intra_threads)) &&
      !(*status = OrtSetGlobalInterOpNumThreads(pools, inter_threads)) &&
      !(*status = OrtSetGlobalSpinControl(pools, spin)))
    return pools;
  OrtReleaseThreadingOptions(pools);
  return NULL;
}

OrtEnv* create_environment(int severity, const char* log_id, OrtLoggingFunction log, void* log_param, int shared_pools,
                           int intra_threads, int inter_threads, int spin, OrtStatus** status) {
  OrtEnv* environment = NULL;
  OrtLoggingLevel level = (OrtLoggingLevel)severity;
  if (!shared_pools) {
    *status = log ? OrtCreateEnvWithCustomLogger(log, log_param, level, log_id, &environment)
                  : OrtCreateEnv(level, log_id, &environment);
    return environment;
  }
  OrtThreadingOptions* pools = pools_of(intra_threads, inter_threads, spin, status);
  if (!pools) return NULL;
  *status = log ? OrtCreateEnvWithCustomLoggerAndGlobalThreadPools(log, log_param, level, log_id, pools, &environment)
                : OrtCreateEnvWithGlobalThreadPools(level, log_id, pools, &environment);
  OrtReleaseThreadingOptions(pools);
  return environment;
}

void release_environment(OrtEnv* environment) { OrtReleaseEnv(environment); }

void set_environment_severity(OrtEnv* environment, int severity, OrtStatus** status) {
  *status = OrtUpdateEnvWithCustomLogLevel(environment, (OrtLoggingLevel)severity);
}

void register_provider_library(OrtEnv* environment, const char* name, const char* path, OrtStatus** status) {
  *status = OrtRegisterExecutionProviderLibrary(environment, name, path);
}

void unregister_provider_library(OrtEnv* environment, const char* name, OrtStatus** status) {
  *status = OrtUnregisterExecutionProviderLibrary(environment, name);
}

void append_environment_provider(OrtEnv* environment, const char* name, const OrtKeyValuePairs* settings, int required,
                                 OrtStatus** status) {
  const char *const *keys = NULL, *const *values = NULL;
  size_t count = 0;
  if (settings) OrtGetKeyValuePairs(settings, &keys, &values, &count);
  *status = OrtEnvAppendExecutionProvider(environment, name, keys, values, count, required);
}

void clear_environment_providers(OrtEnv* environment, OrtStatus** status) {
  *status = OrtEnvClearExecutionProviders(environment);
}

size_t device_count(OrtEnv* environment, OrtStatus** status) {
  const OrtEpDevice* const* devices;
  size_t count = 0;
  *status = OrtGetEpDevices(environment, &devices, &count);
  return count;
}

const OrtEpDevice* device_at(OrtEnv* environment, size_t index, OrtStatus** status) {
  const OrtEpDevice* const* devices;
  size_t count = 0;
  if ((*status = OrtGetEpDevices(environment, &devices, &count))) return NULL;
  return index < count ? devices[index] : refuse(status, ORT_INVALID_ARGUMENT, "there is no device of that index");
}

const char* device_provider(const OrtEpDevice* device) { return OrtEpDevice_EpName(device); }
const char* device_provider_vendor(const OrtEpDevice* device) { return OrtEpDevice_EpVendor(device); }
const OrtKeyValuePairs* device_metadata(const OrtEpDevice* device) { return OrtEpDevice_EpMetadata(device); }
const OrtKeyValuePairs* device_settings(const OrtEpDevice* device) { return OrtEpDevice_EpOptions(device); }

int hardware_type(const OrtEpDevice* device) { return OrtHardwareDevice_Type(OrtEpDevice_Device(device)); }
const char* hardware_vendor(const OrtEpDevice* device) { return OrtHardwareDevice_Vendor(OrtEpDevice_Device(device)); }
uint32_t hardware_vendor_id(const OrtEpDevice* device) {
  return OrtHardwareDevice_VendorId(OrtEpDevice_Device(device));
}
uint32_t hardware_id(const OrtEpDevice* device) { return OrtHardwareDevice_DeviceId(OrtEpDevice_Device(device)); }
const OrtKeyValuePairs* hardware_metadata(const OrtEpDevice* device) {
  return OrtHardwareDevice_Metadata(OrtEpDevice_Device(device));
}

OrtMemoryInfo* create_memory(const char* name, int allocator_type, int device_id, int memory_type, OrtStatus** status) {
  OrtMemoryInfo* memory = NULL;
  *status = OrtCreateMemoryInfo(name, (OrtAllocatorType)allocator_type, device_id, (OrtMemType)memory_type, &memory);
  return memory;
}

void release_memory(OrtMemoryInfo* memory) { OrtReleaseMemoryInfo(memory); }

const OrtMemoryInfo* device_memory(const OrtEpDevice* device, int shared_with_host) {
  return OrtEpDevice_MemoryInfo(device,
                                shared_with_host ? OrtDeviceMemoryType_HOST_ACCESSIBLE : OrtDeviceMemoryType_DEFAULT);
}

const char* memory_name(const OrtMemoryInfo* memory, OrtStatus** status) {
  const char* name = NULL;
  *status = OrtMemoryInfoGetName(memory, &name);
  return name;
}

int memory_device_id(const OrtMemoryInfo* memory, OrtStatus** status) {
  int id = 0;
  *status = OrtMemoryInfoGetId(memory, &id);
  return id;
}

int memory_device_type(const OrtMemoryInfo* memory) {
  OrtMemoryInfoDeviceType type = OrtMemoryInfoDeviceType_CPU;
  OrtMemoryInfoGetDeviceType(memory, &type);
  return type;
}
