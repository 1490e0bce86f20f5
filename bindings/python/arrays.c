/* Tensors over NumPy arrays and arrays over tensors. */
#define IMPORTS_NUMPY
#include "arrays.h"

#include "handles.h"
#include "numpy_api.h"

enum { kTypes = NPY_NTYPES_LEGACY, kElements = 16, kCopiedBytes = 2048, kUnknown = -1 };

/* What NumPy calls the element types that both have; long and long long are of one width here. */
static int element_of_type[kTypes];
static int type_of_element[kElements];

static void pair(int type, int element) {
  element_of_type[type] = element;
  type_of_element[element] = type;
}

static void pair_types(void) {
  for (int i = 0; i < kElements; ++i) type_of_element[i] = kUnknown;
  pair(NPY_LONGLONG, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  pair(NPY_ULONGLONG, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64);
  pair(NPY_FLOAT, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  pair(NPY_UINT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8);
  pair(NPY_INT8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8);
  pair(NPY_UINT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16);
  pair(NPY_INT16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16);
  pair(NPY_INT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32);
  pair(NPY_INT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  pair(NPY_BOOL, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL);
  pair(NPY_HALF, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16);
  pair(NPY_DOUBLE, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE);
  pair(NPY_UINT32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32);
  pair(NPY_UINT64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64);
  pair(NPY_CFLOAT, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64);
  pair(NPY_CDOUBLE, ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128);
}

PyObject* prepare_arrays(void) {
  import_array1(NULL);
  pair_types();
  Py_RETURN_NONE;
}

int element_in_place(PyObject* object) {
  if (!PyArray_Check(object)) return 0;
  PyArrayObject* array = (PyArrayObject*)object;
  int type = PyArray_TYPE(array);
  return type < kTypes && PyArray_ISCARRAY_RO(array) ? element_of_type[type] : 0;
}

void* memory_of(PyObject* object, int writable, size_t* length) {
  if (PyArray_Check(object)) {
    PyArrayObject* array = (PyArrayObject*)object;
    *length = (size_t)PyArray_NBYTES(array);
    if (PyArray_IS_C_CONTIGUOUS(array) && (!writable || PyArray_ISWRITEABLE(array))) return PyArray_DATA(array);
    PyErr_SetString(PyExc_ValueError,
                    writable ? "the array must be contiguous and writable" : "the array must be contiguous");
    return NULL;
  }
  if (PyByteArray_Check(object)) {
    *length = (size_t)PyByteArray_Size(object);
    return PyByteArray_AsString(object);
  }
  if (writable || !PyBytes_Check(object))
    return raise_wrong_type(object, writable ? "a bytearray or an array is needed" : "bytes or an array is needed");
  *length = (size_t)PyBytes_Size(object);
  return PyBytes_AsString(object);
}

_Static_assert(sizeof(npy_intp) == sizeof(int64_t), "the bindings are for 64-bit machines");

OrtValue* tensor_over_elements(PyObject* object, int element, OrtStatus** status) {
  PyArrayObject* array = (PyArrayObject*)object;
  return tensor_over(PyArray_DATA(array), (size_t)PyArray_NBYTES(array), (const int64_t*)PyArray_DIMS(array),
                     (size_t)PyArray_NDIM(array), element, status);
}

PyObject* tensor_over_array(PyObject* array, int element) {
  if (!PyArray_Check(array) || !PyArray_ISCARRAY_RO((PyArrayObject*)array))
    return PyErr_Format(PyExc_ValueError, "the array must be contiguous and in the machine's byte order");
  OrtStatus* status = NULL;
  OrtValue* value = tensor_over_elements(array, element, &status);
  if (status) {
    raise_status(status);
    return NULL;
  }
  PyObject* handle = new_handle(value, "OrtValue", destroy_OrtValue);
  PyObject* kept = handle ? keep(handle, array) : NULL;
  if (!kept) Py_CLEAR(handle);
  Py_XDECREF(kept);
  return handle;
}

typedef struct {
  ONNXTensorElementDataType element;
  const int64_t* shape;
  size_t rank;
  void* data;
  size_t size;
} Tensor;

/** Leaves data and size alone for strings. */
static OrtStatus* read_tensor_facts(OrtValue* value, Tensor* tensor) {
  OrtStatus* status =
      OrtGetTensorElementTypeAndShapeDataReference(value, &tensor->element, &tensor->shape, &tensor->rank);
  if (status || tensor->element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return status;
  if ((status = OrtGetTensorSizeInBytes(value, &tensor->size))) return status;
  return OrtGetTensorMutableData(value, &tensor->data);
}

static PyObject* shape_of(const Tensor* tensor) {
  PyObject* shape = PyTuple_New((Py_ssize_t)tensor->rank);
  for (size_t i = 0; shape && i < tensor->rank; ++i) {
    PyObject* size = PyLong_FromLongLong(tensor->shape[i]);
    if (!size) Py_CLEAR(shape);
    if (size) PyTuple_SetItem(shape, (Py_ssize_t)i, size);
  }
  return shape;
}

PyObject* tensor_description(PyObject* handle) {
  OrtValue* value = handle_pointer(handle, "OrtValue");
  if (!value) return NULL;
  Tensor tensor = {0};
  OrtStatus* status = read_tensor_facts(value, &tensor);
  if (status) {
    raise_status(status);
    return NULL;
  }
  PyObject* shape = shape_of(&tensor);
  return shape ? Py_BuildValue("iKnN", (int)tensor.element, (unsigned long long)(uintptr_t)tensor.data,
                               (Py_ssize_t)tensor.size, shape)
               : NULL;
}

static PyObject* array_over(const Tensor* tensor, int type, PyObject* owner) {
  PyObject* array = PyArray_SimpleNewFromData((int)tensor->rank, (const npy_intp*)tensor->shape, type, tensor->data);
  if (!array) return NULL;
  Py_INCREF(owner);
  if (!PyArray_SetBaseObject((PyArrayObject*)array, owner)) return array;
  Py_DECREF(array);
  return NULL;
}

static PyObject* copied_array(const Tensor* tensor, int type) {
  PyObject* array = PyArray_SimpleNew((int)tensor->rank, (const npy_intp*)tensor->shape, type);
  if (array && tensor->size) memcpy(PyArray_DATA((PyArrayObject*)array), tensor->data, tensor->size);
  return array;
}

PyObject* take_array(OrtValue* value) {
  Tensor tensor = {0};
  OrtStatus* status = read_tensor_facts(value, &tensor);
  int known = !status && (unsigned)tensor.element < kElements && type_of_element[tensor.element] != kUnknown;
  OrtReleaseStatus(status);
  if (!known) return NULL;
  if (tensor.size <= kCopiedBytes) {
    PyObject* array = copied_array(&tensor, type_of_element[tensor.element]);
    release_value(value);
    return array;
  }
  PyObject* owner = new_handle(value, "OrtValue", destroy_OrtValue);
  if (!owner) return NULL;
  PyObject* array = array_over(&tensor, type_of_element[tensor.element], owner);
  Py_DECREF(owner);
  return array;
}

PyObject* copy_array(const OrtValue* value) {
  Tensor tensor = {0};
  OrtStatus* status = read_tensor_facts((OrtValue*)value, &tensor);
  const OrtMemoryInfo* memory = status ? NULL : tensor_memory(value, &status);
  if (status) {
    raise_status(status);
    return NULL;
  }
  if (memory_device_type(memory) != OrtMemoryInfoDeviceType_CPU)
    return PyErr_Format(PyExc_ValueError, "the tensor is in the memory of a device; copy it to the CPU first");
  int known = (unsigned)tensor.element < kElements && type_of_element[tensor.element] != kUnknown;
  return known ? copied_array(&tensor, type_of_element[tensor.element]) : NULL;
}

static int same_width(const Tensor* tensor, int type) {
  PyArray_Descr* descr = PyArray_DescrFromType(type);
  if (!descr) return 0;
  size_t count = 1;
  for (size_t i = 0; i < tensor->rank; ++i) count *= (size_t)tensor->shape[i];
  int same = count * (size_t)PyDataType_ELSIZE(descr) == tensor->size;
  Py_DECREF(descr);
  if (!same) PyErr_SetString(PyExc_ValueError, "NumPy's type is not as wide as the tensor's elements");
  return same;
}

PyObject* array_over_tensor(PyObject* handle, int type) {
  OrtValue* value = handle_pointer(handle, "OrtValue");
  if (!value) return NULL;
  Tensor tensor = {0};
  OrtStatus* status = read_tensor_facts(value, &tensor);
  const OrtMemoryInfo* memory = status ? NULL : tensor_memory(value, &status);
  if (status) {
    raise_status(status);
    return NULL;
  }
  if (memory_device_type(memory) != OrtMemoryInfoDeviceType_CPU)
    return PyErr_Format(PyExc_ValueError, "the tensor is in the memory of a device; copy it to the CPU first");
  if (!same_width(&tensor, type)) return NULL;
  return tensor.size ? array_over(&tensor, type, handle) : copied_array(&tensor, type);
}
