/* Calls about values and types. */
#include "texts.h"

static const OrtMemoryInfo* cpu_memory(OrtStatus** status) {
  const OrtMemoryInfo* memory = NULL;
  *status = OrtAllocatorGetInfo(default_allocator(), &memory);
  return memory;
}

OrtValue* tensor_over(void* held, size_t held_length, const int64_t* shape, size_t shape_length, int element_type,
                      OrtStatus** status) {
  OrtValue* tensor = NULL;
  const OrtMemoryInfo* memory = cpu_memory(status);
  if (!*status)
    *status = OrtCreateTensorWithDataAsOrtValue(memory, held, held_length, shape, shape_length,
                                                (ONNXTensorElementDataType)element_type, &tensor);
  return tensor;
}

static OrtValue* new_tensor(OrtAllocator* allocator, const int64_t* shape, size_t shape_length, int element_type,
                            OrtStatus** status) {
  OrtValue* tensor = NULL;
  *status = OrtCreateTensorAsOrtValue(allocator, shape, shape_length, (ONNXTensorElementDataType)element_type, &tensor);
  return tensor;
}

OrtValue* tensor_copy(const void* bytes, size_t bytes_length, const int64_t* shape, size_t shape_length,
                      int element_type, OrtStatus** status) {
  OrtValue* tensor = new_tensor(default_allocator(), shape, shape_length, element_type, status);
  if (!tensor) return NULL;
  write_tensor(tensor, bytes, bytes_length, status);
  if (!*status) return tensor;
  OrtReleaseValue(tensor);
  return NULL;
}

OrtValue* tensor_of_zeros(const int64_t* shape, size_t shape_length, int element_type, OrtStatus** status) {
  OrtValue* tensor = new_tensor(default_allocator(), shape, shape_length, element_type, status);
  if (!tensor || element_type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return tensor;
  void* data = NULL;
  size_t size = 0;
  *status = OrtGetTensorMutableData(tensor, &data);
  if (!*status) *status = OrtGetTensorSizeInBytes(tensor, &size);
  if (!*status && size) memset(data, 0, size);
  if (!*status) return tensor;
  OrtReleaseValue(tensor);
  return NULL;
}

OrtValue* tensor_on_device(OrtEnv* environment, const OrtMemoryInfo* memory, const int64_t* shape, size_t shape_length,
                           int element_type, OrtStatus** status) {
  OrtAllocator* allocator = NULL;
  if ((*status = OrtGetSharedAllocator(environment, memory, &allocator))) return NULL;
  if (!allocator) return refuse(status, ORT_NOT_FOUND, "no registered provider gives that memory");
  return new_tensor(allocator, shape, shape_length, element_type, status);
}

static OrtStatus* write_string(OrtValue* tensor, size_t index, const char* bytes, size_t length) {
  char* place = NULL;
  OrtStatus* status = OrtGetResizedStringTensorElementBuffer(tensor, index, length, &place);
  if (!status && length) memcpy(place, bytes, length);
  return status;
}

static OrtStatus* write_strings(OrtValue* tensor, const char* bytes, size_t bytes_length, const int64_t* ends,
                                size_t ends_length) {
  OrtTensorTypeAndShapeInfo* info = NULL;
  size_t count = 0;
  OrtStatus* status = OrtGetTensorTypeAndShape(tensor, &info);
  if (!status) status = OrtGetTensorShapeElementCount(info, &count);
  OrtReleaseTensorTypeAndShapeInfo(info);
  if (!status && count != ends_length)
    status = OrtCreateStatus(ORT_INVALID_ARGUMENT, "there must be as many strings as the shape has elements");
  int64_t start = 0;
  for (size_t i = 0; i < ends_length && !status; start = ends[i++]) {
    if (ends[i] < start || (uint64_t)ends[i] > bytes_length)
      return OrtCreateStatus(ORT_INVALID_ARGUMENT, "the ends of strings must ascend and lie within the bytes");
    status = write_string(tensor, i, bytes + start, (size_t)(ends[i] - start));
  }
  return status;
}

OrtValue* tensor_of_strings(const void* bytes, size_t bytes_length, const int64_t* ends, size_t ends_length,
                            const int64_t* shape, size_t shape_length, OrtStatus** status) {
  OrtValue* tensor = new_tensor(default_allocator(), shape, shape_length, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, status);
  if (!tensor) return NULL;
  if (!(*status = write_strings(tensor, bytes, bytes_length, ends, ends_length))) return tensor;
  OrtReleaseValue(tensor);
  return NULL;
}

OrtValue* create_sequence(OrtValue* const* values, size_t values_length, OrtStatus** status) {
  OrtValue* sequence = NULL;
  *status = OrtCreateValue((const OrtValue* const*)values, values_length, ONNX_TYPE_SEQUENCE, &sequence);
  return sequence;
}

OrtValue* create_map(const OrtValue* keys, const OrtValue* values, OrtStatus** status) {
  const OrtValue* parts[] = {keys, values};
  OrtValue* map = NULL;
  *status = OrtCreateValue(parts, 2, ONNX_TYPE_MAP, &map);
  return map;
}

void release_value(OrtValue* value) { OrtReleaseValue(value); }

int value_kind(const OrtValue* value, OrtStatus** status) {
  enum ONNXType kind = ONNX_TYPE_UNKNOWN;
  *status = OrtGetValueType(value, &kind);
  return kind;
}

int value_present(const OrtValue* value, OrtStatus** status) {
  int present = 0;
  *status = OrtHasValue(value, &present);
  return present;
}

size_t value_count(const OrtValue* value, OrtStatus** status) {
  size_t count = 0;
  *status = OrtGetValueCount(value, &count);
  return count;
}

OrtValue* value_at(const OrtValue* value, size_t index, OrtStatus** status) {
  OrtValue* element = NULL;
  if (index > INT32_MAX) return refuse(status, ORT_INVALID_ARGUMENT, "there is no element of that index");
  *status = OrtGetValue(value, (int)index, default_allocator(), &element);
  return element;
}

OrtTypeInfo* value_type(const OrtValue* value, OrtStatus** status) {
  OrtTypeInfo* type = NULL;
  *status = OrtGetTypeInfo(value, &type);
  return type;
}

size_t tensor_facts(const OrtValue* tensor, int64_t* facts, size_t facts_length, OrtStatus** status) {
  enum { kHead = 4 };
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  const int64_t* shape = NULL;
  size_t rank = 0, size = 0;
  const void* data = NULL;
  if ((*status = OrtGetTensorElementTypeAndShapeDataReference(tensor, &type, &shape, &rank))) return 0;
  if (type != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    if ((*status = OrtGetTensorData(tensor, &data)) || (*status = OrtGetTensorSizeInBytes(tensor, &size))) return 0;
  }
  int64_t head[kHead] = {type, (int64_t)(intptr_t)data, (int64_t)size, (int64_t)rank};
  for (size_t i = 0; i < facts_length && i < kHead + rank; ++i) facts[i] = i < kHead ? head[i] : shape[i - kHead];
  return kHead + rank;
}

void* tensor_data(OrtValue* tensor, OrtStatus** status) {
  void* data = NULL;
  *status = OrtGetTensorMutableData(tensor, &data);
  return data;
}

const OrtMemoryInfo* tensor_memory(const OrtValue* tensor, OrtStatus** status) {
  const OrtMemoryInfo* memory = NULL;
  *status = OrtGetTensorMemoryInfo(tensor, &memory);
  return memory;
}

void copy_tensor(const OrtEnv* environment, const OrtValue* from, OrtValue* to, OrtStatus** status) {
  *status = OrtCopyTensors(environment, &from, &to, NULL, 1);
}

/** The elements of a tensor that the CPU can reach, if it has exactly `size` bytes of them. */
static void* elements_of_size(const OrtValue* tensor, size_t size, OrtStatus** status) {
  const OrtMemoryInfo* memory = tensor_memory(tensor, status);
  const void* data = NULL;
  size_t needed = 0;
  if (*status || (*status = OrtGetTensorSizeInBytes(tensor, &needed)) || (*status = OrtGetTensorData(tensor, &data)))
    return NULL;
  if (memory_device_type(memory) != OrtMemoryInfoDeviceType_CPU)
    return refuse(status, ORT_INVALID_ARGUMENT, "the tensor is in the memory of a device; copy it to the CPU first");
  if (size != needed) return refuse(status, ORT_INVALID_ARGUMENT, "the bytes are not as many as the tensor's");
  return (void*)data;
}

void write_tensor(OrtValue* tensor, const void* bytes, size_t bytes_length, OrtStatus** status) {
  void* elements = elements_of_size(tensor, bytes_length, status);
  if (!*status && bytes_length) memcpy(elements, bytes, bytes_length);
}

void read_tensor(const OrtValue* tensor, void* bytes, size_t bytes_length, OrtStatus** status) {
  const void* elements = elements_of_size(tensor, bytes_length, status);
  if (!*status && bytes_length) memcpy(bytes, elements, bytes_length);
}

size_t strings_size(const OrtValue* tensor, OrtStatus** status) {
  size_t size = 0;
  *status = OrtGetStringTensorDataLength(tensor, &size);
  return size;
}

void read_strings(const OrtValue* tensor, void* bytes, size_t bytes_length, int64_t* ends, size_t ends_length,
                  OrtStatus** status) {
  size_t* starts = (size_t*)ends;  // both are 64 bits wide; the starts are turned into ends in place
  _Static_assert(sizeof(size_t) == sizeof(int64_t), "the bindings are for 64-bit machines");
  if ((*status = OrtGetStringTensorContent(tensor, bytes, bytes_length, starts, ends_length))) return;
  for (size_t i = 0; i + 1 < ends_length; ++i) ends[i] = ends[i + 1];
  if (ends_length) ends[ends_length - 1] = (int64_t)strings_size(tensor, status);
}

int type_kind(const OrtTypeInfo* type, OrtStatus** status) {
  enum ONNXType kind = ONNX_TYPE_UNKNOWN;
  *status = OrtGetOnnxTypeFromTypeInfo(type, &kind);
  return kind;
}

/** The tensor part of a type; NULL for other kinds. */
static const OrtTensorTypeAndShapeInfo* tensor_part(const OrtTypeInfo* type, OrtStatus** status) {
  const OrtTensorTypeAndShapeInfo* part = NULL;
  *status = OrtCastTypeInfoToTensorInfo(type, &part);
  return part;
}

static int map_key_type(const OrtTypeInfo* type, OrtStatus** status) {
  const OrtMapTypeInfo* map = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (!(*status = OrtCastTypeInfoToMapTypeInfo(type, &map)) && map) *status = OrtGetMapKeyType(map, &element);
  return element;
}

int type_element(const OrtTypeInfo* type, OrtStatus** status) {
  const OrtTensorTypeAndShapeInfo* tensor = tensor_part(type, status);
  if (*status) return 0;
  if (!tensor) return map_key_type(type, status);
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  *status = OrtGetTensorElementType(tensor, &element);
  return element;
}

size_t type_rank(const OrtTypeInfo* type, OrtStatus** status) {
  const OrtTensorTypeAndShapeInfo* tensor = tensor_part(type, status);
  return tensor ? OrtGetNumOfDimensions(tensor) : 0;
}

int64_t type_dimension(const OrtTypeInfo* type, size_t index, OrtStatus** status) {
  const OrtTensorTypeAndShapeInfo* tensor = tensor_part(type, status);
  size_t rank = tensor ? OrtGetNumOfDimensions(tensor) : 0;
  int64_t size = -1;
  if (index >= rank) {
    if (!*status) refuse(status, ORT_INVALID_ARGUMENT, "the type has no dimension of that index");
    return 0;
  }
  int64_t* sizes = malloc(rank * sizeof *sizes);
  if (!sizes) {
    refuse_memory(status);
    return 0;
  }
  *status = OrtGetDimensions(tensor, sizes, rank);
  if (!*status) size = sizes[index];
  free(sizes);
  return size;
}

char* type_symbol(const OrtTypeInfo* type, size_t index, OrtStatus** status) {
  const OrtTensorTypeAndShapeInfo* tensor = tensor_part(type, status);
  size_t rank = tensor ? OrtGetNumOfDimensions(tensor) : 0;
  if (*status) return NULL;
  if (index >= rank) return refuse(status, ORT_INVALID_ARGUMENT, "the type has no dimension of that index");
  const char** symbols = calloc(rank, sizeof *symbols);
  if (!symbols) return refuse_memory(status);
  *status = OrtGetSymbolicDimensions(tensor, symbols, rank);
  const char* borrowed = symbols[index] ? symbols[index] : "";
  char* symbol = *status ? NULL : copy_text(borrowed, strlen(borrowed), status);
  free(symbols);
  return symbol;
}

static OrtTypeInfo* map_content(const OrtTypeInfo* type, OrtStatus** status) {
  const OrtMapTypeInfo* map = NULL;
  OrtTypeInfo* content = NULL;
  if (!(*status = OrtCastTypeInfoToMapTypeInfo(type, &map)) && map) *status = OrtGetMapValueType(map, &content);
  return content;
}

static OrtTypeInfo* sequence_content(const OrtTypeInfo* type, OrtStatus** status) {
  const OrtSequenceTypeInfo* sequence = NULL;
  OrtTypeInfo* content = NULL;
  if (!(*status = OrtCastTypeInfoToSequenceTypeInfo(type, &sequence)) && sequence)
    *status = OrtGetSequenceElementType(sequence, &content);
  return content;
}

static OrtTypeInfo* optional_content(const OrtTypeInfo* type, OrtStatus** status) {
  const OrtOptionalTypeInfo* optional = NULL;
  OrtTypeInfo* content = NULL;
  if (!(*status = OrtCastTypeInfoToOptionalTypeInfo(type, &optional)) && optional)
    *status = OrtGetOptionalContainedTypeInfo(optional, &content);
  return content;
}

OrtTypeInfo* type_content(const OrtTypeInfo* type, OrtStatus** status) {
  switch (type_kind(type, status)) {
    case ONNX_TYPE_SEQUENCE:
      return sequence_content(type, status);
    case ONNX_TYPE_MAP:
      return map_content(type, status);
    case ONNX_TYPE_OPTIONAL:
      return optional_content(type, status);
    default:
      return NULL;
  }
}

void release_type(OrtTypeInfo* type) { OrtReleaseTypeInfo(type); }
