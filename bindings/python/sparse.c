/* Sparse tensors. */
#include "sparse.h"

#include "arrays.h"
#include "handles.h"
#include "numpy_api.h"
#include "objects.h"
#include "table.h"

static PyObject* none_or_raise(OrtStatus* status) {
  if (!status) Py_RETURN_NONE;
  raise_status(status);
  return NULL;
}

/** The array, if its elements lie as the library reads them. */
static PyArrayObject* plain_array(PyObject* object, int type, const char* what) {
  PyArrayObject* array = (PyArrayObject*)object;
  if (PyArray_Check(object) && PyArray_ISCARRAY_RO(array) && (type < 0 || PyArray_TYPE(array) == type)) return array;
  return (PyArrayObject*)PyErr_Format(PyExc_TypeError, "%s must be a contiguous array of the right type", what);
}

static PyArrayObject* index_array(PyObject* object) { return plain_array(object, NPY_INT64, "indices"); }

static PyObject* keeping(PyObject* handle, PyObject* object) {
  PyObject* kept = handle ? keep(handle, object) : NULL;
  if (!kept) Py_CLEAR(handle);
  Py_XDECREF(kept);
  return handle;
}

PyObject* sparse_over_array(PyObject* dense_shape, PyObject* values, int element) {
  PyArrayObject* array = plain_array(values, -1, "values");
  size_t rank = 0;
  int64_t* shape = array ? new_int64s(dense_shape, &rank) : NULL;
  if (!shape) return NULL;
  OrtValue* sparse = NULL;
  const OrtMemoryInfo* memory = NULL;
  OrtAllocator* allocator = NULL;
  OrtStatus* status = OrtGetAllocatorWithDefaultOptions(&allocator);
  if (!status) status = OrtAllocatorGetInfo(allocator, &memory);
  if (!status)
    status = OrtCreateSparseTensorWithValuesAsOrtValue(memory, PyArray_DATA(array), shape, rank,
                                                       (const int64_t*)PyArray_DIMS(array), (size_t)PyArray_NDIM(array),
                                                       (ONNXTensorElementDataType)element, &sparse);
  PyMem_Free(shape);
  if (status) return none_or_raise(status);
  return keeping(new_handle(sparse, "OrtValue", destroy_OrtValue), values);
}

PyObject* use_coo_indices(PyObject* sparse, PyObject* indices) {
  OrtValue* value = handle_pointer(sparse, "OrtValue");
  PyArrayObject* array = value ? index_array(indices) : NULL;
  if (!array) return NULL;
  OrtStatus* status = OrtUseCooIndices(value, PyArray_DATA(array), (size_t)PyArray_SIZE(array));
  return status ? none_or_raise(status) : keep(sparse, indices);
}

PyObject* use_csr_indices(PyObject* sparse, PyObject* inner, PyObject* outer) {
  OrtValue* value = handle_pointer(sparse, "OrtValue");
  PyArrayObject *columns = value ? index_array(inner) : NULL, *rows = columns ? index_array(outer) : NULL;
  if (!rows) return NULL;
  OrtStatus* status = OrtUseCsrIndices(value, PyArray_DATA(columns), (size_t)PyArray_SIZE(columns), PyArray_DATA(rows),
                                       (size_t)PyArray_SIZE(rows));
  if (status) return none_or_raise(status);
  PyObject* kept = keep(sparse, inner);
  Py_XDECREF(kept);
  return kept ? keep(sparse, outer) : NULL;
}

PyObject* use_block_indices(PyObject* sparse, PyObject* indices) {
  OrtValue* value = handle_pointer(sparse, "OrtValue");
  PyArrayObject* array = value ? plain_array(indices, NPY_INT32, "indices") : NULL;
  if (!array) return NULL;
  OrtStatus* status = OrtUseBlockSparseIndices(value, (const int64_t*)PyArray_DIMS(array), (size_t)PyArray_NDIM(array),
                                               PyArray_DATA(array));
  return status ? none_or_raise(status) : keep(sparse, indices);
}

/* ---- Texts ---- */

static OrtStatus* fill_with_texts(OrtAllocator* allocator, OrtValue* sparse, const char** texts, PyArrayObject* values,
                                  PyArrayObject* indices) {
  const OrtMemoryInfo* memory = NULL;
  OrtStatus* status = OrtAllocatorGetInfo(allocator, &memory);
  if (status) return status;
  return OrtFillSparseTensorCoo(sparse, memory, (const int64_t*)PyArray_DIMS(values), (size_t)PyArray_NDIM(values),
                                texts, PyArray_DATA(indices), (size_t)PyArray_SIZE(indices));
}

static PyObject* new_sparse_of_texts(PyObject* dense_shape, const char** texts, PyArrayObject* values,
                                     PyArrayObject* indices) {
  size_t rank = 0;
  int64_t* shape = new_int64s(dense_shape, &rank);
  if (!shape) return NULL;
  OrtValue* sparse = NULL;
  OrtAllocator* allocator = NULL;
  OrtStatus* status = OrtGetAllocatorWithDefaultOptions(&allocator);
  if (!status)
    status = OrtCreateSparseTensorAsOrtValue(allocator, shape, rank, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &sparse);
  PyMem_Free(shape);
  if (!status) status = fill_with_texts(allocator, sparse, texts, values, indices);
  if (!status) return new_handle(sparse, "OrtValue", destroy_OrtValue);
  release_value(sparse);
  return none_or_raise(status);
}

PyObject* sparse_of_texts(PyObject* dense_shape, PyObject* texts, PyObject* indices) {
  PyArrayObject *values = plain_array(texts, NPY_OBJECT, "texts"), *places = values ? index_array(indices) : NULL;
  if (!places) return NULL;
  size_t count = (size_t)PyArray_SIZE(values), read = 0;
  const char** words = PyMem_New(const char*, count + 1);
  if (!words) return PyErr_NoMemory();
  PyObject** objects = PyArray_DATA(values);
  while (read < count && (words[read] = text_of(objects[read] ? objects[read] : Py_None))) ++read;
  PyObject* handle = read == count ? new_sparse_of_texts(dense_shape, words, values, places) : NULL;
  PyMem_Free(words);
  return handle;
}

/* ---- Parts ---- */

int sparse_format(const OrtValue* sparse, OrtStatus** status) {
  enum OrtSparseFormat format = ORT_SPARSE_UNDEFINED;
  *status = OrtGetSparseTensorFormat(sparse, &format);
  return format;
}

/** Element type and dimensions, which are freed by PyMem_Free; takes over the information and the status. */
static int64_t* read_shape(OrtTensorTypeAndShapeInfo* info, OrtStatus* status, ONNXTensorElementDataType* element,
                           size_t* rank) {
  int64_t* shape = NULL;
  if (!status) status = OrtGetTensorElementType(info, element);
  if (!status) {
    *rank = OrtGetNumOfDimensions(info);
    shape = PyMem_New(int64_t, *rank + 1);
    if (shape) status = OrtGetDimensions(info, shape, *rank);
    if (!shape) PyErr_NoMemory();
  }
  OrtReleaseTensorTypeAndShapeInfo(info);
  if (!status) return shape;
  raise_status(status);
  PyMem_Free(shape);
  return NULL;
}

PyObject* sparse_description(PyObject* sparse) {
  const OrtValue* value = handle_pointer(sparse, "OrtValue");
  if (!value) return NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  OrtStatus* status = OrtGetTensorTypeAndShape(value, &info);
  int64_t* shape = read_shape(info, status, &element, &rank);
  PyObject* list = shape ? PyList_New((Py_ssize_t)rank) : NULL;
  for (size_t i = 0; list && i < rank; ++i) PyList_SetItem(list, (Py_ssize_t)i, PyLong_FromLongLong(shape[i]));
  PyMem_Free(shape);
  return list ? Py_BuildValue("iN", (int)element, list) : NULL;
}

/** An array over data that `owner` keeps; it is not for writing. */
static PyObject* array_over_part(const int64_t* shape, size_t rank, int type, const void* data, PyObject* owner) {
  PyObject* array = data ? PyArray_SimpleNewFromData((int)rank, (const npy_intp*)shape, type, (void*)data)
                         : PyArray_SimpleNew((int)rank, (const npy_intp*)shape, type);
  if (!array) return NULL;
  PyArray_CLEARFLAGS((PyArrayObject*)array, NPY_ARRAY_WRITEABLE);
  if (!data) return array;
  Py_INCREF(owner);
  if (!PyArray_SetBaseObject((PyArrayObject*)array, owner)) return array;
  Py_DECREF(array);
  return NULL;
}

PyObject* sparse_values(PyObject* sparse, int type_number) {
  const OrtValue* value = handle_pointer(sparse, "OrtValue");
  if (!value) return NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0;
  OrtStatus* status = OrtGetSparseTensorValuesTypeAndShape(value, &info);
  int64_t* shape = read_shape(info, status, &element, &rank);
  if (!shape) return NULL;
  const void* data = NULL;
  PyObject* array = NULL;
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING)
    array = new_array_of_texts(value, shape, rank);
  else if (!(status = OrtGetSparseTensorValues(value, &data)))
    array = array_over_part(shape, rank, type_number, data, sparse);
  else
    raise_status(status);
  PyMem_Free(shape);
  return array;
}

PyObject* sparse_indices(PyObject* sparse, int part) {
  const OrtValue* value = handle_pointer(sparse, "OrtValue");
  if (!value) return NULL;
  OrtTensorTypeAndShapeInfo* info = NULL;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  size_t rank = 0, count = 0;
  const void* data = NULL;
  OrtStatus* status = OrtGetSparseTensorIndicesTypeShape(value, (enum OrtSparseIndicesFormat)part, &info);
  int64_t* shape = read_shape(info, status, &element, &rank);
  if (!shape) return NULL;
  PyObject* array = NULL;
  status = OrtGetSparseTensorIndices(value, (enum OrtSparseIndicesFormat)part, &count, &data);
  if (status)
    raise_status(status);
  else
    array = array_over_part(shape, rank, element == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 ? NPY_INT32 : NPY_INT64, data,
                            sparse);
  PyMem_Free(shape);
  return array;
}
