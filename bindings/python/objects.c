/* Containers and texts as Python objects. Maps of one sequence mostly share their keys, so these are made once. */
#include "objects.h"

#include "arrays.h"
#include "handles.h"
#include "numpy_api.h"
#include "ortolan.h"

/* NULL, with the status's exception if it is one. */
static void* raise_if(OrtStatus* status) {
  if (status) raise_status(status);
  return NULL;
}

/* ---- Texts ---- */

typedef struct {
  ONNXTensorElementDataType element;
  const int64_t* shape;
  size_t rank, count;
} Facts;

static int read_facts(const OrtValue* tensor, Facts* facts) {
  raise_if(OrtGetTensorElementTypeAndShapeDataReference(tensor, &facts->element, &facts->shape, &facts->rank));
  facts->count = 1;
  for (size_t i = 0; i < facts->rank && !PyErr_Occurred(); ++i) facts->count *= (size_t)facts->shape[i];
  return !PyErr_Occurred();
}

static int is_text(const OrtValue* tensor) {
  Facts facts;
  return read_facts(tensor, &facts) && facts.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
}

enum { kTexts = 256 };

/* Calls `put(to, i, text)` for each text of a tensor, with a new str that it takes over; 0 where there is an exception.
 */
static int each_text(const OrtValue* tensor, size_t count, int (*put)(void* to, size_t i, PyObject* text), void* to) {
  const char* texts[kTexts];
  size_t lengths[kTexts];
  for (size_t first = 0; first < count; first += kTexts) {
    size_t here = count - first < kTexts ? count - first : kTexts;
    raise_if(OrtGetStringTensorTexts(tensor, first, texts, lengths, here));
    if (PyErr_Occurred()) return 0;
    for (size_t i = 0; i < here; ++i) {
      PyObject* text = PyUnicode_DecodeUTF8(texts[i], (Py_ssize_t)lengths[i], "replace");
      if (!text || !put(to, first + i, text)) return 0;
    }
  }
  return 1;
}

static int put_element(void* elements, size_t i, PyObject* text) {
  PyObject** place = (PyObject**)elements + i;
  Py_XDECREF(*place);
  *place = text;
  return 1;
}

PyObject* new_array_of_texts(const OrtValue* value, const int64_t* shape, size_t rank) {
  PyObject* array = PyArray_SimpleNew((int)rank, (const npy_intp*)shape, NPY_OBJECT);
  if (!array) return NULL;
  PyArrayObject* texts = (PyArrayObject*)array;
  if (!each_text(value, (size_t)PyArray_SIZE(texts), put_element, PyArray_DATA(texts))) Py_CLEAR(array);
  return array;
}

static PyObject* array_of_texts(const OrtValue* tensor) {
  Facts facts;
  return read_facts(tensor, &facts) ? new_array_of_texts(tensor, facts.shape, facts.rank) : NULL;
}

PyObject* texts_of_tensor(PyObject* handle) {
  OrtValue* tensor = handle_pointer(handle, "OrtValue");
  return tensor ? array_of_texts(tensor) : NULL;
}

/* The bytes of a str or bytes, borrowed from it. */
static const char* text_bytes(PyObject* text, Py_ssize_t* length) {
  if (PyUnicode_Check(text)) return PyUnicode_AsUTF8AndSize(text, length);
  char* bytes = NULL;
  if (PyBytes_Check(text)) {
    PyBytes_AsStringAndSize(text, &bytes, length);
    return bytes;
  }
  PyObject* name = PyObject_GetAttrString((PyObject*)Py_TYPE(text), "__name__");
  PyObject* message = name ? PyUnicode_FromFormat("a string tensor is made of str or bytes, not of '%U'", name) : NULL;
  const char* words = message ? PyUnicode_AsUTF8AndSize(message, NULL) : NULL;
  if (words) raise_status(OrtCreateStatus(ORT_INVALID_ARGUMENT, words));
  Py_XDECREF(message);
  Py_XDECREF(name);
  return NULL;
}

static int write_texts(OrtValue* tensor, PyObject** objects, size_t count) {
  const char* texts[kTexts];
  size_t lengths[kTexts];
  for (size_t first = 0; first < count; first += kTexts) {
    size_t here = count - first < kTexts ? count - first : kTexts;
    for (size_t i = 0; i < here; ++i) {
      Py_ssize_t length = 0;
      PyObject* object = objects[first + i];
      if (!(texts[i] = text_bytes(object ? object : Py_None, &length))) return 0;
      lengths[i] = (size_t)length;
    }
    raise_if(OrtFillStringTensorTexts(tensor, first, texts, lengths, here));
    if (PyErr_Occurred()) return 0;
  }
  return 1;
}

PyObject* tensor_of_texts(PyObject* object) {
  PyArrayObject* array = (PyArrayObject*)object;
  if (!PyArray_Check(object) || PyArray_TYPE(array) != NPY_OBJECT || !PyArray_IS_C_CONTIGUOUS(array))
    return PyErr_Format(PyExc_ValueError, "the array must be contiguous and of objects");
  OrtAllocator* allocator = NULL;
  OrtValue* tensor = NULL;
  OrtStatus* status = OrtGetAllocatorWithDefaultOptions(&allocator);
  if (!status)
    status = OrtCreateTensorAsOrtValue(allocator, (const int64_t*)PyArray_DIMS(array), (size_t)PyArray_NDIM(array),
                                       ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &tensor);
  if (status) return raise_if(status);
  if (write_texts(tensor, PyArray_DATA(array), (size_t)PyArray_SIZE(array)))
    return new_handle(tensor, "OrtValue", destroy_OrtValue);
  release_value(tensor);
  return NULL;
}

/* ---- Containers ---- */

/* What reading a value needs: the function for tensors of unusual types, and what the keys of the last map were: a
 * list, a dict of them to copy, and where they lie, which the value being read keeps alive. */
typedef struct {
  PyObject *leaf, *keys, *model;
  const void* keys_at;
  Facts keys_facts;
} Reader;

static void close_reader(Reader* reader) {
  Py_CLEAR(reader->keys);
  Py_CLEAR(reader->model);
}

static const void* elements_of(const OrtValue* tensor) {
  const void* data = NULL;
  raise_if(OrtGetTensorData(tensor, &data));
  return data;
}

static int put_item(void* list, size_t i, PyObject* item) { return !PyList_SetItem(list, (Py_ssize_t)i, item); }

static PyObject* list_of_texts(const OrtValue* tensor, size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  if (list && !each_text(tensor, count, put_item, list)) Py_CLEAR(list);
  return list;
}

/* The elements of a map's part as a list. */
static PyObject* list_of(const OrtValue* tensor, const Facts* facts) {
  if (facts->element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) return list_of_texts(tensor, facts->count);
  PyObject* array = copy_array(tensor);
  PyObject* list = array ? PyObject_CallMethod(array, "tolist", NULL) : NULL;
  if (!array && !PyErr_Occurred()) PyErr_Format(PyExc_TypeError, "NumPy has no elements as those of this map");
  Py_XDECREF(array);
  return list;
}

static int make_model(Reader* reader) {
  reader->model = PyDict_New();
  for (Py_ssize_t i = 0; reader->model && i < PyList_Size(reader->keys); ++i) {
    if (PyDict_SetItem(reader->model, PyList_GetItem(reader->keys, i), Py_None)) return 0;
  }
  return reader->model != NULL;
}

/* Makes the keys of a map the reader's, unless they are: both are alive, so what lies at one address is the same. */
static int take_keys(Reader* reader, const OrtValue* keys) {
  Facts facts;
  const void* at = elements_of(keys);
  if (PyErr_Occurred() || !read_facts(keys, &facts)) return 0;
  const Facts* last = &reader->keys_facts;
  if (reader->model && at == reader->keys_at && facts.element == last->element && facts.count == last->count) return 1;
  close_reader(reader);
  reader->keys_at = at;
  reader->keys_facts = facts;
  return (reader->keys = list_of(keys, &facts)) && make_model(reader);
}

static int fill_with_list(PyObject* dict, PyObject* keys, PyObject* list) {
  for (Py_ssize_t i = 0; list && i < PyList_Size(keys); ++i) {
    if (PyDict_SetItem(dict, PyList_GetItem(keys, i), PyList_GetItem(list, i))) break;
  }
  Py_XDECREF(list);
  return !PyErr_Occurred();
}

static int fill_with_floats(PyObject* dict, PyObject* keys, const float* values) {
  if (!values) return !PyErr_Occurred();
  for (Py_ssize_t i = 0, count = PyList_Size(keys); i < count; ++i) {
    PyObject* number = PyFloat_FromDouble(values[i]);
    int failed = !number || PyDict_SetItem(dict, PyList_GetItem(keys, i), number);
    Py_XDECREF(number);
    if (failed) return 0;
  }
  return 1;
}

static PyObject* dict_of(Reader* reader, const OrtValue* map) {
  const OrtValue *keys = NULL, *values = NULL;
  Facts facts;
  raise_if(OrtGetMapParts(map, &keys, &values));
  if (PyErr_Occurred() || !take_keys(reader, keys) || !read_facts(values, &facts)) return NULL;
  PyObject* dict = PyDict_Copy(reader->model);
  if (!dict) return NULL;
  int filled = facts.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT
                   ? fill_with_floats(dict, reader->keys, elements_of(values))
                   : fill_with_list(dict, reader->keys, list_of(values, &facts));
  if (!filled) Py_CLEAR(dict);
  return dict;
}

static PyObject* read_value(Reader* reader, const OrtValue* value);

/* An item that NumPy has no type for: a copy, which `leaf` reads. */
static PyObject* unusual_item(const Reader* reader, const OrtValue* sequence, size_t index) {
  OrtStatus* status = NULL;
  OrtValue* copy = value_at(sequence, index, &status);
  if (status) return raise_if(status);
  PyObject* handle = new_handle(copy, "OrtValue", destroy_OrtValue);
  PyObject* object = handle ? PyObject_CallFunctionObjArgs(reader->leaf, handle, NULL) : NULL;
  Py_XDECREF(handle);
  return object;
}

static PyObject* item_at(Reader* reader, const OrtValue* sequence, size_t index) {
  const OrtValue* item = NULL;
  raise_if(OrtGetSequenceItem(sequence, index, &item));
  PyObject* object = item ? read_value(reader, item) : NULL;
  return object || PyErr_Occurred() ? object : unusual_item(reader, sequence, index);
}

static int is_floats(const OrtValue* tensor) {
  Facts facts;
  return tensor && read_facts(tensor, &facts) && facts.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
}

/* The maps of a sequence that has them in rows. */
static PyObject* list_of_rows(Reader* reader, const OrtValue* keys, const OrtValue* values) {
  Facts facts;
  if (!take_keys(reader, keys) || !read_facts(values, &facts)) return NULL;
  const float* row = elements_of(values);
  PyObject* list = PyErr_Occurred() ? NULL : PyList_New((Py_ssize_t)facts.shape[0]);
  for (int64_t i = 0; list && i < facts.shape[0]; ++i, row += facts.shape[1]) {
    PyObject* dict = PyDict_Copy(reader->model);
    if (dict) PyList_SetItem(list, (Py_ssize_t)i, dict);
    if (!dict || !fill_with_floats(dict, reader->keys, row)) Py_CLEAR(list);
  }
  return list;
}

static PyObject* list_of_items(Reader* reader, const OrtValue* sequence) {
  const OrtValue *keys = NULL, *values = NULL;
  raise_if(OrtGetMapRows(sequence, &keys, &values));
  if (PyErr_Occurred()) return NULL;
  if (is_floats(values)) return list_of_rows(reader, keys, values);
  size_t count = 0;
  raise_if(OrtGetValueCount(sequence, &count));
  PyObject* list = PyErr_Occurred() ? NULL : PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject* item = item_at(reader, sequence, i);
    if (!item) Py_CLEAR(list);
    if (item) PyList_SetItem(list, (Py_ssize_t)i, item);
  }
  return list;
}

/* NULL without an exception for tensors that NumPy has no type for, and kinds of values that are not read here. */
static PyObject* read_value(Reader* reader, const OrtValue* value) {
  enum ONNXType kind = ONNX_TYPE_UNKNOWN;
  raise_if(OrtGetValueType(value, &kind));
  if (PyErr_Occurred()) return NULL;
  if (kind == ONNX_TYPE_SEQUENCE) return list_of_items(reader, value);
  if (kind == ONNX_TYPE_MAP) return dict_of(reader, value);
  if (kind != ONNX_TYPE_TENSOR) return NULL;
  if (is_text(value)) return array_of_texts(value);
  return PyErr_Occurred() ? NULL : copy_array(value);
}

PyObject* object_of_value(PyObject* handle, PyObject* leaf) {
  const OrtValue* value = handle_pointer(handle, "OrtValue");
  int present = 0;
  if (!value) return NULL;
  raise_if(OrtHasValue(value, &present));
  if (PyErr_Occurred()) return NULL;
  if (!present) Py_RETURN_NONE;
  enum ONNXType kind = ONNX_TYPE_UNKNOWN;
  raise_if(OrtGetValueType(value, &kind));
  if (PyErr_Occurred()) return NULL;
  if (kind == ONNX_TYPE_TENSOR && is_text(value)) return array_of_texts(value);
  if (kind != ONNX_TYPE_SEQUENCE && kind != ONNX_TYPE_MAP) return PyObject_CallFunctionObjArgs(leaf, handle, NULL);
  Reader reader = {leaf, NULL, NULL, NULL, {0}};
  PyObject* object = read_value(&reader, value);
  close_reader(&reader);
  return object;
}
