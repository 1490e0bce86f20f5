/* Handles as capsules; what they keep alive is a list in the capsule's context, dropped after the object. */
#include "handles.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "memories.h"
#include "table.h"

static atomic_int environments;
static atomic_bool logging_stopped;
static atomic_int lines_in_progress;

static void drop_kept(PyObject* handle) {
  PyObject* kept = PyCapsule_GetContext(handle);
  Py_XDECREF(kept);
}

static void* held_by(PyObject* handle) { return PyCapsule_GetPointer(handle, PyCapsule_GetName(handle)); }

/* Frees without the interpreter's lock, for objects whose end may wait for threads that log. */
#define DESTROY_WITHOUT_LOCK(TYPE, RELEASE) \
  void destroy_##TYPE(PyObject* handle) {   \
    TYPE* pointer = held_by(handle);        \
    Py_BEGIN_ALLOW_THREADS;                 \
    RELEASE(pointer);                       \
    Py_END_ALLOW_THREADS;                   \
    drop_kept(handle);                      \
  }
#define DESTROY(TYPE, RELEASE)            \
  void destroy_##TYPE(PyObject* handle) { \
    RELEASE(held_by(handle));             \
    drop_kept(handle);                    \
  }

static void release_counted_environment(OrtEnv* environment) {
  release_environment(environment);
  --environments;
}

static void release_stream(OrtSyncStream* stream) { api_table()->ReleaseSyncStream(stream); }

DESTROY_WITHOUT_LOCK(OrtEnv, release_counted_environment)
DESTROY_WITHOUT_LOCK(OrtSession, release_session)
DESTROY_WITHOUT_LOCK(OrtSyncStream, release_stream)
DESTROY(TextList, release_texts)
DESTROY(OrtKeyValuePairs, release_settings)
DESTROY(OrtMemoryInfo, release_memory)
DESTROY(OrtSessionOptions, release_session_options)
DESTROY(OrtRunOptions, release_run_options)
DESTROY(OrtModelMetadata, release_metadata)
DESTROY(OrtTypeInfo, release_type)
DESTROY(OrtValue, release_value)
DESTROY(OrtIoBinding, release_binding)

void destroy_nothing(PyObject* handle) { drop_kept(handle); }
void destroy_OrtEpDevice(PyObject* handle) { drop_kept(handle); }

PyObject* new_handle(const void* pointer, const char* type, PyCapsule_Destructor destroy) {
  if (!pointer) Py_RETURN_NONE;
  if (destroy == destroy_OrtEnv) ++environments;
  return PyCapsule_New((void*)pointer, type, destroy);
}

void* handle_pointer(PyObject* handle, const char* type) {
  if (PyCapsule_CheckExact(handle)) {
    const char* name = PyCapsule_GetName(handle);
    if (name == type || (name && !strcmp(name, type))) return PyCapsule_GetPointer(handle, name);
  }
  if (handle == Py_None)
    PyErr_Format(PyExc_ValueError, "the %s is closed", type);
  else
    raise_wrong_type(handle, "a handle of an %s is needed", type);
  return NULL;
}

const char* handle_type(const char* c_type) {
  static const char* const types[] = {"OrtSessionOptions", "OrtRunOptions", "OrtKeyValuePairs"};
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strstr(c_type, types[i])) return types[i];
  }
  return c_type;
}

PyObject* keep(PyObject* handle, PyObject* object) {
  if (!PyCapsule_CheckExact(handle)) return PyErr_Format(PyExc_TypeError, "only handles keep objects");
  PyObject* kept = PyCapsule_GetContext(handle);
  if (!kept) {
    if (!(kept = PyList_New(0))) return NULL;
    PyCapsule_SetContext(handle, kept);
  }
  if (PyList_Append(kept, object)) return NULL;
  Py_RETURN_NONE;
}

PyObject* handle_address(PyObject* handle) {
  return PyCapsule_CheckExact(handle) ? PyLong_FromVoidPtr(held_by(handle))
                                      : PyErr_Format(PyExc_ValueError, "the object is closed");
}

int environment_count(void) { return environments; }

/* ---- Errors ---- */

static PyObject* exceptions;

PyObject* set_exceptions(PyObject* types) {
  if (!PyTuple_Check(types)) return PyErr_Format(PyExc_TypeError, "exceptions come in a tuple");
  PyObject* before = exceptions;
  Py_INCREF(exceptions = types);
  Py_XDECREF(before);
  Py_RETURN_NONE;
}

void raise_status(OrtStatus* status) {
  Py_ssize_t code = OrtGetErrorCode(status), known = exceptions ? PyTuple_Size(exceptions) : 0;
  PyObject* type = known ? PyTuple_GetItem(exceptions, code < known ? code : 0) : PyExc_RuntimeError;
  PyObject* name = PyObject_GetAttrString(type, "code_name");
  if (!name) PyErr_Clear();
  PyErr_Format(type, "[ONNXRuntimeError] : %zd : %S : %s", code, name ? name : Py_None, OrtGetErrorMessage(status));
  Py_XDECREF(name);
  OrtReleaseStatus(status);
}

void* raise_wrong_type(PyObject* object, const char* needed, ...) {
  va_list values;
  va_start(values, needed);
  PyObject* start = PyUnicode_FromFormatV(needed, values);
  va_end(values);
  PyObject* name = start ? PyObject_GetAttrString((PyObject*)Py_TYPE(object), "__name__") : NULL;
  if (name) PyErr_Format(PyExc_TypeError, "%U, not '%S'", start, name);
  Py_XDECREF(name);
  Py_XDECREF(start);
  return NULL;
}

/* ---- Texts and numbers ---- */

const char* text_of(PyObject* object) {
  if (PyBytes_Check(object)) {
    char* bytes = NULL;
    return PyBytes_AsStringAndSize(object, &bytes, NULL) ? NULL : bytes;
  }
  if (!PyUnicode_Check(object)) return raise_wrong_type(object, "a str is needed");
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  if (text && strlen(text) != (size_t)length) {
    PyErr_SetString(PyExc_ValueError, "the text must not hold a NUL");
    return NULL;
  }
  return text;
}

PyObject* new_text(const char* text) {
  if (!text) Py_RETURN_NONE;
  return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

PyObject* item_of(PyObject* fast, size_t i) {
  return PyList_Check(fast) ? PyList_GetItem(fast, (Py_ssize_t)i) : PyTuple_GetItem(fast, (Py_ssize_t)i);
}

int64_t* new_int64s(PyObject* sequence, size_t* count) {
  PyObject* fast = PySequence_Fast(sequence, "a sequence of int is needed");
  if (!fast) return NULL;
  *count = (size_t)PySequence_Size(fast);
  int64_t* numbers = PyMem_New(int64_t, *count + 1);
  for (size_t i = 0; numbers && i < *count; ++i) {
    PyObject* number = PyNumber_Index(item_of(fast, i));
    numbers[i] = number ? PyLong_AsLongLong(number) : -1;
    Py_XDECREF(number);
    if (numbers[i] == -1 && PyErr_Occurred()) {
      PyMem_Free(numbers);
      numbers = NULL;
    }
  }
  Py_DECREF(fast);
  if (!numbers && !PyErr_Occurred()) PyErr_NoMemory();
  return numbers;
}

int32_t* new_int32s(PyObject* sequence, size_t* count) {
  int64_t* wide = new_int64s(sequence, count);
  if (!wide) return NULL;
  int32_t* numbers = (int32_t*)wide; /* narrowed in place: element i is read before element i / 2 is overwritten */
  for (size_t i = 0; i < *count; ++i) {
    int64_t number = wide[i];
    if (number < INT32_MIN || number > INT32_MAX) {
      PyErr_SetString(PyExc_OverflowError, "the number does not fit 32 bits");
      PyMem_Free(wide);
      return NULL;
    }
    memcpy(numbers + i, &(int32_t){(int32_t)number}, sizeof(int32_t));
  }
  return numbers;
}

void** new_pointers(PyObject* sequence, const char* type, int none_allowed, size_t* count) {
  PyObject* fast = PySequence_Fast(sequence, "a sequence of handles is needed");
  if (!fast) return NULL;
  *count = (size_t)PySequence_Size(fast);
  void** pointers = PyMem_New(void*, *count + 1);
  for (size_t i = 0; pointers && i < *count; ++i) {
    PyObject* handle = item_of(fast, i);
    int none = none_allowed && handle == Py_None;
    pointers[i] = none ? NULL : handle_pointer(handle, type);
    if (!none && !pointers[i]) {
      PyMem_Free(pointers);
      pointers = NULL;
    }
  }
  Py_DECREF(fast);
  if (!pointers && !PyErr_Occurred()) PyErr_NoMemory();
  return pointers;
}

int update_handles(PyObject* list, OrtValue** values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    int wanted = (Py_ssize_t)i < PyList_Size(list) && PyList_GetItem(list, (Py_ssize_t)i) == Py_None;
    if (!wanted || !values[i]) continue;
    PyObject* handle = new_handle(values[i], "OrtValue", destroy_OrtValue);
    if (handle) PyList_SetItem(list, (Py_ssize_t)i, handle);
  }
  return !PyErr_Occurred();
}

/* ---- Log lines ---- */

enum { kLastLinesMs = 5000 };

/* A thread that asks for the interpreter's lock when the interpreter ends is made to exit there, which would unwind
 * the library's frames under the log function: none may be left in one. */
void stop_logging(void) {
  logging_stopped = true;
  Py_BEGIN_ALLOW_THREADS;
  const struct timespec pause = {0, 1000000};
  for (int ms = 0; lines_in_progress && ms < kLastLinesMs; ++ms) nanosleep(&pause, NULL);
  Py_END_ALLOW_THREADS;
}

static void call_with_line(PyObject* callable, OrtLoggingLevel severity, const char* category, const char* log_id,
                           const char* where, const char* message) {
  PyGILState_STATE lock = PyGILState_Ensure();
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* result = PyObject_CallFunction(callable, "iNNNN", (int)severity, new_text(category), new_text(log_id),
                                           new_text(where), new_text(message));
  if (result)
    Py_DECREF(result);
  else
    PyErr_WriteUnraisable(callable);
  PyErr_Restore(type, value, trace);
  PyGILState_Release(lock);
}

void ORT_API_CALL log_to_callable(void* param, OrtLoggingLevel severity, const char* category, const char* log_id,
                                  const char* where, const char* message) {
  ++lines_in_progress; /* before the look at logging_stopped: stop_logging sets it, then looks here */
  if (logging_stopped || !Py_IsInitialized())
    fprintf(stderr, "%s\n", message);
  else
    call_with_line(param, severity, category, log_id, where, message);
  --lines_in_progress;
}
