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
ORT_RUNTIME_CLASS(EpGraphSupportInfo); /**< Receives which nodes a provider takes. */
ORT_RUNTIME_CLASS(MemoryDevice);       /**< A device with a kind of its memory. */
ORT_RUNTIME_CLASS(NodeComputeContext); /**< What the state of a compiled node may know. */
ORT_RUNTIME_CLASS(DataTransferImpl);
ORT_RUNTIME_CLASS(SyncNotificationImpl);
ORT_RUNTIME_CLASS(SyncStreamImpl);
ORT_RUNTIME_CLASS(ExternalResourceImporterImpl);
ORT_RUNTIME_CLASS(OpSchema);               /**< The schema of an operator. */
ORT_RUNTIME_CLASS(OpSchemaTypeConstraint); /**< A type parameter of a schema. */
ORT_RUNTIME_CLASS(ProfilingEventsContainer);
ORT_RUNTIME_CLASS(ProfilingEvent);
ORT_RUNTIME_CLASS(KernelRegistry); /**< The kernels of a provider. */
ORT_RUNTIME_CLASS(KernelDefBuilder);
ORT_RUNTIME_CLASS(KernelDef); /**< What a kernel is for. */
ORT_RUNTIME_CLASS(DataType);  /**< A type of values. */
ORT_RUNTIME_CLASS(SharedPrePackedWeightCache);
ORT_RUNTIME_CLASS(EpProfilerImpl);
ORT_RUNTIME_CLASS(NodeFusionOptions);
ORT_RUNTIME_CLASS(NodeComputeInfo);
ORT_RUNTIME_CLASS(KernelImpl);
ORT_RUNTIME_CLASS(LoopKernelHelper);
ORT_RUNTIME_CLASS(ScanKernelHelper);

/** Copies between devices of a provider. */
struct OrtDataTransferImpl {
  uint32_t ort_version_supported;
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtDataTransferImpl* this_ptr);
  /** Whether it copies from one device to the other. */
  bool(ORT_API_CALL* CanCopy)(_In_ const OrtDataTransferImpl* this_ptr, _In_ const OrtMemoryDevice* src_memory_device,
                              _In_ const OrtMemoryDevice* dst_memory_device);
  /** Copies each source to its destination, in the stream given for it or at once where that is NULL. `streams` itself
   *  may be NULL. */
  OrtStatusPtr(ORT_API_CALL* CopyTensors)(_In_ OrtDataTransferImpl* this_ptr,
                                          _In_reads_(num_tensors) const OrtValue** src_tensors,
                                          _In_reads_(num_tensors) OrtValue** dst_tensors,
                                          _In_reads_(num_tensors) OrtSyncStream** streams, _In_ size_t num_tensors);
};

/** A point in a stream that others may wait for. */
struct OrtSyncNotificationImpl {
  uint32_t ort_version_supported;
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtSyncNotificationImpl* this_ptr);
  /** Marks the present end of its stream. */
  OrtStatusPtr(ORT_API_CALL* Activate)(_In_ OrtSyncNotificationImpl* this_ptr);
  /** Makes another stream wait for the mark. */
  OrtStatusPtr(ORT_API_CALL* WaitOnDevice)(_In_ OrtSyncNotificationImpl* this_ptr, _In_ OrtSyncStream* consumer_stream);
  /** Waits for the mark. */
  OrtStatusPtr(ORT_API_CALL* WaitOnHost)(_In_ OrtSyncNotificationImpl* this_ptr);
};

/** A provider's part of a stream. */
struct OrtSyncStreamImpl {
  uint32_t ort_version_supported;
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtSyncStreamImpl* this_ptr);
  /** The native stream. */
  void*(ORT_API_CALL* GetHandle)(_In_ OrtSyncStreamImpl* this_ptr);
  /** A notification for this stream. */
  OrtStatusPtr(ORT_API_CALL* CreateNotification)(_In_ OrtSyncStreamImpl* this_ptr,
                                                 _Outptr_ OrtSyncNotificationImpl** notification);
  /** Starts all work that was put in. */
  OrtStatusPtr(ORT_API_CALL* Flush)(_In_ OrtSyncStreamImpl* this_ptr);
  /** Called when a run that used the stream has ended. Optional. */
  OrtStatusPtr(ORT_API_CALL* OnSessionRunEnd)(_In_ OrtSyncStreamImpl* this_ptr);
};

/** A provider's part of an importer for graphics libraries. */
struct OrtExternalResourceImporterImpl {
  uint32_t ort_version_supported;
  /** Whether it takes that kind of memory. */
  bool(ORT_API_CALL* CanImportMemory)(_In_ const OrtExternalResourceImporterImpl* this_ptr,
                                      _In_ OrtExternalMemoryHandleType handle_type);
  /** Imports memory. */
  OrtStatusPtr(ORT_API_CALL* ImportMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                           _In_ const OrtExternalMemoryDescriptor* desc,
                                           _Outptr_ OrtExternalMemoryHandle** out_handle);
  /** Ends what ImportMemory gave. */
  void(ORT_API_CALL* ReleaseMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                    _In_ OrtExternalMemoryHandle* handle);
  /** A tensor over imported memory. */
  OrtStatusPtr(ORT_API_CALL* CreateTensorFromMemory)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                                     _In_ const OrtExternalMemoryHandle* mem_handle,
                                                     _In_ const OrtExternalTensorDescriptor* tensor_desc,
                                                     _Outptr_ OrtValue** out_tensor);
  /** Whether it takes that kind of semaphore. */
  bool(ORT_API_CALL* CanImportSemaphore)(_In_ const OrtExternalResourceImporterImpl* this_ptr,
                                         _In_ OrtExternalSemaphoreType type);
  /** Imports a semaphore. */
  OrtStatusPtr(ORT_API_CALL* ImportSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                              _In_ const OrtExternalSemaphoreDescriptor* desc,
                                              _Outptr_ OrtExternalSemaphoreHandle** out_handle);
  /** Ends what ImportSemaphore gave. */
  void(ORT_API_CALL* ReleaseSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                       _In_ OrtExternalSemaphoreHandle* handle);
  /** Makes the stream wait for the value. */
  OrtStatusPtr(ORT_API_CALL* WaitSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                            _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream,
                                            _In_ uint64_t value);
  /** Makes the stream raise the semaphore to the value. */
  OrtStatusPtr(ORT_API_CALL* SignalSemaphore)(_In_ OrtExternalResourceImporterImpl* this_ptr,
                                              _In_ OrtExternalSemaphoreHandle* handle, _In_ OrtSyncStream* stream,
                                              _In_ uint64_t value);
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtExternalResourceImporterImpl* this_ptr);
};

/** What an event of a profile is about. */
typedef enum OrtProfilingEventCategory {
  OrtProfilingEventCategory_SESSION = 0,
  OrtProfilingEventCategory_NODE = 1,
  OrtProfilingEventCategory_KERNEL = 2,
  OrtProfilingEventCategory_API = 3,
} OrtProfilingEventCategory;

/** Adds a provider's events to profiles. */
struct OrtEpProfilerImpl {
  uint32_t ort_version_supported;
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtEpProfilerImpl* this_ptr);
  /** Begins; the offset is from the profile's start to now, in nanoseconds. */
  OrtStatusPtr(ORT_API_CALL* StartProfiling)(_In_ OrtEpProfilerImpl* this_ptr,
                                             _In_ int64_t ep_profiling_start_offset_ns);
  /** An event of the runtime begins on this thread. Optional. */
  OrtStatusPtr(ORT_API_CALL* StartEvent)(_In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id);
  /** It ends. Optional. */
  OrtStatusPtr(ORT_API_CALL* StopEvent)(_In_ OrtEpProfilerImpl* this_ptr, _In_ uint64_t ort_event_correlation_id,
                                        _In_ const OrtProfilingEvent* ort_event);
  /** Ends, and adds the provider's events to the container. */
  OrtStatusPtr(ORT_API_CALL* EndProfiling)(_In_ OrtEpProfilerImpl* this_ptr,
                                           _In_ OrtProfilingEventsContainer* events_container);
};

/** How nodes are made one. */
struct OrtNodeFusionOptions {
  uint32_t ort_version_supported;
  /** The provider keeps copies of constant initializers, so that the runtime may free its own. */
  bool drop_constant_initializers;
};

/** Computes a compiled node. */
struct OrtNodeComputeInfo {
  uint32_t ort_version_supported;
  /** Makes what one session needs to compute a compiled node. */
  OrtStatus*(ORT_API_CALL* CreateState)(_In_ OrtNodeComputeInfo* this_ptr, _In_ OrtNodeComputeContext* compute_context,
                                        _Outptr_ void** compute_state);
  /** Computes. Several threads may do so at once unless IsConcurrentRunSupported says no. */
  OrtStatus*(ORT_API_CALL* Compute)(_In_ OrtNodeComputeInfo* this_ptr, _In_ void* compute_state,
                                    _In_ OrtKernelContext* kernel_context);
  /** Frees the state. */
  void(ORT_API_CALL* ReleaseState)(_In_ OrtNodeComputeInfo* this_ptr, _Frees_ptr_opt_ void* compute_state);
};

/** A kernel of a provider. */
struct OrtKernelImpl {
  uint32_t ort_version_supported;
  /** 0; for the runtime's own use. */
  uint32_t flags;
  /** Computes. Several threads may do so at once. */
  OrtStatusPtr(ORT_API_CALL* Compute)(_In_ OrtKernelImpl* this_ptr, _In_ OrtKernelContext* context);
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtKernelImpl* this_ptr);
  /** Packs a constant input once, with memory from the allocator; `is_packed` says whether it did. With a cache, the
   *  packed data goes there. Optional. */
  OrtStatusPtr(ORT_API_CALL* PrePackWeight)(_In_ OrtKernelImpl* this_ptr, _In_ const OrtValue* tensor,
                                            _In_ int input_index, _Inout_ OrtAllocator* allocator,
                                            _In_opt_ OrtSharedPrePackedWeightCache* prepacked_weight_cache,
                                            _Out_ bool* is_packed);
  /** Receives packed data from the cache, which keeps it. Optional. */
  OrtStatusPtr(ORT_API_CALL* SetSharedPrePackedWeight)(_In_ OrtKernelImpl* this_ptr,
                                                       _In_reads_(num_buffers) const void* const* buffer_data_ptrs,
                                                       _In_reads_(num_buffers) const size_t* buffer_data_sizes,
                                                       _In_ size_t num_buffers, _In_ int input_index);
};

/** Makes a kernel of a provider's registry. */
typedef OrtStatus*(ORT_API_CALL* OrtKernelCreateFunc)(_In_ void* kernel_create_func_state,
                                                      _In_ const OrtKernelInfo* info,
                                                      _Outptr_result_maybenull_ OrtKernelImpl** kernel_out);

/** What the kernel of Loop needs from a provider. */
struct OrtLoopKernelHelper {
  uint32_t ort_version_supported;
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtLoopKernelHelper* this_ptr);
  /** Joins the outputs of all iterations into one block of memory on the device. */
  OrtStatusPtr(ORT_API_CALL* ConcatOutput)(_In_ OrtLoopKernelHelper* this_ptr, _In_opt_ void* stream_handle,
                                           _In_reads_(num_per_iteration_outputs)
                                               const OrtValue* const* per_iteration_outputs,
                                           _In_ size_t num_per_iteration_outputs,
                                           _Out_writes_bytes_all_(output_size_in_bytes) void* output,
                                           _In_ size_t output_size_in_bytes);
};

/** What the kernel of Scan needs from a provider. */
struct OrtScanKernelHelper {
  uint32_t ort_version_supported;
  /** Ends the object. */
  void(ORT_API_CALL* Release)(_In_ OrtScanKernelHelper* this_ptr);
  /** Permutes the dimensions of a tensor on the device. */
  OrtStatusPtr(ORT_API_CALL* Transpose)(_In_ OrtScanKernelHelper* this_ptr,
                                        _In_reads_(num_permutation_elems) const size_t* permutation,
                                        _In_ size_t num_permutation_elems, _In_ const OrtValue* input,
                                        _In_opt_ OrtSyncStream* stream, _Inout_ OrtValue* output);
};

/** What a count is of. */
typedef enum OrtResourceCountKind {
  OrtResourceCountKind_None = 0,
  OrtResourceCountKind_TotalBytes = 1,
} OrtResourceCountKind;

/** An amount of a resource. */
typedef struct OrtResourceCount {
  /** An OrtResourceCountKind. */
  uint32_t kind;
  /** 0. */
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

/** Orders of the dimensions of images. */
typedef enum OrtEpDataLayout {
  OrtEpDataLayout_NCHW = 0,
  OrtEpDataLayout_NHWC = 1,
  OrtEpDataLayout_Default = OrtEpDataLayout_NCHW,
} OrtEpDataLayout;

/** Which nodes may stay with the CPU while a provider records device graphs. */
typedef enum OrtGraphCaptureNodeAssignmentPolicy {
  OrtGraphCaptureNodeAssignmentPolicy_ALL_NODES_ON_EP = 0,
  OrtGraphCaptureNodeAssignmentPolicy_ALLOW_CPU_FOR_SHAPES = 1,
} OrtGraphCaptureNodeAssignmentPolicy;

/** Which weights compiled data can leave out. */
typedef enum OrtWeightlessSupport {
  OrtWeightlessSupport_NONE = 0,
  OrtWeightlessSupport_EXTERNAL_ONLY = 1,
  OrtWeightlessSupport_ALL = 2,
} OrtWeightlessSupport;

/** The function CreateEpFactories of a plugin library: gives at most `max_factories` factories. */
typedef OrtStatus*(ORT_API_CALL* CreateEpApiFactoriesFn)(_In_ const char* registered_name,
                                                         _In_ const OrtApiBase* ort_api_base,
                                                         _In_ const OrtLogger* default_logger,
                                                         _Inout_ OrtEpFactory** factories, _In_ size_t max_factories,
                                                         _Out_ size_t* num_factories);

/** The function ReleaseEpFactory of a plugin library. */
typedef OrtStatus*(ORT_API_CALL* ReleaseEpApiFactoryFn)(_In_ OrtEpFactory* factory);

/** Imported memory. Providers derive their own from it. */
struct OrtExternalMemoryHandle {
  /** ORT_API_VERSION. */
  uint32_t version;
  /** The device that the memory was imported to. */
  const OrtEpDevice* ep_device;
  /** What was imported. */
  OrtExternalMemoryDescriptor descriptor;
  /** Ends the handle. */
  void(ORT_API_CALL* Release)(_In_ OrtExternalMemoryHandle* handle);
};

/** An imported semaphore. Providers derive their own from it. */
struct OrtExternalSemaphoreHandle {
  /** ORT_API_VERSION. */
  uint32_t version;
  /** The device that the semaphore was imported to. */
  const OrtEpDevice* ep_device;
  /** What was imported. */
  OrtExternalSemaphoreDescriptor descriptor;
  /** Ends the handle. */
  void(ORT_API_CALL* Release)(_In_ OrtExternalSemaphoreHandle* handle);
};

/** What the runtime does for plugin libraries. */
struct OrtEpApi {
  /** A pair of a provider and a device, for GetSupportedDevices of a factory to give out; the lists are copied. */
  ORT_API2_STATUS(CreateEpDevice, _In_ OrtEpFactory* ep_factory, _In_ const OrtHardwareDevice* hardware_device,
                  _In_opt_ const OrtKeyValuePairs* ep_metadata, _In_opt_ const OrtKeyValuePairs* ep_options,
                  _Out_ OrtEpDevice** ep_device);
  /** For pairs that were not given out. */
  ORT_CLASS_RELEASE(EpDevice);
  /** The provider takes these nodes as one, to be compiled. NULL options are the default ones. */
  ORT_API2_STATUS(EpGraphSupportInfo_AddNodesToFuse, _In_ OrtEpGraphSupportInfo* graph_support_info,
                  _In_reads_(num_nodes) const OrtNode* const* nodes, _In_ size_t num_nodes,
                  _In_opt_ const OrtNodeFusionOptions* node_fusion_options);
  /** The provider takes this node with a kernel from its registry. */
  ORT_API2_STATUS(EpGraphSupportInfo_AddSingleNode, _In_ OrtEpGraphSupportInfo* graph_support_info,
                  _In_ const OrtNode* node);
  /** The name of the compiled node, which tells the compiled graphs apart; borrowed. */
  ORT_API_T(const char*, NodeComputeContext_NodeName, _In_ const OrtNodeComputeContext* context);
  /** Memory that the provider allocates on the device. The description is not copied and must live as long as the
   *  device. */
  ORT_API2_STATUS(EpDevice_AddAllocatorInfo, _In_ OrtEpDevice* ep_device,
                  _In_ const OrtMemoryInfo* allocator_memory_info);
  /** The device part of a description, borrowed. */
  ORT_API_T(const OrtMemoryDevice*, MemoryInfo_GetMemoryDevice, _In_ const OrtMemoryInfo* memory_info);
  /** The device on which a tensor is, borrowed; NULL for other values. */
  ORT_API_T(const OrtMemoryDevice*, Value_GetMemoryDevice, _In_ const OrtValue* value);
  /** Whether both are the same device and kind of memory. */
  ORT_API_T(bool, MemoryDevice_AreEqual, _In_ const OrtMemoryDevice* a, _In_ const OrtMemoryDevice* b);
  /** The kind of device. */
  ORT_API_T(OrtMemoryInfoDeviceType, MemoryDevice_GetDeviceType, _In_ const OrtMemoryDevice* memory_device);
  /** Whether the host can reach the memory. */
  ORT_API_T(OrtDeviceMemoryType, MemoryDevice_GetMemoryType, _In_ const OrtMemoryDevice* memory_device);
  /** The vendor; 0 when it does not matter. */
  ORT_API_T(uint32_t, MemoryDevice_GetVendorId, _In_ const OrtMemoryDevice* memory_device);
  /** The number of the device among its like. */
  ORT_API_T(uint32_t, MemoryDevice_GetDeviceId, _In_ const OrtMemoryDevice* memory_device);
  /** The provider's part of a stream, borrowed. */
  ORT_API_T(const OrtSyncStreamImpl*, SyncStream_GetImpl, _In_ const OrtSyncStream* stream);
  /** A number that grows with each point of the stream that another may wait for. */
  ORT_API_T(uint64_t, SyncStream_GetSyncId, _In_ const OrtSyncStream* stream);
  /** The number of the producer that the consumer waited for last; 0 for none. */
  ORT_API_T(uint64_t, GetSyncIdForLastWaitOnSyncStream, _In_ const OrtSyncStream* producer_stream,
            _In_ const OrtSyncStream* consumer_stream);
  /** A device that the machine does not show by itself; `metadata` is copied. */
  ORT_API2_STATUS(CreateHardwareDevice, _In_ OrtHardwareDeviceType type, _In_ uint32_t vendor_id,
                  _In_ uint32_t device_id, _In_ const char* vendor_name, _In_opt_ const OrtKeyValuePairs* metadata,
                  _Out_ OrtHardwareDevice** hardware_device);
  ORT_CLASS_RELEASE(HardwareDevice);

  /* ---- Kernels of providers ---- */

  /** An empty registry, which the provider keeps and releases. */
  ORT_API2_STATUS(CreateKernelRegistry, _Outptr_ OrtKernelRegistry** kernel_registry);
  ORT_CLASS_RELEASE(KernelRegistry);
  /** Adds a kernel: what it is for (copied), and the function that makes it. */
  ORT_API2_STATUS(KernelRegistry_AddKernel, _In_ OrtKernelRegistry* kernel_registry,
                  _In_ const OrtKernelDef* kernel_def, _In_ OrtKernelCreateFunc kernel_create_func,
                  _In_ void* kernel_create_func_state);
  /** Builds the description of a kernel. */
  ORT_API2_STATUS(CreateKernelDefBuilder, _Outptr_ OrtKernelDefBuilder** kernel_def_builder_out);
  ORT_CLASS_RELEASE(KernelDefBuilder);
  /** The operator type. */
  ORT_API2_STATUS(KernelDefBuilder_SetOperatorType, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ const char* op_type);
  /** The operator's domain. */
  ORT_API2_STATUS(KernelDefBuilder_SetDomain, _In_ OrtKernelDefBuilder* kernel_def_builder, _In_ const char* domain);
  /** The first and the last version of the operator that the kernel is for, both included. */
  ORT_API2_STATUS(KernelDefBuilder_SetSinceVersion, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ int since_version_start, _In_ int since_version_end);
  /** The name of the provider. */
  ORT_API2_STATUS(KernelDefBuilder_SetExecutionProvider, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ const char* ep_name);
  /** Where the kernel wants an input. */
  ORT_API2_STATUS(KernelDefBuilder_SetInputMemType, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ size_t input_index, _In_ OrtMemType mem_type);
  /** Where the kernel makes an output. */
  ORT_API2_STATUS(KernelDefBuilder_SetOutputMemType, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ size_t output_index, _In_ OrtMemType mem_type);
  /** The types that a type parameter, input or output may have. */
  ORT_API2_STATUS(KernelDefBuilder_AddTypeConstraint, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_ const char* arg_name, _In_reads_(num_types) const OrtDataType* const* types,
                  _In_ size_t num_types);
  /** Outputs that are always the same memory as inputs. */
  ORT_API2_STATUS(KernelDefBuilder_AddInputOutputAliases, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_reads_(num_io_indices) const int* input_indices,
                  _In_reads_(num_io_indices) const int* output_indices, _In_ size_t num_io_indices);
  /** Outputs that may be written over inputs. */
  ORT_API2_STATUS(KernelDefBuilder_AddInputOutputMutableAliases, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _In_reads_(num_io_indices) const int* input_indices,
                  _In_reads_(num_io_indices) const int* output_indices, _In_ size_t num_io_indices);
  /** The description, as a new object. */
  ORT_API2_STATUS(KernelDefBuilder_Build, _In_ OrtKernelDefBuilder* kernel_def_builder,
                  _Outptr_ OrtKernelDef** kernel_def_out);
  ORT_CLASS_RELEASE(KernelDef);
  /** The operator type, borrowed. */
  ORT_API_T(const char*, KernelDef_GetOperatorType, _In_ const OrtKernelDef* kernel_def);
  /** The operator's domain, borrowed. */
  ORT_API_T(const char*, KernelDef_GetDomain, _In_ const OrtKernelDef* kernel_def);
  /** The first and the last version. */
  ORT_API2_STATUS(KernelDef_GetSinceVersion, _In_ const OrtKernelDef* kernel_def, _Out_ int* start_version,
                  _Out_ int* end_version);
  /** The name of the provider, borrowed. */
  ORT_API_T(const char*, KernelDef_GetExecutionProvider, _In_ const OrtKernelDef* kernel_def);
  /** Where the kernel wants an input. */
  ORT_API2_STATUS(KernelDef_GetInputMemType, _In_ const OrtKernelDef* kernel_def, _In_ size_t input_index,
                  _Out_ OrtMemType* mem_type);
  /** Where the kernel makes an output. */
  ORT_API2_STATUS(KernelDef_GetOutputMemType, _In_ const OrtKernelDef* kernel_def, _In_ size_t output_index,
                  _Out_ OrtMemType* mem_type);
  /** The type "tensor of these elements"; it lives as long as the library. */
  ORT_API2_STATUS(GetTensorDataType, _In_ ONNXTensorElementDataType elem_type, _Outptr_ const OrtDataType** out);
  /** The provider's own kernel for a node, borrowed; NULL when its registry has none. */
  ORT_API2_STATUS(EpGraphSupportInfo_LookUpKernel, _In_ OrtEpGraphSupportInfo* graph_support_info,
                  _In_ const OrtNode* node, _Outptr_result_maybenull_ const OrtKernelDef** out_kernel_def);
  /** Gives packed weights to the cache, which takes the memory over. It must come from the allocator that PrePackWeight
   *  received. */
  ORT_API2_STATUS(SharedPrePackedWeightCache_StoreWeightData,
                  _In_ OrtSharedPrePackedWeightCache* prepacked_weight_cache,
                  _In_reads_(num_buffers) void** buffer_data_ptrs, _In_reads_(num_buffers) size_t* buffer_data_sizes,
                  _In_ size_t num_buffers);
  /** The provider that a kernel is made for, borrowed. */
  ORT_API2_STATUS(KernelInfo_GetEp, _In_ const OrtKernelInfo* info, _Outptr_ const OrtEp** ep);
  /** Says why the provider cannot use a device; `notes` is copied. */
  ORT_API2_STATUS(DeviceEpIncompatibilityDetails_SetDetails, _Inout_ OrtDeviceEpIncompatibilityDetails* details,
                  _In_ uint32_t reasons_bitmask, _In_ int32_t error_code, _In_opt_z_ const char* notes);
  /** A kernel of If for a provider's registry. */
  ORT_API2_STATUS(CreateIfKernel, _In_ const OrtKernelInfo* kernel_info, _Outptr_ OrtKernelImpl** kernel_out);
  /** A kernel of Loop; on success it takes the helper over. */
  ORT_API2_STATUS(CreateLoopKernel, _In_ const OrtKernelInfo* kernel_info, _In_ OrtLoopKernelHelper* helper,
                  _Outptr_ OrtKernelImpl** kernel_out);
  /** A kernel of Scan; on success it takes the helper over. */
  ORT_API2_STATUS(CreateScanKernel, _In_ const OrtKernelInfo* kernel_info, _In_ OrtScanKernelHelper* helper,
                  _Outptr_ OrtKernelImpl** kernel_out);
  /** For kernels from the three functions above that were not given out. */
  ORT_CLASS_RELEASE(KernelImpl);
  /** All entries of the environment as a new list. */
  ORT_API2_STATUS(GetEnvConfigEntries, _Outptr_ OrtKeyValuePairs** config_entries);

  /* ---- Schemas of operators ---- */

  /** The schema that an operator has at that version of its set; NULL when there is none. */
  ORT_API2_STATUS(GetOpSchema, _In_ const char* name, _In_ int max_inclusive_version, _In_ const char* domain,
                  _Outptr_result_maybenull_ OrtOpSchema** out_schema);
  ORT_CLASS_RELEASE(OpSchema);
  /** The version that brought it. */
  ORT_API2_STATUS(OpSchema_GetSinceVersion, _In_ const OrtOpSchema* schema, _Out_ int* out);
  /** How many inputs it declares. */
  ORT_API2_STATUS(OpSchema_GetNumInputs, _In_ const OrtOpSchema* schema, _Out_ size_t* out);
  /** The name of an input, borrowed. */
  ORT_API2_STATUS(OpSchema_GetInputName, _In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  /** The type parameter of an input, borrowed; NULL when its type is fixed. */
  ORT_API2_STATUS(OpSchema_GetInputTypeConstraint, _In_ const OrtOpSchema* schema, _In_ size_t index,
                  _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  /** How many outputs it declares. */
  ORT_API2_STATUS(OpSchema_GetNumOutputs, _In_ const OrtOpSchema* schema, _Out_ size_t* out);
  /** The name of an output, borrowed. */
  ORT_API2_STATUS(OpSchema_GetOutputName, _In_ const OrtOpSchema* schema, _In_ size_t index, _Outptr_ const char** out);
  /** The type parameter of an output, likewise. */
  ORT_API2_STATUS(OpSchema_GetOutputTypeConstraint, _In_ const OrtOpSchema* schema, _In_ size_t index,
                  _Outptr_result_maybenull_ const OrtOpSchemaTypeConstraint** out);
  /** How many type parameters it declares. */
  ORT_API2_STATUS(OpSchema_GetTypeConstraintCount, _In_ const OrtOpSchema* schema, _Out_ size_t* out);
  /** One of them, borrowed. */
  ORT_API2_STATUS(OpSchema_GetTypeConstraint, _In_ const OrtOpSchema* schema, _In_ size_t index,
                  _Outptr_ const OrtOpSchemaTypeConstraint** out);
  /** Its name, as "T"; borrowed. */
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetTypeParamName, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const char** out);
  /** The types it may have, as "tensor(float)"; borrowed. */
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetAllowedTypes, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const char* const** out_types, _Out_ size_t* num_types);
  /** The inputs that have this type; borrowed. */
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetInputIndices, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const size_t** out_indices, _Out_ size_t* count);
  /** The outputs that have this type; borrowed. */
  ORT_API2_STATUS(OpSchemaTypeConstraint_GetOutputIndices, _In_ const OrtOpSchemaTypeConstraint* type_constraint,
                  _Outptr_ const size_t** out_indices, _Out_ size_t* count);

  /* ---- Profiles ---- */

  /** An event with copies of its texts; times are microseconds, the start is counted from the profile's. */
  ORT_API2_STATUS(CreateProfilingEvent, _In_ OrtProfilingEventCategory category, _In_ int32_t process_id,
                  _In_ int32_t thread_id, _In_ const char* event_name, _In_ int64_t timestamp_us,
                  _In_ int64_t duration_us, _In_reads_(num_args) const char* const* arg_keys,
                  _In_reads_(num_args) const char* const* arg_values, _In_ size_t num_args,
                  _Outptr_ OrtProfilingEvent** out);
  ORT_CLASS_RELEASE(ProfilingEvent);
  /** What the event is about. */
  ORT_API2_STATUS(ProfilingEvent_GetCategory, _In_ const OrtProfilingEvent* event,
                  _Out_ OrtProfilingEventCategory* out);
  /** Its name, borrowed. */
  ORT_API2_STATUS(ProfilingEvent_GetName, _In_ const OrtProfilingEvent* event, _Outptr_ const char** out);
  /** When it began, in microseconds. */
  ORT_API2_STATUS(ProfilingEvent_GetTimestampUs, _In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  /** How long it took, in microseconds. */
  ORT_API2_STATUS(ProfilingEvent_GetDurationUs, _In_ const OrtProfilingEvent* event, _Out_ int64_t* out);
  /** The value of an argument, borrowed; NULL when it has none of that key. */
  ORT_API2_STATUS(ProfilingEvent_GetArgValue, _In_ const OrtProfilingEvent* event, _In_ const char* key,
                  _Outptr_result_maybenull_ const char** out);
  /** Adds copies of events to the profile. */
  ORT_API2_STATUS(ProfilingEventsContainer_AddEvents, _In_ OrtProfilingEventsContainer* events_container,
                  _In_reads_(num_events) const OrtProfilingEvent* const* events, _In_ size_t num_events);
  /** What SessionOptionsSetWeightlessSourceModelBuffer set; NULL and 0 when nothing was. */
  ORT_API2_STATUS(SessionOptionsGetWeightlessSourceModelBuffer, _In_ const OrtSessionOptions* session_options,
                  _Outptr_result_maybenull_ const void** source_model_data, _Out_ size_t* source_model_data_length);
};

/** An execution provider of one session. */
struct OrtEp {
  /* ---- Since 1.22 ---- */

  uint32_t ort_version_supported;
  /** The provider's name; lives as long as the object. */
  const char*(ORT_API_CALL* GetName)(_In_ const OrtEp* this_ptr);

  /* ---- Since 1.23 ---- */

  /** Says through `graph_support_info` which nodes the provider takes. */
  OrtStatusPtr(ORT_API_CALL* GetCapability)(_In_ OrtEp* this_ptr, _In_ const OrtGraph* graph,
                                            _Inout_ OrtEpGraphSupportInfo* graph_support_info);
  /** Compiles each graph to a compute info, and to an EPContext node where the session asks for one. The provider keeps
   *  nothing of the graphs. */
  OrtStatusPtr(ORT_API_CALL* Compile)(_In_ OrtEp* this_ptr, _In_ const OrtGraph** graphs,
                                      _In_ const OrtNode** fused_nodes, _In_ size_t count,
                                      _Out_writes_all_(count) OrtNodeComputeInfo** node_compute_infos,
                                      _Out_writes_(count) OrtNode** ep_context_nodes);
  /** Frees what Compile gave. */
  void(ORT_API_CALL* ReleaseNodeComputeInfos)(_In_ OrtEp* this_ptr, OrtNodeComputeInfo** node_compute_infos,
                                              _In_ size_t num_node_compute_infos);
  /** The layout that the provider wants for layout-sensitive operators. Optional: NCHW. */
  OrtStatusPtr(ORT_API_CALL* GetPreferredDataLayout)(_In_ OrtEp* this_ptr,
                                                     _Out_ OrtEpDataLayout* preferred_data_layout);
  /** Whether an operator is to be converted: 1 yes, 0 no, -1 as the runtime thinks. Optional. */
  OrtStatusPtr(ORT_API_CALL* ShouldConvertDataLayoutForOp)(_In_ OrtEp* this_ptr, _In_z_ const char* domain,
                                                           _In_z_ const char* op_type,
                                                           _In_ OrtEpDataLayout target_data_layout,
                                                           _Outptr_ int* should_convert);
  /** Changes settings while the session lives. Optional. */
  OrtStatusPtr(ORT_API_CALL* SetDynamicOptions)(_In_ OrtEp* this_ptr,
                                                _In_reads_(num_options) const char* const* option_keys,
                                                _In_reads_(num_options) const char* const* option_values,
                                                _In_ size_t num_options);
  /** Called before each run. Optional. */
  OrtStatusPtr(ORT_API_CALL* OnRunStart)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options);
  /** Called after each run; `sync_stream` asks to wait for the device. Optional. */
  OrtStatusPtr(ORT_API_CALL* OnRunEnd)(_In_ OrtEp* this_ptr, _In_ const OrtRunOptions* run_options,
                                       _In_ bool sync_stream);
  /** An allocator for this session, of memory that the provider's device has registered: values come from that of
   *  OrtDeviceAllocator, constants from that of OrtReadOnlyAllocator, where there is one. Optional: the factory's. */
  OrtStatusPtr(ORT_API_CALL* CreateAllocator)(_In_ OrtEp* this_ptr, _In_ const OrtMemoryInfo* memory_info,
                                              _Outptr_result_maybenull_ OrtAllocator** allocator);
  /** A stream for this session. Optional: the factory's. */
  OrtStatusPtr(ORT_API_CALL* CreateSyncStreamForDevice)(_In_ OrtEp* this_ptr, _In_ const OrtMemoryDevice* memory_device,
                                                        _Outptr_ OrtSyncStreamImpl** stream);
  /** A text to put into compiled models, which the factory can judge later. Optional. */
  const char*(ORT_API_CALL* GetCompiledModelCompatibilityInfo)(_In_ OrtEp* this_ptr, _In_ const OrtGraph* graph);

  /* ---- Since 1.24 ---- */

  /** The provider's kernels, borrowed. Optional. */
  OrtStatusPtr(ORT_API_CALL* GetKernelRegistry)(_In_ OrtEp* this_ptr,
                                                _Outptr_result_maybenull_ const OrtKernelRegistry** kernel_registry);
  /** Whether several runs may be under way at once. Optional: yes. */
  OrtStatusPtr(ORT_API_CALL* IsConcurrentRunSupported)(_In_ OrtEp* this_ptr, _Outptr_ bool* is_supported);

  /* ---- Since 1.25 ---- */

  /** Waits for all work on the device. Optional. */
  OrtStatusPtr(ORT_API_CALL* Sync)(_In_ OrtEp* this_ptr);
  /** What adds the provider's events to profiles. Optional. */
  OrtStatusPtr(ORT_API_CALL* CreateProfiler)(_In_ OrtEp* this_ptr,
                                             _Outptr_result_maybenull_ OrtEpProfilerImpl** profiler);

  /* ---- Since 1.26 ---- */

  /** Whether the provider records device graphs. Optional: no. */
  bool(ORT_API_CALL* IsGraphCaptureEnabled)(_In_ const OrtEp* this_ptr);
  /** Whether the graph of that number is recorded. */
  bool(ORT_API_CALL* IsGraphCaptured)(_In_ const OrtEp* this_ptr, _In_ int graph_annotation_id);
  /** Runs the recorded graph. */
  OrtStatusPtr(ORT_API_CALL* ReplayGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);
  /** Which nodes may stay with the CPU while the provider records. */
  OrtGraphCaptureNodeAssignmentPolicy(ORT_API_CALL* GetGraphCaptureNodeAssignmentPolicy)(_In_ const OrtEp* this_ptr);
  /** How much of its resource the provider may still use. Optional. */
  OrtStatusPtr(ORT_API_CALL* GetAvailableResource)(_In_ const OrtEp* this_ptr, _Out_ OrtResourceCount* available);

  /* ---- Since 1.27 ---- */

  /** Called when the session is ready. Optional. */
  OrtStatusPtr(ORT_API_CALL* OnSessionInitializationEnd)(_In_ OrtEp* this_ptr);
  /** The device on which values are by default, borrowed. Optional. */
  OrtStatusPtr(ORT_API_CALL* GetDefaultMemoryDevice)(_In_ const OrtEp* this_ptr,
                                                     _Outptr_result_maybenull_ const OrtMemoryDevice** device);
  /** Frees a recorded graph. Optional. */
  OrtStatusPtr(ORT_API_CALL* ReleaseCapturedGraph)(_In_ OrtEp* this_ptr, _In_ int graph_annotation_id);

  /* ---- Since 1.29 ---- */

  /** Whether compiled data can leave out weights. Optional: no. */
  OrtStatusPtr(ORT_API_CALL* GetWeightlessSupport)(_In_ const OrtEp* this_ptr, _Out_ OrtWeightlessSupport* support);
};

/** Makes execution providers. */
struct OrtEpFactory {
  /* ---- Since 1.22 ---- */

  uint32_t ort_version_supported;
  /** The name of the providers that it makes; lives as long as the factory. */
  const char*(ORT_API_CALL* GetName)(const OrtEpFactory* this_ptr);
  /** The vendor's name, likewise. */
  const char*(ORT_API_CALL* GetVendor)(const OrtEpFactory* this_ptr);
  /** Gives an OrtEpDevice for each device that it can use, at most `max_ep_devices`. They become the runtime's. */
  OrtStatusPtr(ORT_API_CALL* GetSupportedDevices)(_In_ OrtEpFactory* this_ptr,
                                                  _In_reads_(num_devices) const OrtHardwareDevice* const* devices,
                                                  _In_ size_t num_devices, _Inout_ OrtEpDevice** ep_devices,
                                                  _In_ size_t max_ep_devices, _Out_ size_t* num_ep_devices);
  /** Makes a provider for a session. Nothing given may be kept, except the logger as long as the provider. */
  OrtStatusPtr(ORT_API_CALL* CreateEp)(_In_ OrtEpFactory* this_ptr,
                                       _In_reads_(num_devices) const OrtHardwareDevice* const* devices,
                                       _In_reads_(num_devices) const OrtKeyValuePairs* const* ep_metadata_pairs,
                                       _In_ size_t num_devices, _In_ const OrtSessionOptions* session_options,
                                       _In_ const OrtLogger* logger, _Outptr_ OrtEp** ep);
  /** Ends a provider. */
  void(ORT_API_CALL* ReleaseEp)(OrtEpFactory* this_ptr, struct OrtEp* ep);

  /* ---- Since 1.23 ---- */

  /** The vendor's number, on PCI the PCI one. */
  uint32_t(ORT_API_CALL* GetVendorId)(const OrtEpFactory* this_ptr);
  /** The provider's version, as "1.2.3". */
  const char*(ORT_API_CALL* GetVersion)(_In_ const OrtEpFactory* this_ptr);
  /** Judges a text from GetCompiledModelCompatibilityInfo. Optional. */
  OrtStatusPtr(ORT_API_CALL* ValidateCompiledModelCompatibilityInfo)(
      _In_ OrtEpFactory* this_ptr, _In_reads_(num_devices) const OrtHardwareDevice* const* devices,
      _In_ size_t num_devices, _In_ const char* compatibility_info,
      _Out_ OrtCompiledModelCompatibility* model_compatibility);
  /** An allocator that sessions share, for memory it declared. NULL with success where it needs none. Optional. */
  OrtStatusPtr(ORT_API_CALL* CreateAllocator)(_In_ OrtEpFactory* this_ptr, _In_ const OrtMemoryInfo* memory_info,
                                              _In_opt_ const OrtKeyValuePairs* allocator_options,
                                              _Outptr_result_maybenull_ OrtAllocator** allocator);
  /** Ends an allocator that it or one of its providers made. */
  void(ORT_API_CALL* ReleaseAllocator)(_In_ OrtEpFactory* this_ptr, _In_ OrtAllocator* allocator);
  /** What copies between its devices and the host. Optional. */
  OrtStatusPtr(ORT_API_CALL* CreateDataTransfer)(_In_ OrtEpFactory* this_ptr,
                                                 _Outptr_result_maybenull_ OrtDataTransferImpl** data_transfer);
  /** Whether its providers work with streams. */
  bool(ORT_API_CALL* IsStreamAware)(_In_ const OrtEpFactory* this_ptr);
  /** A stream on a device. Needed when stream aware. */
  OrtStatusPtr(ORT_API_CALL* CreateSyncStreamForDevice)(_In_ OrtEpFactory* this_ptr,
                                                        _In_ const OrtMemoryDevice* memory_device,
                                                        _In_opt_ const OrtKeyValuePairs* stream_options,
                                                        _Outptr_ OrtSyncStreamImpl** stream);

  /* ---- Since 1.24 ---- */

  /** Says why it cannot use a device. Optional. */
  OrtStatusPtr(ORT_API_CALL* GetHardwareDeviceIncompatibilityDetails)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* hw,
      _Inout_ OrtDeviceEpIncompatibilityDetails* details);
  /** What imports memory and semaphores of graphics libraries. Optional. */
  OrtStatusPtr(ORT_API_CALL* CreateExternalResourceImporterForDevice)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device,
      _Outptr_result_maybenull_ OrtExternalResourceImporterImpl** out_importer);
  /** How many domains of custom operators it brings. Optional. */
  OrtStatusPtr(ORT_API_CALL* GetNumCustomOpDomains)(_In_ OrtEpFactory* this_ptr, _Out_ size_t* num_domains);
  /** Those domains, which stay the factory's. */
  OrtStatusPtr(ORT_API_CALL* GetCustomOpDomains)(_In_ OrtEpFactory* this_ptr,
                                                 _Out_writes_all_(num_domains) OrtCustomOpDomain** domains,
                                                 _In_ size_t num_domains);

  /* ---- Since 1.25 ---- */

  /** Makes a device ready to share with a graphics library. Optional. */
  OrtStatusPtr(ORT_API_CALL* InitGraphicsInterop)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device,
                                                  _In_ const OrtGraphicsInteropConfig* config);
  /** Takes that back. Optional. */
  OrtStatusPtr(ORT_API_CALL* DeinitGraphicsInterop)(_In_ OrtEpFactory* this_ptr, _In_ const OrtEpDevice* ep_device);

  /* ---- Since 1.28 ---- */

  /** Chooses among variants of a model by their metadata. Optional. */
  OrtStatusPtr(ORT_API_CALL* SelectBestModelCandidate)(
      _In_ OrtEpFactory* this_ptr, _In_ const OrtHardwareDevice* device,
      _In_reads_(num_candidates) const OrtKeyValuePairs* const* candidates, _In_ size_t num_candidates,
      _In_opt_ const OrtSessionOptions* session_options, _Out_ size_t* selected_index);
};

#ifdef __cplusplus
}
#endif
