/* Descriptions of memory, arenas, streams of devices, and copies between devices, under the rules of calls.h. */
#pragma once

#include <Python.h>

#include "calls.h"

#ifndef SWIG
void destroy_OrtSyncStream(PyObject* handle);
void destroy_OrtHardwareDevice(PyObject* handle);
#endif

/** Memory of a device. `device_type`, `device_memory`, `allocator_type`: OrtMemoryInfoDeviceType, OrtDeviceMemoryType,
 *  OrtAllocatorType. `alignment` 0 is the default. */
OrtMemoryInfo* create_device_memory(const char* name, int device_type, uint32_t vendor_id, int device_id,
                                    int device_memory, size_t alignment, int allocator_type, OrtStatus** status);
/** OrtAllocatorType. */
int memory_allocator(const OrtMemoryInfo* memory, OrtStatus** status);
/** OrtMemType. */
int memory_use(const OrtMemoryInfo* memory, OrtStatus** status);
/** OrtDeviceMemoryType. */
int memory_access(const OrtMemoryInfo* memory);
uint32_t memory_vendor_id(const OrtMemoryInfo* memory);

/** Has the environment make an allocator that its sessions may share. `arena` has six numbers, in the order of
 *  CreateArenaCfgV2's keys, negative ones for the default; none for no arena settings. */
void register_allocator(OrtEnv* environment, const char* provider, const OrtMemoryInfo* memory,
                        const OrtKeyValuePairs* settings, const int64_t* shape, size_t shape_length,
                        OrtStatus** status);

OrtSyncStream* create_stream(const OrtEpDevice* device, OrtStatus** status);
/** The native stream's address. */
uint64_t stream_address(OrtSyncStream* stream);

/** Copies tensors one by one, in a stream or, where that is NULL, before it returns. */
void copy_tensors(const OrtEnv* environment, OrtValue* const* inputs, size_t inputs_length, OrtValue* const* values,
                  size_t values_length, OrtSyncStream* stream, OrtStatus** status);

/** A tensor in the memory, whose allocator is the session's; its content undefined. */
OrtValue* tensor_in_session(const OrtSession* session, const OrtMemoryInfo* memory, const int64_t* shape,
                            size_t shape_length, int element_type, OrtStatus** status);

/** The device of the session's input, or NULL. */
const OrtEpDevice* input_device(const OrtSession* session, size_t index, OrtStatus** status);
/** Borrowed like those of device_at, for the life of the environment. */
const OrtHardwareDevice* hardware_device(const OrtEpDevice* device);
size_t machine_device_count(const OrtEnv* environment, OrtStatus** status);
const OrtHardwareDevice* machine_device_at(const OrtEnv* environment, size_t index, OrtStatus** status);
int machine_device_type(const OrtHardwareDevice* machine_device);
uint32_t machine_device_vendor_id(const OrtHardwareDevice* machine_device);
uint32_t machine_device_id(const OrtHardwareDevice* machine_device);
const char* machine_device_vendor(const OrtHardwareDevice* machine_device);
const OrtKeyValuePairs* machine_device_metadata(const OrtHardwareDevice* machine_device);

/** Why a provider cannot use a device: (bits of OrtDeviceEpIncompatibilityReason, text or None, the provider's number).
 */
PyObject* incompatibility_of(OrtEnv* environment, const char* provider, const OrtHardwareDevice* machine_device);
/** OrtCompiledModelCompatibility of a compiled model with these devices, by the text that it carries. */
int model_compatibility(const OrtEpDevice* const* devices, size_t devices_length, const char* information,
                        OrtStatus** status);
/** The text that a compiled model carries for a provider, or NULL. */
char* compatibility_in_file(const char* path, const char* provider, OrtStatus** status);
char* compatibility_in_bytes(const void* bytes, size_t bytes_length, const char* provider, OrtStatus** status);
