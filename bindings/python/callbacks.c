/* Callables as the library's function pointers. */
#include "callbacks.h"

#include "arrays.h"
#include "handles.h"
#include "table.h"
#include "texts.h"

OrtStatus* status_of_exception(void) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  PyObject* name = type ? PyObject_GetAttrString(type, "__name__") : NULL;
  PyObject* text = name ? PyUnicode_FromFormat("%S: %S", name, value ? value : Py_None) : NULL;
  const char* words = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
  OrtStatus* status = OrtCreateStatus(ORT_FAIL, words ? words : "a function in Python failed");
  PyErr_Clear();
  Py_XDECREF(text);
  Py_XDECREF(name);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
  return status;
}

OrtStatus* ORT_API_CALL write_to_callable(void* state, const void* buffer, size_t size) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject* bytes = PyBytes_FromStringAndSize(buffer, (Py_ssize_t)size);
  PyObject* result = bytes ? PyObject_CallFunctionObjArgs(state, bytes, NULL) : NULL;
  OrtStatus* status = result ? NULL : status_of_exception();
  Py_XDECREF(result);
  Py_XDECREF(bytes);
  PyGILState_Release(lock);
  return status;
}

/* ---- Places of initializers ---- */

/** A handle of a value that shares the memory of one that is only lent. */
static PyObject* share_of(const OrtValue* value) {
  OrtStatus* status = NULL;
  OrtValue* sequence = create_sequence((OrtValue* const*)&value, 1, &status);
  OrtValue* share = status ? NULL : value_at(sequence, 0, &status);
  release_value(sequence);
  if (!status) return new_handle(share, "OrtValue", destroy_OrtValue);
  raise_status(status);
  return NULL;
}

static PyObject* describe_place(const OrtExternalInitializerInfo* info) {
  const OrtApi* table = api_table();
  if (!info) Py_RETURN_NONE;
  return Py_BuildValue("NLn", new_text(table->ExternalInitializerInfo_GetFilePath(info)),
                       (long long)table->ExternalInitializerInfo_GetFileOffset(info),
                       (Py_ssize_t)table->ExternalInitializerInfo_GetByteSize(info));
}

static OrtStatus* read_place(PyObject* place, OrtExternalInitializerInfo** chosen) {
  PyObject* path;
  long long offset;
  Py_ssize_t size;
  if (place == Py_None) return NULL;
  if (!PyArg_ParseTuple(place, "OLn", &path, &offset, &size)) return status_of_exception();
  const char* text = text_of(path);
  return text ? api_table()->CreateExternalInitializerInfo(text, offset, (size_t)size, chosen) : status_of_exception();
}

OrtStatus* ORT_API_CALL locate_by_callable(void* state, const char* name, const OrtValue* value,
                                           const OrtExternalInitializerInfo* info,
                                           OrtExternalInitializerInfo** chosen) {
  PyGILState_STATE lock = PyGILState_Ensure();
  *chosen = NULL;
  PyObject *share = share_of(value), *place = share ? describe_place(info) : NULL;
  PyObject* result = place ? PyObject_CallFunction(state, "NOO", new_text(name), share, place) : NULL;
  OrtStatus* status = result ? read_place(result, chosen) : status_of_exception();
  Py_XDECREF(result);
  Py_XDECREF(place);
  Py_XDECREF(share);
  PyGILState_Release(lock);
  return status;
}

/* ---- Choice of devices ---- */

static PyObject* dict_of_pairs(const OrtKeyValuePairs* pairs) {
  PyObject* dict = PyDict_New();
  for (size_t i = 0; dict && i < setting_count(pairs); ++i) {
    PyObject *key = new_text(setting_key(pairs, i)), *value = new_text(setting_value(pairs, i));
    if (!key || !value || PyDict_SetItem(dict, key, value)) Py_CLEAR(dict);
    Py_XDECREF(key);
    Py_XDECREF(value);
  }
  return dict;
}

static PyObject* list_of_devices(const OrtEpDevice** devices, size_t count) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject* handle = new_handle(devices[i], "OrtEpDevice", destroy_OrtEpDevice);
    if (!handle) Py_CLEAR(list);
    if (handle) PyList_SetItem(list, (Py_ssize_t)i, handle);
  }
  return list;
}

static OrtStatus* take_choice(PyObject* indices, const OrtEpDevice** devices, size_t count,
                              const OrtEpDevice** selected, size_t most, size_t* selected_count) {
  size_t length = 0;
  int64_t* numbers = new_int64s(indices, &length);
  OrtStatus* status = numbers ? NULL : status_of_exception();
  if (length > most) status = OrtCreateStatus(ORT_FAIL, "more devices were chosen than a session takes");
  for (size_t i = 0; !status && i < length; ++i) {
    if (numbers[i] < 0 || (uint64_t)numbers[i] >= count)
      status = OrtCreateStatus(ORT_FAIL, "a device was chosen that was not offered");
    else
      selected[i] = devices[numbers[i]];
  }
  *selected_count = status ? 0 : length;
  PyMem_Free(numbers);
  return status;
}

static OrtStatus* ORT_API_CALL choose_by_callable(const OrtEpDevice** devices, size_t count,
                                                  const OrtKeyValuePairs* model, const OrtKeyValuePairs* runtime,
                                                  const OrtEpDevice** selected, size_t most, size_t* selected_count,
                                                  void* state) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *list = list_of_devices(devices, count), *of_model = dict_of_pairs(model),
           *of_runtime = dict_of_pairs(runtime);
  PyObject* indices = list && of_model && of_runtime
                          ? PyObject_CallFunction(state, "OOOn", list, of_model, of_runtime, (Py_ssize_t)most)
                          : NULL;
  OrtStatus* status =
      indices ? take_choice(indices, devices, count, selected, most, selected_count) : status_of_exception();
  Py_XDECREF(indices);
  Py_XDECREF(of_runtime);
  Py_XDECREF(of_model);
  Py_XDECREF(list);
  PyGILState_Release(lock);
  return status;
}

void set_device_chooser(OrtSessionOptions* options, PyObject* choose, OrtStatus** status) {
  *status = api_table()->SessionOptionsSetEpSelectionPolicyDelegate(options, choose_by_callable, choose);
}

/* ---- Data of compiled nodes ---- */

static OrtStatus* copy_out(PyObject* data, OrtAllocator* allocator, void** buffer, size_t* size) {
  size_t length = 0;
  const void* bytes = memory_of(data, 0, &length);
  if (!bytes) return status_of_exception();
  OrtStatus* status = OrtAllocatorAlloc(allocator, length, buffer);
  if (status) return status;
  if (length) memcpy(*buffer, bytes, length);
  *size = length;
  return NULL;
}

static OrtStatus* ORT_API_CALL read_by_callable(void* state, const char* name, OrtAllocator* allocator, void** buffer,
                                                size_t* size) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject* data = PyObject_CallFunction(state, "N", new_text(name));
  OrtStatus* status = data ? copy_out(data, allocator, buffer, size) : status_of_exception();
  Py_XDECREF(data);
  PyGILState_Release(lock);
  return status;
}

void set_context_reader(OrtSessionOptions* options, PyObject* read, OrtStatus** status) {
  int some = read != Py_None;
  *status =
      api_table()->SessionOptionsSetEpContextDataReadFunc(options, some ? read_by_callable : NULL, some ? read : NULL);
}
