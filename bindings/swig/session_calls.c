/* Calls about sessions, what models say about themselves, types, runs and bindings. */
#include "texts.h"

OrtSession* create_session(const OrtEnv* environment, const char* path, const OrtSessionOptions* options,
                           OrtStatus** status) {
  OrtSession* session = NULL;
  *status = OrtCreateSession(environment, path, options, &session);
  return session;
}

OrtSession* create_session_from_bytes(const OrtEnv* environment, const void* bytes, size_t bytes_length,
                                      const OrtSessionOptions* options, OrtStatus** status) {
  OrtSession* session = NULL;
  *status = OrtCreateSessionFromArray(environment, bytes, bytes_length, options, &session);
  return session;
}

void release_session(OrtSession* session) { OrtReleaseSession(session); }

typedef OrtStatus*(ORT_API_CALL* CountFunction)(const OrtSession*, size_t*);
typedef OrtStatus*(ORT_API_CALL* NameFunction)(const OrtSession*, size_t, OrtAllocator*, char**);

static void free_texts(char** texts, size_t count) {
  for (size_t i = 0; i < count; ++i) free(texts[i]);
  free(texts);
}

static TextList* names(const OrtSession* session, CountFunction count_of, NameFunction name_of, OrtStatus** status) {
  size_t count = 0, read = 0;
  if ((*status = count_of(session, &count))) return NULL;
  char** texts = calloc(count ? count : 1, sizeof *texts);
  if (!texts) return refuse_memory(status);
  for (; read < count; ++read) {
    char* name = NULL;
    if ((*status = name_of(session, read, default_allocator(), &name))) break;
    if (!(texts[read] = take_text(name, status))) break;
  }
  TextList* list = read == count ? copy_texts((const char* const*)texts, count, status) : NULL;
  free_texts(texts, count);
  return list;
}

TextList* input_names(const OrtSession* session, OrtStatus** status) {
  return names(session, OrtSessionGetInputCount, OrtSessionGetInputName, status);
}

TextList* output_names(const OrtSession* session, OrtStatus** status) {
  return names(session, OrtSessionGetOutputCount, OrtSessionGetOutputName, status);
}

TextList* overridable_names(const OrtSession* session, OrtStatus** status) {
  return names(session, OrtSessionGetOverridableInitializerCount, OrtSessionGetOverridableInitializerName, status);
}

static TextList* join_texts(const TextList* first, const TextList* second, OrtStatus** status) {
  size_t count = text_count(first), total = count + text_count(second);
  const char** texts = calloc(total ? total : 1, sizeof *texts);
  if (!texts) return refuse_memory(status);
  for (size_t i = 0; i < total; ++i) texts[i] = i < count ? text_at(first, i) : text_at(second, i - count);
  TextList* list = copy_texts(texts, total, status);
  free(texts);
  return list;
}

TextList* feed_names(const OrtSession* session, OrtStatus** status) {
  TextList* inputs = input_names(session, status);
  TextList* initializers = inputs ? overridable_names(session, status) : NULL;
  TextList* all = initializers ? join_texts(inputs, initializers, status) : NULL;
  release_texts(initializers);
  release_texts(inputs);
  return all;
}

OrtTypeInfo* input_type(const OrtSession* session, size_t index, OrtStatus** status) {
  OrtTypeInfo* type = NULL;
  *status = OrtSessionGetInputTypeInfo(session, index, &type);
  return type;
}

OrtTypeInfo* output_type(const OrtSession* session, size_t index, OrtStatus** status) {
  OrtTypeInfo* type = NULL;
  *status = OrtSessionGetOutputTypeInfo(session, index, &type);
  return type;
}

OrtTypeInfo* overridable_type(const OrtSession* session, size_t index, OrtStatus** status) {
  OrtTypeInfo* type = NULL;
  *status = OrtSessionGetOverridableInitializerTypeInfo(session, index, &type);
  return type;
}

char* end_profiling(OrtSession* session, OrtStatus** status) {
  char* file = NULL;
  if ((*status = OrtSessionEndProfiling(session, default_allocator(), &file))) return NULL;
  return take_text(file, status);
}

uint64_t profiling_start_ns(const OrtSession* session, OrtStatus** status) {
  uint64_t start = 0;
  *status = OrtSessionGetProfilingStartTimeNs(session, &start);
  return start;
}

typedef OrtStatus*(ORT_API_CALL* MemoryFunction)(const OrtSession*, const OrtMemoryInfo**, size_t);

static const OrtMemoryInfo* memory_of(const OrtSession* session, CountFunction count_of, MemoryFunction memories_of,
                                      size_t index, OrtStatus** status) {
  size_t count = 0;
  if ((*status = count_of(session, &count))) return NULL;
  if (index >= count) return refuse(status, ORT_INVALID_ARGUMENT, "the session has no input or output of that index");
  const OrtMemoryInfo** memories = calloc(count, sizeof *memories);
  if (!memories) return refuse_memory(status);
  *status = memories_of(session, memories, count);
  const OrtMemoryInfo* memory = *status ? NULL : memories[index];
  free(memories);
  return memory;
}

const OrtMemoryInfo* input_memory(const OrtSession* session, size_t index, OrtStatus** status) {
  return memory_of(session, OrtSessionGetInputCount, OrtSessionGetMemoryInfoForInputs, index, status);
}

const OrtMemoryInfo* output_memory(const OrtSession* session, size_t index, OrtStatus** status) {
  return memory_of(session, OrtSessionGetOutputCount, OrtSessionGetMemoryInfoForOutputs, index, status);
}

/** The groups of nodes of one session, each with its provider. */
typedef struct {
  const OrtEpAssignedSubgraph* const* groups;
  size_t count;
} Groups;

static OrtStatus* nodes_of(const OrtEpAssignedSubgraph* group, const OrtEpAssignedNode* const** nodes, size_t* count) {
  *count = 0;
  return OrtEpAssignedSubgraph_GetNodes(group, nodes, count);
}

static OrtStatus* describe_nodes(const OrtEpAssignedSubgraph* group, const char** texts) {
  const OrtEpAssignedNode* const* nodes;
  size_t count;
  const char* provider;
  OrtStatus* status = OrtEpAssignedSubgraph_GetEpName(group, &provider);
  if (!status) status = nodes_of(group, &nodes, &count);
  for (size_t i = 0; !status && i < count; ++i, texts += 4) {
    texts[0] = provider;
    status = OrtEpAssignedNode_GetName(nodes[i], &texts[1]);
    if (!status) status = OrtEpAssignedNode_GetDomain(nodes[i], &texts[2]);
    if (!status) status = OrtEpAssignedNode_GetOperatorType(nodes[i], &texts[3]);
  }
  return status;
}

static size_t node_count(Groups groups, OrtStatus** status) {
  size_t total = 0;
  for (size_t i = 0; i < groups.count && !*status; ++i) {
    const OrtEpAssignedNode* const* nodes;
    size_t count;
    *status = nodes_of(groups.groups[i], &nodes, &count);
    total += count;
  }
  return total;
}

TextList* node_assignments(const OrtSession* session, OrtStatus** status) {
  Groups groups = {NULL, 0};
  if ((*status = OrtSession_GetEpGraphAssignmentInfo(session, &groups.groups, &groups.count))) return NULL;
  size_t total = 4 * node_count(groups, status), filled = 0;
  if (*status) return NULL;
  const char** texts = calloc(total ? total : 1, sizeof *texts);
  if (!texts) return refuse_memory(status);
  for (size_t i = 0; i < groups.count && !*status; ++i) {
    const OrtEpAssignedNode* const* nodes;
    size_t count = 0;
    *status = describe_nodes(groups.groups[i], texts + filled);
    if (!*status) *status = nodes_of(groups.groups[i], &nodes, &count);
    filled += 4 * count;
  }
  TextList* list = *status ? NULL : copy_texts(texts, total, status);
  free(texts);
  return list;
}

OrtModelMetadata* create_metadata(const OrtSession* session, OrtStatus** status) {
  OrtModelMetadata* metadata = NULL;
  *status = OrtSessionGetModelMetadata(session, &metadata);
  return metadata;
}

void release_metadata(OrtModelMetadata* metadata) { OrtReleaseModelMetadata(metadata); }

typedef OrtStatus*(ORT_API_CALL* MetadataFunction)(const OrtModelMetadata*, OrtAllocator*, char**);

static char* metadata_text(const OrtModelMetadata* metadata, MetadataFunction text_of, OrtStatus** status) {
  char* text = NULL;
  if ((*status = text_of(metadata, default_allocator(), &text))) return NULL;
  return take_text(text, status);
}

char* metadata_producer(const OrtModelMetadata* metadata, OrtStatus** status) {
  return metadata_text(metadata, OrtModelMetadataGetProducerName, status);
}
char* metadata_graph_name(const OrtModelMetadata* metadata, OrtStatus** status) {
  return metadata_text(metadata, OrtModelMetadataGetGraphName, status);
}
char* metadata_graph_description(const OrtModelMetadata* metadata, OrtStatus** status) {
  return metadata_text(metadata, OrtModelMetadataGetGraphDescription, status);
}
char* metadata_domain(const OrtModelMetadata* metadata, OrtStatus** status) {
  return metadata_text(metadata, OrtModelMetadataGetDomain, status);
}
char* metadata_description(const OrtModelMetadata* metadata, OrtStatus** status) {
  return metadata_text(metadata, OrtModelMetadataGetDescription, status);
}

int64_t metadata_version(const OrtModelMetadata* metadata, OrtStatus** status) {
  int64_t version = 0;
  *status = OrtModelMetadataGetVersion(metadata, &version);
  return version;
}

TextList* metadata_keys(const OrtModelMetadata* metadata, OrtStatus** status) {
  char** keys = NULL;
  int64_t count = 0;
  if ((*status = OrtModelMetadataGetCustomMetadataMapKeys(metadata, default_allocator(), &keys, &count))) return NULL;
  TextList* list = copy_texts((const char* const*)keys, (size_t)count, status);
  for (int64_t i = 0; i < count; ++i) OrtReleaseStatus(OrtAllocatorFree(default_allocator(), keys[i]));
  if (keys) OrtReleaseStatus(OrtAllocatorFree(default_allocator(), keys));
  return list;
}

char* metadata_value(const OrtModelMetadata* metadata, const char* key, OrtStatus** status) {
  char* value = NULL;
  if ((*status = OrtModelMetadataLookupCustomMetadataMap(metadata, default_allocator(), key, &value))) return NULL;
  return take_text(value, status);
}

/** A choice of names as the array that the library wants. */
typedef struct {
  const char** names;
  const char* few[16]; /**< where the array is when it is short */
} ChosenNames;

static const char* const* choose(ChosenNames* chosen, const TextList* list, const int32_t* choice, size_t choice_length,
                                 size_t count, OrtStatus** status) {
  chosen->names = count <= sizeof chosen->few / sizeof *chosen->few ? chosen->few : malloc(count * sizeof(char*));
  if (!chosen->names) return refuse_memory(status);
  if (choice_length && choice_length != count)
    return refuse(status, ORT_INVALID_ARGUMENT, "there must be as many names as values");
  for (size_t i = 0; i < count; ++i) {
    chosen->names[i] = text_at(list, choice_length ? (size_t)choice[i] : i);
    if (!chosen->names[i]) return refuse(status, ORT_INVALID_ARGUMENT, "there are more values than names");
  }
  return chosen->names;
}

static void end_choice(ChosenNames* chosen) {
  if (chosen->names != chosen->few) free(chosen->names);
}

void run_session(OrtSession* session, const OrtRunOptions* options, const TextList* input_names,
                 const int32_t* input_choice, size_t input_choice_length, OrtValue* const* inputs, size_t inputs_length,
                 const TextList* output_names, const int32_t* output_choice, size_t output_choice_length,
                 OrtValue** outputs, size_t outputs_length, OrtStatus** status) {
  ChosenNames in, out;
  const char* const* in_names = choose(&in, input_names, input_choice, input_choice_length, inputs_length, status);
  const char* const* out_names =
      in_names ? choose(&out, output_names, output_choice, output_choice_length, outputs_length, status) : NULL;
  if (out_names)
    *status = OrtRun(session, options, in_names, (const OrtValue* const*)inputs, inputs_length, out_names,
                     outputs_length, outputs);
  if (in_names) end_choice(&out);
  end_choice(&in);
}

OrtIoBinding* create_binding(OrtSession* session, OrtStatus** status) {
  OrtIoBinding* binding = NULL;
  *status = OrtCreateIoBinding(session, &binding);
  return binding;
}

void release_binding(OrtIoBinding* binding) { OrtReleaseIoBinding(binding); }

void bind_input(OrtIoBinding* binding, const char* name, const OrtValue* value, OrtStatus** status) {
  *status = OrtBindInput(binding, name, value);
}

void bind_output(OrtIoBinding* binding, const char* name, const OrtValue* value, OrtStatus** status) {
  *status = OrtBindOutput(binding, name, value);
}

void bind_output_to_memory(OrtIoBinding* binding, const char* name, const OrtMemoryInfo* memory, OrtStatus** status) {
  *status = OrtBindOutputToDevice(binding, name, memory);
}

void clear_bound_inputs(OrtIoBinding* binding) { OrtClearBoundInputs(binding); }
void clear_bound_outputs(OrtIoBinding* binding) { OrtClearBoundOutputs(binding); }

void synchronize_inputs(OrtIoBinding* binding, OrtStatus** status) { *status = OrtSynchronizeBoundInputs(binding); }
void synchronize_outputs(OrtIoBinding* binding, OrtStatus** status) { *status = OrtSynchronizeBoundOutputs(binding); }

TextList* bound_output_names(const OrtIoBinding* binding, OrtStatus** status) {
  char* block = NULL;
  size_t *lengths = NULL, count = 0, start = 0;
  if ((*status = OrtGetBoundOutputNames(binding, default_allocator(), &block, &lengths, &count))) return NULL;
  char** texts = calloc(count ? count : 1, sizeof *texts);
  if (!texts) refuse_memory(status);
  for (size_t i = 0; !*status && i < count; start += lengths[i++])
    texts[i] = copy_text(block + start, lengths[i], status);
  TextList* list = *status ? NULL : copy_texts((const char* const*)texts, count, status);
  if (texts) free_texts(texts, count);
  if (block) OrtReleaseStatus(OrtAllocatorFree(default_allocator(), block));
  if (lengths) OrtReleaseStatus(OrtAllocatorFree(default_allocator(), lengths));
  return list;
}

size_t bound_outputs(const OrtIoBinding* binding, OrtValue** values, size_t values_length, OrtStatus** status) {
  OrtValue** made = NULL;
  size_t count = 0;
  if ((*status = OrtGetBoundOutputValues(binding, default_allocator(), &made, &count))) return 0;
  for (size_t i = 0; i < count; ++i) {
    if (i < values_length)
      values[i] = made[i];
    else
      OrtReleaseValue(made[i]);
  }
  if (made) OrtReleaseStatus(OrtAllocatorFree(default_allocator(), made));
  return count;
}

void run_binding(OrtSession* session, const OrtRunOptions* options, const OrtIoBinding* binding, OrtStatus** status) {
  *status = OrtRunWithBinding(session, options, binding);
}
