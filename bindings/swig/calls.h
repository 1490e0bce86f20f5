/* The calls that the bindings of all languages are made of: the flat interface ortolan.h in a shape that SWIG can hand
 * to any language. A task is one call, so that a run crosses the border between the languages few times.
 *
 * Rules for all functions:
 * - One that can fail ends with `OrtStatus** status`. On failure it sets *status, which the binding turns into its
 *   language's exception and releases, and returns NULL or 0. It leaves *status alone otherwise.
 * - Text is NUL-terminated UTF-8. A `char*` result belongs to the caller and is freed by free(); a `const char*` result
 *   is borrowed from the object that was asked. NULL means that there is none.
 * - Objects that a create_, clone_ or _at function returns belong to the caller, who frees them by the release_
 * function; those take NULL. Device, metadata-pair and memory objects that are `const` are borrowed and never freed.
 * - Nothing is checked twice: handles must be valid. Keeping parents alive and refusing calls after close is the work
 * of the language's layer, which knows when its objects die: sessions need their environment, bindings their session,
 * and tensors over the caller's memory that memory.
 * - Any thread may call; one object is changed by one thread at a time. Sessions run on any number of threads at once.
 * - Arrays of a length stand as (pointer, length) pairs; NULL is right for length 0.
 */
#pragma once

#include <ortolan.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Lists of texts ---- */

/** An immutable list of texts. */
typedef struct TextList TextList;
size_t text_count(const TextList* list);
/** Borrowed from the list; NULL when `index` is outside. */
const char* text_at(const TextList* list, size_t index);
void release_texts(TextList* list);

/* ---- Settings: keys and values ---- */

OrtKeyValuePairs* create_settings(void);
/** Adds the pair, or replaces the value of the key. */
void add_setting(OrtKeyValuePairs* settings, const char* key, const char* value);
size_t setting_count(const OrtKeyValuePairs* settings);
const char* setting_key(const OrtKeyValuePairs* settings, size_t index);
const char* setting_value(const OrtKeyValuePairs* settings, size_t index);
void release_settings(OrtKeyValuePairs* settings);

/* ---- The library ---- */

const char* library_version(void);
const char* library_build_info(void);
TextList* available_providers(OrtStatus** status);

/* ---- Environment ---- */

/** `severity`: OrtLoggingLevel. `log` may be NULL: lines go to stderr; otherwise it gets them, on any thread, with
 *  `log_param`. With `shared_pools` not 0 the sessions that ask for it (disable_session_threads) share two pools of
 *  `intra_threads` and `inter_threads` threads, 0 meaning the machine's choice, with `spin` not 0 for busy waiting. */
OrtEnv* create_environment(int severity, const char* log_id, OrtLoggingFunction log, void* log_param, int shared_pools,
                           int intra_threads, int inter_threads, int spin, OrtStatus** status);
void release_environment(OrtEnv* environment);
void set_environment_severity(OrtEnv* environment, int severity, OrtStatus** status);
void register_provider_library(OrtEnv* environment, const char* name, const char* path, OrtStatus** status);
void unregister_provider_library(OrtEnv* environment, const char* name, OrtStatus** status);
/** Adds a provider for every later session whose options name none; `settings` may be NULL. */
void append_environment_provider(OrtEnv* environment, const char* name, const OrtKeyValuePairs* settings, int required,
                                 OrtStatus** status);
void clear_environment_providers(OrtEnv* environment, OrtStatus** status);

/* ---- Devices of an environment: borrowed until their library is unregistered or the environment ends ---- */

size_t device_count(OrtEnv* environment, OrtStatus** status);
const OrtEpDevice* device_at(OrtEnv* environment, size_t index, OrtStatus** status);
const char* device_provider(const OrtEpDevice* device);
const char* device_provider_vendor(const OrtEpDevice* device);
const OrtKeyValuePairs* device_metadata(const OrtEpDevice* device);
const OrtKeyValuePairs* device_settings(const OrtEpDevice* device);
/** OrtHardwareDeviceType: 0 CPU, 1 GPU, 2 NPU. */
int hardware_type(const OrtEpDevice* device);
const char* hardware_vendor(const OrtEpDevice* device);
uint32_t hardware_vendor_id(const OrtEpDevice* device);
uint32_t hardware_id(const OrtEpDevice* device);
const OrtKeyValuePairs* hardware_metadata(const OrtEpDevice* device);

/* ---- Memory ---- */

/** A description of memory that the caller owns. `allocator_type`, `memory_type`: OrtAllocatorType, OrtMemType. */
OrtMemoryInfo* create_memory(const char* name, int allocator_type, int device_id, int memory_type, OrtStatus** status);
void release_memory(OrtMemoryInfo* memory);
/** The memory of a device; `shared_with_host` not 0: what both sides reach. NULL where it is plain CPU memory. */
const OrtMemoryInfo* device_memory(const OrtEpDevice* device, int shared_with_host);
/** Where the session wants an input and makes an output; borrowed from the session. */
const OrtMemoryInfo* input_memory(const OrtSession* session, size_t index, OrtStatus** status);
const OrtMemoryInfo* output_memory(const OrtSession* session, size_t index, OrtStatus** status);
const char* memory_name(const OrtMemoryInfo* memory, OrtStatus** status);
int memory_device_id(const OrtMemoryInfo* memory, OrtStatus** status);
/** OrtMemoryInfoDeviceType: 0 CPU, 1 GPU, 2 FPGA, 3 NPU. */
int memory_device_type(const OrtMemoryInfo* memory);

/* ---- Session options ---- */

OrtSessionOptions* create_session_options(OrtStatus** status);
OrtSessionOptions* clone_session_options(const OrtSessionOptions* options, OrtStatus** status);
void release_session_options(OrtSessionOptions* options);
/** GraphOptimizationLevel: 0, 1, 2, 3 or 99. */
void set_optimization_level(OrtSessionOptions* options, int level, OrtStatus** status);
/** ExecutionMode: 0 sequential, 1 parallel. */
void set_execution_mode(OrtSessionOptions* options, int mode, OrtStatus** status);
void set_intra_op_threads(OrtSessionOptions* options, int threads, OrtStatus** status);
void set_inter_op_threads(OrtSessionOptions* options, int threads, OrtStatus** status);
void disable_session_threads(OrtSessionOptions* options, OrtStatus** status);
/** The profile is written to <prefix>_<date>.json; NULL switches profiling off. */
void set_profiling(OrtSessionOptions* options, const char* prefix, OrtStatus** status);
void set_memory_pattern(OrtSessionOptions* options, int on, OrtStatus** status);
void set_cpu_arena(OrtSessionOptions* options, int on, OrtStatus** status);
void set_session_log_id(OrtSessionOptions* options, const char* log_id, OrtStatus** status);
void set_session_severity(OrtSessionOptions* options, int severity, OrtStatus** status);
void set_session_verbosity(OrtSessionOptions* options, int verbosity, OrtStatus** status);
/** `log` gets the lines of sessions made with the options, on any thread; it and `log_param` outlive them. */
void set_session_log(OrtSessionOptions* options, OrtLoggingFunction log, void* log_param, OrtStatus** status);
void set_optimized_model_path(OrtSessionOptions* options, const char* path, OrtStatus** status);
void set_deterministic(OrtSessionOptions* options, int on, OrtStatus** status);
void add_session_setting(OrtSessionOptions* options, const char* key, const char* value, OrtStatus** status);
/** NULL when the options do not have the key. */
char* session_setting(const OrtSessionOptions* options, const char* key, OrtStatus** status);
void add_free_dimension(OrtSessionOptions* options, const char* denotation, int64_t size, OrtStatus** status);
void add_free_dimension_by_name(OrtSessionOptions* options, const char* name, int64_t size, OrtStatus** status);
/** The value must live as long as the options and the sessions made with them. */
void add_initializer(OrtSessionOptions* options, const char* name, const OrtValue* value, OrtStatus** status);
void register_custom_operators(OrtSessionOptions* options, const char* library_path, OrtStatus** status);
/** `settings` may be NULL. */
void append_provider(OrtSessionOptions* options, const char* name, const OrtKeyValuePairs* settings,
                     OrtStatus** status);
/** The devices are all of one provider. `settings` may be NULL. */
void append_provider_devices(OrtSessionOptions* options, OrtEnv* environment, const OrtEpDevice* const* devices,
                             size_t devices_length, const OrtKeyValuePairs* settings, OrtStatus** status);
/** OrtExecutionProviderDevicePolicy. */
void set_device_policy(OrtSessionOptions* options, int policy, OrtStatus** status);

/* ---- Run options ---- */

OrtRunOptions* create_run_options(OrtStatus** status);
void release_run_options(OrtRunOptions* options);
void set_run_tag(OrtRunOptions* options, const char* tag, OrtStatus** status);
const char* run_tag(const OrtRunOptions* options, OrtStatus** status);
void set_run_severity(OrtRunOptions* options, int severity, OrtStatus** status);
int run_severity(const OrtRunOptions* options, OrtStatus** status);
void set_run_verbosity(OrtRunOptions* options, int verbosity, OrtStatus** status);
int run_verbosity(const OrtRunOptions* options, OrtStatus** status);
/** Not 0: runs with these options end soon with an error, those in progress on other threads too. 0 takes it back. */
void set_terminate(OrtRunOptions* options, int terminate, OrtStatus** status);
void add_run_setting(OrtRunOptions* options, const char* key, const char* value, OrtStatus** status);

/* ---- Sessions ---- */

/** `options` may be NULL. */
OrtSession* create_session(const OrtEnv* environment, const char* path, const OrtSessionOptions* options,
                           OrtStatus** status);
/** The bytes are copied, unless the options have session.use_ort_model_bytes_directly = 1. */
OrtSession* create_session_from_bytes(const OrtEnv* environment, const void* bytes, size_t bytes_length,
                                      const OrtSessionOptions* options, OrtStatus** status);
void release_session(OrtSession* session);
TextList* input_names(const OrtSession* session, OrtStatus** status);
TextList* output_names(const OrtSession* session, OrtStatus** status);
/** Initializers that a run may give values for, as inputs. */
TextList* overridable_names(const OrtSession* session, OrtStatus** status);
/** All that a run may give values for: the inputs, then the overridable initializers. */
TextList* feed_names(const OrtSession* session, OrtStatus** status);
OrtTypeInfo* input_type(const OrtSession* session, size_t index, OrtStatus** status);
OrtTypeInfo* output_type(const OrtSession* session, size_t index, OrtStatus** status);
OrtTypeInfo* overridable_type(const OrtSession* session, size_t index, OrtStatus** status);
/** The file that the profile went to; empty when profiling is off. */
char* end_profiling(OrtSession* session, OrtStatus** status);
uint64_t profiling_start_ns(const OrtSession* session, OrtStatus** status);

/** Which provider runs each node, four texts a node: provider, node name, domain, operator. The session must be made
 * with session.record_ep_graph_assignment_info = 1. */
TextList* node_assignments(const OrtSession* session, OrtStatus** status);

/* ---- What a model says about itself ---- */

OrtModelMetadata* create_metadata(const OrtSession* session, OrtStatus** status);
void release_metadata(OrtModelMetadata* metadata);
char* metadata_producer(const OrtModelMetadata* metadata, OrtStatus** status);
char* metadata_graph_name(const OrtModelMetadata* metadata, OrtStatus** status);
char* metadata_graph_description(const OrtModelMetadata* metadata, OrtStatus** status);
char* metadata_domain(const OrtModelMetadata* metadata, OrtStatus** status);
char* metadata_description(const OrtModelMetadata* metadata, OrtStatus** status);
int64_t metadata_version(const OrtModelMetadata* metadata, OrtStatus** status);
TextList* metadata_keys(const OrtModelMetadata* metadata, OrtStatus** status);
/** NULL when the model has no such entry. */
char* metadata_value(const OrtModelMetadata* metadata, const char* key, OrtStatus** status);

/* ---- Types ---- */

/** ONNXType: 1 tensor, 2 sequence, 3 map, 5 sparse tensor, 6 optional. */
int type_kind(const OrtTypeInfo* type, OrtStatus** status);
/** Tensors and sparse tensors: ONNXTensorElementDataType. Maps: that of the keys. Others: 0. */
int type_element(const OrtTypeInfo* type, OrtStatus** status);
/** Rank of a tensor type; 0 for scalars and unknown ranks. */
size_t type_rank(const OrtTypeInfo* type, OrtStatus** status);
/** The size of a dimension, -1 where it is symbolic or unknown. */
int64_t type_dimension(const OrtTypeInfo* type, size_t index, OrtStatus** status);
/** The name of a symbolic dimension; empty where it has none. */
char* type_symbol(const OrtTypeInfo* type, size_t index, OrtStatus** status);
/** What a sequence or optional holds, or the values of a map; NULL for tensors. */
OrtTypeInfo* type_content(const OrtTypeInfo* type, OrtStatus** status);
void release_type(OrtTypeInfo* type);

/* ---- Values ---- */

/** A tensor over the caller's memory, which must live as long and stay in place. */
OrtValue* tensor_over(void* held, size_t held_length, const int64_t* shape, size_t shape_length, int element_type,
                      OrtStatus** status);
/** A tensor with a copy of the bytes, which must be exactly as many as the shape and type need. */
OrtValue* tensor_copy(const void* bytes, size_t bytes_length, const int64_t* shape, size_t shape_length,
                      int element_type, OrtStatus** status);
/** A tensor of zeros, or of empty strings. */
OrtValue* tensor_of_zeros(const int64_t* shape, size_t shape_length, int element_type, OrtStatus** status);
/** A tensor in the memory of a provider's device, its content undefined. */
OrtValue* tensor_on_device(OrtEnv* environment, const OrtMemoryInfo* memory, const int64_t* shape, size_t shape_length,
                           int element_type, OrtStatus** status);
/** Strings: element i is the bytes from ends[i - 1] (0 for the first) to ends[i]; they may hold any bytes. */
OrtValue* tensor_of_strings(const void* bytes, size_t bytes_length, const int64_t* ends, size_t ends_length,
                            const int64_t* shape, size_t shape_length, OrtStatus** status);
/** Takes a share of every value; these stay the caller's too. */
OrtValue* create_sequence(OrtValue* const* values, size_t values_length, OrtStatus** status);
OrtValue* create_map(const OrtValue* keys, const OrtValue* values, OrtStatus** status);
void release_value(OrtValue* value);

/** ONNXType, as type_kind. */
int value_kind(const OrtValue* value, OrtStatus** status);
/** 0 for an optional without a value. */
int value_present(const OrtValue* value, OrtStatus** status);
/** Elements of a sequence; 2 for a map, whose parts are the keys and the values. */
size_t value_count(const OrtValue* value, OrtStatus** status);
OrtValue* value_at(const OrtValue* value, size_t index, OrtStatus** status);
OrtTypeInfo* value_type(const OrtValue* value, OrtStatus** status);

/** What a reader of a tensor must know, in one call: writes [element type, address of the elements, their size in
 * bytes, rank, dimensions...] as far as `facts_length` goes and returns how many there are, 4 + rank. Address and size
 * are 0 for strings. The address may be of a device: see tensor_memory. */
size_t tensor_facts(const OrtValue* tensor, int64_t* facts, size_t facts_length, OrtStatus** status);
/** The elements, borrowed; not for strings. */
void* tensor_data(OrtValue* tensor, OrtStatus** status);
/** Where the elements are; borrowed from the tensor. */
const OrtMemoryInfo* tensor_memory(const OrtValue* tensor, OrtStatus** status);
/** Copies the elements between two tensors of one type and shape, on whatever devices; waits for the end. */
void copy_tensor(const OrtEnv* environment, const OrtValue* from, OrtValue* to, OrtStatus** status);
/** Copies bytes into a tensor in CPU memory, or out of it: exactly all of them. */
void write_tensor(OrtValue* tensor, const void* bytes, size_t bytes_length, OrtStatus** status);
void read_tensor(const OrtValue* tensor, void* bytes, size_t bytes_length, OrtStatus** status);
/** All strings of a tensor: their length together, then the bytes and, as for tensor_of_strings, the ends. */
size_t strings_size(const OrtValue* tensor, OrtStatus** status);
void read_strings(const OrtValue* tensor, void* bytes, size_t bytes_length, int64_t* ends, size_t ends_length,
                  OrtStatus** status);

/* ---- Running ---- */

/** Runs the model. Input i is called input_names[input_choice[i]], output i output_names[output_choice[i]]; a choice of
 *  length 0 means the first names in order. NULL outputs receive new values; those that are given are written in place.
 *  `options` may be NULL. On failure no output is set. */
void run_session(OrtSession* session, const OrtRunOptions* options, const TextList* input_names,
                 const int32_t* input_choice, size_t input_choice_length, OrtValue* const* inputs, size_t inputs_length,
                 const TextList* output_names, const int32_t* output_choice, size_t output_choice_length,
                 OrtValue** outputs, size_t outputs_length, OrtStatus** status);

OrtIoBinding* create_binding(OrtSession* session, OrtStatus** status);
void release_binding(OrtIoBinding* binding);
void bind_input(OrtIoBinding* binding, const char* name, const OrtValue* value, OrtStatus** status);
void bind_output(OrtIoBinding* binding, const char* name, const OrtValue* value, OrtStatus** status);
/** The output is made by the run, in that memory. */
void bind_output_to_memory(OrtIoBinding* binding, const char* name, const OrtMemoryInfo* memory, OrtStatus** status);
void clear_bound_inputs(OrtIoBinding* binding);
void clear_bound_outputs(OrtIoBinding* binding);
void synchronize_inputs(OrtIoBinding* binding, OrtStatus** status);
void synchronize_outputs(OrtIoBinding* binding, OrtStatus** status);
TextList* bound_output_names(const OrtIoBinding* binding, OrtStatus** status);
/** Writes shares of the outputs, in the order they were bound, as far as `values_length` goes, and returns how many
 * there are. */
size_t bound_outputs(const OrtIoBinding* binding, OrtValue** values, size_t values_length, OrtStatus** status);
/** `options` may be NULL. */
void run_binding(OrtSession* session, const OrtRunOptions* options, const OrtIoBinding* binding, OrtStatus** status);
