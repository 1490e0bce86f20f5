/** C interface between the runtime and execution providers that come as plugin libraries.
 *
 * onnxruntime_c_api.h includes this header. A plugin library exports CreateEpFactories and ReleaseEpFactory. The
 * structs with a first field ort_version_supported are filled by the plugin, which sets that field to the
 * ORT_API_VERSION that it was compiled with; the runtime reads no member that is newer than that. Members that a
 * comment calls optional may be NULL.
 */
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== Handles and structs ==== */

ORT_RUNTIME_CLASS(Ep);
ORT_RUNTIME_CLASS(EpFactory);
ORT_RUNTIME_CLASS(EpGraphSupportInfo);
ORT_RUNTIME_CLASS(MemoryDevice);
ORT_RUNTIME_CLASS(NodeComputeContext);
ORT_RUNTIME_CLASS(DataTransferImpl);
ORT_RUNTIME_CLASS(SyncNotificationImpl);
ORT_RUNTIME_CLASS(SyncStreamImpl);
ORT_RUNTIME_CLASS(ExternalResourceImporterImpl);
ORT_RUNTIME_CLASS(OpSchema);
ORT_RUNTIME_CLASS(OpSchemaTypeConstraint);
ORT_RUNTIME_CLASS(ProfilingEventsContainer);
ORT_RUNTIME_CLASS(ProfilingEvent);
ORT_RUNTIME_CLASS(KernelRegistry);
ORT_RUNTIME_CLASS(KernelDefBuilder);
ORT_RUNTIME_CLASS(KernelDef);
ORT_RUNTIME_CLASS(DataType);
ORT_RUNTIME_CLASS(SharedPrePackedWeightCache);
ORT_RUNTIME_CLASS(EpProfilerImpl);
ORT_RUNTIME_CLASS(NodeFusionOptions);
ORT_RUNTIME_CLASS(NodeComputeInfo);
ORT_RUNTIME_CLASS(KernelImpl);
ORT_RUNTIME_CLASS(LoopKernelHelper);
ORT_RUNTIME_CLASS(ScanKernelHelper);

struct OrtDataTransferImpl {
  uint32_t ort_version_supported;
  void(ORT_API_CALL* Release)(_In_ OrtDataTransferImpl* this_ptr);
  bool(ORT_API_CALL* CanCopy)(_In_ const OrtDataTransferImpl* this_ptr, _In_ const OrtMemoryDevice* src_memory_device,
                              _In_ const OrtMemoryDevice* dst_memory_device);
  OrtStatusPtr(ORT_API_CALL* CopyTensors)(_In_ OrtDataTransferImpl* this_ptr,
                                          _In_reads_(num_tensors) const OrtValue** src_tensors,
                                          _In_reads_(num_tensors) OrtValue** dst_tensors,
                                          _In_reads_(num_tensors) OrtSyncStream** streams, _In_ size_t num_tensors);
};

struct OrtSyncNotificationImpl {
  uint32_t ort_version_supported;
  void(ORT_API_CALL* Release)(_In_ OrtSyncNotificationImpl* this_ptr);
  OrtStatusPtr(ORT_API_CALL* Activate)(_In_ OrtSyncNotificationImpl* this_ptr);
  OrtStatusPtr(ORT_API_CALL* WaitOnDevice)(_In_ OrtSyncNotificationImpl* this_ptr, _In_ OrtSyncStream* consumer_stream);
  OrtStatusPtr(ORT_API_CALL* WaitOnHost)(_In_ OrtSyncNotificationImpl* this_ptr);
};

struct OrtSyncStreamImpl {
  uint32_t ort_version_supported;
  void(ORT_API_CALL* Release)(_In_ OrtSyncStreamImpl* this_ptr);
  void*(ORT_API_CALL* GetHandle)(_In_ OrtSyncStreamImpl* this_ptr);
  OrtStatusPtr(ORT_API_CALL* CreateNotification)(_In_ OrtSyncStreamImpl* this_ptr,
                                                 _Outptr_ OrtSyncNotificationImpl** notification);
  OrtStatusPtr(ORT_API_CALL* Flush)(_In_ OrtSyncStreamImpl* this_ptr);
  OrtStatusPtr(ORT_API_CALL* OnSessionRunEnd)(_In_ OrtSyncStreamImpl* this_ptr);
};

struct OrtExternalResourceImporterImpl {
  uint32_t ort_version_supported;
  bool(ORT_API_CALL* CanImportMemory)(_In_ const OrtExternalResourceImporterImpl* this_ptr,
                                      _In_ OrtExternalMemoryHandleType handle_type);
  OrtStatusPtr(ORT_API_CALL* ImportMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                           _In_ const OrtExternalMemoryDescriptor* desc,
                                           _Outptr_ OrtExternalMemoryHandle** out_handle);
  void(ORT_API_CALL* ReleaseMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                    _In_ OrtExternalMemoryHandle* handle);
  OrtStatusPtr(ORT_API_CALL* CreateTensorFromMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                                     _In_ const OrtExternalMemoryHandle* mem_handle,
                                                     _In_ const OrtExternalTensorDescriptor* tensor_desc,
                                                     _Outptr_ OrtValue** out_tensor);
  bool(ORT_API_CALL* CanImportSemaphore)(_In_ const OrtExternalResourceImporterImpl* this_ptr,
                                         _In_ OrtExternalSemaphoreType type);
  OrtStatusPtr(ORT_API_CALL* ImportSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                              _In_ const OrtExternalSemaphoreDescriptor* desc,
                                              _Outptr_ OrtExternalSemaphoreHandle** out_handle);
  void(ORT_API_CALL* ReleaseSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                       _In_ OrtExternalSemaphoreHandle* handle);
  OrtStatusPtr(ORT_API_CALL* WaitSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                            _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream,
                                            _In_ uint64_t value);
  OrtStatusPtr(ORT_API_CALL* SignalSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                              _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream,
                                              _In_ uint64_t value);
  void(ORT_API_CALL* Release)(_In_ OrtExternalResourceImporterImpl* this_ptr);
};

typedef enum OrtProfilingEventCategory {
  OrtProfilingEventCategory_SESSION = 0,
  OrtProfilingEventCategory_NODE = 1,
  OrtProfilingEventCategory_KERNEL = 2,
  OrtProfilingEventCategory_API = 3,
} OrtProfilingEventCategory;

struct OrtEpProfilerImpl {
  uint32_t ort_version_supported;
  void(ORT_API_CALL* Release)(_In_ OrtEpProfilerImpl* this_ptr);
  OrtStatusPtr(ORT_API_CALL* StartProfiling)(_In_ OrtEpProfilerImpl* this_ptr,
                                             _In_ int64_t ep_profiling_start_offset_ns);
  OrtStatusPtr(ORT_API_CALL* StartEvent)(_In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id);
  OrtStatusPtr(ORT_API_CALL* StopEvent)(_In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id,
                                        _In_ const OrtProfilingEvent* ort_event);
  OrtStatusPtr(ORT_API_CALL* EndProfiling)(_In_ OrtEpProfilerImpl* this_ptr,
                                           _In_ OrtProfilingEventsContainer* events_container);
};

struct OrtNodeFusionOptions {
  uint32_t ort_version_supported;
  bool drop_constant_initializers;
};

struct OrtNodeComputeInfo {
  uint32_t ort_version_supported;
  OrtStatus*(ORT_API_CALL* CreateState)(_In_ OrtNodeComputeInfo* this_ptr, _In_ OrtNodeComputeContext* compute_context,
                                        _Outptr_ void** compute_state);
  OrtStatus*(ORT_API_CALL* Compute)(_In_ OrtNodeComputeInfo* this_ptr, _In_ void* compute_state,
                                    _In_ OrtKernelContext* kernel_context);
  void(ORT_API_CALL* ReleaseState)(_In_ OrtNodeComputeInfo* this_ptr, _Frees_ptr_opt_ void* compute_state);
};

struct OrtKernelImpl {
  uint32_t ort_version_supported;
  uint32_t flags;
  OrtStatusPtr(ORT_API_CALL* Compute)(_In_ OrtKernelImpl* this_ptr, _In_ OrtKernelContext* context);
  void(ORT_API_CALL* Release)(_In_ OrtKernelImpl* this_ptr);
  OrtStatusPtr(ORT_API_CALL* PrePackWeight)(_In_ OrtKernelImpl* this_ptr, _In_ const OrtValue* tensor,
                                            _In_ int input_index, _Inout_ OrtAllocator* allocator,
                                            _In_opt_ OrtSharedPrePackedWeightCache* prepacked_weight_cache,
                                            _Out_ bool* is_packed);
  OrtStatusPtr(ORT_API_CALL* SetSharedPrePackedWeight)(_In_ OrtKernelImpl* this_ptr,
                                                       _In_reads_(num_buffers) const void* const* buffer_data_ptrs,
                                                       _In_reads_(num_buffers) const size_t* buffer_data_sizes,
                                                       _In_ size_t num_buffers, _In_ int input_index);
};

typedef OrtStatus*(ORT_API_CALL* OrtKernelCreateFunc)(_In_ void* kernel_create_func_state,
                                                      _In_ const OrtKernelInfo* info,
                                                      _Outptr_result_maybenull_ OrtKernelImpl** kernel_out);

struct OrtLoopKernelHelper {
  uint32_t ort_version_supported;
  void(ORT_API_CALL* Release)(_In_ OrtLoopKernelHelper* this_ptr);
  OrtStatusPtr(ORT_API_CALL* ConcatOutput)(_In_ OrtLoopKernelHelper* this_ptr, _In_opt_ void* stream_handle,
                                           _In_reads_(num_per_iteration_outputs)
                                               const OrtValue* const* per_iteration_outputs,
                                           _In_ size_t num_per_iteration_outputs,
                                           _Out_writes_bytes_all_(output_size_in_bytes) void* output,
                                           _In_ size_t output_size_in_bytes);
};

struct OrtScanKernelHelper {
  uint32_t ort_version_supported;
  void(ORT_API_CALL* Release)(_In_ OrtScanKernelHelper* this_ptr);
  OrtStatusPtr(ORT_API_CALL* Transpose)(_In_ OrtScanKernelHelper* this_ptr,
                                        _In_reads_(num_permutation_elems) const size_t* permutation,
                                        _In_ size_t num_permutation_elems, _In_ const OrtValue* input,
                                        _In_opt_ OrtSyncStream* stream, _Inout_ OrtValue* output);
};

typedef enum OrtResourceCountKind {
  OrtResourceCountKind_None = 0,
  OrtResourceCountKind_TotalBytes = 1,
} OrtResourceCountKind;

typedef struct OrtResourceCount {
  uint32_t kind;
  uint32_t reserved;
  union {
    uint64_t total_bytes;
    uint64_t reserved_words[6];
  } value;

#ifdef __cplusplus
  OrtResourceCount() noexcept : kind(OrtResourceCountKind_None), reserved(0), value() {}

  /** A count of nothing. */
  static OrtResourceCount None() noexcept { return OrtResourceCount(); }

  /** A count of bytes. */
  static OrtResourceCount FromTotalBytes(uint64_t bytes) noexcept {
    OrtResourceCount count;
    count.kind = OrtResourceCountKind_TotalBytes;
    count.value.total_bytes = bytes;
    return count;
  }

  /** The bytes; meaningful only when kind is OrtResourceCountKind_TotalBytes. */
  uint64_t AsTotalBytes() const noexcept { return value.total_bytes; }
#endif
} OrtResourceCount;

typedef enum OrtEpDataLayout {
  OrtEpDataLayout_NCHW = 0,
  OrtEpDataLayout_NHWC = 1,
  OrtEpDataLayout_Default = OrtEpDataLayout_NCHW,
} OrtEpDataLayout;

typedef enum OrtGraphCaptureNodeAssignmentPolicy {
  OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP = 0,
  OrtGraphCaptureNodeAssignmentPolicy_ALLOW_CPU_FOR_SHAPES = 1,
} OrtGraphCaptureNodeAssignmentPolicy;

typedef enum OrtWeightlessSupport {
  OrtWeightlessSupport_NONE = 0,
  OrtWeightlessSupport_EXTERNAL_ONLY = 1,
  OrtWeightlessSupport_ALL = 2,
} OrtWeightlessSupport;

typedef OrtStatus*(ORT_API_CALL* CreateEpApiFactoriesFn)(_In_ const char* registered_name,
                                                         _In_ const OrtApiBase* ort_api_base,
                                                         _In_ const OrtLogger* default_logger,
                                                         _Inout_ OrtEpFactory** factories, _In_ size_t max_factories,
                                                         _Out_ size_t* num_factories);

typedef OrtStatus*(ORT_API_CALL* ReleaseEpApiFactoryFn)(_In_ OrtEpFactory* factory);

struct OrtExternalMemoryHandle {
  uint32_t version;
  const OrtEpDevice* ep_device;
  OrtExternalMemoryDescriptor descriptor;
  void(ORT_API_CALL* Release)(_In_ OrtExternalMemoryHandle* handle);
};

struct OrtExternalSemaphoreHandle {
  uint32_t version;
  const OrtEpDevice* ep_device;
  OrtExternalSemaphoreDescriptor descriptor;
  void(ORT_API_CALL* Release)(_In_ OrtExternalSemaphoreHandle* handle);
};

struct OrtEpApi {
  ORT_API2_STATUS(CreateEpDevice, _In_ OrtEpFactory* ep_factory, _In_ const OrtHardwareDevice* hardware_device,
                  _In_opt_ const OrtKeyValuePairs* ep_metadata, _In_opt_ const OrtKeyValuePairs* ep_options,
                  _Out_ OrtEpDevice** ep_device);
  ORT_CLASS_RELEASE(EpDevice);
  ORT_API2_STATUS(EpGraphSupportInfo_AddNodesToFuse, _In_ OrtEpGraphSupportInfo* graph_support_info,
                  _In_reads_(num_nodes) const OrtNode* const* nodes, _In_ size_t num_nodes,
                  _In_opt_ const OrtNodeFusionOptions* node_fusion_options);
  ORT_API2_STATUS(EpGraphSupportInfo_AddSingleNode, _In_ OrtEpGraphSupportInfo* graph_support_info,
                  _In_ const OrtNode* node);
  const char*(ORT_API_CALL* NodeComputeContext_NodeName)(_In_ const OrtNodeComputeContext* context)NO_EXCEPTION;
  ORT_API2_STATUS(EpDevice_AddAllocatorInfo, _In_ OrtEpDevice* ep_device,
                  _In_ const OrtMemoryInfo* allocator_memory_info);
  const OrtMemoryDevice*(ORT_API_CALL* MemoryInfo_GetMemoryDevice)(_In_ const OrtMemoryInfo* memory_info)NO_EXCEPTION;
  const OrtMemoryDevice*(ORT_API_CALL* Value_GetMemoryDevice)(_In_ const OrtValue* value)NO_EXCEPTION;
  bool(ORT_API_CALL* MemoryDevice_AreEqual)(_In_ const OrtMemoryDevice* a, _In_ const OrtMemoryDevice* b) NO_EXCEPTION;
  OrtMemoryInfoDeviceType(ORT_API_CALL* MemoryDevice_GetDeviceType)(_In_ const OrtMemoryDevice* memory_device)
      NO_EXCEPTION;
  OrtDeviceMemoryType(ORT_API_CALL* MemoryDevice_GetMemoryType)(_In_ const OrtMemoryDevice* memory_device) NO_EXCEPTION;
  uint32_t(ORT_API_CALL* MemoryDevice_GetVendorId)(_In_ const OrtMemoryDevice* memory_device) NO_EXCEPTION;
  uint32_t(ORT_API_CALL* MemoryDevice_GetDeviceId)(_In_ const OrtMemoryDevice* memory_device) NO_EXCEPTION;
  const OrtSyncStreamImpl*(ORT_API_CALL* SyncStream_GetImpl)(_In_ const OrtSyncStream* stream)NO_EXCEPTION;
  uint64_t(ORT_API_CALL* SyncStream_GetSyncId)(_In_ const OrtSyncStream* stream) NO_EXCEPTION;
  uint64_t(ORT_API_CALL* GetSyncIdForLastWaitOnSyncStream)(_In_ const OrtSyncStream* producer_stream,
                                                           _In_ const OrtSyncStream* consumer_stream) NO_EXCEPTION;
  ORT_API2_STATUS(CreateHardwareDevice, _In_ OrtHardwareDeviceType type, _In_ uint32_t vendor_id,
                  _In_ uint32_t device_id, _In_ const char* vendor_name, _In_opt_ const OrtKeyValuePairs* metadata,
                  _Out_ OrtHardwareDevice** hardware_device);
  ORT_CLASS_RELEASE(HardwareDevice);
  ORT_API2_STATUS(CreateKernelRegistry, _Outptr_ OrtKernelRegistry** kernel_registry);
  ORT_CLASS_RELEASE(KernelRegistry);
  ORT_API2_STATUS(KernelRegistry_AddKernel, _In_ OrtKernelRegistry* kernel_registry,
                  _In_ const OrtKernelDef* kernel_def, _In_ OrtKernelCreateFunc kernel_create_func,
                  _In_ void* kernel_create_func_state);
  ORT_API2_STATUS(CreateKernelDefBuilder, _Outptr_ OrtKernelDefBuilder** kernel_def_builder_out);
  ORT_CLASS_RELEASE(KernelDefBuilder);
  ORT_API2_STATUS(KernelDefBuilder_SetOperatorType, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ const char* op_type);
  ORT_API2_STATUS(KernelDefBuilder_SetDomain, _In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* domain);
  ORT_API2_STATUS(KernelDefBuilder_SetSinceVersion, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ int since_version_start, _In_ int since_version_end);
  ORT_API2_STATUS(KernelDefBuilder_SetExecutionProvider, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ const char* ep_name);
  ORT_API2_STATUS(KernelDefBuilder_SetInputMemType, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ size_t input_index, _In_ OrtMemType mem_type);
  ORT_API2_STATUS(KernelDefBuilder_SetOutputMemType, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ size_t output_index, _In_ OrtMemType mem_type);
  ORT_API2_STATUS(KernelDefBuilder_AddTypeConstraint, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ const char* arg_name, _In_reads_(num_types) const OrtDataType* const* types,
                  _In_ size_t num_types);
  ORT_API2_STATUS(KernelDefBuilder_AddInputOutputAliases, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_reads_(num_io_indices) const int* input_indices,
                  _In_reads_(num_io_indices) const int* output_indices, _In_ size_t num_io_indices);
  ORT_API2_STATUS(KernelDefBuilder_AddInputOutputMutableAliases, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_reads_(num_io_indices) const int* input_indices,
                  _In_reads_(num_io_indices) const int* output_indices, _In_ size_t num_io_indices);
  ORT_API2_STATUS(KernelDefBuilder_Build, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _Outptr_ OrtKernelDef** kernel_def_out);
  ORT_CLASS_RELEASE(KernelDef);
  const char*(ORT_API_CALL* KernelDef_GetOperatorType)(_In_ const OrtKernelDef* kernel_def)NO_EXCEPTION;
  const char*(ORT_API_CALL* KernelDef_GetDomain)(_In_ const OrtKernelDef* kernel_def)NO_EXCEPTION;
  ORT_API2_STATUS(KernelDef_GetSinceVersion, _In_ const OrtKernelDef* kernel_def, _Out_ int* start_version,
                  _Out_ int* end_version);
  const char*(ORT_API_CALL* KernelDef_GetExecutionProvider)(_In_ const OrtKernelDef* kernel_def)NO_EXCEPTION;
  ORT_API2_STATUS(KernelDef_GetInputMemType, _In_ const OrtKernelDef* kernel_def, _In_ size_t input_index,
                  _Out_ OrtMemType* mem_type);
  ORT_API2_STATUS(KernelDef_GetOutputMemType, _In_ const OrtKernelDef* kernel_def, _In_ size_t output_index,
                  _Out_ OrtMemType* mem_type);
  ORT_API2_STATUS(GetTensorDataType, _In_ ONNXTensorElementDataType elem_type, _Outptr_ const OrtDataType** out);
  ORT_API2_STATUS(EpGraphSupportInfo_LookUpKernel, _In_ OrtEpGraphSupportInfo* graph_support_info,
                  _In_ const OrtNode* node, _Outptr_result_maybenull_ const OrtKernelDef** out_kernel_def);
  ORT_API2_STATUS(SharedPrePackedWeightCache_StoreWeightData,
                  _In_ OrtSharedPrePackedWeightCache* prepacked_weight_cache,
                  _In_reads_(num_buffers) void** buffer_data_ptrs, _In_reads_(num_buffers) size_t* buffer_data_sizes,
                  _In_ size_t num_buffers);
  ORT_API2_STATUS(KernelInfo_GetEp, _In_ const OrtKernelInfo* info, _Outptr_ const OrtEp** ep);
  ORT_API2_STATUS(DeviceEpIncompatibilityDetails_SetDetails, _Inout_ OrtDeviceEpIncompatibilityDetails* details,
                  _In_ uint32_t reasons_bitmask, _In_ int32_t error_code, _In_opt_z_ const char* notes);
  ORT_API2_STATUS(CreateIfKernel, _In_ const OrtKernelInfo* kernel_info, _Outptr_ OrtKernelImpl** kernel_out);
  ORT_API2_STATUS(CreateLoopKernel, _In_ const OrtKernelInfo* kernel_info, _In_ OrtLoopKernelHelper* helper,
                  _Outptr_ OrtKernelImpl** kernel_out);
  ORT_API2_STATUS(CreateScanKernel, _In_ const OrtKernelInfo* kernel_info, _In_ OrtScanKernelHelper* helper,
                  _Outptr_ OrtKernelImpl** kernel_out);
  ORT_CLASS_RELEASE(KernelImpl);
  ORT_API2_STATUS(GetEnvConfigEntries, _Outptr_ OrtKeyValuePairs** config_entries);
  ORT_API2_STATUS(GetOpSchema, _In_ const char* name, _In_ int max_inclusive_version, _In_ const char* domain,
                  _Outptr_result_maybenull_ OrtOpSchema** out_schema);
  ORT_CLASS_RELEASE(OpSchema);
  ORT_API2_STATUS(OpSchema_GetSinceVersion, _In_ const OrtOpSchema* schema, _Out_ int* out);
  ORT_API2_STATUS(OpSchema_GetNumInputs, _In_ const OrtOpSchema* schema, _Out_ size_t* out);
  ORT_API2_STATUS(OpSchema_GetInputName, _In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  ORT_API2_STATUS(OpSchema_GetInputTypeConstraint, _In_ const OrtOpSchema* schema, _In_ size_t index,
                  _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  ORT_API2_STATUS(OpSchema_GetNumOutputs, _In_ const OrtOpSchema* schema, _Out_ size_t* out);
  ORT_API2_STATUS(OpSchema_GetOutputName, _In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  ORT_API2_STATUS(OpSchema_GetOutputTypeConstraint, _In_ const OrtOpSchema* schema, _In_ size_t index,
                  _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  ORT_API2_STATUS(OpSchema_GetTypeConstraintCount, _In_ const OrtOpSchema* schema, _Out_ size_t* out);
  ORT_API2_STATUS(OpSchema_GetTypeConstraint, _In_ const OrtOpSchema* schema, _In_ size_t index,
                  _Outptr_ const OrtOpSchemaTypeConstraint** out);
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetTypeParamName, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const char** out);
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetAllowedTypes, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const char* const** out_types, _Out_ size_t* num_types);
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetInputIndices, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const size_t** out_indices, _Out_ size_t* count);
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetOutputIndices, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const size_t** out_indices, _Out_ size_t* count);
  ORT_API2_STATUS(CreateProfilingEvent, _In_ OrtProfilingEventCategory category, _In_ int32_t process_id,
                  _In_ int32_t thread_id, _In_ const char* event_name, _In_ int64_t timestamp_us,
                  _In_ int64_t duration_us, _In_reads_(num_args) const char* const* arg_keys,
                  _In_reads_(num_args) const char* const* arg_values, _In_ size_t num_args,
                  _Outptr_ OrtProfilingEvent** out);
  ORT_CLASS_RELEASE(ProfilingEvent);
  ORT_API2_STATUS(ProfilingEvent_GetCategory, _In_ const OrtProfilingEvent* event,
                  _Out_ OrtProfilingEventCategory* out);
  ORT_API2_STATUS(ProfilingEvent_GetName, _In_ const OrtProfilingEvent* event, _Outptr_ const char** out);
  ORT_API2_STATUS(ProfilingEvent_GetTimestampUs, _In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  ORT_API2_STATUS(ProfilingEvent_GetDurationUs, _In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  ORT_API2_STATUS(ProfilingEvent_GetArgValue, _In_ const OrtProfilingEvent* event, _In_ const char* key,
                  _Outptr_result_maybenull_ const char** out);
  ORT_API2_STATUS(ProfilingEventsContainer_AddEvents, _In_ OrtProfilingEventsContainer* events_container,
                  _In_reads_(num_events) const OrtProfilingEvent* const* events, _In_ size_t num_events);
  ORT_API2_STATUS(SessionOptionsGetWeightlessSourceModelBuffer, _In_ const OrtSessionOptions* session_options,
                  _Outptr_result_maybenull_ const void** source_model_data, _Out_ size_t* source_model_data_length);
};

struct OrtEp {
  uint32_t ort_version_supported;
  const char*(ORT_API_CALL* GetName)(_In_ const OrtEp* this_ptr);
  OrtStatusPtr(ORT_API_CALL* GetCapability)(_In_ OrtEp* this_ptr, _In_ const OrtGraph* graph,
                                            _Inout_ OrtEpGraphSupportInfo* graph_support_info);
  OrtStatusPtr(ORT_API_CALL* Compile)(_In_ OrtEp* this_ptr, _In_ const OrtGraph** graphs,
                                      _In_ const OrtNode** fused_nodes, _In_ size_t count,
                                      _Out_writes_all_(count) OrtNodeComputeInfo** node_compute_infos,
                                      _Out_writes_(count) OrtNode** ep_context_nodes);
  void(ORT_API_CALL* ReleaseNodeComputeInfos)(_In_ OrtEp* this_ptr, OrtNodeComputeInfo** node_compute_infos,
                                              _In_ size_t num_node_compute_infos);
  OrtStatusPtr(ORT_API_CALL* GetPreferredDataLayout)(_In_ OrtEp* this_ptr,
                                                     _Out_ OrtEpDataLayout* preferred_data_layout);
  OrtStatusPtr(ORT_API_CALL* ShouldConvertDataLayoutForOp)(_In_ OrtEp* this_ptr, _In_z_ const char* domain,
                                                           _In_z_ const char* op_type,
                                                           _In_ OrtEpDataLayout target_data_layout,
                                                           _Outptr_ int* should_convert);
  OrtStatusPtr(ORT_API_CALL* SetDynamicOptions)(_In_ OrtEp* this_ptr,
                                                _In_reads_(num_options) const char* const* option_keys,
                                                _In_reads_(num_options) const char* const* option_values,
                                                _In_ size_t num_options);
  OrtStatusPtr(ORT_API_CALL* OnRunStart)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options);
  OrtStatusPtr(ORT_API_CALL* OnRunEnd)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options,
                                       _In_ bool sync_stream);
  OrtStatusPtr(ORT_API_CALL* CreateAllocator)(_In_ OrtEp* this_ptr, _In_ const OrtMemoryInfo* memory_info,
                                              _Outptr_result_maybenull_ OrtAllocator** allocator);
  OrtStatusPtr(ORT_API_CALL* CreateSyncStreamForDevice)(_In_ OrtEp* this_ptr, _In_ const OrtMemoryDevice* memory_device,
                                                        _Outptr_ OrtSyncStreamImpl** stream);
  const char*(ORT_API_CALL* GetCompiledModelCompatibilityInfo)(_In_ OrtEp* this_ptr, _In_ const OrtGraph* graph);
  OrtStatusPtr(ORT_API_CALL* GetKernelRegistry)(_In_ OrtEp* this_ptr,
                                                _Outptr_result_maybenull_ const OrtKernelRegistry** kernel_registry);
  OrtStatusPtr(ORT_API_CALL* IsConcurrentRunSupported)(_In_ OrtEp* this_ptr, _Outptr_ bool* is_supported);
  OrtStatusPtr(ORT_API_CALL* Sync)(_In_ OrtEp* this_ptr);
  OrtStatusPtr(ORT_API_CALL* CreateProfiler)(_In_ OrtEp* this_ptr,
                                             _Outptr_result_maybenull_ OrtEpProfilerImpl** profiler);
  bool(ORT_API_CALL* IsGraphCaptureEnabled)(_In_ const OrtEp* this_ptr);
  bool(ORT_API_CALL* IsGraphCaptured)(_In_ const OrtEp* this_ptr, _In_ int graph_annotation_id);
  OrtStatusPtr(ORT_API_CALL* ReplayGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);
  OrtGraphCaptureNodeAssignmentPolicy(ORT_API_CALL* GetGraphCaptureNodeAssignmentPolicy)(_In_ const OrtEp* this_ptr);
  OrtStatusPtr(ORT_API_CALL* GetAvailableResource)(_In_ const OrtEp* this_ptr, _Out_ OrtResourceCount* available);
  OrtStatusPtr(ORT_API_CALL* OnSessionInitializationEnd)(_In_ OrtEp* this_ptr);
  OrtStatusPtr(ORT_API_CALL* GetDefaultMemoryDevice)(_In_ const OrtEp* this_ptr,
                                                     _Outptr_result_maybenull_ const OrtMemoryDevice** device);
  OrtStatusPtr(ORT_API_CALL* ReleaseCapturedGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);
  OrtStatusPtr(ORT_API_CALL* GetWeightlessSupport)(_In_ const OrtEp* this_ptr, _Out_ OrtWeightlessSupport* support);
};

struct OrtEpFactory {
  uint32_t ort_version_supported;
  const char*(ORT_API_CALL* GetName)(const OrtEpFactory* this_ptr);
  const char*(ORT_API_CALL* GetVendor)(const OrtEpFactory* this_ptr);
  OrtStatusPtr(ORT_API_CALL* GetSupportedDevices)(_In_ OrtEpFactory* this_ptr,
                                                  _In_reads_(num_devices) const OrtHardwareDevice* const* devices,
                                                  _In_ size_t num_devices, _Inout_ OrtEpDevice** ep_devices,
                                                  _In_ size_t max_ep_devices, _Out_ size_t* num_ep_devices);
  OrtStatusPtr(ORT_API_CALL* CreateEp)(_In_ OrtEpFactory* this_ptr,
                                       _In_reads_(num_devices) const OrtHardwareDevice* const* devices,
                                       _In_reads_(num_devices) const OrtKeyValuePairs* const* ep_metadata_pairs,
                                       _In_ size_t num_devices, _In_ const OrtSessionOptions* session_options,
                                       _In_ const OrtLogger* logger, _Outptr_ OrtEp** ep);
  void(ORT_API_CALL* ReleaseEp)(OrtEpFactory* this_ptr, struct OrtEp* ep);
  uint32_t(ORT_API_CALL* GetVendorId)(const OrtEpFactory* this_ptr);
  const char*(ORT_API_CALL* GetVersion)(_In_ const OrtEpFactory* this_ptr);
  OrtStatusPtr(ORT_API_CALL* ValidateCompiledModelCompatibilityInfo)(
      _In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices,
      _In_ size_t num_devices, _In_ const char* compatibility_info,
      _Out_ OrtCompiledModelCompatibility* model_compatibility);
  OrtStatusPtr(ORT_API_CALL* CreateAllocator)(_In_ OrtEpFactory* this_ptr, _In_ const OrtMemoryInfo* memory_info,
                                              _In_opt_ const OrtKeyValuePairs* allocator_options,
                                              _Outptr_result_maybenull_ OrtAllocator** allocator);
  void(ORT_API_CALL* ReleaseAllocator)(_In_ OrtEpFactory* this_ptr, _In_ OrtAllocator* allocator);
  OrtStatusPtr(ORT_API_CALL* CreateDataTransfer)(_In_ OrtEpFactory* this_ptr,
                                                 _Outptr_result_maybenull_ OrtDataTransferImpl** data_transfer);
  bool(ORT_API_CALL* IsStreamAware)(_In_ const OrtEpFactory* this_ptr);
  OrtStatusPtr(ORT_API_CALL* CreateSyncStreamForDevice)(_In_ OrtEpFactory* this_ptr,
                                                        _In_ const OrtMemoryDevice* memory_device,
                                                        _In_opt_ const OrtKeyValuePairs* stream_options,
                                                        _Outptr_ OrtSyncStreamImpl** stream);
  OrtStatusPtr(ORT_API_CALL* GetHardwareDeviceIncompatibilityDetails)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* hw,
      _Inout_ OrtDeviceEpIncompatibilityDetails* details);
  OrtStatusPtr(ORT_API_CALL* CreateExternalResourceImporterForDevice)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device,
      _Outptr_result_maybenull_ OrtExternalResourceImporterImpl** out_importer);
  OrtStatusPtr(ORT_API_CALL* GetNumCustomOpDomains)(_In_ OrtEpFactory* this_ptr, _Out_ size_t* num_domains);
  OrtStatusPtr(ORT_API_CALL* GetCustomOpDomains)(_In_ OrtEpFactory* this_ptr,
                                                 _Out_writes_all_(num_domains) OrtCustomOpDomain** domains,
                                                 _In_ size_t num_domains);
  OrtStatusPtr(ORT_API_CALL* InitGraphicsInterop)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device,
                                                  _In_ const OrtGraphicsInteropConfig* config);
  OrtStatusPtr(ORT_API_CALL* DeinitGraphicsInterop)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device);
  OrtStatusPtr(ORT_API_CALL* SelectBestModelCandidate)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* device,
      _In_reads_(num_candidates) const OrtKeyValuePairs* const* candidates, _In_ size_t num_candidates,
      _In_opt_ const OrtSessionOptions* session_options, _Out_ size_t* selected_index);
};

#ifdef __cplusplus
}
#endif
