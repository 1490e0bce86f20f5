/* DLPack: its structs, as its specification declares them, and their elements as ONNX's. */
#include "dlpack.h"

#include <string.h>

#include "arrays.h"
#include "handles.h"

typedef struct {
  int32_t device_type;
  int32_t device_id;
} DLDevice;

typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

enum { kInt = 0, kUInt = 1, kFloat = 2, kBfloat = 4, kComplex = 5, kBool = 6 };
enum { kFloat8E4M3FN = 10, kFloat8E4M3FNUZ = 11, kFloat8E5M2 = 12, kFloat8E5M2FNUZ = 13, kFloat8E8M0 = 14 };
enum { kFloat4E2M1 = 17 };

typedef struct {
  int element;
  uint8_t code, bits;
} Pair;

static const Pair pairs[] = {
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kFloat, 32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, kUInt, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, kInt, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, kUInt, 16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, kInt, 16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, kInt, 32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, kInt, 64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, kBool, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, kFloat, 16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, kFloat, 64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, kUInt, 32},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, kUInt, 64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, kComplex, 64},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, kComplex, 128},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, kBfloat, 16},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, kFloat8E4M3FN, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, kFloat8E4M3FNUZ, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, kFloat8E5M2, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, kFloat8E5M2FNUZ, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, kFloat8E8M0, 8},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, kUInt, 4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, kInt, 4},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, kUInt, 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, kInt, 2},
    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, kFloat4E2M1, 4},
};

static const Pair* pair_of_element(int element) {
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
    if (pairs[i].element == element) return &pairs[i];
  }
  return NULL;
}

static const Pair* pair_of_type(DLDataType type) {
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
    if (pairs[i].code == type.code && pairs[i].bits == type.bits && type.lanes == 1) return &pairs[i];
  }
  return NULL;
}

/* ---- Out ---- */

/** What a capsule points to: the tensor, and its shape and strides behind it. */
typedef struct {
  DLManagedTensor managed;
  int64_t sizes[];
} Shared;

/** Any thread calls it, with or without the interpreter's lock. */
static void delete_shared(DLManagedTensor* managed) {
  if (!Py_IsInitialized()) return;
  PyGILState_STATE lock = PyGILState_Ensure();
  Py_DECREF((PyObject*)managed->manager_ctx);
  PyMem_Free(managed);
  PyGILState_Release(lock);
}

static void destroy_unused(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  DLManagedTensor* managed = PyCapsule_GetPointer(capsule, "dltensor");
  if (managed->deleter) managed->deleter(managed);
}

static void fill_strides(int64_t* strides, const int64_t* shape, size_t rank) {
  int64_t step = 1;
  for (size_t i = rank; i-- > 0; step *= shape[i]) strides[i] = step;
}

static Shared* new_shared(const int64_t* shape, size_t rank) {
  Shared* shared = PyMem_Calloc(1, sizeof *shared + 2 * rank * sizeof(int64_t));
  if (!shared) return (Shared*)PyErr_NoMemory();
  if (rank) memcpy(shared->sizes, shape, rank * sizeof *shape);
  fill_strides(shared->sizes + rank, shape, rank);
  shared->managed.dl_tensor.ndim = (int32_t)rank;
  shared->managed.dl_tensor.shape = shared->sizes;
  shared->managed.dl_tensor.strides = shared->sizes + rank;
  shared->managed.deleter = delete_shared;
  return shared;
}

PyObject* dlpack_of_tensor(PyObject* handle, int device_type, int device_id) {
  OrtValue* value = handle_pointer(handle, "OrtValue");
  if (!value) return NULL;
  ONNXTensorElementDataType element;
  const int64_t* shape;
  size_t rank;
  void* data = NULL;
  OrtStatus* status = OrtGetTensorElementTypeAndShapeDataReference(value, &element, &shape, &rank);
  const Pair* pair = status ? NULL : pair_of_element((int)element);
  if (pair) status = OrtGetTensorMutableData(value, &data);
  if (status) {
    raise_status(status);
    return NULL;
  }
  if (!pair) return PyErr_Format(PyExc_BufferError, "DLPack has no elements of ONNX's type %d", (int)element);
  Shared* shared = new_shared(shape, rank);
  if (!shared) return NULL;
  DLTensor* tensor = &shared->managed.dl_tensor;
  tensor->data = data;
  tensor->device = (DLDevice){device_type, device_id};
  tensor->dtype = (DLDataType){pair->code, pair->bits, 1};
  PyObject* capsule = PyCapsule_New(&shared->managed, "dltensor", destroy_unused);
  if (!capsule) {
    PyMem_Free(shared);
    return NULL;
  }
  Py_INCREF(shared->managed.manager_ctx = handle);
  return capsule;
}

/* ---- In ---- */

static DLManagedTensor* managed_of(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) return PyCapsule_GetPointer(capsule, "dltensor");
  PyErr_SetString(PyExc_TypeError, "a DLPack capsule named 'dltensor' that is not used yet is needed");
  return NULL;
}

PyObject* dlpack_device(PyObject* capsule) {
  const DLManagedTensor* managed = managed_of(capsule);
  return managed
             ? Py_BuildValue("ii", (int)managed->dl_tensor.device.device_type, (int)managed->dl_tensor.device.device_id)
             : NULL;
}

static int is_contiguous(const DLTensor* tensor) {
  int64_t step = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] == 0) return 1;
  }
  for (int32_t i = tensor->ndim; tensor->strides && i-- > 0; step *= tensor->shape[i]) {
    if (tensor->shape[i] != 1 && tensor->strides[i] != step) return 0;
  }
  return 1;
}

/** Bytes of the tensor, or -1 where they are too many to count. */
static int64_t size_of(const DLTensor* tensor) {
  int64_t bits = tensor->dtype.bits;
  for (int32_t i = 0; i < tensor->ndim; ++i) {
    if (tensor->shape[i] < 0 || __builtin_mul_overflow(bits, tensor->shape[i], &bits)) return -1;
  }
  return bits / 8 + (bits % 8 != 0);
}

static void delete_managed(PyObject* owner) {
  DLManagedTensor* managed = PyCapsule_GetPointer(owner, "used_dltensor_owner");
  if (managed->deleter) managed->deleter(managed);
}

/** A handle that deletes the tensor of DLPack after itself, and only then; NULL leaves that to the capsule. */
static PyObject* owning_handle(OrtValue* value, PyObject* capsule, DLManagedTensor* managed) {
  PyObject* handle = new_handle(value, "OrtValue", destroy_OrtValue);
  PyObject* owner = handle ? PyCapsule_New(managed, "used_dltensor_owner", NULL) : NULL;
  PyObject* kept = owner ? keep(handle, owner) : NULL;
  if (kept && !PyCapsule_SetName(capsule, "used_dltensor"))
    PyCapsule_SetDestructor(owner, delete_managed);
  else
    Py_CLEAR(handle);
  Py_XDECREF(kept);
  Py_XDECREF(owner);
  return handle;
}

static OrtStatus* cpu_memory(const OrtMemoryInfo** memory) {
  OrtAllocator* allocator = NULL;
  OrtStatus* status = OrtGetAllocatorWithDefaultOptions(&allocator);
  return status ? status : OrtAllocatorGetInfo(allocator, memory);
}

PyObject* tensor_of_dlpack(PyObject* capsule, PyObject* memory_handle) {
  DLManagedTensor* managed = managed_of(capsule);
  if (!managed) return NULL;
  const DLTensor* tensor = &managed->dl_tensor;
  const Pair* pair = pair_of_type(tensor->dtype);
  int64_t size = size_of(tensor);
  if (!pair)
    return PyErr_Format(PyExc_BufferError, "ONNX has no elements of DLPack's type (code %d, %d bits, %d lanes)",
                        tensor->dtype.code, tensor->dtype.bits, tensor->dtype.lanes);
  if (size < 0 || !is_contiguous(tensor))
    return PyErr_Format(PyExc_BufferError, "the tensor must be contiguous; copy it first");
  const OrtMemoryInfo* memory = memory_handle == Py_None ? NULL : handle_pointer(memory_handle, "OrtMemoryInfo");
  if (PyErr_Occurred()) return NULL;
  OrtValue* value = NULL;
  OrtStatus* status = memory ? NULL : cpu_memory(&memory);
  if (!status)
    status = OrtCreateTensorWithDataAsOrtValue(memory, (char*)tensor->data + tensor->byte_offset, (size_t)size,
                                               tensor->shape, (size_t)tensor->ndim,
                                               (ONNXTensorElementDataType)pair->element, &value);
  if (!status) return owning_handle(value, capsule, managed);
  raise_status(status);
  return NULL;
}
