/** The flat C interface of Ortolan: the everyday path as plain exported functions, for programs that link the library
 * and for wrapper generators. It may be used beside onnxruntime_c_api.h; objects of one are objects of the other.
 *
 *  A function OrtX without a comment is slot X of the function table OrtApi: the same code with the same contract,
 * which onnxruntime_c_api.h states, as it states the rules on ownership, NULL, strings and threads for all.
 */
#pragma once

#include "onnxruntime_c_api.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ==== What the library has ==== */

/** One slot of a function table, as OrtApiCoverage lists it. Strings live as long as the library. */
typedef struct OrtApiSlot {
  const char* table; /**< "OrtApi", "OrtEpApi", … */
  const char* name;
  const char* since; /**< the release that added the slot, as "1.20" */
  uint32_t slot;     /**< position in its table, from 0 */
  int implemented;   /**< 0: calling it gives ORT_NOT_IMPLEMENTED, or zero where it returns no status */
} OrtApiSlot;

/** Every slot of every function table, in table and slot order; `count` receives their number. */
ORT_EXPORT const OrtApiSlot* ORT_API_CALL OrtApiCoverage(_Out_ size_t* count) NO_EXCEPTION;

/** An input or output of an operator. */
typedef struct OrtOperatorValue {
  const char* name;
  const char* parameter; /**< its type parameter, as "T"; "" where its type is fixed or not declared */
  const char* types; /**< what it may be, parted by '|', as "tensor(float)|seq(tensor(int8))"; "" when not limited */
} OrtOperatorValue;

/** The inputs or the outputs of an operator. */
typedef struct OrtOperatorSide {
  const OrtOperatorValue* values; /**< the last one stands for all that follow it where `max` is greater than `count` */
  size_t count;
  size_t min; /**< how many a node has at least */
  size_t max; /**< and at most; SIZE_MAX: any number */
} OrtOperatorSide;

/** An operator in a range of versions of its domain in which nothing of this changes. Types are those that the
 *  operator's schema accepts, and where a provider of the library has kernels, one of these. */
typedef struct OrtOperatorForm {
  const char* domain; /**< "ai.onnx", "com.microsoft", … */
  const char* name;
  const char* provider; /**< the built-in provider that has kernels, as "CPUExecutionProvider"; "" for none */
  int since_version;
  int until_version; /**< the last version; 0: there is no later form */
  int deprecated;    /**< not 0: the domain has given the operator up in these versions */
  OrtOperatorSide inputs;
  OrtOperatorSide outputs;
} OrtOperatorForm;

/** Every operator that the library knows, by domain, name and version; `count` receives the number of forms. All of it
 *  lives as long as the library. */
ORT_EXPORT const OrtOperatorForm* ORT_API_CALL OrtOperatorCatalog(_Out_ size_t* count) NO_EXCEPTION;

/** The release of ONNX Runtime that this library stands for, as "1.31.0". */
ORT_EXPORT const char* ORT_API_CALL OrtGetVersionString(void) NO_EXCEPTION;

/* ==== Where nodes run ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtSession_GetEpGraphAssignmentInfo(
    _In_ const OrtSession* session, _Outptr_ const OrtEpAssignedSubgraph* const** ep_subgraphs,
    _Out_ size_t* num_ep_subgraphs) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedSubgraph_GetEpName(_In_ const OrtEpAssignedSubgraph* ep_subgraph,
                                                                   _Outptr_ const char** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedSubgraph_GetNodes(_In_ const OrtEpAssignedSubgraph* ep_subgraph,
                                                                  _Outptr_ const OrtEpAssignedNode* const** ep_nodes,
                                                                  _Out_ size_t* num_ep_nodes) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedNode_GetName(_In_ const OrtEpAssignedNode* ep_node,
                                                             _Outptr_ const char** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedNode_GetDomain(_In_ const OrtEpAssignedNode* ep_node,
                                                               _Outptr_ const char** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedNode_GetOperatorType(_In_ const OrtEpAssignedNode* ep_node,
                                                                     _Outptr_ const char** out) NO_EXCEPTION;
/** How many execution providers were asked before the one that runs the node, and left it. The node comes from
 *  EpAssignedSubgraph_GetNodes. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetDeclineCount(_In_ const OrtEpAssignedNode* node,
                                                                    _Out_ size_t* out) NO_EXCEPTION;
/** The provider of such a decline, in the order they were asked, and its reason in words, or that it gives none. Both
 *  live as long as the session. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetDecline(_In_ const OrtEpAssignedNode* node, size_t index,
                                                               _Outptr_ const char** provider,
                                                               _Outptr_ const char** reason) NO_EXCEPTION;
/** The names of the values that the node reads (those that its subgraphs capture last) and makes. At most `room` are
 *  written; `count` receives how many there are, so a first call may have room 0 and NULL. They live as long as the
 *  session. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetInputs(_In_ const OrtEpAssignedNode* node,
                                                              _Out_writes_(room) const char** names, size_t room,
                                                              _Out_ size_t* count) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEpAssignedNodeGetOutputs(_In_ const OrtEpAssignedNode* node,
                                                               _Out_writes_(room) const char** names, size_t room,
                                                               _Out_ size_t* count) NO_EXCEPTION;
/** How many values a run of the session copies between the memories of its providers. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetCopyCount(_In_ const OrtSession* session,
                                                          _Out_ size_t* out) NO_EXCEPTION;
/** One of them: the value's name, the provider that makes it and the one that needs it elsewhere. All live as long as
 *  the session. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetCopy(_In_ const OrtSession* session, size_t index,
                                                     _Outptr_ const char** value, _Outptr_ const char** from,
                                                     _Outptr_ const char** to) NO_EXCEPTION;

/* ==== Providers of every session ==== */

/** Adds an execution provider, in priority order, for every session of the process that is made later and whose options
 *  neither name providers nor set a policy or function that chooses them. The name is "CPU", or that of a provider in a
 *  library which then is registered (GetEpDevices lists them) or beside ours. `keys` and `values` are settings, the
 *  session entries "ep.<name in lower case>.<key>" where the session does not set these itself. With `required` not 0
 *  a session fails where the provider cannot be made; with 0 it goes on without it and writes a warning to the log. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEnvAppendExecutionProvider(_Inout_ OrtEnv* env, _In_ const char* provider_name,
                                                                 _In_reads_(count) const char* const* keys,
                                                                 _In_reads_(count) const char* const* values,
                                                                 size_t count, int required) NO_EXCEPTION;
/** Removes all of them; sessions that exist keep theirs. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEnvClearExecutionProviders(_Inout_ OrtEnv* env) NO_EXCEPTION;

/* ==== Statuses ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateStatus(OrtErrorCode code, _In_ const char* msg) NO_EXCEPTION;
ORT_EXPORT OrtErrorCode ORT_API_CALL OrtGetErrorCode(_In_ const OrtStatus* status) NO_EXCEPTION;
ORT_EXPORT const char* ORT_API_CALL OrtGetErrorMessage(_In_ const OrtStatus* status) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseStatus(_Frees_ptr_opt_ OrtStatus* input) NO_EXCEPTION;

/* ==== The library and its environment ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateEnv(OrtLoggingLevel log_severity_level, _In_ const char* logid,
                                                _Outptr_ OrtEnv** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateEnvWithCustomLogger(_In_ OrtLoggingFunction logging_function,
                                                                _In_opt_ void* logger_param,
                                                                _In_ OrtLoggingLevel log_severity_level,
                                                                _In_ const char* logid,
                                                                _Outptr_ OrtEnv** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateEnvWithGlobalThreadPools(OrtLoggingLevel log_severity_level,
                                                                     _In_ const char* logid,
                                                                     _In_ const OrtThreadingOptions* tp_options,
                                                                     _Outptr_ OrtEnv** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateEnvWithCustomLoggerAndGlobalThreadPools(
    OrtLoggingFunction logging_function, _In_opt_ void* logger_param, OrtLoggingLevel log_severity_level,
    _In_ const char* logid, _In_ const struct OrtThreadingOptions* tp_options, _Outptr_ OrtEnv** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseEnv(_Frees_ptr_opt_ OrtEnv* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtUpdateEnvWithCustomLogLevel(_In_ OrtEnv* ort_env,
                                                                  OrtLoggingLevel log_severity_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetLanguageProjection(_In_ const OrtEnv* ort_env,
                                                            _In_ OrtLanguageProjection projection) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateThreadingOptions(_Outptr_ OrtThreadingOptions** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetGlobalIntraOpNumThreads(_Inout_ OrtThreadingOptions* tp_options,
                                                                 int intra_op_num_threads) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetGlobalInterOpNumThreads(_Inout_ OrtThreadingOptions* tp_options,
                                                                 int inter_op_num_threads) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetGlobalSpinControl(_Inout_ OrtThreadingOptions* tp_options,
                                                           int allow_spinning) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetGlobalDenormalAsZero(_Inout_ OrtThreadingOptions* tp_options) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseThreadingOptions(_Frees_ptr_opt_ OrtThreadingOptions* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetAvailableProviders(_Outptr_ char*** out_ptr,
                                                            _Out_ int* provider_length) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtReleaseAvailableProviders(_In_ char** ptr,
                                                                _In_ int providers_length) NO_EXCEPTION;
ORT_EXPORT const char* ORT_API_CALL OrtGetBuildInfoString(void) NO_EXCEPTION;

/* ==== Session options ==== */

/* OrtCreateSessionOptions stands with the early form below. */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCloneSessionOptions(_In_ const OrtSessionOptions* in_options,
                                                          _Outptr_ OrtSessionOptions** out_options) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseSessionOptions(_Frees_ptr_opt_ OrtSessionOptions* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetOptimizedModelFilePath(
    _Inout_ OrtSessionOptions* options, _In_ const ORTCHAR_T* optimized_model_filepath) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetSessionExecutionMode(_Inout_ OrtSessionOptions* options,
                                                              ExecutionMode execution_mode) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEnableProfiling(_Inout_ OrtSessionOptions* options,
                                                      _In_ const ORTCHAR_T* profile_file_prefix) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtDisableProfiling(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEnableMemPattern(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtDisableMemPattern(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEnableCpuMemArena(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtDisableCpuMemArena(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetSessionLogId(_Inout_ OrtSessionOptions* options,
                                                      const char* logid) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetSessionLogVerbosityLevel(_Inout_ OrtSessionOptions* options,
                                                                  int session_log_verbosity_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetSessionLogSeverityLevel(_Inout_ OrtSessionOptions* options,
                                                                 int session_log_severity_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetUserLoggingFunction(_Inout_ OrtSessionOptions* options,
                                                             _In_ OrtLoggingFunction user_logging_function,
                                                             _In_opt_ void* user_logging_param) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetSessionGraphOptimizationLevel(
    _Inout_ OrtSessionOptions* options, GraphOptimizationLevel graph_optimization_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetIntraOpNumThreads(_Inout_ OrtSessionOptions* options,
                                                           int intra_op_num_threads) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetInterOpNumThreads(_Inout_ OrtSessionOptions* options,
                                                           int inter_op_num_threads) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtDisablePerSessionThreads(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetDeterministicCompute(_Inout_ OrtSessionOptions* options,
                                                              bool value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAddSessionConfigEntry(_Inout_ OrtSessionOptions* options,
                                                            _In_z_ const char* config_key,
                                                            _In_z_ const char* config_value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtHasSessionConfigEntry(_In_ const OrtSessionOptions* options,
                                                            _In_z_ const char* config_key, _Out_ int* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSessionConfigEntry(_In_ const OrtSessionOptions* options,
                                                            _In_z_ const char* config_key, _Out_ char* config_value,
                                                            _Inout_ size_t* size) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAddFreeDimensionOverride(_Inout_ OrtSessionOptions* options,
                                                               _In_ const char* dim_denotation,
                                                               _In_ int64_t dim_value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAddFreeDimensionOverrideByName(_Inout_ OrtSessionOptions* options,
                                                                     _In_ const char* dim_name,
                                                                     _In_ int64_t dim_value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAddInitializer(_Inout_ OrtSessionOptions* options, _In_z_ const char* name,
                                                     _In_ const OrtValue* val) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAddExternalInitializers(
    _In_ OrtSessionOptions* options, _In_reads_(num_initializers) const char* const* initializer_names,
    _In_reads_(num_initializers) const OrtValue* const* initializers, size_t num_initializers) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAddExternalInitializersFromFilesInMemory(
    _In_ OrtSessionOptions* options,
    _In_reads_(num_external_initializer_files) const ORTCHAR_T* const* external_initializer_file_names,
    _In_reads_(num_external_initializer_files) char* const* external_initializer_file_buffer_array,
    _In_reads_(num_external_initializer_files) const size_t* external_initializer_file_lengths,
    size_t num_external_initializer_files) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRegisterCustomOpsLibrary_V2(_Inout_ OrtSessionOptions* options,
                                                                  _In_ const ORTCHAR_T* library_name) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsSetLoadCancellationFlag(_Inout_ OrtSessionOptions* options,
                                                                            _In_ bool cancel) NO_EXCEPTION;

/* ==== Execution providers and devices ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtRegisterExecutionProviderLibrary(_In_ OrtEnv* env,
                                                                       _In_ const char* registration_name,
                                                                       _In_ const ORTCHAR_T* path) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL
OrtUnregisterExecutionProviderLibrary(_In_ OrtEnv* env, _In_ const char* registration_name) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetEpDevices(_In_ const OrtEnv* env,
                                                   _Outptr_ const OrtEpDevice* const** ep_devices,
                                                   _Out_ size_t* num_ep_devices) NO_EXCEPTION;
ORT_EXPORT const char* ORT_API_CALL OrtEpDevice_EpName(_In_ const OrtEpDevice* ep_device) NO_EXCEPTION;
ORT_EXPORT const char* ORT_API_CALL OrtEpDevice_EpVendor(_In_ const OrtEpDevice* ep_device) NO_EXCEPTION;
ORT_EXPORT const OrtKeyValuePairs* ORT_API_CALL OrtEpDevice_EpMetadata(_In_ const OrtEpDevice* ep_device) NO_EXCEPTION;
ORT_EXPORT const OrtKeyValuePairs* ORT_API_CALL OrtEpDevice_EpOptions(_In_ const OrtEpDevice* ep_device) NO_EXCEPTION;
ORT_EXPORT const OrtHardwareDevice* ORT_API_CALL OrtEpDevice_Device(_In_ const OrtEpDevice* ep_device) NO_EXCEPTION;
ORT_EXPORT OrtHardwareDeviceType ORT_API_CALL OrtHardwareDevice_Type(_In_ const OrtHardwareDevice* device) NO_EXCEPTION;
ORT_EXPORT uint32_t ORT_API_CALL OrtHardwareDevice_VendorId(_In_ const OrtHardwareDevice* device) NO_EXCEPTION;
ORT_EXPORT const char* ORT_API_CALL OrtHardwareDevice_Vendor(_In_ const OrtHardwareDevice* device) NO_EXCEPTION;
ORT_EXPORT uint32_t ORT_API_CALL OrtHardwareDevice_DeviceId(_In_ const OrtHardwareDevice* device) NO_EXCEPTION;
ORT_EXPORT const OrtKeyValuePairs* ORT_API_CALL OrtHardwareDevice_Metadata(_In_ const OrtHardwareDevice* device)
    NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider_V2(
    _In_ OrtSessionOptions* session_options, _In_ OrtEnv* env,
    _In_reads_(num_ep_devices) const OrtEpDevice* const* ep_devices, _In_ size_t num_ep_devices,
    _In_reads_(num_op_options) const char* const* ep_option_keys,
    _In_reads_(num_op_options) const char* const* ep_option_vals, size_t num_ep_options) NO_EXCEPTION;
ORT_EXPORT const OrtMemoryInfo* ORT_API_CALL OrtEpDevice_MemoryInfo(_In_ const OrtEpDevice* ep_device,
                                                                    _In_ OrtDeviceMemoryType memory_type) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsSetEpSelectionPolicy(
    _In_ OrtSessionOptions* session_options, _In_ OrtExecutionProviderDevicePolicy policy) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtCreateKeyValuePairs(_Outptr_ OrtKeyValuePairs** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtAddKeyValuePair(_In_ OrtKeyValuePairs* kvps, _In_ const char* key,
                                                _In_ const char* value) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseKeyValuePairs(_Frees_ptr_opt_ OrtKeyValuePairs* input) NO_EXCEPTION;
ORT_EXPORT const char* ORT_API_CALL OrtGetKeyValue(_In_ const OrtKeyValuePairs* kvps,
                                                   _In_ const char* key) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtGetKeyValuePairs(_In_ const OrtKeyValuePairs* kvps, _Outptr_ const char* const** keys,
                                                 _Outptr_ const char* const** values,
                                                 _Out_ size_t* num_entries) NO_EXCEPTION;

/* ==== Sessions ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateSession(_In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path,
                                                    _In_ const OrtSessionOptions* options,
                                                    _Outptr_ OrtSession** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateSessionFromArray(_In_ const OrtEnv* env, _In_ const void* model_data,
                                                             size_t model_data_length,
                                                             _In_ const OrtSessionOptions* options,
                                                             _Outptr_ OrtSession** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseSession(_Frees_ptr_opt_ OrtSession* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetInputCount(_In_ const OrtSession* session,
                                                           _Out_ size_t* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetOutputCount(_In_ const OrtSession* session,
                                                            _Out_ size_t* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetOverridableInitializerCount(_In_ const OrtSession* session,
                                                                            _Out_ size_t* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetInputName(_In_ const OrtSession* session, size_t index,
                                                          _Inout_ OrtAllocator* allocator,
                                                          _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetOutputName(_In_ const OrtSession* session, size_t index,
                                                           _Inout_ OrtAllocator* allocator,
                                                           _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetOverridableInitializerName(_In_ const OrtSession* session, size_t index,
                                                                           _Inout_ OrtAllocator* allocator,
                                                                           _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetInputTypeInfo(_In_ const OrtSession* session, size_t index,
                                                              _Outptr_ OrtTypeInfo** type_info) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetOutputTypeInfo(_In_ const OrtSession* session, size_t index,
                                                               _Outptr_ OrtTypeInfo** type_info) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetOverridableInitializerTypeInfo(
    _In_ const OrtSession* session, size_t index, _Outptr_ OrtTypeInfo** type_info) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetMemoryInfoForInputs(_In_ const OrtSession* session,
                                                                    _Out_writes_(num_inputs)
                                                                        const OrtMemoryInfo** inputs_memory_info,
                                                                    _In_ size_t num_inputs) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetMemoryInfoForOutputs(_In_ const OrtSession* session,
                                                                     _Out_writes_(num_outputs)
                                                                         const OrtMemoryInfo** outputs_memory_info,
                                                                     _In_ size_t num_outputs) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetModelMetadata(_In_ const OrtSession* session,
                                                              _Outptr_ OrtModelMetadata** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionEndProfiling(_In_ OrtSession* session, _Inout_ OrtAllocator* allocator,
                                                          _Outptr_ char** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionGetProfilingStartTimeNs(_In_ const OrtSession* session,
                                                                     _Outptr_ uint64_t* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreatePrepackedWeightsContainer(_Outptr_ OrtPrepackedWeightsContainer** out)
    NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleasePrepackedWeightsContainer(_Frees_ptr_opt_ OrtPrepackedWeightsContainer* input)
    NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateSessionWithPrepackedWeightsContainer(
    _In_ const OrtEnv* env, _In_ const ORTCHAR_T* model_path, _In_ const OrtSessionOptions* options,
    _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container, _Outptr_ OrtSession** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateSessionFromArrayWithPrepackedWeightsContainer(
    _In_ const OrtEnv* env, _In_ const void* model_data, size_t model_data_length,
    _In_ const OrtSessionOptions* options, _Inout_ OrtPrepackedWeightsContainer* prepacked_weights_container,
    _Outptr_ OrtSession** out) NO_EXCEPTION;

/* ==== Model metadata ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtModelMetadataGetProducerName(_In_ const OrtModelMetadata* model_metadata,
                                                                   _Inout_ OrtAllocator* allocator,
                                                                   _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtModelMetadataGetGraphName(_In_ const OrtModelMetadata* model_metadata,
                                                                _Inout_ OrtAllocator* allocator,
                                                                _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtModelMetadataGetGraphDescription(_In_ const OrtModelMetadata* model_metadata,
                                                                       _Inout_ OrtAllocator* allocator,
                                                                       _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtModelMetadataGetDomain(_In_ const OrtModelMetadata* model_metadata,
                                                             _Inout_ OrtAllocator* allocator,
                                                             _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtModelMetadataGetDescription(_In_ const OrtModelMetadata* model_metadata,
                                                                  _Inout_ OrtAllocator* allocator,
                                                                  _Outptr_ char** value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtModelMetadataGetVersion(_In_ const OrtModelMetadata* model_metadata,
                                                              _Out_ int64_t* value) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtModelMetadataGetCustomMetadataMapKeys(
    _In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator,
    _Outptr_result_buffer_maybenull_(*num_keys) char*** keys, _Out_ int64_t* num_keys) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL
OrtModelMetadataLookupCustomMetadataMap(_In_ const OrtModelMetadata* model_metadata, _Inout_ OrtAllocator* allocator,
                                        _In_ const char* key, _Outptr_result_maybenull_ char** value) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseModelMetadata(_Frees_ptr_opt_ OrtModelMetadata* input) NO_EXCEPTION;

/* ==== Running ==== */

/* OrtCreateRunOptions stands with the early form below. */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtRun(_Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options,
                                          _In_reads_(input_len) const char* const* input_names,
                                          _In_reads_(input_len) const OrtValue* const* inputs, size_t input_len,
                                          _In_reads_(output_names_len) const char* const* output_names,
                                          size_t output_names_len,
                                          _Inout_updates_all_(output_names_len) OrtValue** outputs) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunAsync(_Inout_ OrtSession* session, _In_opt_ const OrtRunOptions* run_options,
                                               _In_reads_(input_len) const char* const* input_names,
                                               _In_reads_(input_len) const OrtValue* const* input, size_t input_len,
                                               _In_reads_(output_names_len) const char* const* output_names,
                                               size_t output_names_len,
                                               _Inout_updates_all_(output_names_len) OrtValue** output,
                                               _In_ RunAsyncCallbackFn run_async_callback,
                                               _In_opt_ void* user_data) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsSetRunLogVerbosityLevel(_Inout_ OrtRunOptions* options,
                                                                        int log_verbosity_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsGetRunLogVerbosityLevel(_In_ const OrtRunOptions* options,
                                                                        _Out_ int* log_verbosity_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsSetRunLogSeverityLevel(_Inout_ OrtRunOptions* options,
                                                                       int log_severity_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsGetRunLogSeverityLevel(_In_ const OrtRunOptions* options,
                                                                       _Out_ int* log_severity_level) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsSetRunTag(_Inout_ OrtRunOptions* options,
                                                          _In_ const char* run_tag) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsGetRunTag(_In_ const OrtRunOptions* options,
                                                          _Out_ const char** run_tag) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsSetTerminate(_Inout_ OrtRunOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunOptionsUnsetTerminate(_Inout_ OrtRunOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAddRunConfigEntry(_Inout_ OrtRunOptions* options, _In_z_ const char* config_key,
                                                        _In_z_ const char* config_value) NO_EXCEPTION;
ORT_EXPORT const char* ORT_API_CALL OrtGetRunConfigEntry(_In_ const OrtRunOptions* options,
                                                         _In_z_ const char* config_key) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseRunOptions(_Frees_ptr_opt_ OrtRunOptions* input) NO_EXCEPTION;

/* ==== Binding of inputs and outputs ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateIoBinding(_Inout_ OrtSession* session,
                                                      _Outptr_ OrtIoBinding** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtBindInput(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name,
                                                _In_ const OrtValue* val_ptr) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtBindOutput(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name,
                                                 _In_ const OrtValue* val_ptr) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtBindOutputToDevice(_Inout_ OrtIoBinding* binding_ptr, _In_ const char* name,
                                                         _In_ const OrtMemoryInfo* mem_info_ptr) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetBoundOutputNames(_In_ const OrtIoBinding* binding_ptr,
                                                          _In_ OrtAllocator* allocator, _Out_ char** buffer,
                                                          _Out_writes_all_(count) size_t** lengths,
                                                          _Out_ size_t* count) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetBoundOutputValues(_In_ const OrtIoBinding* binding_ptr,
                                                           _In_ OrtAllocator* allocator,
                                                           _Out_writes_all_(output_count) OrtValue*** output,
                                                           _Out_ size_t* output_count) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtClearBoundInputs(_Inout_ OrtIoBinding* binding_ptr) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtClearBoundOutputs(_Inout_ OrtIoBinding* binding_ptr) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSynchronizeBoundInputs(_Inout_ OrtIoBinding* binding_ptr) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSynchronizeBoundOutputs(_Inout_ OrtIoBinding* binding_ptr) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtRunWithBinding(_Inout_ OrtSession* session, _In_ const OrtRunOptions* run_options,
                                                     _In_ const OrtIoBinding* binding_ptr) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseIoBinding(_Frees_ptr_opt_ OrtIoBinding* input) NO_EXCEPTION;

/* ==== Memory ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateMemoryInfo(_In_ const char* name, enum OrtAllocatorType type, int id,
                                                       enum OrtMemType mem_type,
                                                       _Outptr_ OrtMemoryInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateCpuMemoryInfo(enum OrtAllocatorType type, enum OrtMemType mem_type,
                                                          _Outptr_ OrtMemoryInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCompareMemoryInfo(_In_ const OrtMemoryInfo* info1,
                                                        _In_ const OrtMemoryInfo* info2, _Out_ int* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtMemoryInfoGetName(_In_ const OrtMemoryInfo* ptr,
                                                        _Out_ const char** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtMemoryInfoGetId(_In_ const OrtMemoryInfo* ptr, _Out_ int* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtMemoryInfoGetMemType(_In_ const OrtMemoryInfo* ptr,
                                                           _Out_ OrtMemType* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtMemoryInfoGetType(_In_ const OrtMemoryInfo* ptr,
                                                        _Out_ OrtAllocatorType* out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtMemoryInfoGetDeviceType(_In_ const OrtMemoryInfo* ptr,
                                                        _Out_ OrtMemoryInfoDeviceType* out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseMemoryInfo(_Frees_ptr_opt_ OrtMemoryInfo* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetAllocatorWithDefaultOptions(_Outptr_ OrtAllocator** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateAllocator(_In_ const OrtSession* session,
                                                      _In_ const OrtMemoryInfo* mem_info,
                                                      _Outptr_ OrtAllocator** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSharedAllocator(_In_ OrtEnv* env, _In_ const OrtMemoryInfo* mem_info,
                                                         _Outptr_result_maybenull_ OrtAllocator** allocator)
    NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAllocatorAlloc(_Inout_ OrtAllocator* ort_allocator, size_t size,
                                                     _Outptr_ void** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAllocatorFree(_Inout_ OrtAllocator* ort_allocator, void* p) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtAllocatorGetInfo(_In_ const OrtAllocator* ort_allocator,
                                                       _Outptr_ const struct OrtMemoryInfo** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseAllocator(_Frees_ptr_opt_ OrtAllocator* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateArenaCfgV2(_In_reads_(num_keys) const char* const* arena_config_keys,
                                                       _In_reads_(num_keys) const size_t* arena_config_values,
                                                       _In_ size_t num_keys, _Outptr_ OrtArenaCfg** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseArenaCfg(_Frees_ptr_opt_ OrtArenaCfg* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateAndRegisterAllocator(_Inout_ OrtEnv* env,
                                                                 _In_ const OrtMemoryInfo* mem_info,
                                                                 _In_ const OrtArenaCfg* arena_cfg) NO_EXCEPTION;

/* ==== Values ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateTensorAsOrtValue(_Inout_ OrtAllocator* allocator, _In_ const int64_t* shape,
                                                             size_t shape_len, ONNXTensorElementDataType type,
                                                             _Outptr_ OrtValue** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateTensorWithDataAsOrtValue(_In_ const OrtMemoryInfo* info,
                                                                     _Inout_ void* p_data, size_t p_data_len,
                                                                     _In_ const int64_t* shape, size_t shape_len,
                                                                     ONNXTensorElementDataType type,
                                                                     _Outptr_ OrtValue** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateTensorWithDataAndDeleterAsOrtValue(
    _In_ OrtAllocator* deleter, _In_ void* p_data, size_t p_data_len, _In_ const int64_t* shape, size_t shape_len,
    ONNXTensorElementDataType type, _Outptr_ OrtValue** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateValue(_In_reads_(num_values) const OrtValue* const* in, size_t num_values,
                                                  enum ONNXType value_type, _Outptr_ OrtValue** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseValue(_Frees_ptr_opt_ OrtValue* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtIsTensor(_In_ const OrtValue* value, _Out_ int* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtIsSparseTensor(_In_ const OrtValue* value, _Out_ int* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtHasValue(_In_ const OrtValue* value, _Out_ int* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetValueType(_In_ const OrtValue* value, _Out_ enum ONNXType* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTypeInfo(_In_ const OrtValue* value,
                                                  _Outptr_result_maybenull_ OrtTypeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorTypeAndShape(_In_ const OrtValue* value,
                                                            _Outptr_ OrtTensorTypeAndShapeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorMutableData(_In_ OrtValue* value, _Outptr_ void** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorData(_In_ const OrtValue* value, _Outptr_ const void** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorSizeInBytes(_In_ const OrtValue* ort_value,
                                                           _Out_ size_t* size) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorMemoryInfo(_In_ const OrtValue* value,
                                                          _Out_ const OrtMemoryInfo** mem_info) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorElementTypeAndShapeDataReference(
    _In_ const OrtValue* value, _Out_ ONNXTensorElementDataType* elem_type,
    _Outptr_result_maybenull_ const int64_t** shape_data, _Out_ size_t* shape_data_count) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCopyTensors(_In_ const OrtEnv* env,
                                                  _In_reads_(num_tensors) const OrtValue* const* src_tensors,
                                                  _In_reads_(num_tensors) OrtValue* const* dst_tensors,
                                                  _In_opt_ OrtSyncStream* stream, _In_ size_t num_tensors) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtTensorAt(_Inout_ OrtValue* value, const int64_t* location_values,
                                               size_t location_values_count, _Outptr_ void** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetValueCount(_In_ const OrtValue* value, _Out_ size_t* out) NO_EXCEPTION;
/** An item of a sequence, or the keys and the values of a map (each a tensor of one dimension, the keys ascending),
 * where they lie, without a copy: they live as long as the sequence or map, and must be neither written nor released.
 */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSequenceItem(_In_ const OrtValue* sequence, size_t index,
                                                      _Outptr_ const OrtValue** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetMapParts(_In_ const OrtValue* map, _Outptr_ const OrtValue** keys,
                                                  _Outptr_ const OrtValue** values) NO_EXCEPTION;
/** All maps of a sequence at once, where they have the same keys and lie together, as those of ZipMap do: the keys, and
 * values[maps, keys]. Both are NULL for any other sequence. They live as the items do.
 */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetMapRows(_In_ const OrtValue* sequence,
                                                 _Outptr_result_maybenull_ const OrtValue** keys,
                                                 _Outptr_result_maybenull_ const OrtValue** values) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetValue(_In_ const OrtValue* value, int index, _Inout_ OrtAllocator* allocator,
                                               _Outptr_ OrtValue** out) NO_EXCEPTION;

/* ==== Strings in tensors ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtFillStringTensor(_Inout_ OrtValue* value, _In_ const char* const* s,
                                                       size_t s_len) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtFillStringTensorElement(_Inout_ OrtValue* value, _In_ const char* s,
                                                              size_t index) NO_EXCEPTION;
/** Sets `count` strings from element `first` on; no NUL ends a text. Those before one that is refused are set. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtFillStringTensorTexts(_Inout_ OrtValue* value, size_t first,
                                                            _In_reads_(count) const char* const* texts,
                                                            _In_reads_(count) const size_t* lengths,
                                                            size_t count) NO_EXCEPTION;
/** Where `count` strings from element `first` on lie, and their lengths. They lie there until they are set anew or the
 * tensor is released.
 */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetStringTensorTexts(_In_ const OrtValue* value, size_t first,
                                                           _Out_writes_all_(count) const char** texts,
                                                           _Out_writes_all_(count) size_t* lengths,
                                                           size_t count) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetStringTensorDataLength(_In_ const OrtValue* value,
                                                                _Out_ size_t* len) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetStringTensorContent(_In_ const OrtValue* value,
                                                             _Out_writes_bytes_all_(s_len) void* s, size_t s_len,
                                                             _Out_writes_all_(offsets_len) size_t* offsets,
                                                             size_t offsets_len) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetStringTensorElementLength(_In_ const OrtValue* value, size_t index,
                                                                   _Out_ size_t* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetStringTensorElement(_In_ const OrtValue* value, size_t s_len, size_t index,
                                                             _Out_writes_bytes_all_(s_len) void* s) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetResizedStringTensorElementBuffer(_Inout_ OrtValue* value, _In_ size_t index,
                                                                          _In_ size_t length_in_bytes,
                                                                          _Inout_ char** buffer) NO_EXCEPTION;

/* ==== Sparse tensors ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateSparseTensorAsOrtValue(_Inout_ OrtAllocator* allocator,
                                                                   _In_ const int64_t* dense_shape,
                                                                   size_t dense_shape_len,
                                                                   ONNXTensorElementDataType type,
                                                                   _Outptr_ OrtValue** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateSparseTensorWithValuesAsOrtValue(
    _In_ const OrtMemoryInfo* info, _Inout_ void* p_data, _In_ const int64_t* dense_shape, size_t dense_shape_len,
    _In_ const int64_t* values_shape, size_t values_shape_len, ONNXTensorElementDataType type,
    _Outptr_ OrtValue** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtFillSparseTensorCoo(_Inout_ OrtValue* ort_value,
                                                          _In_ const OrtMemoryInfo* data_mem_info,
                                                          _In_ const int64_t* values_shape, size_t values_shape_len,
                                                          _In_ const void* values, _In_ const int64_t* indices_data,
                                                          size_t indices_num) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtFillSparseTensorCsr(
    _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape,
    size_t values_shape_len, _In_ const void* values, _In_ const int64_t* inner_indices_data, size_t inner_indices_num,
    _In_ const int64_t* outer_indices_data, size_t outer_indices_num) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtFillSparseTensorBlockSparse(
    _Inout_ OrtValue* ort_value, _In_ const OrtMemoryInfo* data_mem_info, _In_ const int64_t* values_shape,
    size_t values_shape_len, _In_ const void* values, _In_ const int64_t* indices_shape_data, size_t indices_shape_len,
    _In_ const int32_t* indices_data) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtUseCooIndices(_Inout_ OrtValue* ort_value, _Inout_ int64_t* indices_data,
                                                    size_t indices_num) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtUseCsrIndices(_Inout_ OrtValue* ort_value, _Inout_ int64_t* inner_data,
                                                    size_t inner_num, _Inout_ int64_t* outer_data,
                                                    size_t outer_num) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtUseBlockSparseIndices(_Inout_ OrtValue* ort_value, const int64_t* indices_shape,
                                                            size_t indices_shape_len,
                                                            _Inout_ int32_t* indices_data) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSparseTensorFormat(_In_ const OrtValue* ort_value,
                                                            _Out_ enum OrtSparseFormat* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSparseTensorValuesTypeAndShape(
    _In_ const OrtValue* ort_value, _Outptr_ OrtTensorTypeAndShapeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSparseTensorValues(_In_ const OrtValue* ort_value,
                                                            _Outptr_ const void** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL
OrtGetSparseTensorIndicesTypeShape(_In_ const OrtValue* ort_value, enum OrtSparseIndicesFormat indices_format,
                                   _Outptr_ OrtTensorTypeAndShapeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSparseTensorIndices(_In_ const OrtValue* ort_value,
                                                             enum OrtSparseIndicesFormat indices_format,
                                                             _Out_ size_t* num_indices,
                                                             _Outptr_ const void** indices) NO_EXCEPTION;

/* ==== Types and shapes ==== */

ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetOnnxTypeFromTypeInfo(_In_ const OrtTypeInfo* type_info,
                                                              _Out_ enum ONNXType* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetDenotationFromTypeInfo(_In_ const OrtTypeInfo* type_info,
                                                                _Out_ const char** const denotation,
                                                                _Out_ size_t* len) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCastTypeInfoToTensorInfo(
    _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtTensorTypeAndShapeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCastTypeInfoToSequenceTypeInfo(
    _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtSequenceTypeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCastTypeInfoToMapTypeInfo(
    _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtMapTypeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCastTypeInfoToOptionalTypeInfo(
    _In_ const OrtTypeInfo* type_info, _Outptr_result_maybenull_ const OrtOptionalTypeInfo** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseTypeInfo(_Frees_ptr_opt_ OrtTypeInfo* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSequenceElementType(_In_ const OrtSequenceTypeInfo* sequence_type_info,
                                                             _Outptr_ OrtTypeInfo** type_info) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseSequenceTypeInfo(_Frees_ptr_opt_ OrtSequenceTypeInfo* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetMapKeyType(_In_ const OrtMapTypeInfo* map_type_info,
                                                    _Out_ enum ONNXTensorElementDataType* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetMapValueType(_In_ const OrtMapTypeInfo* map_type_info,
                                                      _Outptr_ OrtTypeInfo** type_info) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseMapTypeInfo(_Frees_ptr_opt_ OrtMapTypeInfo* input) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetOptionalContainedTypeInfo(_In_ const OrtOptionalTypeInfo* optional_type_info,
                                                                   _Outptr_ OrtTypeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateTensorTypeAndShapeInfo(_Outptr_ OrtTensorTypeAndShapeInfo** out)
    NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetTensorElementType(_Inout_ OrtTensorTypeAndShapeInfo* info,
                                                           enum ONNXTensorElementDataType type) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetDimensions(OrtTensorTypeAndShapeInfo* info, _In_ const int64_t* dim_values,
                                                    size_t dim_count) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetSymbolicDimensions(_In_ OrtTensorTypeAndShapeInfo* info,
                                                            _In_ const char* dim_params[],
                                                            _In_ size_t dim_params_length) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorElementType(_In_ const OrtTensorTypeAndShapeInfo* info,
                                                           _Out_ enum ONNXTensorElementDataType* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetDimensionsCount(_In_ const OrtTensorTypeAndShapeInfo* info,
                                                         _Out_ size_t* out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetDimensions(_In_ const OrtTensorTypeAndShapeInfo* info,
                                                    _Out_ int64_t* dim_values, size_t dim_values_length) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetSymbolicDimensions(_In_ const OrtTensorTypeAndShapeInfo* info,
                                                            _Out_writes_all_(dim_params_length)
                                                                const char* dim_params[],
                                                            size_t dim_params_length) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorShapeElementCount(_In_ const OrtTensorTypeAndShapeInfo* info,
                                                                 _Out_ size_t* out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseTensorTypeAndShapeInfo(_Frees_ptr_opt_ OrtTensorTypeAndShapeInfo* input)
    NO_EXCEPTION;

/** OrtApi::SessionOptionsAppendExecutionProvider; the early form below has that name. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProviderByName(
    _Inout_ OrtSessionOptions* options, _In_ const char* provider_name,
    _In_reads_(num_keys) const char* const* provider_options_keys,
    _In_reads_(num_keys) const char* const* provider_options_values, _In_ size_t num_keys) NO_EXCEPTION;

/* ==== The early form: counted objects and provider factories ==== */

/** What an object of the early form begins with: a pointer to this. Both return the new count. */
typedef struct OrtObject {
  uint32_t(ORT_API_CALL* AddRef)(void* this_);
  uint32_t(ORT_API_CALL* Release)(void* this_);
} OrtObject;

/** Makes an execution provider. Programs hold a pointer to a pointer to it: OrtProviderFactoryInterface** factory. */
typedef struct OrtProviderFactoryInterface {
  OrtObject parent;
  /** Adds the provider to the options. */
  OrtStatus*(ORT_API_CALL* AppendTo)(void* this_, OrtSessionOptions* options);
} OrtProviderFactoryInterface;

/** Counts one more owner of an object that a function of this section created; returns the new count. NULL and other
 *  objects are left alone, with result 0. Any thread. */
ORT_EXPORT uint32_t ORT_API_CALL OrtAddRefToObject(_In_opt_ void* object) NO_EXCEPTION;

/** Counts one owner less and frees the object with the last; likewise. */
ORT_EXPORT uint32_t ORT_API_CALL OrtReleaseObject(_In_opt_ void* object) NO_EXCEPTION;

/** As OrtCreateEnv and OrtCreateEnvWithCustomLogger; the environment may be given to OrtReleaseObject or OrtReleaseEnv.
 */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtInitialize(OrtLoggingLevel default_warning_level, _In_ const char* logid,
                                                 _Outptr_ OrtEnv** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtInitializeWithCustomLogger(OrtLoggingFunction logging_function,
                                                                 _In_opt_ void* logger_param,
                                                                 OrtLoggingLevel default_warning_level,
                                                                 _In_ const char* logid,
                                                                 _Outptr_ OrtEnv** out) NO_EXCEPTION;

/** New options with default settings, or NULL when there is no memory. Freed by OrtReleaseObject or by
 *  OrtReleaseSessionOptions and OrtReleaseRunOptions. */
ORT_EXPORT OrtSessionOptions* ORT_API_CALL OrtCreateSessionOptions(void) NO_EXCEPTION;
ORT_EXPORT OrtRunOptions* ORT_API_CALL OrtCreateRunOptions(void) NO_EXCEPTION;

/** A factory of the execution provider, for OrtSessionOptionsAppendExecutionProvider and then OrtReleaseObject. Where
 *  the provider's library is not on the machine, the status says what is missing and `out` receives NULL.
 *  `use_arena`: 0 takes memory from the system for each tensor. `device_id` counts the devices of that kind from 0. */
ORT_EXPORT OrtStatus* ORT_API_CALL
OrtCreateCpuExecutionProviderFactory(int use_arena, _Outptr_ OrtProviderFactoryInterface*** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL
OrtCreateCUDAExecutionProviderFactory(int device_id, _Outptr_ OrtProviderFactoryInterface*** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL
OrtCreateOpenCLExecutionProviderFactory(int device_id, _Outptr_ OrtProviderFactoryInterface*** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL
OrtCreateVulkanExecutionProviderFactory(int device_id, _Outptr_ OrtProviderFactoryInterface*** out) NO_EXCEPTION;

/** Adds the factory's provider to the options; earlier ones come first. The factory stays the caller's. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSessionOptionsAppendExecutionProvider(
    _Inout_ OrtSessionOptions* options, _In_ OrtProviderFactoryInterface** factory) NO_EXCEPTION;

/** Early names of what OrtMemoryInfo, OrtGetAllocatorWithDefaultOptions and OrtGetTensorTypeAndShape are now. */
typedef struct OrtMemoryInfo OrtAllocatorInfo;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateDefaultAllocator(_Outptr_ OrtAllocator** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateAllocatorInfo(_In_ const char* name, enum OrtAllocatorType type, int id,
                                                          enum OrtMemType mem_type,
                                                          _Outptr_ OrtAllocatorInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtCreateCpuAllocatorInfo(enum OrtAllocatorType type, enum OrtMemType mem_type,
                                                             _Outptr_ OrtAllocatorInfo** out) NO_EXCEPTION;
ORT_EXPORT void ORT_API_CALL OrtReleaseAllocatorInfo(_Frees_ptr_opt_ OrtAllocatorInfo* info) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtGetTensorShapeAndType(_In_ const OrtValue* value,
                                                            _Outptr_ OrtTensorTypeAndShapeInfo** out) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetDims(_Inout_ OrtTensorTypeAndShapeInfo* info, _In_ const int64_t* dim_values,
                                              size_t dim_count) NO_EXCEPTION;

/** The rank, 0 when it is unknown. */
ORT_EXPORT size_t ORT_API_CALL OrtGetNumOfDimensions(_In_ const OrtTensorTypeAndShapeInfo* info) NO_EXCEPTION;

/** Early names of the settings of OrtSetSessionExecutionMode and OrtSetIntraOpNumThreads. */
ORT_EXPORT OrtStatus* ORT_API_CALL OrtEnableSequentialExecution(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtDisableSequentialExecution(_Inout_ OrtSessionOptions* options) NO_EXCEPTION;
ORT_EXPORT OrtStatus* ORT_API_CALL OrtSetSessionThreadPoolSize(_Inout_ OrtSessionOptions* options,
                                                               int session_thread_pool_size) NO_EXCEPTION;

#ifdef __cplusplus
}
#endif
