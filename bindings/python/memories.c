/* Memory, arenas, streams and copies; and what the machine's devices are. */
#include "memories.h"

#include "handles.h"
#include "table.h"
#include "texts.h"

void destroy_OrtHardwareDevice(PyObject* handle) { destroy_nothing(handle); }

OrtMemoryInfo* create_device_memory(const char* name, int device_type, uint32_t vendor_id, int device_id,
                                    int device_memory, size_t alignment, int allocator_type, OrtStatus** status) {
  OrtMemoryInfo* memory = NULL;
  *status = api_table()->CreateMemoryInfo_V2(name, (OrtMemoryInfoDeviceType)device_type, vendor_id, device_id,
                                             (OrtDeviceMemoryType)device_memory, alignment, allocator_type, &memory);
  return memory;
}

int memory_allocator(const OrtMemoryInfo* memory, OrtStatus** status) {
  OrtAllocatorType type = OrtInvalidAllocator;
  *status = OrtMemoryInfoGetType(memory, &type);
  return type;
}

int memory_use(const OrtMemoryInfo* memory, OrtStatus** status) {
  OrtMemType type = OrtMemTypeDefault;
  *status = OrtMemoryInfoGetMemType(memory, &type);
  return type;
}

int memory_access(const OrtMemoryInfo* memory) { return api_table()->MemoryInfoGetDeviceMemType(memory); }
uint32_t memory_vendor_id(const OrtMemoryInfo* memory) { return api_table()->MemoryInfoGetVendorId(memory); }

enum { kArenaSettings = 6 };

/** The arena that the numbers describe; negative ones are left out. */
static OrtArenaCfg* arena_of(const int64_t* numbers, OrtStatus** status) {
  static const char* const names[kArenaSettings] = {
      "max_mem",
      "arena_extend_strategy",
      "initial_chunk_size_bytes",
      "max_dead_bytes_per_chunk",
      "initial_growth_chunk_size_bytes",
      "max_power_of_two_extend_bytes",
  };
  const char* keys[kArenaSettings];
  size_t values[kArenaSettings], count = 0;
  for (size_t i = 0; i < kArenaSettings; ++i) {
    if (numbers[i] < 0) continue;
    keys[count] = names[i];
    values[count++] = (size_t)numbers[i];
  }
  OrtArenaCfg* arena = NULL;
  *status = OrtCreateArenaCfgV2(keys, values, count, &arena);
  return arena;
}

void register_allocator(OrtEnv* environment, const char* provider, const OrtMemoryInfo* memory,
                        const OrtKeyValuePairs* settings, const int64_t* shape, size_t shape_length,
                        OrtStatus** status) {
  const char *const *keys = NULL, *const *values = NULL;
  size_t count = 0;
  OrtArenaCfg* arena = shape_length == kArenaSettings ? arena_of(shape, status) : NULL;
  if (*status) return;
  if (settings) OrtGetKeyValuePairs(settings, &keys, &values, &count);
  *status = provider
                ? api_table()->CreateAndRegisterAllocatorV2(environment, provider, memory, arena, keys, values, count)
                : OrtCreateAndRegisterAllocator(environment, memory, arena);
  OrtReleaseArenaCfg(arena);
}

OrtSyncStream* create_stream(const OrtEpDevice* device, OrtStatus** status) {
  OrtSyncStream* stream = NULL;
  *status = api_table()->CreateSyncStreamForEpDevice(device, NULL, &stream);
  return stream;
}

uint64_t stream_address(OrtSyncStream* stream) {
  return (uint64_t)(uintptr_t)api_table()->SyncStream_GetHandle(stream);
}

void copy_tensors(const OrtEnv* environment, OrtValue* const* inputs, size_t inputs_length, OrtValue* const* values,
                  size_t values_length, OrtSyncStream* stream, OrtStatus** status) {
  if (inputs_length != values_length) {
    refuse(status, ORT_INVALID_ARGUMENT, "there must be as many tensors to copy to as to copy from");
    return;
  }
  if (inputs_length)
    *status = OrtCopyTensors(environment, (const OrtValue* const*)inputs, values, stream, inputs_length);
}

OrtValue* tensor_in_session(const OrtSession* session, const OrtMemoryInfo* memory, const int64_t* shape,
                            size_t shape_length, int element_type, OrtStatus** status) {
  OrtAllocator* allocator = NULL;
  OrtValue* tensor = NULL;
  if ((*status = OrtCreateAllocator(session, memory, &allocator))) return NULL;
  *status = OrtCreateTensorAsOrtValue(allocator, shape, shape_length, (ONNXTensorElementDataType)element_type, &tensor);
  OrtReleaseAllocator(allocator);
  return tensor;
}

const OrtEpDevice* input_device(const OrtSession* session, size_t index, OrtStatus** status) {
  size_t count = 0;
  if ((*status = OrtSessionGetInputCount(session, &count))) return NULL;
  if (index >= count) return refuse(status, ORT_INVALID_ARGUMENT, "the session has no input of that index");
  const OrtEpDevice** devices = calloc(count, sizeof *devices);
  if (!devices) return refuse_memory(status);
  *status = api_table()->SessionGetEpDeviceForInputs(session, devices, count);
  const OrtEpDevice* device = *status ? NULL : devices[index];
  free(devices);
  return device;
}

/* ---- The machine's devices ---- */

const OrtHardwareDevice* hardware_device(const OrtEpDevice* device) { return OrtEpDevice_Device(device); }

size_t machine_device_count(const OrtEnv* environment, OrtStatus** status) {
  size_t count = 0;
  *status = api_table()->GetNumHardwareDevices(environment, &count);
  return count;
}

const OrtHardwareDevice* machine_device_at(const OrtEnv* environment, size_t index, OrtStatus** status) {
  size_t count = machine_device_count(environment, status);
  if (*status) return NULL;
  if (index >= count) return refuse(status, ORT_INVALID_ARGUMENT, "the machine has no device of that index");
  const OrtHardwareDevice** devices = calloc(count, sizeof *devices);
  if (!devices) return refuse_memory(status);
  *status = api_table()->GetHardwareDevices(environment, devices, count);
  const OrtHardwareDevice* device = *status ? NULL : devices[index];
  free(devices);
  return device;
}

int machine_device_type(const OrtHardwareDevice* machine_device) { return OrtHardwareDevice_Type(machine_device); }
uint32_t machine_device_vendor_id(const OrtHardwareDevice* machine_device) {
  return OrtHardwareDevice_VendorId(machine_device);
}
uint32_t machine_device_id(const OrtHardwareDevice* machine_device) {
  return OrtHardwareDevice_DeviceId(machine_device);
}
const char* machine_device_vendor(const OrtHardwareDevice* machine_device) {
  return OrtHardwareDevice_Vendor(machine_device);
}
const OrtKeyValuePairs* machine_device_metadata(const OrtHardwareDevice* machine_device) {
  return OrtHardwareDevice_Metadata(machine_device);
}

PyObject* incompatibility_of(OrtEnv* environment, const char* provider, const OrtHardwareDevice* machine_device) {
  const OrtApi* table = api_table();
  OrtDeviceEpIncompatibilityDetails* details = NULL;
  uint32_t reasons = 0;
  const char* notes = NULL;
  int32_t number = 0;
  OrtStatus* status = table->GetHardwareDeviceEpIncompatibilityDetails(environment, provider, machine_device, &details);
  if (!status) status = table->DeviceEpIncompatibilityDetails_GetReasonsBitmask(details, &reasons);
  if (!status) status = table->DeviceEpIncompatibilityDetails_GetNotes(details, &notes);
  if (!status) status = table->DeviceEpIncompatibilityDetails_GetErrorCode(details, &number);
  PyObject* result = status ? NULL : Py_BuildValue("kNi", (unsigned long)reasons, new_text(notes), (int)number);
  if (status) raise_status(status);
  table->ReleaseDeviceEpIncompatibilityDetails(details);
  return result;
}

int model_compatibility(const OrtEpDevice* const* devices, size_t devices_length, const char* information,
                        OrtStatus** status) {
  OrtCompiledModelCompatibility compatibility = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  *status = api_table()->GetModelCompatibilityForEpDevices(devices, devices_length, information, &compatibility);
  return compatibility;
}

char* compatibility_in_file(const char* path, const char* provider, OrtStatus** status) {
  char* text = NULL;
  *status = api_table()->GetCompatibilityInfoFromModel(path, provider, default_allocator(), &text);
  return *status ? NULL : take_text(text, status);
}

char* compatibility_in_bytes(const void* bytes, size_t bytes_length, const char* provider, OrtStatus** status) {
  char* text = NULL;
  *status = api_table()->GetCompatibilityInfoFromModelBytes(bytes, bytes_length, provider, default_allocator(), &text);
  return *status ? NULL : take_text(text, status);
}
