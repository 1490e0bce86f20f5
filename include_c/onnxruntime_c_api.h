/** C interface of ONNX Runtime, API level 30, as Ortolan provides it.
 *
 * Everything goes through one table of functions: OrtGetApiBase()->GetApi(ORT_API_VERSION). Slots are only ever added
 * at the end, so a program built for an older level works with a newer library.
 *
 * What holds for every function unless its comment says otherwise:
 *  - A function that returns a status returns NULL for success. A status that is not NULL belongs to the caller, who
 *    frees it with ReleaseStatus.
 *  - Out parameters are written on success only. Objects that come out of a Create… function, and of a Get… function
 *    through a pointer to a pointer that is not const, belong to the caller, who frees them with the matching Release….
 *    Pointers to const are borrowed: they live as long as the object that they were asked from.
 *  - Arguments must not be NULL, except those marked _opt_, and the argument of every Release… function.
 *  - Strings are UTF-8 and end with NUL. Sizes and lengths of memory are bytes; lengths of arrays are elements.
 *  - OrtEnv, OrtSession, OrtAllocator and everything borrowed from them may be used from several threads at once. Any
 *    other object may be used from one thread at a time.
 *  - Functions of the tables let no C++ exception out. Functions that a program gives to the runtime must not throw
 *    either; they may be declared noexcept or not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/** The API level that this header describes: what a program passes to OrtApiBase::GetApi. */
#define ORT_API_VERSION 31

#ifdef __cplusplus
extern "C" {
#endif

/* Notes on parameters for static analysis. They mean something to Microsoft's compiler only. */
#ifdef _MSC_VER
#include <specstrings.h>
#else
#define _In_
#define _In_z_
#define _In_opt_
#define _In_opt_z_
#define _In_reads_(X)
#define _In_reads_opt_(X)
#define _Inout_
#define _Inout_opt_
#define _Inout_updates_(X)
#define _Inout_updates_all_(X)
#define _Out_
#define _Out_opt_
#define _Out_writes_(X)
#define _Out_writes_opt_(X)
#define _Out_writes_all_(X)
#define _Out_writes_bytes_all_(X)
#define _Outptr_
#define _Outptr_opt_
#define _Outptr_result_maybenull_
#define _Outptr_result_maybenull_z_
#define _Outptr_result_buffer_maybenull_(X)
#define _Frees_ptr_opt_
#define _Ret_maybenull_
#define _Ret_notnull_
#define _Check_return_
#define _Success_(X)
#endif

/* Paths are wide strings on Windows and narrow ones elsewhere. */
#ifdef _WIN32
#ifdef ORT_DLL_IMPORT
#define ORT_EXPORT __declspec(dllimport)
#else
#define ORT_EXPORT
#endif
#define ORT_API_CALL __stdcall
#define ORT_MUST_USE_RESULT
#define ORTCHAR_T wchar_t
#else
#ifdef __GNUC__
#define ORT_EXPORT __attribute__((visibility("default")))
#define ORT_MUST_USE_RESULT __attribute__((warn_unused_result))
#else
#define ORT_EXPORT
#define ORT_MUST_USE_RESULT
#endif
#define ORT_API_CALL
#define ORTCHAR_T char
#endif

#ifndef ORT_TSTR
#ifdef _WIN32
#define ORT_TSTR(X) L##X
#define ORT_TSTR_ON_MACRO(X) L"" X
#else
#define ORT_TSTR(X) X
#define ORT_TSTR_ON_MACRO(X) X
#endif
#endif

/** The name of the source file as a path string. */
#ifndef ORT_FILE
#define ORT_FILE_INTERNAL(X) ORT_TSTR(X)
#define ORT_FILE ORT_FILE_INTERNAL(__FILE__)
#endif

#ifdef _MSC_VER
#define ORT_ALL_ARGS_NONNULL
#elif defined(__GNUC__)
#define ORT_ALL_ARGS_NONNULL __attribute__((nonnull))
#else
#define ORT_ALL_ARGS_NONNULL
#endif

/** Functions of the table do not throw; C++17 makes that a part of their type. */
#if defined(__cplusplus) && (__cplusplus >= 201103L || (defined(_MSC_VER) && _MSC_VER >= 1900))
#define NO_EXCEPTION noexcept
#elif defined(__cplusplus)
#define NO_EXCEPTION throw()
#else
#define NO_EXCEPTION
#endif

/** A function outside the table that returns a status: ORT_API_STATUS declares, ORT_API_STATUS_IMPL begins to define.
 */
#define ORT_API_STATUS(NAME, ...)                                                       \
  ORT_EXPORT _Check_return_ _Ret_maybenull_ OrtStatusPtr ORT_API_CALL NAME(__VA_ARGS__) \
  NO_EXCEPTION ORT_MUST_USE_RESULT
#define ORT_API_STATUS_IMPL(NAME, ...) \
  _Check_return_ _Ret_maybenull_ OrtStatusPtr ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION

/** A function outside the table that returns something else. */
#define ORT_API(RETURN_TYPE, NAME, ...) RETURN_TYPE ORT_API_CALL NAME(__VA_ARGS__) NO_EXCEPTION

/** Slots of a table: a function that returns a status, one that returns something else, and a release function. */
#define ORT_API2_STATUS(NAME, ...) \
  _Check_return_ _Ret_maybenull_ OrtStatusPtr(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION ORT_MUST_USE_RESULT
#define ORT_API_T(RETURN_TYPE, NAME, ...) RETURN_TYPE(ORT_API_CALL* NAME)(__VA_ARGS__) NO_EXCEPTION
#define ORT_CLASS_RELEASE(X) void(ORT_API_CALL * Release##X)(_Frees_ptr_opt_ Ort##X * input)
#define ORT_CLASS_RELEASE2(X) void(ORT_API_CALL * Release##X)(_Frees_ptr_opt_ Ort##X * input) NO_EXCEPTION

/** A type known by name only (or defined further down). */
#define ORT_RUNTIME_CLASS(X) typedef struct Ort##X Ort##X

#include "onnxruntime_error_code.h"

/** A status as functions return it: NULL is success. */
typedef struct OrtStatus* OrtStatusPtr;

/* ==== Handles and structs ==== */

ORT_RUNTIME_CLASS(Env);                    /**< Logging and what sessions share; one a process. */
ORT_RUNTIME_CLASS(Status);                 /**< Why a call failed. */
ORT_RUNTIME_CLASS(MemoryInfo);             /**< Describes memory: device, use, allocator. */
ORT_RUNTIME_CLASS(IoBinding);              /**< Inputs and outputs bound to a session. */
ORT_RUNTIME_CLASS(Session);                /**< A model made ready to run. */
ORT_RUNTIME_CLASS(Value);                  /**< A tensor, sequence, map, optional or sparse tensor. */
ORT_RUNTIME_CLASS(RunOptions);             /**< Settings of runs. */
ORT_RUNTIME_CLASS(TypeInfo);               /**< The type of a value. */
ORT_RUNTIME_CLASS(TensorTypeAndShapeInfo); /**< Element type and shape. */
ORT_RUNTIME_CLASS(MapTypeInfo);            /**< The map part of a type. */
ORT_RUNTIME_CLASS(SequenceTypeInfo);       /**< The sequence part of a type. */
ORT_RUNTIME_CLASS(OptionalTypeInfo);       /**< The optional part of a type. */
ORT_RUNTIME_CLASS(SessionOptions);         /**< Settings of sessions. */
ORT_RUNTIME_CLASS(CustomOpDomain);         /**< A set of operators that the program implements. */
ORT_RUNTIME_CLASS(ModelMetadata);          /**< What a model says about itself. */
ORT_RUNTIME_CLASS(ThreadPoolParams);
ORT_RUNTIME_CLASS(ThreadingOptions);          /**< Settings of the thread pools that sessions share. */
ORT_RUNTIME_CLASS(ArenaCfg);                  /**< Settings of an arena. */
ORT_RUNTIME_CLASS(PrepackedWeightsContainer); /**< Packed weights that sessions share. */
ORT_RUNTIME_CLASS(TensorRTProviderOptionsV2);
ORT_RUNTIME_CLASS(NvTensorRtRtxProviderOptions);
ORT_RUNTIME_CLASS(CUDAProviderOptionsV2);
ORT_RUNTIME_CLASS(CANNProviderOptions);
ORT_RUNTIME_CLASS(DnnlProviderOptions);
ORT_RUNTIME_CLASS(Op);                /**< A standard operator called from a custom one. */
ORT_RUNTIME_CLASS(OpAttr);            /**< An attribute. */
ORT_RUNTIME_CLASS(Logger);            /**< Writes log lines. */
ORT_RUNTIME_CLASS(ShapeInferContext); /**< What a custom operator sees when shapes are inferred. */
ORT_RUNTIME_CLASS(LoraAdapter);       /**< Parameters that runs may add. */
ORT_RUNTIME_CLASS(ValueInfo);         /**< A named value of a graph. */
ORT_RUNTIME_CLASS(Node);              /**< A node of a graph. */
ORT_RUNTIME_CLASS(Graph);             /**< A graph. */
ORT_RUNTIME_CLASS(Model);             /**< A model in memory. */
ORT_RUNTIME_CLASS(ModelCompilationOptions);
ORT_RUNTIME_CLASS(ModelPackageOptions);          /**< Which providers a variant of a package is chosen for. */
ORT_RUNTIME_CLASS(ModelPackageContext);          /**< A model package, read. */
ORT_RUNTIME_CLASS(ModelPackageComponentContext); /**< A component of a package and the variant that was chosen. */
ORT_RUNTIME_CLASS(HardwareDevice);               /**< A device of the machine. */
ORT_RUNTIME_CLASS(EpDevice);                     /**< A provider and a device that it can use. */
ORT_RUNTIME_CLASS(KeyValuePairs);                /**< A list of keys and values. */
ORT_RUNTIME_CLASS(SyncStream);                   /**< A queue of work on a device. */
ORT_RUNTIME_CLASS(ExternalInitializerInfo);      /**< A place of an initializer in a file. */
ORT_RUNTIME_CLASS(ExternalResourceImporter);
ORT_RUNTIME_CLASS(ExternalMemoryHandle);
ORT_RUNTIME_CLASS(ExternalSemaphoreHandle);
ORT_RUNTIME_CLASS(DeviceEpIncompatibilityDetails);
ORT_RUNTIME_CLASS(EpAssignedSubgraph);
ORT_RUNTIME_CLASS(EpAssignedNode);
ORT_RUNTIME_CLASS(Allocator);
ORT_RUNTIME_CLASS(KernelInfo);    /**< What a kernel may know of its node. */
ORT_RUNTIME_CLASS(KernelContext); /**< Inputs and outputs of one computation. */
ORT_RUNTIME_CLASS(CustomOp);
ORT_RUNTIME_CLASS(CUDAProviderOptions);
ORT_RUNTIME_CLASS(ROCMProviderOptions);
ORT_RUNTIME_CLASS(TensorRTProviderOptions);
ORT_RUNTIME_CLASS(MIGraphXProviderOptions);
ORT_RUNTIME_CLASS(OpenVINOProviderOptions);
ORT_RUNTIME_CLASS(Api);
ORT_RUNTIME_CLASS(TrainingApi);
ORT_RUNTIME_CLASS(ModelEditorApi);
ORT_RUNTIME_CLASS(CompileApi);
ORT_RUNTIME_CLASS(InteropApi);
ORT_RUNTIME_CLASS(ModelPackageApi);
ORT_RUNTIME_CLASS(EpApi);
ORT_RUNTIME_CLASS(ApiBase);
ORT_RUNTIME_CLASS(ThreadPoolCallbacksConfig);
ORT_RUNTIME_CLASS(ExternalMemoryDescriptor);
ORT_RUNTIME_CLASS(ExternalSemaphoreDescriptor);
ORT_RUNTIME_CLASS(GraphicsInteropConfig);
ORT_RUNTIME_CLASS(ExternalTensorDescriptor);
ORT_RUNTIME_CLASS(EnvCreationOptions);

/** Element types of tensors. From UINT2 on, the numbers differ from those of the model format. */
typedef enum ONNXTensorElementDataType {
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 = 4,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 = 6,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8, /**< UTF-8 bytes of any length */
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,   /**< a byte, 0 or 1 */
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32 = 12,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64 = 13,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 = 14,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128 = 15,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 = 16,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN = 17,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ = 18,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2 = 19,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ = 20,
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4 = 21,      /**< two a byte, the first in the low bits */
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4 = 22,       /**< likewise */
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1 = 23, /**< likewise */
  ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2 = 24,      /**< four a byte, the first in the low bits */
  ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2 = 25,       /**< likewise */
  ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0 = 26,
} ONNXTensorElementDataType;

/** Kinds of values. */
typedef enum ONNXType {
  ONNX_TYPE_UNKNOWN = 0,
  ONNX_TYPE_TENSOR = 1,
  ONNX_TYPE_SEQUENCE = 2,
  ONNX_TYPE_MAP = 3,
  ONNX_TYPE_OPAQUE = 4,
  ONNX_TYPE_SPARSETENSOR = 5,
  ONNX_TYPE_OPTIONAL = 6,
} ONNXType;

/** How a sparse tensor writes its indices. */
typedef enum OrtSparseFormat {
  ORT_SPARSE_UNDEFINED = 0,
  ORT_SPARSE_COO = 1,
  ORT_SPARSE_CSRC = 2,
  ORT_SPARSE_BLOCK_SPARSE = 4,
} OrtSparseFormat;

/** The arrays of indices that the formats have. */
typedef enum OrtSparseIndicesFormat {
  ORT_SPARSE_COO_INDICES = 0,
  ORT_SPARSE_CSR_INNER_INDICES = 1,
  ORT_SPARSE_CSR_OUTER_INDICES = 2,
  ORT_SPARSE_BLOCK_SPARSE_INDICES = 3,
} OrtSparseIndicesFormat;

/** Severities of log lines, rising. */
typedef enum OrtLoggingLevel {
  ORT_LOGGING_LEVEL_VERBOSE = 0,
  ORT_LOGGING_LEVEL_INFO = 1,
  ORT_LOGGING_LEVEL_WARNING = 2,
  ORT_LOGGING_LEVEL_ERROR = 3,
  ORT_LOGGING_LEVEL_FATAL = 4,
} OrtLoggingLevel;

/** Types of attributes. */
typedef enum OrtOpAttrType {
  ORT_OP_ATTR_UNDEFINED = 0,
  ORT_OP_ATTR_INT = 1,
  ORT_OP_ATTR_INTS = 2,
  ORT_OP_ATTR_FLOAT = 3,
  ORT_OP_ATTR_FLOATS = 4,
  ORT_OP_ATTR_STRING = 5,
  ORT_OP_ATTR_STRINGS = 6,
  ORT_OP_ATTR_GRAPH = 7,
  ORT_OP_ATTR_TENSOR = 8,
} OrtOpAttrType;

/** A function of unknown type, to be cast. */
typedef void(ORT_API_CALL* OrtExperimentalFnPtr)(void);

/** Gives memory. A program may implement one; members that are newer than its version are not read. */
struct OrtAllocator {
  /** The level of the header that the implementer compiled with; newer members are not read. */
  uint32_t version;
  /** Memory of that size, or NULL. Any thread. */
  void*(ORT_API_CALL* Alloc)(struct OrtAllocator* this_, size_t size);
  /** Gives memory back; NULL is accepted. Work that uses a device's memory may be in queues still: the caller has put
   *  the last of it there, and has not waited. A provider that works with streams gives the memory to nobody else until
   *  the work that its queues hold now is done. */
  void(ORT_API_CALL* Free)(struct OrtAllocator* this_, void* p);
  /** What memory it is; lives as long as the allocator. */
  const struct OrtMemoryInfo*(ORT_API_CALL* Info)(const struct OrtAllocator* this_);
  /** As Alloc, for memory that stays for long, outside an arena. Optional. */
  void*(ORT_API_CALL* Reserve)(struct OrtAllocator* this_, size_t size);
  /** What the allocator counts, as a new list. Optional. */
  OrtStatusPtr(ORT_API_CALL* GetStats)(_In_ const struct OrtAllocator* this_, _Outptr_ OrtKeyValuePairs** out);
  /** As Alloc, for work on that stream: the memory may be what was freed while work of the stream, and of no other,
   *  still used it, as that comes first. Asked for values of runs instead of Alloc. Optional. */
  void*(ORT_API_CALL* AllocOnStream)(struct OrtAllocator* this_, size_t size, OrtSyncStream* stream);
  /** Gives unused memory back to the system. Optional. */
  OrtStatusPtr(ORT_API_CALL* Shrink)(_In_ struct OrtAllocator* this_);
};

/** Receives a log line. Any thread may call it; the strings live during the call. */
typedef void(ORT_API_CALL* OrtLoggingFunction)(void* param, OrtLoggingLevel severity, const char* category,
                                               const char* logid, const char* code_location, const char* message);

/** How far a graph is rewritten; each level contains the ones before. */
typedef enum GraphOptimizationLevel {
  ORT_DISABLE_ALL = 0,
  ORT_ENABLE_BASIC = 1,    /**< rewrites that any provider can run */
  ORT_ENABLE_EXTENDED = 2, /**< with operators that only some providers have */
  ORT_ENABLE_LAYOUT = 3,   /**< with other data layouts */
  ORT_ENABLE_ALL = 99,
} GraphOptimizationLevel;

/** In which order nodes run. */
typedef enum ExecutionMode {
  ORT_SEQUENTIAL = 0,
  ORT_PARALLEL = 1,
} ExecutionMode;

/** Languages that programs are written in. */
typedef enum OrtLanguageProjection {
  ORT_PROJECTION_C = 0,
  ORT_PROJECTION_CPLUSPLUS = 1,
  ORT_PROJECTION_CSHARP = 2,
  ORT_PROJECTION_PYTHON = 3,
  ORT_PROJECTION_JAVA = 4,
  ORT_PROJECTION_WINML = 5,
  ORT_PROJECTION_NODEJS = 6,
} OrtLanguageProjection;

/** Kinds of allocators. */
typedef enum OrtAllocatorType {
  OrtInvalidAllocator = -1,
  OrtDeviceAllocator = 0,   /**< straight from the device */
  OrtArenaAllocator = 1,    /**< keeps freed memory for later */
  OrtReadOnlyAllocator = 2, /**< for initializers */
} OrtAllocatorType;

/** Uses of memory by a kernel. Of a provider on another device, CPU input and output are memory of the host. */
typedef enum OrtMemType {
  OrtMemTypeCPUInput = -2,
  OrtMemTypeCPUOutput = -1,
  OrtMemTypeCPU = OrtMemTypeCPUOutput,
  OrtMemTypeDefault = 0,
} OrtMemType;

/** Whether the host can reach memory of a device. */
typedef enum OrtDeviceMemoryType {
  OrtDeviceMemoryType_DEFAULT = 0,
  OrtDeviceMemoryType_HOST_ACCESSIBLE = 5, /**< pinned or shared */
} OrtDeviceMemoryType;

/** Kinds of devices that have memory. */
typedef enum OrtMemoryInfoDeviceType {
  OrtMemoryInfoDeviceType_CPU = 0,
  OrtMemoryInfoDeviceType_GPU = 1,
  OrtMemoryInfoDeviceType_FPGA = 2,
  OrtMemoryInfoDeviceType_NPU = 3,
} OrtMemoryInfoDeviceType;

/** Kinds of devices that compute. */
typedef enum OrtHardwareDeviceType {
  OrtHardwareDeviceType_CPU = 0,
  OrtHardwareDeviceType_GPU = 1,
  OrtHardwareDeviceType_NPU = 2,
} OrtHardwareDeviceType;

/** Rules by which a session chooses among devices. */
typedef enum OrtExecutionProviderDevicePolicy {
  OrtExecutionProviderDevicePolicy_DEFAULT = 0,
  OrtExecutionProviderDevicePolicy_PREFER_CPU = 1,
  OrtExecutionProviderDevicePolicy_PREFER_NPU = 2,
  OrtExecutionProviderDevicePolicy_PREFER_GPU = 3,
  OrtExecutionProviderDevicePolicy_MAX_PERFORMANCE = 4,
  OrtExecutionProviderDevicePolicy_MAX_EFFICIENCY = 5,
  OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER = 6,
} OrtExecutionProviderDevicePolicy;

/** Bits that say why a provider cannot use a device. */
typedef enum OrtDeviceEpIncompatibilityReason {
  OrtDeviceEpIncompatibility_NONE = 0,
  OrtDeviceEpIncompatibility_DRIVER_INCOMPATIBLE = 1,
  OrtDeviceEpIncompatibility_DEVICE_INCOMPATIBLE = 2,
  OrtDeviceEpIncompatibility_MISSING_DEPENDENCY = 4,
  OrtDeviceEpIncompatibility_UNKNOWN = (-2147483647 - 1),
} OrtDeviceEpIncompatibilityReason;

/** Chooses devices for a session, best first, from all there are: writes at most `max_selected` of them to `selected`.
 *  The metadata lists live during the call. */
typedef OrtStatus*(ORT_API_CALL* EpSelectionDelegate)(_In_ const OrtEpDevice** ep_devices, _In_ size_t num_devices,
                                                      _In_ const OrtKeyValuePairs* model_metadata,
                                                      _In_opt_ const OrtKeyValuePairs* runtime_metadata,
                                                      _Inout_ const OrtEpDevice** selected, _In_ size_t max_selected,
                                                      _Out_ size_t* num_selected, _In_ void* state);

/** Gives the bytes that the program knows under a name: allocates them from the allocator and writes place and size. */
typedef OrtStatus*(ORT_API_CALL* OrtReadNamedBufferFunc)(_In_ void* state, _In_ const char* name,
                                                         _In_ OrtAllocator* allocator, _Outptr_ void** buffer,
                                                         _Out_ size_t* data_size);

/** Receives the next piece of a model that is being written. */
typedef OrtStatus*(ORT_API_CALL* OrtWriteBufferFunc)(_In_ void* state, _In_ const void* buffer,
                                                     _In_ size_t buffer_num_bytes);

/** Decides where an initializer is written: a new object for a place in a file, which the caller takes over, or NULL
 *  for the model itself. `external_info` says where it stands now, NULL in the model. */
typedef OrtStatus*(ORT_API_CALL* OrtGetInitializerLocationFunc)(
    _In_ void* state, _In_ const char* initializer_name, _In_ const OrtValue* initializer_value,
    _In_opt_ const OrtExternalInitializerInfo* external_info,
    _Outptr_result_maybenull_ OrtExternalInitializerInfo** new_external_info);

/** How cuDNN looks for the fastest convolution. */
typedef enum OrtCudnnConvAlgoSearch {
  OrtCudnnConvAlgoSearchExhaustive = 0,
  OrtCudnnConvAlgoSearchHeuristic = 1,
  OrtCudnnConvAlgoSearchDefault = 2,
} OrtCudnnConvAlgoSearch;

/** Settings of the CUDA provider, of fixed layout. C++ programs find the defaults in it: no limit of memory, copies in
 *  the default stream, and zeros. */
struct OrtCUDAProviderOptions {
#ifdef __cplusplus
  OrtCUDAProviderOptions() noexcept
      : device_id(0),
        cudnn_conv_algo_search(OrtCudnnConvAlgoSearchExhaustive),
        gpu_mem_limit(SIZE_MAX),
        arena_extend_strategy(0),
        do_copy_in_default_stream(1),
        has_user_compute_stream(0),
        user_compute_stream(),
        default_memory_arena_cfg(),
        tunable_op_enable(0),
        tunable_op_tuning_enable(0),
        tunable_op_max_tuning_duration_ms(0) {}
#endif
  int device_id;
  OrtCudnnConvAlgoSearch cudnn_conv_algo_search;
  size_t gpu_mem_limit;
  int arena_extend_strategy;
  int do_copy_in_default_stream;
  int has_user_compute_stream;
  void* user_compute_stream;
  OrtArenaCfg* default_memory_arena_cfg;
  int tunable_op_enable;
  int tunable_op_tuning_enable;
  int tunable_op_max_tuning_duration_ms;
};

/** Settings of the ROCm provider, of fixed layout. C++ programs find the defaults in it, as CUDA's are. */
struct OrtROCMProviderOptions {
#ifdef __cplusplus
  OrtROCMProviderOptions() noexcept
      : device_id(0),
        miopen_conv_exhaustive_search(0),
        gpu_mem_limit(SIZE_MAX),
        arena_extend_strategy(0),
        do_copy_in_default_stream(1),
        has_user_compute_stream(0),
        user_compute_stream(),
        default_memory_arena_cfg(),
        enable_hip_graph(0),
        tunable_op_enable(0),
        tunable_op_tuning_enable(0),
        tunable_op_max_tuning_duration_ms(0) {}
#endif
  int device_id;
  int miopen_conv_exhaustive_search;
  size_t gpu_mem_limit;
  int arena_extend_strategy;
  int do_copy_in_default_stream;
  int has_user_compute_stream;
  void* user_compute_stream;
  OrtArenaCfg* default_memory_arena_cfg;
  int enable_hip_graph;
  int tunable_op_enable;
  int tunable_op_tuning_enable;
  int tunable_op_max_tuning_duration_ms;
};

/** Settings of the TensorRT provider, of fixed layout. */
struct OrtTensorRTProviderOptions {
  int device_id;
  int has_user_compute_stream;
  void* user_compute_stream;
  int trt_max_partition_iterations;
  int trt_min_subgraph_size;
  size_t trt_max_workspace_size;
  int trt_fp16_enable;
  int trt_int8_enable;
  const char* trt_int8_calibration_table_name;
  int trt_int8_use_native_calibration_table;
  int trt_dla_enable;
  int trt_dla_core;
  int trt_dump_subgraphs;
  int trt_engine_cache_enable;
  const char* trt_engine_cache_path;
  int trt_engine_decryption_enable;
  const char* trt_engine_decryption_lib_path;
  int trt_force_sequential_engine_build;
};

/** Settings of the MIGraphX provider, of fixed layout. */
struct OrtMIGraphXProviderOptions {
  int device_id;
  int migraphx_fp16_enable;
  int migraphx_fp8_enable;
  int migraphx_int8_enable;
  int migraphx_use_native_calibration_table;
  const char* migraphx_int8_calibration_table_name;
  int migraphx_save_compiled_model;
  const char* migraphx_save_model_path;
  int migraphx_load_compiled_model;
  const char* migraphx_load_model_path;
  bool migraphx_exhaustive_tune;
  size_t migraphx_mem_limit;
  int migraphx_arena_extend_strategy;
};

/** Settings of the OpenVINO provider, of fixed layout. C++ programs find zeros in it. */
struct OrtOpenVINOProviderOptions {
#ifdef __cplusplus
  OrtOpenVINOProviderOptions() noexcept
      : device_type(),
        enable_npu_fast_compile(0),
        device_id(),
        num_of_threads(0),
        cache_dir(),
        context(),
        enable_opencl_throttling(0),
        enable_dynamic_shapes(0) {}
#endif
  const char* device_type;
  unsigned char enable_npu_fast_compile;
  const char* device_id;
  size_t num_of_threads;
  const char* cache_dir;
  void* context;
  unsigned char enable_opencl_throttling;
  unsigned char enable_dynamic_shapes;
};

/** What OrtGetApiBase gives. */
struct OrtApiBase {
  /** The function table. Every level from 1 to ORT_API_VERSION gets the same full one; others get NULL and a line on
   *  stderr. */
  ORT_API_T(const OrtApi*, GetApi, uint32_t version);
  /** The release that the library stands for, as "1.31.0"; the second number is the level. */
  ORT_API_T(const char*, GetVersionString, void);
};

/** What a thread of a pool has to do. */
typedef void(ORT_API_CALL* OrtThreadWorkerFn)(void* ort_worker_fn_param);

/** Stands for whatever the program knows its threads by. */
struct OrtCustomHandleType {
  char __place_holder;
};
/** A thread of the program; not NULL. */
typedef const struct OrtCustomHandleType* OrtCustomThreadHandle;

/** Starts a thread that calls `ort_thread_worker_fn(ort_worker_fn_param)`. */
typedef OrtCustomThreadHandle(ORT_API_CALL* OrtCustomCreateThreadFn)(void* ort_custom_thread_creation_options,
                                                                     OrtThreadWorkerFn ort_thread_worker_fn,
                                                                     void* ort_worker_fn_param);

/** Waits until the thread has ended. */
typedef void(ORT_API_CALL* OrtCustomJoinThreadFn)(OrtCustomThreadHandle ort_custom_thread_handle);

/** Called as work is put into a pool; what it returns goes to the functions below. */
typedef void*(ORT_API_CALL* OrtThreadPoolWorkEnqueueFn)(_In_opt_ void* user_context);

/** Called on the thread that carries the work out, before. */
typedef void(ORT_API_CALL* OrtThreadPoolWorkStartFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);

/** Called on that thread, after. */
typedef void(ORT_API_CALL* OrtThreadPoolWorkStopFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);

/** Called instead of both when the work is dropped. */
typedef void(ORT_API_CALL* OrtThreadPoolWorkAbandonFn)(_In_opt_ void* user_context, _In_opt_ void* enqueue_data);

/** Functions for SetPerSessionThreadPoolCallbacks; any may be NULL. */
struct OrtThreadPoolCallbacksConfig {
  uint32_t version;
  OrtThreadPoolWorkEnqueueFn on_enqueue;
  OrtThreadPoolWorkStartFn on_start_work;
  OrtThreadPoolWorkStopFn on_stop_work;
  OrtThreadPoolWorkAbandonFn on_abandon;
  void* user_context;
};

/** The function RegisterCustomOps of a library of custom operators. */
typedef OrtStatus*(ORT_API_CALL* RegisterCustomOpsFn)(OrtSessionOptions* options, const OrtApiBase* api);

/** Called when RunAsync is done. The callback releases the status. */
typedef void(ORT_API_CALL* RunAsyncCallbackFn)(void* user_data, OrtValue** outputs, size_t num_outputs,
                                               OrtStatusPtr status);

/** Kinds of memory handles of graphics libraries. */
typedef enum OrtExternalMemoryHandleType {
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE = 0,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP = 1,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_WIN32 = 2,
  ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD = 3,
} OrtExternalMemoryHandleType;

/** Memory of a graphics library. */
struct OrtExternalMemoryDescriptor {
  uint32_t version;
  OrtExternalMemoryHandleType handle_type;
  void* native_handle;
  size_t size_bytes;
  size_t offset_bytes;
};

/** Kinds of semaphore handles of graphics libraries. */
typedef enum OrtExternalSemaphoreType {
  ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE = 0,
  ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_WIN32 = 1,
  ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD = 2,
} OrtExternalSemaphoreType;

/** A semaphore of a graphics library. */
struct OrtExternalSemaphoreDescriptor {
  uint32_t version;
  OrtExternalSemaphoreType type;
  void* native_handle;
};

/** Graphics libraries. */
typedef enum OrtGraphicsApi {
  ORT_GRAPHICS_API_NONE = 0,
  ORT_GRAPHICS_API_D3D12 = 1,
  ORT_GRAPHICS_API_VULKAN = 2,
} OrtGraphicsApi;

/** Which graphics library a device shares with; `command_queue` is its queue and may be NULL. */
struct OrtGraphicsInteropConfig {
  uint32_t version;
  OrtGraphicsApi graphics_api;
  void* command_queue;
  const OrtKeyValuePairs* additional_options;
};

/** A tensor within imported memory. */
struct OrtExternalTensorDescriptor {
  uint32_t version;
  ONNXTensorElementDataType element_type;
  const int64_t* shape;
  size_t rank;
  size_t offset_bytes;
};

/** Whether a compiled model works on a device. */
typedef enum OrtCompiledModelCompatibility {
  OrtCompiledModelCompatibility_EP_NOT_APPLICABLE = 0,
  OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL = 1,
  OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION = 2,
  OrtCompiledModelCompatibility_EP_UNSUPPORTED = 3,
} OrtCompiledModelCompatibility;

/** Settings for CreateEnvWithOptions. Members other than the first three may be NULL. */
struct OrtEnvCreationOptions {
  uint32_t version;
  int32_t logging_severity_level;
  const char* log_id;
  OrtLoggingFunction custom_logging_function;
  void* custom_logging_param;
  const OrtThreadingOptions* threading_options;
  const OrtKeyValuePairs* config_entries;
};

/** Whether an input or output of a custom operator may be left out or repeated. */
typedef enum OrtCustomOpInputOutputCharacteristic {
  INPUT_OUTPUT_REQUIRED = 0,
  INPUT_OUTPUT_OPTIONAL = 1,
  INPUT_OUTPUT_VARIADIC = 2,
} OrtCustomOpInputOutputCharacteristic;

/** Bits for ModelCompilationOptions_SetFlags. */
typedef enum OrtCompileApiFlags {
  OrtCompileApiFlags_NONE = 0,
  OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED = 1,
  OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS = 2,
} OrtCompileApiFlags;

/* ==== The function table ==== */

/** The function table. Slots are grouped by the release that added them. */
struct OrtApi {
  /* ======== Release 1.0 ======== */

  /* ---- Statuses ---- */

  /** A new status with a copy of the text (NULL counts as empty). ORT_OK gives an object too, not NULL. The caller
   *  frees it with ReleaseStatus. */
  ORT_API_T(OrtStatus*, CreateStatus, OrtErrorCode code, _In_ const char* msg);
  /** The code of a status; ORT_OK for NULL. */
  ORT_API_T(OrtErrorCode, GetErrorCode, _In_ const OrtStatus* status);
  /** The text of a status, which lives as long as the status; empty for NULL. */
  ORT_API_T(const char*, GetErrorMessage, _In_ const OrtStatus* status);

  /* ---- The environment ---- */

  /** The environment of the process: logging and what sessions share. There is one; further calls give the same object,
   *  whose settings stay those of the first call, and each call needs its own ReleaseEnv. `logid` names the program in
   *  log lines; NULL is accepted. */
  ORT_API2_STATUS(CreateEnv, OrtLoggingLevel log_severity_level, _In_ const char* logid, _Outptr_ OrtEnv** out);
  /** As CreateEnv, with log lines going to a function, which any thread may call. */
  ORT_API2_STATUS(CreateEnvWithCustomLogger, _In_ OrtLoggingFunction logging_function, _In_opt_ void* logger_param,
                  _In_ OrtLoggingLevel log_severity_level, _In_ const char* logid, _Outptr_ OrtEnv** out);
  /** Accepted for compatibility. This library collects nothing. */
  ORT_API2_STATUS(EnableTelemetryEvents, _In_ const OrtEnv* env);
  /** Accepted for compatibility. This library collects nothing. */
  ORT_API2_STATUS(DisableTelemetryEvents, _In_ const OrtEnv* env);

  /* ---- Sessions ---- */

  /** Loads a model from a file and makes it ready to run. NULL options are the default ones; the options may be
   *  released or changed afterwards. The session keeps the environment alive. On failure `out` receives NULL. Codes: 3
   *  no such file, 7 not a model, 2 and 10 a model that makes no sense. */
  ORT_API2_STATUS(CreateSession, _In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path,
                  _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /** The same from the bytes of a model, which are not needed any more when the call returns. */
  ORT_API2_STATUS(CreateSessionFromArray, _In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length,
                  _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /** Runs the model once. Each name must be an input or an overridable initializer of the model, given at most once;
   *  every input without an initializer is needed. Where `outputs[i]` is NULL it receives a new value for the caller to
   *  release; where it is a value, its type and shape must fit and the result is written into it. NULL run options are
   *  the default ones. Any number of threads may run one session at once. On failure no output is changed. */
  ORT_API2_STATUS(Run, _Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options,
                  _In_reads_(input_len) const char* const* input_names,
                  _In_reads_(input_len) const OrtValue* const* inputs, size_t input_len,
                  _In_reads_(output_names_len) const char* const* output_names, size_t output_names_len,
                  _Inout_updates_all_(output_names_len) OrtValue** outputs);

  /* ---- Session options ---- */

  /** New options with the default settings. */
  ORT_API2_STATUS(CreateSessionOptions, _Outptr_ OrtSessionOptions** options);
  /** Where the session saves the model as it is after rewriting; an empty path saves nothing. */
  ORT_API2_STATUS(SetOptimizedModelFilePath, _Inout_ OrtSessionOptions* options,
                  _In_ const ORTCHAR_T* optimized_model_filepath);
  /** A copy that is independent of the source. */
  ORT_API2_STATUS(CloneSessionOptions, _In_ const OrtSessionOptions* in_options,
                  _Outptr_ OrtSessionOptions** out_options);
  /** Nodes one after the other (the default), or independent nodes side by side. */
  ORT_API2_STATUS(SetSessionExecutionMode, _Inout_ OrtSessionOptions* options, ExecutionMode execution_mode);
  /** Writes a profile as a Chrome trace; its name begins with the prefix and ends with the time. */
  ORT_API2_STATUS(EnableProfiling, _Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* profile_file_prefix);
  /** Takes back EnableProfiling. */
  ORT_API2_STATUS(DisableProfiling, _Inout_ OrtSessionOptions* options);
  /** Plans memory by the shapes of inputs and keeps the plans (the default). */
  ORT_API2_STATUS(EnableMemPattern, _Inout_ OrtSessionOptions* options);
  /** Takes memory for each tensor as it comes up. */
  ORT_API2_STATUS(DisableMemPattern, _Inout_ OrtSessionOptions* options);
  /** Keeps freed CPU memory for later tensors (the default). */
  ORT_API2_STATUS(EnableCpuMemArena, _Inout_ OrtSessionOptions* options);
  /** Gives CPU memory back to the system at once. */
  ORT_API2_STATUS(DisableCpuMemArena, _Inout_ OrtSessionOptions* options);
  /** Names the session in log lines. NULL is accepted. */
  ORT_API2_STATUS(SetSessionLogId, _Inout_ OrtSessionOptions* options, const char* logid);
  /** How much lines of severity VERBOSE say; 0 is the least. */
  ORT_API2_STATUS(SetSessionLogVerbosityLevel, _Inout_ OrtSessionOptions* options, int session_log_verbosity_level);
  /** The least severity that is logged, an OrtLoggingLevel; -1 takes that of the environment. */
  ORT_API2_STATUS(SetSessionLogSeverityLevel, _Inout_ OrtSessionOptions* options, int session_log_severity_level);
  /** How far the graph may be rewritten. Every level keeps the results within rounding. */
  ORT_API2_STATUS(SetSessionGraphOptimizationLevel, _Inout_ OrtSessionOptions* options,
                  GraphOptimizationLevel graph_optimization_level);
  /** Threads that share the work of one operator, the caller's included; 0 chooses by the processors that the process
   *  may use. */
  ORT_API2_STATUS(SetIntraOpNumThreads, _Inout_ OrtSessionOptions* options, int intra_op_num_threads);
  /** Threads that run nodes side by side in the parallel mode; 0 chooses. */
  ORT_API2_STATUS(SetInterOpNumThreads, _Inout_ OrtSessionOptions* options, int inter_op_num_threads);

  /* ---- Operators of the program ---- */

  /** A set of custom operators for a domain name. It must outlive the sessions that use it. */
  ORT_API2_STATUS(CreateCustomOpDomain, _In_ const char* domain, _Outptr_ OrtCustomOpDomain** out);
  /** Adds an operator. The struct is not copied and must live as long as the domain. */
  ORT_API2_STATUS(CustomOpDomain_Add, _Inout_ OrtCustomOpDomain* custom_op_domain, _In_ const OrtCustomOp* op);
  /** Makes the operators of a domain known to sessions with these options. */
  ORT_API2_STATUS(AddCustomOpDomain, _Inout_ OrtSessionOptions* options, _In_ OrtCustomOpDomain* custom_op_domain);
  /** Loads a library and lets its function RegisterCustomOps add domains. The caller closes the handle after the
   *  sessions are gone; RegisterCustomOpsLibrary_V2 does that by itself. */
  ORT_API2_STATUS(RegisterCustomOpsLibrary, _Inout_ OrtSessionOptions* options, _In_ const char* library_path,
                  _Outptr_ void** library_handle);

  /* ---- What a session takes and gives ---- */

  /** How many inputs the model needs; initializers do not count. */
  ORT_API2_STATUS(SessionGetInputCount, _In_ const OrtSession* session, _Out_ size_t* out);
  /** How many outputs the model has. */
  ORT_API2_STATUS(SessionGetOutputCount, _In_ const OrtSession* session, _Out_ size_t* out);
  /** How many initializers may be given in place of the model's own. */
  ORT_API2_STATUS(SessionGetOverridableInitializerCount, _In_ const OrtSession* session, _Out_ size_t* out);
  /** The type of an input, as an object for ReleaseTypeInfo. `index` counts from 0. */
  ORT_API2_STATUS(SessionGetInputTypeInfo, _In_ const OrtSession* session, size_t index,
                  _Outptr_ OrtTypeInfo** type_info);
  /** The same for an output. */
  ORT_API2_STATUS(SessionGetOutputTypeInfo, _In_ const OrtSession* session, size_t index,
                  _Outptr_ OrtTypeInfo** type_info);
  /** The same for an overridable initializer. */
  ORT_API2_STATUS(SessionGetOverridableInitializerTypeInfo, _In_ const OrtSession* session, size_t index,
                  _Outptr_ OrtTypeInfo** type_info);
  /** The name of an input, as a copy from the allocator, to be freed with it. */
  ORT_API2_STATUS(SessionGetInputName, _In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator,
                  _Outptr_ char** value);
  /** The same for an output. */
  ORT_API2_STATUS(SessionGetOutputName, _In_ const OrtSession* session, size_t index, _Inout_ OrtAllocator* allocator,
                  _Outptr_ char** value);
  /** The same for an overridable initializer. */
  ORT_API2_STATUS(SessionGetOverridableInitializerName, _In_ const OrtSession* session, size_t index,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** value);

  /* ---- Run options ---- */

  /** New run options with the default settings. */
  ORT_API2_STATUS(CreateRunOptions, _Outptr_ OrtRunOptions** out);
  /** As SetSessionLogVerbosityLevel, for one run. */
  ORT_API2_STATUS(RunOptionsSetRunLogVerbosityLevel, _Inout_ OrtRunOptions* options, int log_verbosity_level);
  /** As SetSessionLogSeverityLevel, for one run. */
  ORT_API2_STATUS(RunOptionsSetRunLogSeverityLevel, _Inout_ OrtRunOptions* options, int log_severity_level);
  /** Names the run in log lines. */
  ORT_API2_STATUS(RunOptionsSetRunTag, _Inout_ OrtRunOptions* options, _In_ const char* run_tag);
  /** Reads that level. */
  ORT_API2_STATUS(RunOptionsGetRunLogVerbosityLevel, _In_ const OrtRunOptions* options, _Out_ int* log_verbosity_level);
  /** Reads that level. */
  ORT_API2_STATUS(RunOptionsGetRunLogSeverityLevel, _In_ const OrtRunOptions* options, _Out_ int* log_severity_level);
  /** Reads the name; it lives until it is set again or the options end. */
  ORT_API2_STATUS(RunOptionsGetRunTag, _In_ const OrtRunOptions* options, _Out_ const char** run_tag);
  /** Asks all runs with these options to stop soon, with an error status. May be called from another thread while they
   *  run. */
  ORT_API2_STATUS(RunOptionsSetTerminate, _Inout_ OrtRunOptions* options);
  /** Makes the options usable again after RunOptionsSetTerminate. */
  ORT_API2_STATUS(RunOptionsUnsetTerminate, _Inout_ OrtRunOptions* options);

  /* ---- Tensors ---- */

  /** A tensor with memory from the allocator, which must outlive it. Elements hold nothing in particular; strings are
   *  empty. `shape` may be NULL for rank 0. */
  ORT_API2_STATUS(CreateTensorAsOrtValue, _Inout_ OrtAllocator* allocator, _In_ const int64_t* shape, size_t shape_len,
                  ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /** A tensor over memory of the caller, who keeps it until the value and all that shares it are gone. `p_data_len`
   *  must hold all elements. Not for strings. */
  ORT_API2_STATUS(CreateTensorWithDataAsOrtValue, _In_ const OrtMemoryInfo* info, _Inout_ void* p_data,
                  size_t p_data_len, _In_ const int64_t* shape, size_t shape_len, ONNXTensorElementDataType type,
                  _Outptr_ OrtValue** out);
  /** Whether the value is a dense tensor: 1 or 0. */
  ORT_API2_STATUS(IsTensor, _In_ const OrtValue* value, _Out_ int* out);
  /** The elements of a tensor, borrowed from it. Not for strings. May be NULL when there are none. */
  ORT_API2_STATUS(GetTensorMutableData, _In_ OrtValue* value, _Outptr_ void** out);
  /** Copies strings into a tensor of strings; `s_len` must be its number of elements. */
  ORT_API2_STATUS(FillStringTensor, _Inout_ OrtValue* value, _In_ const char* const* s, size_t s_len);
  /** Bytes of all strings of a tensor together, without terminators. */
  ORT_API2_STATUS(GetStringTensorDataLength, _In_ const OrtValue* value, _Out_ size_t* len);
  /** Copies all strings, one behind the other without terminators, into `s`, and the offset at which each begins into
   *  `offsets`; the lengths given must be enough. */
  ORT_API2_STATUS(GetStringTensorContent, _In_ const OrtValue* value, _Out_writes_bytes_all_(s_len) void* s,
                  size_t s_len, _Out_writes_all_(offsets_len) size_t* offsets, size_t offsets_len);

  /* ---- Types and shapes ---- */

  /** The tensor part of a type, borrowed from it; NULL with success when the type is no tensor. */
  ORT_API2_STATUS(CastTypeInfoToTensorInfo, _In_ const OrtTypeInfo* type_info,
                  _Outptr_result_maybenull_ const OrtTensorTypeAndShapeInfo** out);
  /** Which kind of type it is. */
  ORT_API2_STATUS(GetOnnxTypeFromTypeInfo, _In_ const OrtTypeInfo* type_info, _Out_ enum ONNXType* out);
  /** An empty element type and shape, to be filled. */
  ORT_API2_STATUS(CreateTensorTypeAndShapeInfo, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /** Sets the element type. */
  ORT_API2_STATUS(SetTensorElementType, _Inout_ OrtTensorTypeAndShapeInfo* info, enum ONNXTensorElementDataType type);
  /** Sets the shape; -1 stands for a dimension that is not known. */
  ORT_API2_STATUS(SetDimensions, OrtTensorTypeAndShapeInfo* info, _In_ const int64_t* dim_values, size_t dim_count);
  /** Reads the element type. */
  ORT_API2_STATUS(GetTensorElementType, _In_ const OrtTensorTypeAndShapeInfo* info,
                  _Out_ enum ONNXTensorElementDataType* out);
  /** The rank; 0 also when the shape is not known, see TensorTypeAndShape_HasShape. */
  ORT_API2_STATUS(GetDimensionsCount, _In_ const OrtTensorTypeAndShapeInfo* info, _Out_ size_t* out);
  /** Copies up to `dim_values_length` dimensions; -1 stands for one that is not known. */
  ORT_API2_STATUS(GetDimensions, _In_ const OrtTensorTypeAndShapeInfo* info, _Out_ int64_t* dim_values,
                  size_t dim_values_length);
  /** The names of dimensions, borrowed from the object; empty where a dimension has none. */
  ORT_API2_STATUS(GetSymbolicDimensions, _In_ const OrtTensorTypeAndShapeInfo* info,
                  _Out_writes_all_(dim_params_length) const char* dim_params[], size_t dim_params_length);
  /** The product of the dimensions; SIZE_MAX when one is not known. */
  ORT_API2_STATUS(GetTensorShapeElementCount, _In_ const OrtTensorTypeAndShapeInfo* info, _Out_ size_t* out);
  /** The element type and shape of a tensor or sparse tensor. */
  ORT_API2_STATUS(GetTensorTypeAndShape, _In_ const OrtValue* value, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /** The type of a value of any kind; NULL when the value holds nothing. */
  ORT_API2_STATUS(GetTypeInfo, _In_ const OrtValue* value, _Outptr_result_maybenull_ OrtTypeInfo** out);
  /** Which kind of value it is. */
  ORT_API2_STATUS(GetValueType, _In_ const OrtValue* value, _Out_ enum ONNXType* out);

  /* ---- Memory ---- */

  /** A description of memory by the name of its kind ("Cpu", "Cuda", "CudaPinned", …). Other names fail. */
  ORT_API2_STATUS(CreateMemoryInfo, _In_ const char* name, enum OrtAllocatorType type, int id, enum OrtMemType mem_type,
                  _Outptr_ OrtMemoryInfo** out);
  /** The description of ordinary memory. */
  ORT_API2_STATUS(CreateCpuMemoryInfo, enum OrtAllocatorType type, enum OrtMemType mem_type,
                  _Outptr_ OrtMemoryInfo** out);
  /** 0 when both describe the same memory, -1 otherwise. */
  ORT_API2_STATUS(CompareMemoryInfo, _In_ const OrtMemoryInfo* info1, _In_ const OrtMemoryInfo* info2, _Out_ int* out);
  /** The name, borrowed. */
  ORT_API2_STATUS(MemoryInfoGetName, _In_ const OrtMemoryInfo* ptr, _Out_ const char** out);
  /** The number of the device. */
  ORT_API2_STATUS(MemoryInfoGetId, _In_ const OrtMemoryInfo* ptr, _Out_ int* out);
  /** The use that the memory is for. */
  ORT_API2_STATUS(MemoryInfoGetMemType, _In_ const OrtMemoryInfo* ptr, _Out_ OrtMemType* out);
  /** The kind of allocator that it belongs to. */
  ORT_API2_STATUS(MemoryInfoGetType, _In_ const OrtMemoryInfo* ptr, _Out_ OrtAllocatorType* out);
  /** Takes memory, aligned to 64 bytes where it is the CPU's. Size 0 gives NULL with success. */
  ORT_API2_STATUS(AllocatorAlloc, _Inout_ OrtAllocator* ort_allocator, size_t size, _Outptr_ void** out);
  /** Gives memory back to the allocator that it came from. NULL is accepted. */
  ORT_API2_STATUS(AllocatorFree, _Inout_ OrtAllocator* ort_allocator, void* p);
  /** What memory the allocator gives, borrowed from it. */
  ORT_API2_STATUS(AllocatorGetInfo, _In_ const OrtAllocator* ort_allocator, _Outptr_ const struct OrtMemoryInfo** out);
  /** The allocator of ordinary memory. It is one object for all, never to be released. */
  ORT_API2_STATUS(GetAllocatorWithDefaultOptions, _Outptr_ OrtAllocator** out);
  /** Fixes every dimension of the model's inputs that has this denotation. */
  ORT_API2_STATUS(AddFreeDimensionOverride, _Inout_ OrtSessionOptions* options, _In_ const char* dim_denotation,
                  _In_ int64_t dim_value);

  /* ---- Sequences, maps and opaque values ---- */

  /** An element of a sequence, or of a map its keys (index 0) or its values (index 1), as a new value. */
  ORT_API2_STATUS(GetValue, _In_ const OrtValue* value, int index, _Inout_ OrtAllocator* allocator,
                  _Outptr_ OrtValue** out);
  /** How many elements a sequence has; 2 for a map. */
  ORT_API2_STATUS(GetValueCount, _In_ const OrtValue* value, _Out_ size_t* out);
  /** A sequence of the values given, or a map of two tensors, keys and values. The values given stay the caller's. */
  ORT_API2_STATUS(CreateValue, _In_reads_(num_values) const OrtValue* const* in, size_t num_values,
                  enum ONNXType value_type, _Outptr_ OrtValue** out);
  /** A value of a type that a custom operator defined. */
  ORT_API2_STATUS(CreateOpaqueValue, _In_z_ const char* domain_name, _In_z_ const char* type_name,
                  _In_ const void* data_container, size_t data_container_size, _Outptr_ OrtValue** out);
  /** Copies the content of such a value. */
  ORT_API2_STATUS(GetOpaqueValue, _In_ const char* domain_name, _In_ const char* type_name, _In_ const OrtValue* in,
                  _Out_ void* data_container, size_t data_container_size);

  /* ---- For custom operators: attributes, inputs and outputs ---- */

  /** A float attribute of the node; fails when the node lacks it. */
  ORT_API2_STATUS(KernelInfoGetAttribute_float, _In_ const OrtKernelInfo* info, _In_ const char* name,
                  _Out_ float* out);
  /** An integer attribute, likewise. */
  ORT_API2_STATUS(KernelInfoGetAttribute_int64, _In_ const OrtKernelInfo* info, _In_ const char* name,
                  _Out_ int64_t* out);
  /** A string attribute, likewise. `size` gives the room in `out` with the terminator and receives what is needed; with
   *  `out` NULL only the size is read. */
  ORT_API2_STATUS(KernelInfoGetAttribute_string, _In_ const OrtKernelInfo* info, _In_ const char* name, _Out_ char* out,
                  _Inout_ size_t* size);
  /** How many inputs the node has, left-out ones included. */
  ORT_API2_STATUS(KernelContext_GetInputCount, _In_ const OrtKernelContext* context, _Out_ size_t* out);
  /** How many outputs the node has, left-out ones included. */
  ORT_API2_STATUS(KernelContext_GetOutputCount, _In_ const OrtKernelContext* context, _Out_ size_t* out);
  /** An input, borrowed during the computation; NULL for one that was left out. */
  ORT_API2_STATUS(KernelContext_GetInput, _In_ const OrtKernelContext* context, _In_ size_t index,
                  _Out_ const OrtValue** out);
  /** An output with this shape, borrowed, to be written; NULL for one that nobody asked for. */
  ORT_API2_STATUS(KernelContext_GetOutput, _Inout_ OrtKernelContext* context, _In_ size_t index,
                  _In_ const int64_t* dim_values, size_t dim_count, _Outptr_ OrtValue** out);

  /* ---- Ends of objects: each accepts NULL ---- */

  /** Ends one use of the environment. */
  ORT_CLASS_RELEASE(Env);
  ORT_CLASS_RELEASE(Status);
  ORT_CLASS_RELEASE(MemoryInfo);
  /** Waits for nothing: no run may be going on. */
  ORT_CLASS_RELEASE(Session);
  /** Memory that the value borrowed stays the caller's. */
  ORT_CLASS_RELEASE(Value);
  ORT_CLASS_RELEASE(RunOptions);
  ORT_CLASS_RELEASE(TypeInfo);
  ORT_CLASS_RELEASE(TensorTypeAndShapeInfo);
  ORT_CLASS_RELEASE(SessionOptions);
  ORT_CLASS_RELEASE(CustomOpDomain);

  /* ======== Release 1.2 ======== */

  /** What the value means, as the model says ("IMAGE"); borrowed and not terminated: `len` bytes. */
  ORT_API2_STATUS(GetDenotationFromTypeInfo, _In_ const OrtTypeInfo* type_info, _Out_ const char** const denotation,
                  _Out_ size_t* len);
  /** The map part of a type, borrowed; NULL with success when the type is no map. */
  ORT_API2_STATUS(CastTypeInfoToMapTypeInfo, _In_ const OrtTypeInfo* type_info,
                  _Outptr_result_maybenull_ const OrtMapTypeInfo** out);
  /** The sequence part, likewise. */
  ORT_API2_STATUS(CastTypeInfoToSequenceTypeInfo, _In_ const OrtTypeInfo* type_info,
                  _Outptr_result_maybenull_ const OrtSequenceTypeInfo** out);
  /** The element type of a map's keys. */
  ORT_API2_STATUS(GetMapKeyType, _In_ const OrtMapTypeInfo* map_type_info, _Out_ enum ONNXTensorElementDataType* out);
  /** The type of a map's values, as a new object. */
  ORT_API2_STATUS(GetMapValueType, _In_ const OrtMapTypeInfo* map_type_info, _Outptr_ OrtTypeInfo** type_info);
  /** The type of a sequence's elements, as a new object. */
  ORT_API2_STATUS(GetSequenceElementType, _In_ const OrtSequenceTypeInfo* sequence_type_info,
                  _Outptr_ OrtTypeInfo** type_info);
  /** For map parts that a program owns; those from CastTypeInfoToMapTypeInfo are borrowed. */
  ORT_CLASS_RELEASE(MapTypeInfo);
  /** For sequence parts that a program owns, likewise. */
  ORT_CLASS_RELEASE(SequenceTypeInfo);
  /** Ends the profile and writes its file; gives the file's name as a copy from the allocator. */
  ORT_API2_STATUS(SessionEndProfiling, _In_ OrtSession* session, _Inout_ OrtAllocator* allocator, _Outptr_ char** out);

  /* ---- Model metadata; strings are copies from the allocator ---- */

  /** What the model says about itself, as a new object. */
  ORT_API2_STATUS(SessionGetModelMetadata, _In_ const OrtSession* session, _Outptr_ OrtModelMetadata** out);
  /** The program that made the model. */
  ORT_API2_STATUS(ModelMetadataGetProducerName, _In_ const OrtModelMetadata* model_metadata,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /** The name of the main graph. */
  ORT_API2_STATUS(ModelMetadataGetGraphName, _In_ const OrtModelMetadata* model_metadata,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /** The domain of the model. */
  ORT_API2_STATUS(ModelMetadataGetDomain, _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator,
                  _Outptr_ char** value);
  /** The model's text about itself. */
  ORT_API2_STATUS(ModelMetadataGetDescription, _In_ const OrtModelMetadata* model_metadata,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /** The value of a key in the model's own list; NULL when it lacks the key. */
  ORT_API2_STATUS(ModelMetadataLookupCustomMetadataMap, _In_ const OrtModelMetadata* model_metadata,
                  _Inout_ OrtAllocator* allocator, _In_ const char* key, _Outptr_result_maybenull_ char** value);
  /** The version of the model. */
  ORT_API2_STATUS(ModelMetadataGetVersion, _In_ const OrtModelMetadata* model_metadata, _Out_ int64_t* value);
  ORT_CLASS_RELEASE(ModelMetadata);

  /* ======== Release 1.3 ======== */

  /* ---- Threads for all sessions ---- */

  /** As CreateEnv, with thread pools that sessions with DisablePerSessionThreads share. */
  ORT_API2_STATUS(CreateEnvWithGlobalThreadPools, OrtLoggingLevel log_severity_level, _In_ const char* logid,
                  _In_ const OrtThreadingOptions* tp_options, _Outptr_ OrtEnv** out);
  /** The session uses the pools of the environment. */
  ORT_API2_STATUS(DisablePerSessionThreads, _Inout_ OrtSessionOptions* options);
  /** New settings for those pools. */
  ORT_API2_STATUS(CreateThreadingOptions, _Outptr_ OrtThreadingOptions** out);
  ORT_CLASS_RELEASE(ThreadingOptions);
  /** All keys of the model's own list: an array from the allocator, each string too; NULL when there are none. */
  ORT_API2_STATUS(ModelMetadataGetCustomMetadataMapKeys, _In_ const OrtModelMetadata* model_metadata,
                  _Inout_ OrtAllocator* allocator, _Outptr_result_buffer_maybenull_(*num_keys) char*** keys,
                  _Out_ int64_t* num_keys);
  /** Fixes every dimension of the model's inputs that has this name. */
  ORT_API2_STATUS(AddFreeDimensionOverrideByName, _Inout_ OrtSessionOptions* options, _In_ const char* dim_name,
                  _In_ int64_t dim_value);

  /* ======== Release 1.4 ======== */

  /** The names of execution providers that this library can add, best first. Freed with ReleaseAvailableProviders. */
  ORT_API2_STATUS(GetAvailableProviders, _Outptr_ char*** out_ptr, _Out_ int* provider_length);
  /** Frees that list with its strings. */
  ORT_API2_STATUS(ReleaseAvailableProviders, _In_ char** ptr, _In_ int providers_length);

  /* ======== Release 1.5 ======== */

  /* ---- Single strings ---- */

  /** Bytes of one string, without terminator. `index` counts in memory order. */
  ORT_API2_STATUS(GetStringTensorElementLength, _In_ const OrtValue* value, size_t index, _Out_ size_t* out);
  /** Copies one string, without terminator; `s_len` must be enough. */
  ORT_API2_STATUS(GetStringTensorElement, _In_ const OrtValue* value, size_t s_len, size_t index,
                  _Out_writes_bytes_all_(s_len) void* s);
  /** Copies a terminated string into one element. */
  ORT_API2_STATUS(FillStringTensorElement, _Inout_ OrtValue* value, _In_ const char* s, size_t index);
  /** Sets an entry by key; onnxruntime_session_options_config_keys.h lists keys. An entry of an unknown key is kept
   *  without effect. */
  ORT_API2_STATUS(AddSessionConfigEntry, _Inout_ OrtSessionOptions* options, _In_z_ const char* config_key,
                  _In_z_ const char* config_value);
  /** An allocator of the session for that memory; it keeps the session's memory alive. */
  ORT_API2_STATUS(CreateAllocator, _In_ const OrtSession* session, _In_ const OrtMemoryInfo* mem_info,
                  _Outptr_ OrtAllocator** out);
  /** For allocators from CreateAllocator. The one from GetAllocatorWithDefaultOptions is left alone. */
  ORT_CLASS_RELEASE(Allocator);

  /* ---- Binding of inputs and outputs ---- */

  /** Runs with the bound inputs and outputs. NULL run options are the default ones. */
  ORT_API2_STATUS(RunWithBinding, _Inout_ OrtSession* session, _In_ const OrtRunOptions* run_options,
                  _In_ const OrtIoBinding* binding_ptr);
  /** An empty binding for a session, which must outlive it. */
  ORT_API2_STATUS(CreateIoBinding, _Inout_ OrtSession* session, _Outptr_ OrtIoBinding** out);
  ORT_CLASS_RELEASE(IoBinding);
  /** Binds an input; the binding shares the value. A second call for the name replaces the first. */
  ORT_API2_STATUS(BindInput, _Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtValue* val_ptr);
  /** Binds an output to a value that results are written into. */
  ORT_API2_STATUS(BindOutput, _Inout_ OrtIoBinding* binding_ptr, _In_ const char* name, _In_ const OrtValue* val_ptr);
  /** Lets each run make the output anew in that memory. */
  ORT_API2_STATUS(BindOutputToDevice, _Inout_ OrtIoBinding* binding_ptr, _In_ const char* name,
                  _In_ const OrtMemoryInfo* mem_info_ptr);
  /** The names of bound outputs: one block without terminators, and the length of each; both are from the allocator,
   *  NULL when there are none. */
  ORT_API2_STATUS(GetBoundOutputNames, _In_ const OrtIoBinding* binding_ptr, _In_ OrtAllocator* allocator,
                  _Out_ char** buffer, _Out_writes_all_(count) size_t** lengths, _Out_ size_t* count);
  /** The outputs after a run, in the order of binding: an array from the allocator, whose values the caller releases
   *  one by one. */
  ORT_API2_STATUS(GetBoundOutputValues, _In_ const OrtIoBinding* binding_ptr, _In_ OrtAllocator* allocator,
                  _Out_writes_all_(output_count) OrtValue*** output, _Out_ size_t* output_count);
  /** Forgets all inputs. */
  ORT_API_T(void, ClearBoundInputs, _Inout_ OrtIoBinding* binding_ptr);
  /** Forgets all outputs. */
  ORT_API_T(void, ClearBoundOutputs, _Inout_ OrtIoBinding* binding_ptr);
  /** The address of one element; a location has as many indices as the tensor has dimensions. Not for strings. */
  ORT_API2_STATUS(TensorAt, _Inout_ OrtValue* value, const int64_t* location_values, size_t location_values_count,
                  _Outptr_ void** out);
  /** Makes an allocator for sessions with session.use_env_allocators. NULL arena settings are the default ones. CPU
   *  memory only. */
  ORT_API2_STATUS(CreateAndRegisterAllocator, _Inout_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info,
                  _In_ const OrtArenaCfg* arena_cfg);
  /** Says which language the program is written in. Without effect here. */
  ORT_API2_STATUS(SetLanguageProjection, _In_ const OrtEnv* ort_env, _In_ OrtLanguageProjection projection);
  /** When the profile began: nanoseconds of the monotonic clock. */
  ORT_API2_STATUS(SessionGetProfilingStartTimeNs, _In_ const OrtSession* session, _Outptr_ uint64_t* out);
  /** As SetIntraOpNumThreads, for the shared pools. */
  ORT_API2_STATUS(SetGlobalIntraOpNumThreads, _Inout_ OrtThreadingOptions* tp_options, int intra_op_num_threads);
  /** As SetInterOpNumThreads, for the shared pools. */
  ORT_API2_STATUS(SetGlobalInterOpNumThreads, _Inout_ OrtThreadingOptions* tp_options, int inter_op_num_threads);
  /** 1: threads spin for a while before they sleep; 0: they sleep at once. */
  ORT_API2_STATUS(SetGlobalSpinControl, _Inout_ OrtThreadingOptions* tp_options, int allow_spinning);

  /* ======== Release 1.6 ======== */

  /** Gives the model's initializer of that name another value. The value must live, and stay unchanged, as long as the
   *  sessions. */
  ORT_API2_STATUS(AddInitializer, _Inout_ OrtSessionOptions* options, _In_z_ const char* name,
                  _In_ const OrtValue* val);
  /** CreateEnvWithCustomLogger and CreateEnvWithGlobalThreadPools in one. */
  ORT_API2_STATUS(CreateEnvWithCustomLoggerAndGlobalThreadPools, OrtLoggingFunction logging_function,
                  _In_opt_ void* logger_param, OrtLoggingLevel log_severity_level, _In_ const char* logid,
                  _In_ const struct OrtThreadingOptions* tp_options, _Outptr_ OrtEnv** out);

  /* ---- Execution providers by name; one that is not here gives a status that says so ---- */

  /** Adds the CUDA provider. Providers that were added first choose first. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_CUDA, _In_ OrtSessionOptions* options,
                  _In_ const OrtCUDAProviderOptions* cuda_options);
  /** Adds the ROCm provider. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_ROCM, _In_ OrtSessionOptions* options,
                  _In_ const OrtROCMProviderOptions* rocm_options);
  /** Adds the OpenVINO provider. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_OpenVINO, _In_ OrtSessionOptions* options,
                  _In_ const OrtOpenVINOProviderOptions* provider_options);
  /** Threads of the shared pools count subnormal numbers as zero. */
  ORT_API2_STATUS(SetGlobalDenormalAsZero, _Inout_ OrtThreadingOptions* tp_options);
  /** Settings of an arena: the most bytes it may hold (0: no limit); 0 doubles its growth and 1 takes what is asked
   *  for; bytes of its first block; bytes that may stay unused in a chunk. -1 takes the default of each. */
  ORT_API2_STATUS(CreateArenaCfg, _In_ size_t max_mem, int arena_extend_strategy, int initial_chunk_size_bytes,
                  int max_dead_bytes_per_chunk, _Outptr_ OrtArenaCfg** out);

  /* ======== Release 1.7 ======== */

  ORT_CLASS_RELEASE(ArenaCfg);
  /** The main graph's text about itself, as a copy from the allocator. */
  ORT_API2_STATUS(ModelMetadataGetGraphDescription, _In_ const OrtModelMetadata* model_metadata,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** value);
  /** Adds the TensorRT provider. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_TensorRT, _In_ OrtSessionOptions* options,
                  _In_ const OrtTensorRTProviderOptions* tensorrt_options);
  /** Chooses the device of the calling thread for providers that have that notion. */
  ORT_API2_STATUS(SetCurrentGpuDeviceId, _In_ int device_id);

  /* ======== Release 1.8 ======== */

  /** Reads it. */
  ORT_API2_STATUS(GetCurrentGpuDeviceId, _In_ int* device_id);
  /** A list of floats: `size` gives the room in elements and receives what is needed; with `out` NULL only the size is
   *  read. */
  ORT_API2_STATUS(KernelInfoGetAttributeArray_float, _In_ const OrtKernelInfo* info, _In_ const char* name,
                  _Out_ float* out, _Inout_ size_t* size);
  /** A list of integers, likewise. */
  ORT_API2_STATUS(KernelInfoGetAttributeArray_int64, _In_ const OrtKernelInfo* info, _In_ const char* name,
                  _Out_ int64_t* out, _Inout_ size_t* size);
  /** As CreateArenaCfg, by key: max_mem, arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk,
   *  initial_growth_chunk_size_bytes, max_power_of_two_extend_bytes. */
  ORT_API2_STATUS(CreateArenaCfgV2, _In_reads_(num_keys) const char* const* arena_config_keys,
                  _In_reads_(num_keys) const size_t* arena_config_values, _In_ size_t num_keys,
                  _Outptr_ OrtArenaCfg** out);
  /** Sets an entry by key; onnxruntime_run_options_config_keys.h lists keys. An entry of an unknown key is kept without
   *  effect. */
  ORT_API2_STATUS(AddRunConfigEntry, _Inout_ OrtRunOptions* options, _In_z_ const char* config_key,
                  _In_z_ const char* config_value);

  /* ---- Sharing of packed weights between sessions ---- */

  /** An empty container. It must outlive the sessions that were created with it. */
  ORT_API2_STATUS(CreatePrepackedWeightsContainer, _Outptr_ OrtPrepackedWeightsContainer** out);
  ORT_CLASS_RELEASE(PrepackedWeightsContainer);
  /** As CreateSession; equal weights are packed once for all sessions with the container. */
  ORT_API2_STATUS(CreateSessionWithPrepackedWeightsContainer, _In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path,
                  _In_ const OrtSessionOptions* options,
                  _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container, _Outptr_ OrtSession** out);
  /** As CreateSessionFromArray, likewise. */
  ORT_API2_STATUS(CreateSessionFromArrayWithPrepackedWeightsContainer, _In_ const OrtEnv* env,
                  _In_ const void* model_data, size_t model_data_length, _In_ const OrtSessionOptions* options,
                  _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container, _Outptr_ OrtSession** out);

  /* ======== Release 1.9 ======== */

  /** Adds the TensorRT provider with settings by key. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_TensorRT_V2, _In_ OrtSessionOptions* options,
                  _In_ const OrtTensorRTProviderOptionsV2* tensorrt_options);
  /** New settings for it. */
  ORT_API2_STATUS(CreateTensorRTProviderOptions, _Outptr_ OrtTensorRTProviderOptionsV2** out);
  /** Sets entries by key. */
  ORT_API2_STATUS(UpdateTensorRTProviderOptions, _Inout_ OrtTensorRTProviderOptionsV2* tensorrt_options,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** All entries as "key=value;…", a copy from the allocator. */
  ORT_API2_STATUS(GetTensorRTProviderOptionsAsString, _In_ const OrtTensorRTProviderOptionsV2* tensorrt_options,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  void(ORT_API_CALL* ReleaseTensorRTProviderOptions)(_Frees_ptr_opt_ OrtTensorRTProviderOptionsV2* input);
  /** Adds the operators of the onnxruntime-extensions library, where it is linked in. */
  ORT_API2_STATUS(EnableOrtCustomOps, _Inout_ OrtSessionOptions* options);
  /** Gives sessions with session.use_env_allocators an allocator of the program. It must outlive the environment, or be
   *  taken back first. */
  ORT_API2_STATUS(RegisterAllocator, _Inout_ OrtEnv* env, _In_ OrtAllocator* allocator);
  /** Takes it back. */
  ORT_API2_STATUS(UnregisterAllocator, _Inout_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info);

  /* ---- Sparse tensors ---- */

  /** Whether the value is a sparse tensor: 1 or 0. */
  ORT_API2_STATUS(IsSparseTensor, _In_ const OrtValue* value, _Out_ int* out);
  /** A sparse tensor without elements; a Fill… function gives it a format and content. */
  ORT_API2_STATUS(CreateSparseTensorAsOrtValue, _Inout_ OrtAllocator* allocator, _In_ const int64_t* dense_shape,
                  size_t dense_shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /** Copies values and coordinates. `indices_num` is the number of values (linear indices), or that times the rank. */
  ORT_API2_STATUS(FillSparseTensorCoo, _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info,
                  _In_ const int64_t* values_shape, size_t values_shape_len, _In_ const void* values,
                  _In_ const int64_t* indices_data, size_t indices_num);
  /** Copies values, the column of each (inner), and where each row begins (outer, one more than rows). */
  ORT_API2_STATUS(FillSparseTensorCsr, _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info,
                  _In_ const int64_t* values_shape, size_t values_shape_len, _In_ const void* values,
                  _In_ const int64_t* inner_indices_data, size_t inner_indices_num,
                  _In_ const int64_t* outer_indices_data, size_t outer_indices_num);
  /** Copies blocks of values and the position of each block. */
  ORT_API2_STATUS(FillSparseTensorBlockSparse, _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info,
                  _In_ const int64_t* values_shape, size_t values_shape_len, _In_ const void* values,
                  _In_ const int64_t* indices_shape_data, size_t indices_shape_len, _In_ const int32_t* indices_data);
  /** A sparse tensor over values of the caller, who keeps them; a Use… function gives it indices. */
  ORT_API2_STATUS(CreateSparseTensorWithValuesAsOrtValue, _In_ const OrtMemoryInfo* info, _Inout_ void* p_data,
                  _In_ const int64_t* dense_shape, size_t dense_shape_len, _In_ const int64_t* values_shape,
                  size_t values_shape_len, ONNXTensorElementDataType type, _Outptr_ OrtValue** out);
  /** Indices over memory of the caller; as for FillSparseTensorCoo. */
  ORT_API2_STATUS(UseCooIndices, _Inout_ OrtValue* ort_value, _Inout_ int64_t* indices_data, size_t indices_num);
  /** The same, as for FillSparseTensorCsr. */
  ORT_API2_STATUS(UseCsrIndices, _Inout_ OrtValue* ort_value, _Inout_ int64_t* inner_data, size_t inner_num,
                  _Inout_ int64_t* outer_data, size_t outer_num);
  /** The same, as for FillSparseTensorBlockSparse. */
  ORT_API2_STATUS(UseBlockSparseIndices, _Inout_ OrtValue* ort_value, const int64_t* indices_shape,
                  size_t indices_shape_len, _Inout_ int32_t* indices_data);
  /** How the indices are written. */
  ORT_API2_STATUS(GetSparseTensorFormat, _In_ const OrtValue* ort_value, _Out_ enum OrtSparseFormat* out);
  /** Element type and shape of the values alone. */
  ORT_API2_STATUS(GetSparseTensorValuesTypeAndShape, _In_ const OrtValue* ort_value,
                  _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /** The values, borrowed. */
  ORT_API2_STATUS(GetSparseTensorValues, _In_ const OrtValue* ort_value, _Outptr_ const void** out);
  /** Element type and shape of one array of indices. */
  ORT_API2_STATUS(GetSparseTensorIndicesTypeShape, _In_ const OrtValue* ort_value,
                  enum OrtSparseIndicesFormat indices_format, _Outptr_ OrtTensorTypeAndShapeInfo** out);
  /** One array of indices, borrowed, with its number of elements. */
  ORT_API2_STATUS(GetSparseTensorIndices, _In_ const OrtValue* ort_value, enum OrtSparseIndicesFormat indices_format,
                  _Out_ size_t* num_indices, _Outptr_ const void** indices);

  /* ======== Release 1.10 ======== */

  /** Whether an optional value holds something; 1 for values of other kinds. */
  ORT_API2_STATUS(HasValue, _In_ const OrtValue* value, _Out_ int* out);
  /** The native stream that the kernel must use; NULL on the CPU. */
  ORT_API2_STATUS(KernelContext_GetGPUComputeStream, _In_ const OrtKernelContext* context, _Outptr_ void** out);
  /** Where the elements of a tensor are, borrowed. */
  ORT_API2_STATUS(GetTensorMemoryInfo, _In_ const OrtValue* value, _Out_ const OrtMemoryInfo** mem_info);
  /** A table of functions of one provider, by name and version. */
  ORT_API2_STATUS(GetExecutionProviderApi, _In_ const char* provider_name, _In_ uint32_t version,
                  _Outptr_ const void** provider_api);

  /* ---- Threads that the program makes ---- */

  /** The function that starts each thread of the session's pools. A join function is needed too. */
  ORT_API2_STATUS(SessionOptionsSetCustomCreateThreadFn, _Inout_ OrtSessionOptions* options,
                  _In_ OrtCustomCreateThreadFn ort_custom_create_thread_fn);
  /** What that function receives as its first argument. */
  ORT_API2_STATUS(SessionOptionsSetCustomThreadCreationOptions, _Inout_ OrtSessionOptions* options,
                  _In_ void* ort_custom_thread_creation_options);
  /** The function that waits for such a thread to end. */
  ORT_API2_STATUS(SessionOptionsSetCustomJoinThreadFn, _Inout_ OrtSessionOptions* options,
                  _In_ OrtCustomJoinThreadFn ort_custom_join_thread_fn);
  /** The same for the shared pools. */
  ORT_API2_STATUS(SetGlobalCustomCreateThreadFn, _Inout_ OrtThreadingOptions* tp_options,
                  _In_ OrtCustomCreateThreadFn ort_custom_create_thread_fn);
  /** The same for the shared pools. */
  ORT_API2_STATUS(SetGlobalCustomThreadCreationOptions, _Inout_ OrtThreadingOptions* tp_options,
                  _In_ void* ort_custom_thread_creation_options);
  /** The same for the shared pools. */
  ORT_API2_STATUS(SetGlobalCustomJoinThreadFn, _Inout_ OrtThreadingOptions* tp_options,
                  _In_ OrtCustomJoinThreadFn ort_custom_join_thread_fn);
  /** Waits until bound inputs have arrived on their devices. */
  ORT_API2_STATUS(SynchronizeBoundInputs, _Inout_ OrtIoBinding* binding_ptr);
  /** Waits until bound outputs may be read. */
  ORT_API2_STATUS(SynchronizeBoundOutputs, _Inout_ OrtIoBinding* binding_ptr);

  /* ======== Release 1.11 ======== */

  /** Adds the CUDA provider with settings by key. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_CUDA_V2, _In_ OrtSessionOptions* options,
                  _In_ const OrtCUDAProviderOptionsV2* cuda_options);
  /** New settings for it. */
  ORT_API2_STATUS(CreateCUDAProviderOptions, _Outptr_ OrtCUDAProviderOptionsV2** out);
  /** Sets entries by key. */
  ORT_API2_STATUS(UpdateCUDAProviderOptions, _Inout_ OrtCUDAProviderOptionsV2* cuda_options,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** All entries as "key=value;…", a copy from the allocator. */
  ORT_API2_STATUS(GetCUDAProviderOptionsAsString, _In_ const OrtCUDAProviderOptionsV2* cuda_options,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  void(ORT_API_CALL* ReleaseCUDAProviderOptions)(_Frees_ptr_opt_ OrtCUDAProviderOptionsV2* input);
  /** Adds the MIGraphX provider. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_MIGraphX, _In_ OrtSessionOptions* options,
                  _In_ const OrtMIGraphXProviderOptions* migraphx_options);

  /* ======== Release 1.12 ======== */

  /** Gives the model's initializers in external files other values, which must live as long as the options are used to
   *  create sessions. */
  ORT_API2_STATUS(AddExternalInitializers, _In_ OrtSessionOptions* options,
                  _In_reads_(num_initializers) const char* const* initializer_names,
                  _In_reads_(num_initializers) const OrtValue* const* initializers, size_t num_initializers);

  /* ---- Operators called from custom operators ---- */

  /** An attribute with a copy of `len` elements of data (bytes for a string). */
  ORT_API2_STATUS(CreateOpAttr, _In_ const char* name, _In_ const void* data, _In_ int len, _In_ OrtOpAttrType type,
                  _Outptr_ OrtOpAttr** op_attr);
  ORT_CLASS_RELEASE(OpAttr);
  /** A standard operator for use within a kernel. The arrays are not needed afterwards. */
  ORT_API2_STATUS(CreateOp, _In_ const OrtKernelInfo* info, _In_z_ const char* op_name, _In_z_ const char* domain,
                  int version, _In_reads_(type_constraint_count) const char** type_constraint_names,
                  _In_reads_(type_constraint_count) const ONNXTensorElementDataType* type_constraint_values,
                  int type_constraint_count, _In_reads_(attr_count) const OrtOpAttr* const* attr_values, int attr_count,
                  int input_count, int output_count, _Outptr_ OrtOp** ort_op);
  /** Computes it. The outputs must be there with their shapes. */
  ORT_API2_STATUS(InvokeOp, _In_ const OrtKernelContext* context, _In_ const OrtOp* ort_op,
                  _In_ const OrtValue* const* input_values, _In_ int input_count,
                  _Inout_ OrtValue* const* output_values, _In_ int output_count);
  ORT_CLASS_RELEASE(Op);
  /** Adds a provider by its name or short name. Keys that it does not know are an error. Where no registered library
   * has OpenCL, Vulkan or CUDA, the environment registers libonnxruntime_ep_opencl.so etc., if that is beside this one.
   */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider, _In_ OrtSessionOptions* options,
                  _In_ const char* provider_name, _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** A copy of the information of a node that may outlive it. */
  ORT_API2_STATUS(CopyKernelInfo, _In_ const OrtKernelInfo* info, _Outptr_ OrtKernelInfo** info_copy);
  ORT_CLASS_RELEASE(KernelInfo);

  /* ======== Release 1.13 ======== */

  /** The functions for training; NULL, this library has none. */
  ORT_API_T(const OrtTrainingApi*, GetTrainingApi, uint32_t version);
  /** Adds the CANN provider. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_CANN, _In_ OrtSessionOptions* options,
                  _In_ const OrtCANNProviderOptions* cann_options);
  /** New settings for it. */
  ORT_API2_STATUS(CreateCANNProviderOptions, _Outptr_ OrtCANNProviderOptions** out);
  /** Sets entries by key. */
  ORT_API2_STATUS(UpdateCANNProviderOptions, _Inout_ OrtCANNProviderOptions* cann_options,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** All entries as "key=value;…", a copy from the allocator. */
  ORT_API2_STATUS(GetCANNProviderOptionsAsString, _In_ const OrtCANNProviderOptions* cann_options,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  ORT_CLASS_RELEASE(CANNProviderOptions);

  /* ======== Release 1.14 ======== */

  /** The kind of device that the memory belongs to. */
  void(ORT_API_CALL* MemoryInfoGetDeviceType)(_In_ const OrtMemoryInfo* ptr, _Out_ OrtMemoryInfoDeviceType* out);
  /** Changes the least severity that the environment logs. */
  ORT_API2_STATUS(UpdateEnvWithCustomLogLevel, _In_ OrtEnv* ort_env, OrtLoggingLevel log_severity_level);
  /** Processors for each thread of the shared pools, written as for session.intra_op_thread_affinities. */
  ORT_API2_STATUS(SetGlobalIntraOpThreadAffinity, _Inout_ OrtThreadingOptions* tp_options, const char* affinity_string);
  /** As RegisterCustomOpsLibrary; the library is closed when nothing uses it any more. */
  ORT_API2_STATUS(RegisterCustomOpsLibrary_V2, _Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* library_name);
  /** Calls a function with the signature RegisterCustomOpsFn that is found by name in the process. */
  ORT_API2_STATUS(RegisterCustomOpsUsingFunction, _Inout_ OrtSessionOptions* options,
                  _In_ const char* registration_func_name);

  /* ---- For custom operators: the node; names are copied like string attributes ---- */

  /** How many inputs the node has. */
  ORT_API2_STATUS(KernelInfo_GetInputCount, _In_ const OrtKernelInfo* info, _Out_ size_t* out);
  /** How many outputs the node has. */
  ORT_API2_STATUS(KernelInfo_GetOutputCount, _In_ const OrtKernelInfo* info, _Out_ size_t* out);
  /** The name of an input. */
  ORT_API2_STATUS(KernelInfo_GetInputName, _In_ const OrtKernelInfo* info, size_t index, _Out_opt_ char* out,
                  _Inout_ size_t* size);
  /** The name of an output. */
  ORT_API2_STATUS(KernelInfo_GetOutputName, _In_ const OrtKernelInfo* info, size_t index, _Out_opt_ char* out,
                  _Inout_ size_t* size);
  /** The type of an input as the model gives it. */
  ORT_API2_STATUS(KernelInfo_GetInputTypeInfo, _In_ const OrtKernelInfo* info, size_t index,
                  _Outptr_ OrtTypeInfo** type_info);
  /** The type of an output as the model gives it. */
  ORT_API2_STATUS(KernelInfo_GetOutputTypeInfo, _In_ const OrtKernelInfo* info, size_t index,
                  _Outptr_ OrtTypeInfo** type_info);
  /** A tensor attribute as a new value with memory from the allocator. */
  ORT_API2_STATUS(KernelInfoGetAttribute_tensor, _In_ const OrtKernelInfo* info, _In_z_ const char* name,
                  _Inout_ OrtAllocator* allocator, _Outptr_ OrtValue** out);
  /** Whether the options have an entry of that key: 1 or 0. */
  ORT_API2_STATUS(HasSessionConfigEntry, _In_ const OrtSessionOptions* options, _In_z_ const char* config_key,
                  _Out_ int* out);
  /** The value of an entry: `size` gives the room with the terminator and receives what is needed; with `config_value`
   *  NULL only the size is read. */
  ORT_API2_STATUS(GetSessionConfigEntry, _In_ const OrtSessionOptions* options, _In_z_ const char* config_key,
                  _Out_ char* config_value, _Inout_ size_t* size);

  /* ======== Release 1.15 ======== */

  /** Adds the oneDNN provider. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_Dnnl, _In_ OrtSessionOptions* options,
                  _In_ const OrtDnnlProviderOptions* dnnl_options);
  /** New settings for it. */
  ORT_API2_STATUS(CreateDnnlProviderOptions, _Outptr_ OrtDnnlProviderOptions** out);
  /** Sets entries by key. */
  ORT_API2_STATUS(UpdateDnnlProviderOptions, _Inout_ OrtDnnlProviderOptions* dnnl_options,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** All entries as "key=value;…", a copy from the allocator. */
  ORT_API2_STATUS(GetDnnlProviderOptionsAsString, _In_ const OrtDnnlProviderOptions* dnnl_options,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  ORT_CLASS_RELEASE(DnnlProviderOptions);
  /** The name of the node. */
  ORT_API2_STATUS(KernelInfo_GetNodeName, _In_ const OrtKernelInfo* info, _Out_opt_ char* out, _Inout_ size_t* size);

  /* ---- Logging from operators and providers ---- */

  /** The logger of the session, borrowed. */
  ORT_API2_STATUS(KernelInfo_GetLogger, _In_ const OrtKernelInfo* info, _Outptr_ const OrtLogger** logger);
  /** The logger of the run, borrowed during the computation. */
  ORT_API2_STATUS(KernelContext_GetLogger, _In_ const OrtKernelContext* context, _Outptr_ const OrtLogger** logger);
  /** Writes a line when the severity is enough. File, line and function say where it comes from. */
  ORT_API2_STATUS(Logger_LogMessage, _In_ const OrtLogger* logger, OrtLoggingLevel log_severity_level,
                  _In_z_ const char* message, _In_z_ const ORTCHAR_T* file_path, int line_number,
                  _In_z_ const char* func_name);
  /** The least severity that the logger writes. */
  ORT_API2_STATUS(Logger_GetLoggingSeverityLevel, _In_ const OrtLogger* logger, _Out_ OrtLoggingLevel* out);
  /** An input that is known when the session is created, borrowed; `is_constant` tells, and is 0 with `out` NULL when
   *  it is not known. */
  ORT_API2_STATUS(KernelInfoGetConstantInput_tensor, _In_ const OrtKernelInfo* info, size_t index,
                  _Out_ int* is_constant, _Outptr_ const OrtValue** out);
  /** The optional part of a type, borrowed; NULL with success when the type is no optional. */
  ORT_API2_STATUS(CastTypeInfoToOptionalTypeInfo, _In_ const OrtTypeInfo* type_info,
                  _Outptr_result_maybenull_ const OrtOptionalTypeInfo** out);
  /** The type inside an optional, as a new object. */
  ORT_API2_STATUS(GetOptionalContainedTypeInfo, _In_ const OrtOptionalTypeInfo* optional_type_info,
                  _Outptr_ OrtTypeInfo** out);
  /** Makes one string that long and gives its bytes, to be written; valid until the string changes. */
  ORT_API2_STATUS(GetResizedStringTensorElementBuffer, _Inout_ OrtValue* value, _In_ size_t index,
                  _In_ size_t length_in_bytes, _Inout_ char** buffer);
  /** An allocator for temporary memory; released with ReleaseAllocator. */
  ORT_API2_STATUS(KernelContext_GetAllocator, _In_ const OrtKernelContext* context, _In_ const OrtMemoryInfo* mem_info,
                  _Outptr_ OrtAllocator** out);
  /** Which library this is and how it was built. */
  const char*(ORT_API_CALL* GetBuildInfoString)(void);

  /* ======== Release 1.16 ======== */

  /** New settings for the ROCm provider. */
  ORT_API2_STATUS(CreateROCMProviderOptions, _Outptr_ OrtROCMProviderOptions** out);
  /** Sets entries by key. */
  ORT_API2_STATUS(UpdateROCMProviderOptions, _Inout_ OrtROCMProviderOptions* rocm_options,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** All entries as "key=value;…", a copy from the allocator. */
  ORT_API2_STATUS(GetROCMProviderOptionsAsString, _In_ const OrtROCMProviderOptions* rocm_options,
                  _Inout_ OrtAllocator* allocator, _Outptr_ char** ptr);
  ORT_CLASS_RELEASE(ROCMProviderOptions);
  /** As CreateAndRegisterAllocator, for the memory of any provider. */
  ORT_API2_STATUS(CreateAndRegisterAllocatorV2, _Inout_ OrtEnv* env, _In_ const char* provider_type,
                  _In_ const OrtMemoryInfo* mem_info, _In_ const OrtArenaCfg* arena_cfg,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** As Run, on a thread of the session's pool; the callback is called when it is done, with the outputs and a status
   *  that it releases. Names, inputs, outputs and options must live until then. Needs a pool with more than one thread.
   */
  ORT_API2_STATUS(RunAsync, _Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options,
                  _In_reads_(input_len) const char* const* input_names,
                  _In_reads_(input_len) const OrtValue* const* input, size_t input_len,
                  _In_reads_(output_names_len) const char* const* output_names, size_t output_names_len,
                  _Inout_updates_all_(output_names_len) OrtValue** output, _In_ RunAsyncCallbackFn run_async_callback,
                  _In_opt_ void* user_data);
  /** Sets an entry that is a pointer. */
  ORT_API2_STATUS(UpdateTensorRTProviderOptionsWithValue, _Inout_ OrtTensorRTProviderOptionsV2* tensorrt_options,
                  _In_ const char* key, _In_ void* value);
  /** Reads an entry that is a pointer. */
  ORT_API2_STATUS(GetTensorRTProviderOptionsByName, _In_ const OrtTensorRTProviderOptionsV2* tensorrt_options,
                  _In_ const char* key, _Outptr_ void** ptr);
  /** Sets an entry that is a pointer. */
  ORT_API2_STATUS(UpdateCUDAProviderOptionsWithValue, _Inout_ OrtCUDAProviderOptionsV2* cuda_options,
                  _In_ const char* key, _In_ void* value);
  /** Reads an entry that is a pointer. */
  ORT_API2_STATUS(GetCUDAProviderOptionsByName, _In_ const OrtCUDAProviderOptionsV2* cuda_options, _In_ const char* key,
                  _Outptr_ void** ptr);
  /** Something of the provider by number, such as its library handles. */
  ORT_API2_STATUS(KernelContext_GetResource, _In_ const OrtKernelContext* context, _In_ int resource_version,
                  _In_ int resource_id, _Outptr_ void** resource);

  /* ======== Release 1.17 ======== */

  /** Sends the session's log lines to a function, which any thread may call. */
  ORT_API2_STATUS(SetUserLoggingFunction, _Inout_ OrtSessionOptions* options,
                  _In_ OrtLoggingFunction user_logging_function, _In_opt_ void* user_logging_param);

  /* ---- For custom operators: shapes ---- */

  /** How many inputs the node has. */
  ORT_API2_STATUS(ShapeInferContext_GetInputCount, _In_ const OrtShapeInferContext* context, _Out_ size_t* out);
  /** Element type and shape of an input, as far as known; borrowed. */
  ORT_API2_STATUS(ShapeInferContext_GetInputTypeShape, _In_ const OrtShapeInferContext* context, _In_ size_t index,
                  _Outptr_ OrtTensorTypeAndShapeInfo** info);
  /** An attribute of the node, borrowed. */
  ORT_API2_STATUS(ShapeInferContext_GetAttribute, _In_ const OrtShapeInferContext* context, _In_ const char* attr_name,
                  _Outptr_ const OrtOpAttr** attr);
  /** Sets the element type and shape of an output. */
  ORT_API2_STATUS(ShapeInferContext_SetOutputTypeShape, _In_ const OrtShapeInferContext* context, _In_ size_t index,
                  _In_ const OrtTensorTypeAndShapeInfo* info);
  /** Names the dimensions; as many as there are. */
  ORT_API2_STATUS(SetSymbolicDimensions, _In_ OrtTensorTypeAndShapeInfo* info, _In_ const char* dim_params[],
                  _In_ size_t dim_params_length);
  /** Copies the value of an attribute of that type: `len` bytes of room, `out` receives what is needed. */
  ORT_API2_STATUS(ReadOpAttr, _In_ const OrtOpAttr* op_attr, _In_ OrtOpAttrType type, _Inout_ void* data,
                  _In_ size_t len, _Out_ size_t* out);
  /** Only kernels that give the same bits each time. */
  ORT_API2_STATUS(SetDeterministicCompute, _Inout_ OrtSessionOptions* options, bool value);
  /** Calls `fn(usr_data, i)` for each i below `total` on the session's threads, in `num_batch` batches (0 chooses), and
   *  waits. */
  ORT_API2_STATUS(KernelContext_ParallelFor, _In_ const OrtKernelContext* context, _In_ void (*fn)(void*, size_t),
                  _In_ size_t total, _In_ size_t num_batch, _In_ void* usr_data);
  /** Adds the OpenVINO provider with settings by key. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_OpenVINO_V2, _In_ OrtSessionOptions* options,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);

  /* ======== Release 1.18 ======== */

  /** Adds the Vitis AI provider with settings by key. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_VitisAI, _In_ OrtSessionOptions* options,
                  _In_reads_(num_keys) const char* const* provider_options_keys,
                  _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys);
  /** Memory that is free again when the computation ends. */
  ORT_API2_STATUS(KernelContext_GetScratchBuffer, _In_ const OrtKernelContext* context,
                  _In_ const OrtMemoryInfo* mem_info, _In_ size_t count_or_bytes, _Outptr_ void** out);
  /** An allocator of the session for that use of memory; released with ReleaseAllocator. */
  ORT_API2_STATUS(KernelInfoGetAllocator, _In_ const OrtKernelInfo* info, _In_ OrtMemType mem_type,
                  _Outptr_ OrtAllocator** out);
  /** Gives contents of files that the model names as external data. The contents must live until the session is
   *  created. */
  ORT_API2_STATUS(AddExternalInitializersFromFilesInMemory, _In_ OrtSessionOptions* options,
                  _In_reads_(num_external_initializer_files) const ORTCHAR_T* const* external_initializer_file_names,
                  _In_reads_(num_external_initializer_files) char* const* external_initializer_file_buffer_array,
                  _In_reads_(num_external_initializer_files) const size_t* external_initializer_file_lengths,
                  size_t num_external_initializer_files);

  /* ======== Release 1.20 ======== */

  /* ---- Adapters ---- */

  /** Reads an adapter file. NULL allocator: the parameters stay in CPU memory. */
  ORT_API2_STATUS(CreateLoraAdapter, const ORTCHAR_T* adapter_file_path, _In_ OrtAllocator* allocator,
                  _Outptr_ OrtLoraAdapter** out);
  /** The same from bytes. */
  ORT_API2_STATUS(CreateLoraAdapterFromArray, _In_ const void* bytes, size_t num_bytes, _In_ OrtAllocator* allocator,
                  _Outptr_ OrtLoraAdapter** out);
  ORT_CLASS_RELEASE(LoraAdapter);
  /** Runs with these options use the adapter, which must live as long. */
  ORT_API2_STATUS(RunOptionsAddActiveLoraAdapter, _Inout_ OrtRunOptions* options, _In_ const OrtLoraAdapter* adapter);
  /** Changes settings of a session's providers while it lives; keys begin with ep.dynamic. */
  ORT_API2_STATUS(SetEpDynamicOptions, _Inout_ OrtSession* sess, _In_reads_(kv_len) const char* const* keys,
                  _In_reads_(kv_len) const char* const* values, _In_ size_t kv_len);

  /* ======== Release 1.22 ======== */

  /* ---- Models in memory ---- */

  /** For value infos that were not given to a graph. */
  ORT_CLASS_RELEASE(ValueInfo);
  /** For nodes that were not given to a graph. */
  ORT_CLASS_RELEASE(Node);
  /** For graphs that were not given to a model, and for those from Graph_GetGraphView. */
  ORT_CLASS_RELEASE(Graph);
  ORT_CLASS_RELEASE(Model);
  /** The name, borrowed. */
  ORT_API2_STATUS(GetValueInfoName, _In_ const OrtValueInfo* value_info, _Out_ const char** name);
  /** The type, borrowed. */
  ORT_API2_STATUS(GetValueInfoTypeInfo, _In_ const OrtValueInfo* value_info, _Outptr_ const OrtTypeInfo** type_info);
  /** The functions that build and change models; never NULL. */
  const OrtModelEditorApi*(ORT_API_CALL* GetModelEditorApi)(void);
  /** As CreateTensorWithDataAsOrtValue, and the tensor frees the memory through the allocator's Free in the end. */
  ORT_API2_STATUS(CreateTensorWithDataAndDeleterAsOrtValue, _In_ OrtAllocator* deleter, _In_ void* p_data,
                  size_t p_data_len, _In_ const int64_t* shape, size_t shape_len, ONNXTensorElementDataType type,
                  _Outptr_ OrtValue** out);
  /** With true, sessions that are being created with these options stop soon, with code 12. May be called from another
   *  thread. */
  ORT_API2_STATUS(SessionOptionsSetLoadCancellationFlag, _Inout_ OrtSessionOptions* options, _In_ bool cancel);
  /** The functions that compile models ahead of use; never NULL. */
  const OrtCompileApi*(ORT_API_CALL* GetCompileApi)(void);

  /* ---- Lists of keys and values ---- */

  /** An empty list. `out` receives NULL when there is no memory. */
  void(ORT_API_CALL* CreateKeyValuePairs)(_Outptr_ OrtKeyValuePairs** out);
  /** Adds copies, or replaces the value of the key. NULL or an empty key is ignored. */
  void(ORT_API_CALL* AddKeyValuePair)(_In_ OrtKeyValuePairs* kvps, _In_ const char* key, _In_ const char* value);
  /** The value of a key, borrowed; NULL when it is not in the list. */
  const char*(ORT_API_CALL* GetKeyValue)(_In_ const OrtKeyValuePairs* kvps, _In_ const char* key);
  /** All keys and values as two arrays, borrowed until the list changes. */
  void(ORT_API_CALL* GetKeyValuePairs)(_In_ const OrtKeyValuePairs* kvps, _Outptr_ const char* const** keys,
                                       _Outptr_ const char* const** values, _Out_ size_t* num_entries);
  /** Removes a key where it is in the list. */
  void(ORT_API_CALL* RemoveKeyValuePair)(_In_ OrtKeyValuePairs* kvps, _In_ const char* key);
  ORT_CLASS_RELEASE(KeyValuePairs);

  /* ---- Plugin libraries and devices ---- */

  /** Loads a plugin library under a name; its devices then are in GetEpDevices. A path that is not absolute is looked
   * for beside this library, then in the folder ortolan-1/providers there, then as the system's loader does. */
  ORT_API2_STATUS(RegisterExecutionProviderLibrary, _In_ OrtEnv* env, _In_ const char* registration_name,
                  _In_ const ORTCHAR_T* path);
  /** Unloads it. No session may use it any more. */
  ORT_API2_STATUS(UnregisterExecutionProviderLibrary, _In_ OrtEnv* env, _In_ const char* registration_name);
  /** All pairs of a provider and a device it can use; borrowed until a library is registered or unregistered. */
  ORT_API2_STATUS(GetEpDevices, _In_ const OrtEnv* env, _Outptr_ const OrtEpDevice* const** ep_devices,
                  _Out_ size_t* num_ep_devices);
  /** Adds a provider for these devices, which must all be of one provider, with settings by key. */
  ORT_API2_STATUS(SessionOptionsAppendExecutionProvider_V2, _In_ OrtSessionOptions* session_options, _In_ OrtEnv* env,
                  _In_reads_(num_ep_devices) const OrtEpDevice* const* ep_devices, _In_ size_t num_ep_devices,
                  _In_reads_(num_op_options) const char* const* ep_option_keys,
                  _In_reads_(num_op_options) const char* const* ep_option_vals, size_t num_ep_options);
  /** Lets the session choose among all devices by a rule. */
  ORT_API2_STATUS(SessionOptionsSetEpSelectionPolicy, _In_ OrtSessionOptions* session_options,
                  _In_ OrtExecutionProviderDevicePolicy policy);
  /** Lets a function choose. */
  ORT_API2_STATUS(SessionOptionsSetEpSelectionPolicyDelegate, _In_ OrtSessionOptions* session_options,
                  _In_ EpSelectionDelegate delegate, _In_opt_ void* delegate_state);
  /** What the device is. */
  OrtHardwareDeviceType(ORT_API_CALL* HardwareDevice_Type)(_In_ const OrtHardwareDevice* device);
  /** The vendor's number, on PCI the PCI one. */
  uint32_t(ORT_API_CALL* HardwareDevice_VendorId)(_In_ const OrtHardwareDevice* device);
  /** The vendor's name, borrowed. */
  const char*(ORT_API_CALL* HardwareDevice_Vendor)(_In_ const OrtHardwareDevice* device);
  /** The number of the device's model, not of the device among its like. */
  uint32_t(ORT_API_CALL* HardwareDevice_DeviceId)(_In_ const OrtHardwareDevice* device);
  /** More about the device, borrowed. */
  const OrtKeyValuePairs*(ORT_API_CALL* HardwareDevice_Metadata)(_In_ const OrtHardwareDevice* device);
  /** The name of the provider, borrowed. */
  const char*(ORT_API_CALL* EpDevice_EpName)(_In_ const OrtEpDevice* ep_device);
  /** The vendor of the provider, borrowed. */
  const char*(ORT_API_CALL* EpDevice_EpVendor)(_In_ const OrtEpDevice* ep_device);
  /** More about the provider, borrowed. */
  const OrtKeyValuePairs*(ORT_API_CALL* EpDevice_EpMetadata)(_In_ const OrtEpDevice* ep_device);
  /** The settings that the provider would use, borrowed. */
  const OrtKeyValuePairs*(ORT_API_CALL* EpDevice_EpOptions)(_In_ const OrtEpDevice* ep_device);
  /** The device, borrowed. */
  const OrtHardwareDevice*(ORT_API_CALL* EpDevice_Device)(_In_ const OrtEpDevice* ep_device);
  /** The functions for plugin libraries; never NULL. */
  const OrtEpApi*(ORT_API_CALL* GetEpApi)(void);

  /* ======== Release 1.23 ======== */

  /** Bytes of all elements of a tensor. Not for strings. */
  ORT_API2_STATUS(GetTensorSizeInBytes, _In_ const OrtValue* ort_value, _Out_ size_t* size);
  /** What the allocator counts (Limit, InUse, TotalAllocated, MaxInUse, NumAllocs, …) as a new list. */
  ORT_API2_STATUS(AllocatorGetStats, _In_ const OrtAllocator* ort_allocator, _Outptr_ OrtKeyValuePairs** out);
  /** A description of memory by device; any name. `alignment` 0 takes the default. */
  ORT_API2_STATUS(CreateMemoryInfo_V2, _In_ const char* name, _In_ enum OrtMemoryInfoDeviceType device_type,
                  _In_ uint32_t vendor_id, _In_ int32_t device_id, _In_ enum OrtDeviceMemoryType mem_type,
                  _In_ size_t alignment, enum OrtAllocatorType allocator_type, _Outptr_ OrtMemoryInfo** out);
  /** Whether the host can reach the memory. */
  ORT_API_T(OrtDeviceMemoryType, MemoryInfoGetDeviceMemType, _In_ const OrtMemoryInfo* ptr);
  /** The vendor of the device; 0 when it does not matter. */
  ORT_API_T(uint32_t, MemoryInfoGetVendorId, _In_ const OrtMemoryInfo* ptr);

  /* ---- Graphs as providers see them; everything is borrowed from the graph ---- */

  /** The node that makes the value and which of its outputs; NULL for inputs and initializers. */
  ORT_API2_STATUS(ValueInfo_GetValueProducer, _In_ const OrtValueInfo* value_info,
                  _Outptr_ const OrtNode** producer_node, _Out_opt_ size_t* producer_output_index);
  /** How many inputs of nodes use the value. */
  ORT_API2_STATUS(ValueInfo_GetValueNumConsumers, _In_ const OrtValueInfo* value_info, _Out_ size_t* num_consumers);
  /** Those nodes with the position of the input; -1 where a subgraph of the node uses it. */
  ORT_API2_STATUS(ValueInfo_GetValueConsumers, _In_ const OrtValueInfo* value_info,
                  _Out_writes_all_(num_consumers) const OrtNode** nodes,
                  _Out_writes_all_(num_consumers) int64_t* input_indices, _In_ size_t num_consumers);
  /** The tensor of an initializer; NULL for other values. */
  ORT_API2_STATUS(ValueInfo_GetInitializerValue, _In_ const OrtValueInfo* value_info,
                  _Outptr_ const OrtValue** initializer_value);
  /** Where an initializer stands in a file, as a new object; NULL for those in the model. */
  ORT_API2_STATUS(ValueInfo_GetExternalInitializerInfo, _In_ const OrtValueInfo* value_info,
                  _Outptr_result_maybenull_ OrtExternalInitializerInfo** info);
  /** Whether runs must give the value. */
  ORT_API2_STATUS(ValueInfo_IsRequiredGraphInput, _In_ const OrtValueInfo* value_info,
                  _Out_ bool* is_required_graph_input);
  /** Whether runs may give the value in place of an initializer. */
  ORT_API2_STATUS(ValueInfo_IsOptionalGraphInput, _In_ const OrtValueInfo* value_info,
                  _Out_ bool* is_optional_graph_input);
  /** Whether the graph gives the value out. */
  ORT_API2_STATUS(ValueInfo_IsGraphOutput, _In_ const OrtValueInfo* value_info, _Out_ bool* is_graph_output);
  /** Whether the value is an initializer that nothing can replace. */
  ORT_API2_STATUS(ValueInfo_IsConstantInitializer, _In_ const OrtValueInfo* value_info,
                  _Out_ bool* is_constant_initializer);
  /** Whether the value belongs to a graph around this one. */
  ORT_API2_STATUS(ValueInfo_IsFromOuterScope, _In_ const OrtValueInfo* value_info, _Out_ bool* is_from_outer_scope);
  /** The name of the graph. */
  ORT_API2_STATUS(Graph_GetName, _In_ const OrtGraph* graph, _Outptr_ const char** graph_name);
  /** The file of the model; empty when it came as bytes. */
  ORT_API2_STATUS(Graph_GetModelPath, _In_ const OrtGraph* graph, _Outptr_ const ORTCHAR_T** model_path);
  /** The version of the model format. */
  ORT_API2_STATUS(Graph_GetOnnxIRVersion, _In_ const OrtGraph* graph, _Out_ int64_t* onnx_ir_version);
  /** How many operator sets the model uses. */
  ORT_API2_STATUS(Graph_GetNumOperatorSets, _In_ const OrtGraph* graph, _Out_ size_t* num_operator_sets);
  /** Their domains and versions, into arrays of that length. */
  ORT_API2_STATUS(Graph_GetOperatorSets, _In_ const OrtGraph* graph,
                  _Out_writes_(num_operator_sets) const char** domains,
                  _Out_writes_(num_operator_sets) int64_t* opset_versions, _In_ size_t num_operator_sets);
  /** How many inputs the graph has, with initializers that are inputs too. */
  ORT_API2_STATUS(Graph_GetNumInputs, _In_ const OrtGraph* graph, _Out_ size_t* num_inputs);
  /** Those inputs, into an array of that length. */
  ORT_API2_STATUS(Graph_GetInputs, _In_ const OrtGraph* graph, _Out_writes_(num_inputs) const OrtValueInfo** inputs,
                  _In_ size_t num_inputs);
  /** How many outputs the graph has. */
  ORT_API2_STATUS(Graph_GetNumOutputs, _In_ const OrtGraph* graph, _Out_ size_t* num_outputs);
  /** Those outputs, likewise. */
  ORT_API2_STATUS(Graph_GetOutputs, _In_ const OrtGraph* graph, _Out_writes_(num_outputs) const OrtValueInfo** outputs,
                  _In_ size_t num_outputs);
  /** How many initializers the graph has. */
  ORT_API2_STATUS(Graph_GetNumInitializers, _In_ const OrtGraph* graph, _Out_ size_t* num_initializers);
  /** Those initializers, likewise. */
  ORT_API2_STATUS(Graph_GetInitializers, _In_ const OrtGraph* graph,
                  _Out_writes_(num_initializers) const OrtValueInfo** initializers, _In_ size_t num_initializers);
  /** How many nodes the graph has. */
  ORT_API2_STATUS(Graph_GetNumNodes, _In_ const OrtGraph* graph, _Out_ size_t* num_nodes);
  /** The nodes, each after those it depends on, likewise. */
  ORT_API2_STATUS(Graph_GetNodes, _In_ const OrtGraph* graph, _Out_writes_(num_nodes) const OrtNode** nodes,
                  _In_ size_t num_nodes);
  /** The node that this graph is an attribute of; NULL for a main graph. */
  ORT_API2_STATUS(Graph_GetParentNode, _In_ const OrtGraph* graph, _Outptr_result_maybenull_ const OrtNode** node);
  /** A graph of some nodes of this one, as a new object that must not outlive the source. */
  ORT_API2_STATUS(Graph_GetGraphView, _In_ const OrtGraph* src_graph, _In_ const OrtNode** nodes, _In_ size_t num_nodes,
                  _Outptr_ OrtGraph** dst_graph);
  /** A number that is unique within the graph. */
  ORT_API2_STATUS(Node_GetId, _In_ const OrtNode* node, _Out_ size_t* node_id);
  /** The name of the node; may be empty. */
  ORT_API2_STATUS(Node_GetName, _In_ const OrtNode* node, _Outptr_ const char** node_name);
  /** The type of its operator. */
  ORT_API2_STATUS(Node_GetOperatorType, _In_ const OrtNode* node, _Outptr_ const char** operator_type);
  /** The domain of its operator; empty for the standard ones. */
  ORT_API2_STATUS(Node_GetDomain, _In_ const OrtNode* node, _Outptr_ const char** domain_name);
  /** The version of the operator set that brought the operator as it is used here. */
  ORT_API2_STATUS(Node_GetSinceVersion, _In_ const OrtNode* node, _Out_ int* since_version);
  /** How many inputs the node has, left-out ones included. */
  ORT_API2_STATUS(Node_GetNumInputs, _In_ const OrtNode* node, _Out_ size_t* num_inputs);
  /** The inputs; NULL for left-out ones. */
  ORT_API2_STATUS(Node_GetInputs, _In_ const OrtNode* node, _Out_writes_(num_inputs) const OrtValueInfo** inputs,
                  _In_ size_t num_inputs);
  /** How many outputs the node has, left-out ones included. */
  ORT_API2_STATUS(Node_GetNumOutputs, _In_ const OrtNode* node, _Out_ size_t* num_outputs);
  /** The outputs; NULL for left-out ones. */
  ORT_API2_STATUS(Node_GetOutputs, _In_ const OrtNode* node, _Out_writes_(num_outputs) const OrtValueInfo** outputs,
                  _In_ size_t num_outputs);
  /** How many values of this graph the node's subgraphs use. */
  ORT_API2_STATUS(Node_GetNumImplicitInputs, _In_ const OrtNode* node, _Out_ size_t* num_implicit_inputs);
  /** Those values. */
  ORT_API2_STATUS(Node_GetImplicitInputs, _In_ const OrtNode* node,
                  _Out_writes_(num_implicit_inputs) const OrtValueInfo** implicit_inputs,
                  _In_ size_t num_implicit_inputs);
  /** How many attributes the node has. */
  ORT_API2_STATUS(Node_GetNumAttributes, _In_ const OrtNode* node, _Out_ size_t* num_attributes);
  /** The attributes. */
  ORT_API2_STATUS(Node_GetAttributes, _In_ const OrtNode* node,
                  _Out_writes_(num_attributes) const OrtOpAttr** attributes, _In_ size_t num_attributes);
  /** One attribute; NULL with code 14 when the node lacks it. */
  ORT_API2_STATUS(Node_GetAttributeByName, _In_ const OrtNode* node, _In_ const char* attribute_name,
                  _Outptr_result_maybenull_ const OrtOpAttr** attribute);
  /** The tensor of an attribute as a new value. */
  ORT_API2_STATUS(OpAttr_GetTensorAttributeAsOrtValue, _In_ const OrtOpAttr* attribute,
                  _Outptr_result_maybenull_ OrtValue** attr_tensor);
  /** The type of an attribute. */
  ORT_API2_STATUS(OpAttr_GetType, _In_ const OrtOpAttr* attribute, _Out_ OrtOpAttrType* type);
  /** The name of an attribute. */
  ORT_API2_STATUS(OpAttr_GetName, _In_ const OrtOpAttr* attribute, _Outptr_ const char** name);
  /** How many graphs are attributes of the node. */
  ORT_API2_STATUS(Node_GetNumSubgraphs, _In_ const OrtNode* node, _Out_ size_t* num_subgraphs);
  /** Those graphs, and the names of their attributes unless `attribute_names` is NULL. */
  ORT_API2_STATUS(Node_GetSubgraphs, _In_ const OrtNode* node, _Out_writes_(num_subgraphs) const OrtGraph** subgraphs,
                  _In_ size_t num_subgraphs, _Out_writes_opt_(num_subgraphs) const char** attribute_names);
  /** The graph that the node is in; NULL for a node on its own. */
  ORT_API2_STATUS(Node_GetGraph, _In_ const OrtNode* node, _Outptr_result_maybenull_ const OrtGraph** graph);
  /** The provider that runs the node; empty before that is decided. */
  ORT_API2_STATUS(Node_GetEpName, _In_ const OrtNode* node, _Outptr_result_maybenull_ const char** out);

  /* ---- Places of initializers in files ---- */

  ORT_CLASS_RELEASE(ExternalInitializerInfo);
  /** The path, relative to the model's folder; borrowed. */
  ORT_API_T(const ORTCHAR_T*, ExternalInitializerInfo_GetFilePath, _In_ const OrtExternalInitializerInfo* info);
  /** The offset of the first byte. */
  ORT_API_T(int64_t, ExternalInitializerInfo_GetFileOffset, _In_ const OrtExternalInitializerInfo* info);
  /** The number of bytes. */
  ORT_API_T(size_t, ExternalInitializerInfo_GetByteSize, _In_ const OrtExternalInitializerInfo* info);
  /** The value of an entry, borrowed; NULL when it is not there. */
  ORT_API_T(const char*, GetRunConfigEntry, _In_ const OrtRunOptions* options, _In_z_ const char* config_key);
  /** The memory of that kind on the device, borrowed; NULL when there is none. */
  ORT_API_T(const OrtMemoryInfo*, EpDevice_MemoryInfo, _In_ const OrtEpDevice* ep_device,
            _In_ OrtDeviceMemoryType memory_type);

  /* ---- Allocators, streams and copies for devices ---- */

  /** Makes the allocator that the environment shares for that memory of a device; one that is there is replaced. It is
   *  the environment's. */
  ORT_API2_STATUS(CreateSharedAllocator, _In_ OrtEnv* env, _In_ const OrtEpDevice* ep_device,
                  _In_ OrtDeviceMemoryType mem_type, _In_ OrtAllocatorType allocator_type,
                  _In_opt_ const OrtKeyValuePairs* allocator_options, _Outptr_opt_ OrtAllocator** allocator);
  /** That allocator, borrowed; NULL when there is none. */
  ORT_API2_STATUS(GetSharedAllocator, _In_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info,
                  _Outptr_result_maybenull_ OrtAllocator** allocator);
  /** Ends it. No value may use its memory any more. */
  ORT_API2_STATUS(ReleaseSharedAllocator, _In_ OrtEnv* env, _In_ const OrtEpDevice* ep_device,
                  _In_ OrtDeviceMemoryType mem_type);
  /** The elements of a tensor, borrowed, to be read. May be NULL when there are none. */
  ORT_API2_STATUS(GetTensorData, _In_ const OrtValue* value, _Outptr_ const void** out);
  /** All entries of the options as a new list. */
  ORT_API2_STATUS(GetSessionOptionsConfigEntries, _In_ const OrtSessionOptions* options,
                  _Outptr_ OrtKeyValuePairs** out);
  /** The memory in which each input is expected, borrowed from the session. */
  ORT_API2_STATUS(SessionGetMemoryInfoForInputs, _In_ const OrtSession* session,
                  _Out_writes_(num_inputs) const OrtMemoryInfo** inputs_memory_info, _In_ size_t num_inputs);
  /** The memory in which each output is made, borrowed from the session. */
  ORT_API2_STATUS(SessionGetMemoryInfoForOutputs, _In_ const OrtSession* session,
                  _Out_writes_(num_outputs) const OrtMemoryInfo** outputs_memory_info, _In_ size_t num_outputs);
  /** The device of each input, borrowed; NULL where it is the CPU without one. */
  ORT_API2_STATUS(SessionGetEpDeviceForInputs, _In_ const OrtSession* session,
                  _Out_writes_(num_inputs) const OrtEpDevice** inputs_ep_devices, _In_ size_t num_inputs);
  /** A stream of work on a device. */
  ORT_API2_STATUS(CreateSyncStreamForEpDevice, _In_ const OrtEpDevice* ep_device,
                  _In_opt_ const OrtKeyValuePairs* stream_options, _Outptr_ OrtSyncStream** stream);
  /** The native stream, borrowed. */
  ORT_API_T(void*, SyncStream_GetHandle, _In_ OrtSyncStream* stream);
  ORT_CLASS_RELEASE(SyncStream);
  /** Copies tensors one by one between devices. With a stream the copies are only put into it. */
  ORT_API2_STATUS(CopyTensors, _In_ const OrtEnv* env, _In_reads_(num_tensors) const OrtValue* const* src_tensors,
                  _In_reads_(num_tensors) OrtValue* const* dst_tensors, _In_opt_ OrtSyncStream* stream,
                  _In_ size_t num_tensors);
  /** What the model says about itself, as a new object. */
  ORT_API2_STATUS(Graph_GetModelMetadata, _In_ const OrtGraph* graph, _Outptr_ OrtModelMetadata** out);
  /** Whether a compiled model works on these devices, by the text that it carries. */
  ORT_API2_STATUS(GetModelCompatibilityForEpDevices, _In_reads_(num_ep_devices) const OrtEpDevice* const* ep_devices,
                  _In_ size_t num_ep_devices, _In_ const char* compatibility_info,
                  _Out_ OrtCompiledModelCompatibility* out_status);
  /** A place in a file, for OrtGetInitializerLocationFunc. */
  ORT_API2_STATUS(CreateExternalInitializerInfo, _In_ const ORTCHAR_T* filepath, _In_ int64_t file_offset,
                  _In_ size_t byte_size, _Outptr_ OrtExternalInitializerInfo** out);

  /* ======== Release 1.24 ======== */

  /** Whether the shape is known, at least its rank. */
  ORT_API_T(bool, TensorTypeAndShape_HasShape, _In_ const OrtTensorTypeAndShapeInfo* info);

  /* ---- For kernels: the session and the operator ---- */

  /** All entries of the session options as a new list. */
  ORT_API2_STATUS(KernelInfo_GetConfigEntries, _In_ const OrtKernelInfo* info, _Outptr_ OrtKeyValuePairs** out);
  /** The domain of the operator, copied like a string attribute. */
  ORT_API2_STATUS(KernelInfo_GetOperatorDomain, _In_ const OrtKernelInfo* info, _Out_opt_ char* out,
                  _Inout_ size_t* size);
  /** The type of the operator, likewise. */
  ORT_API2_STATUS(KernelInfo_GetOperatorType, _In_ const OrtKernelInfo* info, _Out_opt_ char* out,
                  _Inout_ size_t* size);
  /** The version of the operator set that brought the operator. */
  ORT_API2_STATUS(KernelInfo_GetOperatorSinceVersion, _In_ const OrtKernelInfo* info, _Out_ int* since_version);
  /** The functions that share memory and semaphores with graphics; never NULL. */
  const OrtInteropApi*(ORT_API_CALL* GetInteropApi)(void);
  /** The device of each output, as SessionGetEpDeviceForInputs. */
  ORT_API2_STATUS(SessionGetEpDeviceForOutputs, _In_ const OrtSession* session,
                  _Out_writes_(num_outputs) const OrtEpDevice** outputs_ep_devices, _In_ size_t num_outputs);
  /** How many devices the machine has. */
  ORT_API2_STATUS(GetNumHardwareDevices, _In_ const OrtEnv* env, _Out_ size_t* num_devices);
  /** Those devices, borrowed, into an array of that length. */
  ORT_API2_STATUS(GetHardwareDevices, _In_ const OrtEnv* env,
                  _Out_writes_(num_devices) const OrtHardwareDevice** devices, _In_ size_t num_devices);
  /** Why a provider cannot use a device, as a new object. */
  ORT_API2_STATUS(GetHardwareDeviceEpIncompatibilityDetails, _In_ const OrtEnv* env, _In_ const char* ep_name,
                  _In_ const OrtHardwareDevice* hw, _Outptr_ OrtDeviceEpIncompatibilityDetails** details);
  /** The reasons, bits of OrtDeviceEpIncompatibilityReason. */
  ORT_API2_STATUS(DeviceEpIncompatibilityDetails_GetReasonsBitmask,
                  _In_ const OrtDeviceEpIncompatibilityDetails* details, _Out_ uint32_t* reasons_bitmask);
  /** The reasons in words, borrowed; NULL when there are none. */
  ORT_API2_STATUS(DeviceEpIncompatibilityDetails_GetNotes, _In_ const OrtDeviceEpIncompatibilityDetails* details,
                  _Outptr_result_maybenull_ const char** notes);
  /** The provider's own number for it. */
  ORT_API2_STATUS(DeviceEpIncompatibilityDetails_GetErrorCode, _In_ const OrtDeviceEpIncompatibilityDetails* details,
                  _Out_ int32_t* error_code);
  ORT_CLASS_RELEASE(DeviceEpIncompatibilityDetails);
  /** The text that a compiled model carries for a provider, as a copy from the allocator; NULL when it carries none. */
  ORT_API2_STATUS(GetCompatibilityInfoFromModel, _In_ const ORTCHAR_T* model_path, _In_ const char* ep_type,
                  _Inout_ OrtAllocator* allocator, _Outptr_result_maybenull_ char** compatibility_info);
  /** The same from the bytes of a model. */
  ORT_API2_STATUS(GetCompatibilityInfoFromModelBytes, _In_reads_(model_data_length) const void* model_data,
                  _In_ size_t model_data_length, _In_ const char* ep_type, _Inout_ OrtAllocator* allocator,
                  _Outptr_result_maybenull_ char** compatibility_info);
  /** As CreateEnv, with all settings in one struct. */
  ORT_API2_STATUS(CreateEnvWithOptions, _In_ const OrtEnvCreationOptions* options, _Outptr_ OrtEnv** out);

  /* ---- Which provider runs which node ---- */

  /** The parts of the model by provider, borrowed from the session. Needs the session entry
   *  session.record_ep_graph_assignment_info. */
  ORT_API2_STATUS(Session_GetEpGraphAssignmentInfo, _In_ const OrtSession* session,
                  _Outptr_ const OrtEpAssignedSubgraph* const** ep_subgraphs, _Out_ size_t* num_ep_subgraphs);
  /** The provider of a part. */
  ORT_API2_STATUS(EpAssignedSubgraph_GetEpName, _In_ const OrtEpAssignedSubgraph* ep_subgraph,
                  _Outptr_ const char** out);
  /** The nodes of a part. */
  ORT_API2_STATUS(EpAssignedSubgraph_GetNodes, _In_ const OrtEpAssignedSubgraph* ep_subgraph,
                  _Outptr_ const OrtEpAssignedNode* const** ep_nodes, _Out_ size_t* num_ep_nodes);
  /** The name of a node; may be empty. */
  ORT_API2_STATUS(EpAssignedNode_GetName, _In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  /** The domain of its operator. */
  ORT_API2_STATUS(EpAssignedNode_GetDomain, _In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  /** The type of its operator. */
  ORT_API2_STATUS(EpAssignedNode_GetOperatorType, _In_ const OrtEpAssignedNode* ep_node, _Outptr_ const char** out);
  /** Runs with these options put device work into that stream, which must live as long. */
  ORT_API_T(void, RunOptionsSetSyncStream, _Inout_ OrtRunOptions* options, _In_ OrtSyncStream* sync_stream);
  /** Element type and shape of a tensor without a new object; the shape is borrowed from the value, NULL for rank 0. */
  ORT_API2_STATUS(GetTensorElementTypeAndShapeDataReference, _In_ const OrtValue* value,
                  _Out_ ONNXTensorElementDataType* elem_type, _Outptr_result_maybenull_ const int64_t** shape_data,
                  _Out_ size_t* shape_data_count);

  /* ======== Release 1.25 ======== */

  /** Writes a profile of runs with these options; as EnableProfiling. */
  ORT_API2_STATUS(RunOptionsEnableProfiling, _Inout_ OrtRunOptions* options, _In_ const ORTCHAR_T* profile_file_prefix);
  /** Takes back RunOptionsEnableProfiling. */
  ORT_API2_STATUS(RunOptionsDisableProfiling, _Inout_ OrtRunOptions* options);
  /** A list of strings: an array from the allocator, each string too. */
  ORT_API2_STATUS(KernelInfoGetAttributeArray_string, _In_ const OrtKernelInfo* info, _In_ const char* name,
                  _Inout_ OrtAllocator* allocator, _Outptr_result_buffer_maybenull_(*size) char*** out,
                  _Out_ size_t* size);
  /** Functions that pools of later sessions call as work is put in and carried out. */
  ORT_API2_STATUS(SetPerSessionThreadPoolCallbacks, _Inout_ OrtEnv* env,
                  _In_ const OrtThreadPoolCallbacksConfig* config);

  /* ======== Release 1.27 ======== */

  /** Whether memory is planned by shapes: 1 or 0. */
  ORT_API2_STATUS(GetMemPatternEnabled, _In_ const OrtSessionOptions* options, _Out_ int* out);
  /** Reads the execution mode. */
  ORT_API2_STATUS(GetSessionExecutionMode, _In_ const OrtSessionOptions* options, _Out_ ExecutionMode* out);
  /** Frees a recorded device graph by its number. */
  ORT_API2_STATUS(SessionReleaseCapturedGraph, _In_ OrtSession* session, _In_ int graph_annotation_id);

  /* ======== Release 1.28 ======== */

  /** A function that is not in the table yet, by name; NULL when it is not known. This library has none. */
  ORT_API_T(OrtExperimentalFnPtr, GetExperimentalFunction, _In_ const char* name);
  /** The stream that the kernel must use, borrowed; NULL on the CPU. */
  ORT_API2_STATUS(KernelContext_GetSyncStream, _In_ const OrtKernelContext* context,
                  _Outptr_result_maybenull_ OrtSyncStream** out);

  /* ======== Release 1.29 ======== */

  /** The bytes of the model that a compiled model without weights was made from. They must live as long as the
   *  sessions. */
  ORT_API2_STATUS(SessionOptionsSetWeightlessSourceModelBuffer, _Inout_ OrtSessionOptions* options,
                  _In_ const void* source_model_data, _In_ size_t source_model_data_length);

  /* ======== Release 1.30 ======== */

  /** An output whose memory is already there, borrowed; NULL when KernelContext_GetOutput has to make it. */
  ORT_API2_STATUS(KernelContext_GetPreallocatedOutput, _In_ const OrtKernelContext* context, _In_ size_t output_index,
                  _Outptr_result_maybenull_ OrtValue** output);

  /* ======== Release 1.31 ======== */

  /** Where sessions get the data of compiled nodes (EPContext) that a model names instead of holding: `read_func` is
   *  asked for each such name while a session loads, and what it gives takes the place of a file of that name. NULL
   *  takes it back. The function and `state` must live until the last session was made with the options. */
  ORT_API2_STATUS(SessionOptionsSetEpContextDataReadFunc, _Inout_ OrtSessionOptions* options,
                  _In_ OrtReadNamedBufferFunc read_func, _In_opt_ void* state);
  /** The functions for model packages. Never NULL. */
  const OrtModelPackageApi*(ORT_API_CALL* GetModelPackageApi)(void);
};

/** An operator that a program implements. Members that are newer than its version are not read. */
struct OrtCustomOp {
  /** The level of the header that the implementer compiled with; newer members are not read. */
  uint32_t version;
  /** Makes a kernel for a node; NULL is a failure. Not used where CreateKernelV2 is set. */
  void*(ORT_API_CALL* CreateKernel)(_In_ const struct OrtCustomOp* op, _In_ const OrtApi* api,
                                    _In_ const OrtKernelInfo* info);
  /** The operator type. */
  const char*(ORT_API_CALL* GetName)(_In_ const struct OrtCustomOp* op);
  /** The provider that runs it; NULL is the CPU. */
  const char*(ORT_API_CALL* GetExecutionProviderType)(_In_ const struct OrtCustomOp* op);
  /** The element type of an input; UNDEFINED accepts any. */
  ONNXTensorElementDataType(ORT_API_CALL* GetInputType)(_In_ const struct OrtCustomOp* op, _In_ size_t index);
  /** How many inputs it declares. */
  size_t(ORT_API_CALL* GetInputTypeCount)(_In_ const struct OrtCustomOp* op);
  /** The element type of an output; UNDEFINED follows the inputs. */
  ONNXTensorElementDataType(ORT_API_CALL* GetOutputType)(_In_ const struct OrtCustomOp* op, _In_ size_t index);
  /** How many outputs it declares. */
  size_t(ORT_API_CALL* GetOutputTypeCount)(_In_ const struct OrtCustomOp* op);
  /** Computes. Several threads may do so with one kernel at once. */
  void(ORT_API_CALL* KernelCompute)(_In_ void* op_kernel, _In_ OrtKernelContext* context);
  /** Frees a kernel. */
  void(ORT_API_CALL* KernelDestroy)(_In_ void* op_kernel);
  /** Whether an input may be left out or repeated. */
  OrtCustomOpInputOutputCharacteristic(ORT_API_CALL* GetInputCharacteristic)(_In_ const struct OrtCustomOp* op,
                                                                             _In_ size_t index);
  /** The same for an output. */
  OrtCustomOpInputOutputCharacteristic(ORT_API_CALL* GetOutputCharacteristic)(_In_ const struct OrtCustomOp* op,
                                                                              _In_ size_t index);
  /** Where it wants an input. Since 1.14. */
  OrtMemType(ORT_API_CALL* GetInputMemoryType)(_In_ const struct OrtCustomOp* op, _In_ size_t index);
  /** The least number of inputs where the last one is repeated. Since 1.14. */
  int(ORT_API_CALL* GetVariadicInputMinArity)(_In_ const struct OrtCustomOp* op);
  /** Whether repeated inputs all have one type. Since 1.14. */
  int(ORT_API_CALL* GetVariadicInputHomogeneity)(_In_ const struct OrtCustomOp* op);
  /** The same for outputs. Since 1.14. */
  int(ORT_API_CALL* GetVariadicOutputMinArity)(_In_ const struct OrtCustomOp* op);
  /** The same for outputs. Since 1.14. */
  int(ORT_API_CALL* GetVariadicOutputHomogeneity)(_In_ const struct OrtCustomOp* op);
  /** As CreateKernel, with a status. Optional. Since 1.16. */
  OrtStatusPtr(ORT_API_CALL* CreateKernelV2)(_In_ const struct OrtCustomOp* op, _In_ const OrtApi* api,
                                             _In_ const OrtKernelInfo* info, _Out_ void** kernel);
  /** As KernelCompute, with a status; used with CreateKernelV2. Since 1.16. */
  OrtStatusPtr(ORT_API_CALL* KernelComputeV2)(_In_ void* op_kernel, _In_ OrtKernelContext* context);
  /** Shapes of outputs from those of inputs. Optional. Since 1.17. */
  OrtStatusPtr(ORT_API_CALL* InferOutputShapeFn)(_In_ const struct OrtCustomOp* op, _In_ OrtShapeInferContext*);
  /** The first version of the operator set that has it. Optional. Since 1.17. */
  int(ORT_API_CALL* GetStartVersion)(_In_ const struct OrtCustomOp* op);
  /** The last one. Optional. Since 1.17. */
  int(ORT_API_CALL* GetEndVersion)(_In_ const struct OrtCustomOp* op);
  /** Pairs of an input and an output that may share memory; gives their number. Optional. Since 1.18. */
  size_t(ORT_API_CALL* GetMayInplace)(_Out_ int** input_index, _Out_ int** output_index);
  /** Frees the two arrays. */
  void(ORT_API_CALL* ReleaseMayInplace)(_Frees_ptr_opt_ int* input_index, _Frees_ptr_opt_ int* output_index);
  /** Pairs of an input and an output that always share memory, likewise. Since 1.18. */
  size_t(ORT_API_CALL* GetAliasMap)(_Out_ int** input_index, _Out_ int** output_index);
  /** Frees the two arrays. */
  void(ORT_API_CALL* ReleaseAliasMap)(_Frees_ptr_opt_ int* input_index, _Frees_ptr_opt_ int* output_index);
};

/** Builds models in memory and changes loaded ones. */
struct OrtModelEditorApi {
  /** The type of a tensor; `tensor_info` is copied. */
  ORT_API2_STATUS(CreateTensorTypeInfo, _In_ const OrtTensorTypeAndShapeInfo* tensor_info,
                  _Outptr_ OrtTypeInfo** type_info);
  /** The type of a sparse tensor; `tensor_info` is copied. */
  ORT_API2_STATUS(CreateSparseTensorTypeInfo, _In_ const OrtTensorTypeAndShapeInfo* tensor_info,
                  _Outptr_ OrtTypeInfo** type_info);
  /** The type of a map; the type of its values is copied. */
  ORT_API2_STATUS(CreateMapTypeInfo, ONNXTensorElementDataType map_key_type, _In_ const OrtTypeInfo* map_value_type,
                  _Outptr_ OrtTypeInfo** type_info);
  /** The type of a sequence; the type of its elements is copied. */
  ORT_API2_STATUS(CreateSequenceTypeInfo, _In_ const OrtTypeInfo* sequence_type, _Outptr_ OrtTypeInfo** type_info);
  /** The type of an optional; the type inside is copied. */
  ORT_API2_STATUS(CreateOptionalTypeInfo, _In_ const OrtTypeInfo* contained_type, _Outptr_ OrtTypeInfo** type_info);
  /** A named value of a type; both are copied. */
  ORT_API2_STATUS(CreateValueInfo, _In_ const char* name, _In_ const OrtTypeInfo* type_info,
                  _Outptr_ OrtValueInfo** value_info);
  /** A node. An empty name among inputs or outputs leaves that one out. On success the node takes over the attributes,
   *  and the array that held them holds NULL. */
  ORT_API2_STATUS(CreateNode, _In_ const char* operator_name, _In_ const char* domain_name, _In_ const char* node_name,
                  _In_reads_(input_names_len) const char* const* input_names, size_t input_names_len,
                  _In_reads_(output_names_len) const char* const* output_names, size_t output_names_len,
                  _In_reads_(attribs_len) _In_opt_ OrtOpAttr** attributes, _In_ size_t attribs_len,
                  _Outptr_ OrtNode** node);
  /** A graph without anything. */
  ORT_API2_STATUS(CreateGraph, _Outptr_ OrtGraph** graph);
  /** Sets the inputs; the graph takes them over (the array then holds NULL), and what it had is released. */
  ORT_API2_STATUS(SetGraphInputs, _Inout_ OrtGraph* graph, _In_reads_(inputs_len) _Inout_ OrtValueInfo** inputs,
                  _In_ size_t inputs_len);
  /** Sets the outputs, likewise. */
  ORT_API2_STATUS(SetGraphOutputs, _Inout_ OrtGraph* graph, _In_reads_(outputs_len) _Inout_ OrtValueInfo** outputs,
                  _In_ size_t outputs_len);
  /** Adds an initializer; on success the graph takes `tensor` over. `data_is_external` true: memory that the tensor
   *  borrows is used in place, so the caller keeps it as long as the model and its sessions; false: it is copied. */
  ORT_API2_STATUS(AddInitializerToGraph, _Inout_ OrtGraph* graph, _In_ const char* name, _Inout_ OrtValue* tensor,
                  bool data_is_external);
  /** Adds a node, which the graph takes over. */
  ORT_API2_STATUS(AddNodeToGraph, _Inout_ OrtGraph* graph, _Inout_ OrtNode* node);
  /** A model that uses these versions of operator sets. */
  ORT_API2_STATUS(CreateModel, _In_reads_(opset_entries_len) const char* const* domain_names,
                  _In_reads_(opset_entries_len) const int* opset_versions, size_t opset_entries_len,
                  _Outptr_ OrtModel** model);
  /** Sets the main graph, which the model takes over. */
  ORT_API2_STATUS(AddGraphToModel, _Inout_ OrtModel* model, _Inout_ OrtGraph* graph);
  /** As CreateSession, from such a model, which stays the caller's and is not needed afterwards. */
  ORT_API2_STATUS(CreateSessionFromModel, _In_ const OrtEnv* env, _In_ const OrtModel* model,
                  _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /** Loads a model that is to be changed before FinalizeModelEditorSession makes it ready. */
  ORT_API2_STATUS(CreateModelEditorSession, _In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path,
                  _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /** The same from the bytes of a model. */
  ORT_API2_STATUS(CreateModelEditorSessionFromArray, _In_ const OrtEnv* env, _In_ const void* model_data,
                  size_t model_data_length, _In_ const OrtSessionOptions* options, _Outptr_ OrtSession** out);
  /** The version of an operator set that the session's model uses. */
  ORT_API2_STATUS(SessionGetOpsetForDomain, _In_ const OrtSession* session, _In_ const char* domain, _Out_ int* opset);
  /** Adds nodes and initializers of a model, and takes over its inputs and outputs where it has some. The caller still
   *  releases the model. */
  ORT_API2_STATUS(ApplyModelToModelEditorSession, _Inout_ OrtSession* session, _In_ OrtModel* model);
  /** Makes the session ready to run. NULL options are those it was created with. */
  ORT_API2_STATUS(FinalizeModelEditorSession, _Inout_ OrtSession* session, _In_ const OrtSessionOptions* options,
                  _In_opt_ OrtPrepackedWeightsContainer* prepacked_weights_container);
};

/** Compiles models for providers ahead of use. */
struct OrtCompileApi {
  ORT_CLASS_RELEASE(ModelCompilationOptions);
  /** What to compile and where to, with the providers of these session options, which are copied. */
  ORT_API2_STATUS(CreateModelCompilationOptionsFromSessionOptions, _In_ const OrtEnv* env,
                  _In_ const OrtSessionOptions* session_options, _Outptr_ OrtModelCompilationOptions** out);
  /** The model file to compile. */
  ORT_API2_STATUS(ModelCompilationOptions_SetInputModelPath, _In_ OrtModelCompilationOptions* model_compile_options,
                  _In_ const ORTCHAR_T* input_model_path);
  /** The bytes of the model to compile; they must live until CompileModel returns. */
  ORT_API2_STATUS(ModelCompilationOptions_SetInputModelFromBuffer,
                  _In_ OrtModelCompilationOptions* model_compile_options, _In_ const void* input_model_data,
                  size_t input_model_data_size);
  /** The file to write. */
  ORT_API2_STATUS(ModelCompilationOptions_SetOutputModelPath, _In_ OrtModelCompilationOptions* model_compile_options,
                  _In_ const ORTCHAR_T* output_model_path);
  /** A file beside it for initializers from that size in bytes. */
  ORT_API2_STATUS(ModelCompilationOptions_SetOutputModelExternalInitializersFile,
                  _In_ OrtModelCompilationOptions* model_compile_options,
                  _In_ const ORTCHAR_T* external_initializers_file_path, size_t external_initializers_size_threshold);
  /** Writes to memory from the allocator instead of to a file; CompileModel fills the two places. */
  ORT_API2_STATUS(ModelCompilationOptions_SetOutputModelBuffer, _In_ OrtModelCompilationOptions* model_compile_options,
                  _Inout_ OrtAllocator* allocator, _Outptr_ void** output_model_buffer_ptr,
                  _Out_ size_t* output_model_buffer_size_ptr);
  /** Whether compiled data stands in the model or in files beside it. */
  ORT_API2_STATUS(ModelCompilationOptions_SetEpContextEmbedMode, _In_ OrtModelCompilationOptions* model_compile_options,
                  bool embed_ep_context_in_model);
  /** Compiles. */
  ORT_API2_STATUS(CompileModel, _In_ const OrtEnv* env, _In_ const OrtModelCompilationOptions* model_options);
  /** Bits of OrtCompileApiFlags. */
  ORT_API2_STATUS(ModelCompilationOptions_SetFlags, _In_ OrtModelCompilationOptions* model_compile_options,
                  uint32_t flags);
  /** Folder and model name from which providers make names of files. */
  ORT_API2_STATUS(ModelCompilationOptions_SetEpContextBinaryInformation,
                  _In_ OrtModelCompilationOptions* model_compile_options, _In_ const ORTCHAR_T* output_directory,
                  _In_ const ORTCHAR_T* model_name);
  /** How far the graph is rewritten first; not at all by default. */
  ORT_API2_STATUS(ModelCompilationOptions_SetGraphOptimizationLevel,
                  _In_ OrtModelCompilationOptions* model_compile_options,
                  _In_ GraphOptimizationLevel graph_optimization_level);
  /** Gives the compiled model to a function piece by piece. */
  ORT_API2_STATUS(ModelCompilationOptions_SetOutputModelWriteFunc,
                  _In_ OrtModelCompilationOptions* model_compile_options, _In_ OrtWriteBufferFunc write_func,
                  _In_ void* state);
  /** A function that decides for each initializer whether it stands in the model or in a file. */
  ORT_API2_STATUS(ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc,
                  _In_ OrtModelCompilationOptions* model_compile_options,
                  _In_ OrtGetInitializerLocationFunc get_initializer_location_func, _In_ void* state);
  /** A model in memory to compile; it must live until CompileModel returns. */
  ORT_API2_STATUS(ModelCompilationOptions_SetInputModel, _In_ OrtModelCompilationOptions* model_compile_options,
                  _In_ const OrtModel* model);
  /** Whether compiled data may leave out weights, which then stay in the source model. */
  ORT_API2_STATUS(ModelCompilationOptions_SetWeightlessEnabled, _In_ OrtModelCompilationOptions* model_compile_options,
                  _In_ bool use_weightless);
};

/** Shares memory and semaphores with graphics libraries. */
struct OrtInteropApi {
  /** What imports memory and semaphores of a graphics library to a device; NULL with success when its provider has no
   *  such thing. */
  ORT_API2_STATUS(CreateExternalResourceImporterForDevice, _In_ const OrtEpDevice* ep_device,
                  _Outptr_result_maybenull_ OrtExternalResourceImporter** out_importer);
  ORT_CLASS_RELEASE(ExternalResourceImporter);
  /** Whether it takes that kind of memory. */
  ORT_API2_STATUS(CanImportMemory, _In_ const OrtExternalResourceImporter* importer,
                  _In_ OrtExternalMemoryHandleType handle_type, _Out_ bool* out_supported);
  /** Imports memory. The native handle stays the caller's. */
  ORT_API2_STATUS(ImportMemory, _In_ OrtExternalResourceImporter* importer,
                  _In_ const OrtExternalMemoryDescriptor* desc, _Outptr_ OrtExternalMemoryHandle** out_handle);
  ORT_CLASS_RELEASE(ExternalMemoryHandle);
  /** A tensor over imported memory, which must outlive it. */
  ORT_API2_STATUS(CreateTensorFromMemory, _In_ OrtExternalResourceImporter* importer,
                  _In_ const OrtExternalMemoryHandle* mem_handle, _In_ const OrtExternalTensorDescriptor* tensor_desc,
                  _Outptr_ OrtValue** out_tensor);
  /** Whether it takes that kind of semaphore. */
  ORT_API2_STATUS(CanImportSemaphore, _In_ const OrtExternalResourceImporter* importer,
                  _In_ OrtExternalSemaphoreType type, _Out_ bool* out_supported);
  /** Imports a semaphore. The native handle stays the caller's. */
  ORT_API2_STATUS(ImportSemaphore, _In_ OrtExternalResourceImporter* importer,
                  _In_ const OrtExternalSemaphoreDescriptor* desc, _Outptr_ OrtExternalSemaphoreHandle** out_handle);
  ORT_CLASS_RELEASE(ExternalSemaphoreHandle);
  /** Makes the stream wait until the semaphore has reached the value. */
  ORT_API2_STATUS(WaitSemaphore, _In_ OrtExternalResourceImporter* importer,
                  _In_ OrtExternalSemaphoreHandle* semaphore_handle, _In_ OrtSyncStream* stream, _In_ uint64_t value);
  /** Makes the stream raise the semaphore to the value when it gets there. */
  ORT_API2_STATUS(SignalSemaphore, _In_ OrtExternalResourceImporter* importer,
                  _In_ OrtExternalSemaphoreHandle* semaphore_handle, _In_ OrtSyncStream* stream, _In_ uint64_t value);
  /** Makes a device ready to share with a graphics library. */
  ORT_API2_STATUS(InitGraphicsInteropForEpDevice, _In_ const OrtEpDevice* ep_device,
                  _In_ const OrtGraphicsInteropConfig* config);
  /** Takes that back. */
  ORT_API2_STATUS(DeinitGraphicsInteropForEpDevice, _In_ const OrtEpDevice* ep_device);
};

/** Model packages: folders with a manifest.json, whose components are models in variants for different providers.
 *  Errors in a package are of the code ORT_FAIL; names that it does not have are ORT_INVALID_ARGUMENT. Names and paths
 *  belong to the object that gave them, but for those of ModelPackage_ResolveStringRef. Objects may be used by several
 *  threads at once, and may be released in any order. */
struct OrtModelPackageApi {
  /** Remembers the providers and devices of the session options, or those that their selection policy finds, in order;
   *  where there are none, the CPU's. */
  ORT_API2_STATUS(CreateModelPackageOptionsFromSessionOptions, _In_ const OrtEnv* env,
                  _In_ const OrtSessionOptions* session_options, _Outptr_ OrtModelPackageOptions** out);
  ORT_CLASS_RELEASE(ModelPackageOptions);
  /** Reads and checks the package in a folder; models are not opened. */
  ORT_API2_STATUS(CreateModelPackageContext, _In_ const ORTCHAR_T* package_root, _Outptr_ OrtModelPackageContext** out);
  ORT_CLASS_RELEASE(ModelPackageContext);
  /** The first number of the manifest's version of the format. */
  ORT_API2_STATUS(ModelPackage_GetSchemaVersion, _In_ const OrtModelPackageContext* context,
                  _Out_ int64_t* out_version);
  /** How many components there are. */
  ORT_API2_STATUS(ModelPackage_GetComponentCount, _In_ const OrtModelPackageContext* context, _Out_ size_t* out_count);
  /** Their names, in the manifest's order. */
  ORT_API2_STATUS(ModelPackage_GetComponentNames, _In_ const OrtModelPackageContext* context,
                  _Outptr_result_buffer_maybenull_(*out_count) const char* const** out_names, _Out_ size_t* out_count);
  /** How many variants a component has. */
  ORT_API2_STATUS(ModelPackage_GetVariantCount, _In_ const OrtModelPackageContext* context,
                  _In_ const char* component_name, _Out_ size_t* out_count);
  /** Their names, in the component's order. */
  ORT_API2_STATUS(ModelPackage_GetVariantNames, _In_ const OrtModelPackageContext* context,
                  _In_ const char* component_name,
                  _Outptr_result_buffer_maybenull_(*out_count) const char* const** out_variant_names,
                  _Out_ size_t* out_count);
  /** The provider that a variant is for; NULL when it names none. */
  ORT_API2_STATUS(ModelPackage_GetVariantEpName, _In_ const OrtModelPackageContext* context,
                  _In_ const char* component_name, _In_ const char* variant_name,
                  _Outptr_result_maybenull_ const char** out_ep);
  /** Where a path that the package names leads: "sha256:HEX/part" into a shared asset, anything else from `base_dir`,
   *  or from the package's folder where that is NULL or empty. In a portable package the path must stay beneath that
   *  folder, links followed. `must_exist`: fail unless something is there. The text is this thread's until it calls
   *  again. */
  ORT_API2_STATUS(ModelPackage_ResolveStringRef, _In_ const OrtModelPackageContext* context,
                  _In_opt_ const char* base_dir, _In_ const char* input, _In_ int must_exist,
                  _Outptr_ const char** out_path);
  /** Chooses the variant of a component that is for the first provider of `options` and a kind of its devices; among
   *  several the one that the provider says it supports best, then the first. */
  ORT_API2_STATUS(SelectComponent, _In_ const OrtModelPackageContext* context, _In_ const char* component_name,
                  _In_ const OrtModelPackageOptions* options, _Outptr_ OrtModelPackageComponentContext** out);
  ORT_CLASS_RELEASE(ModelPackageComponentContext);
  /** The name of the variant. */
  ORT_API2_STATUS(ModelPackageComponent_GetSelectedVariantName, _In_ const OrtModelPackageComponentContext* context,
                  _Outptr_ const char** out_name);
  /** The folder of the variant; empty when it has none. */
  ORT_API2_STATUS(ModelPackageComponent_GetSelectedVariantFolderPath,
                  _In_ const OrtModelPackageComponentContext* context, _Outptr_ const ORTCHAR_T** folder_path);
  /** A session of the variant's model. With NULL options it runs on the provider that the variant was chosen for, with
   *  the variant's session and provider options; with the caller's, only those of the variant's entries that are paths
   *  are added, where the caller has none of that key. */
  ORT_API2_STATUS(CreateSession, _In_ const OrtEnv* env, _In_ const OrtModelPackageComponentContext* context,
                  _In_opt_ const OrtSessionOptions* session_options, _Outptr_ OrtSession** session);
};

/* ==== Exported functions ==== */

/** The way in: the one function that a program needs to find by name. Never NULL. */
ORT_EXPORT const OrtApiBase* ORT_API_CALL OrtGetApiBase(void) NO_EXCEPTION;

/** Adds the execution provider to the options. One that this library lacks gives a status that says so. */
ORT_API_STATUS(OrtSessionOptionsAppendExecutionProvider_CPU, _In_ OrtSessionOptions* options, int use_arena);
ORT_API_STATUS(OrtSessionOptionsAppendExecutionProvider_CUDA, _In_ OrtSessionOptions* options, int device_id);
ORT_API_STATUS(OrtSessionOptionsAppendExecutionProvider_ROCM, _In_ OrtSessionOptions* options, int device_id);
ORT_API_STATUS(OrtSessionOptionsAppendExecutionProvider_MIGraphX, _In_ OrtSessionOptions* options, int device_id);
ORT_API_STATUS(OrtSessionOptionsAppendExecutionProvider_Dnnl, _In_ OrtSessionOptions* options, int use_arena);
ORT_API_STATUS(OrtSessionOptionsAppendExecutionProvider_Tensorrt, _In_ OrtSessionOptions* options, int device_id);

#ifdef __cplusplus
}
#endif

#include "onnxruntime_ep_c_api.h"
