// How Python passes what ortolan.i names. Handles are capsules that know their type and free their object with their
// last reference: a call in progress holds one, so that closing on another thread cannot take its object away.
%{
#include "arrays.h"
#include "callbacks.h"
#include "compiler.h"
#include "dlpack.h"
#include "extras.h"
#include "handles.h"
#include "memories.h"
#include "objects.h"
#include "packages.h"
#include "runs.h"
#include "sparse.h"
%}

// ---- Handles ----

%define %handle(TYPE)
%typemap(in) TYPE*, const TYPE* {
  $1 = ($1_ltype)handle_pointer($input, #TYPE);
  if (!$1) SWIG_fail;
}
%typemap(out) TYPE* { $result = new_handle($1, #TYPE, destroy_ ## TYPE); }
%typemap(out) const TYPE* { $result = new_handle($1, #TYPE, destroy_nothing); }
%enddef

%handle(Ports)
%typemap(out) Ports* {
  if (!$1) SWIG_fail;
  $result = new_handle($1, "Ports", destroy_Ports);
}

// Where the library takes NULL, Python gives None.
%typemap(in) const OrtSessionOptions* options, const OrtRunOptions* options, const OrtKeyValuePairs* settings {
  if ($input != Py_None && !($1 = ($1_ltype)handle_pointer($input, handle_type("$1_type")))) SWIG_fail;
}

// Handles release what they hold.
%ignore release_texts;
%ignore release_settings;
%ignore release_environment;
%ignore release_memory;
%ignore release_session_options;
%ignore release_run_options;
%ignore release_session;
%ignore release_metadata;
%ignore release_type;
%ignore release_value;
%ignore release_binding;

// ---- Errors ----

%typemap(in, numinputs = 0) OrtStatus** status (OrtStatus* failure = NULL) "$1 = &failure;"
%typemap(argout) OrtStatus** status {
  if (*$1) {
    raise_status(*$1);
    Py_CLEAR($result);
    SWIG_fail;
  }
}

// ---- Texts: str in both directions; bytes are taken as they are, for paths that are not UTF-8 ----

%typemap(in) const char* {
  if ($input != Py_None && !($1 = ($1_ltype)text_of($input))) SWIG_fail;
}
%typemap(freearg) const char* ""
%typemap(out) const char*, char* { $result = new_text($1); }

// ---- Logging: a callable(severity, category, log_id, where, message) that the caller keeps alive, or None ----

%typemap(in) (OrtLoggingFunction log, void* log_param) {
  $1 = $input == Py_None ? NULL : log_to_callable;
  $2 = $input;
}

// ---- Memory: bytes and arrays; memory that outlives the call is an (address, length) pair ----

%typemap(in) (const void* READ_BYTES, size_t LENGTH) {
  if (!($1 = memory_of($input, 0, &$2))) SWIG_fail;
}
%typemap(in) (void* WRITE_BYTES, size_t LENGTH) {
  if (!($1 = memory_of($input, 1, &$2))) SWIG_fail;
}
%typemap(in) (void* HELD_BYTES, size_t LENGTH) {
  unsigned long long address;
  Py_ssize_t length;
  if (!PyArg_ParseTuple($input, "Kn", &address, &length)) SWIG_fail;
  $1 = (void*)(uintptr_t)address;
  $2 = (size_t)length;
}

// ---- Arrays of numbers: sequences of int to read, arrays to write ----

%typemap(in) (const int64_t* READ_INT64, size_t LENGTH) (int64_t* numbers = NULL) {
  if (!(numbers = new_int64s($input, &$2))) SWIG_fail;
  $1 = numbers;
}
%typemap(freearg) (const int64_t* READ_INT64, size_t LENGTH) "PyMem_Free(numbers$argnum);"
%typemap(in) (const int32_t* READ_INT32, size_t LENGTH) (int32_t* numbers = NULL) {
  if (!(numbers = new_int32s($input, &$2))) SWIG_fail;
  $1 = numbers;
}
%typemap(freearg) (const int32_t* READ_INT32, size_t LENGTH) "PyMem_Free(numbers$argnum);"
%typemap(in) (int64_t* WRITE_INT64, size_t LENGTH) {
  if (!($1 = memory_of($input, 1, &$2))) SWIG_fail;
  $2 /= sizeof(int64_t);
}

// ---- Arrays of handles: sequences; a list that is written has None where a new handle is wanted ----

%typemap(in) (const OrtEpDevice* const* READ_DEVICES, size_t LENGTH) (void** pointers = NULL) {
  if (!(pointers = new_pointers($input, "OrtEpDevice", 0, &$2))) SWIG_fail;
  $1 = ($1_ltype)pointers;
}
%typemap(in) (OrtValue* const* READ_VALUES, size_t LENGTH) (void** pointers = NULL) {
  if (!(pointers = new_pointers($input, "OrtValue", 0, &$2))) SWIG_fail;
  $1 = ($1_ltype)pointers;
}
%typemap(in) (OrtValue** UPDATE_VALUES, size_t LENGTH) (void** pointers = NULL) {
  if (!PyList_Check($input)) SWIG_exception_fail(SWIG_TypeError, "values that a call writes must stand in a list");
  if (!(pointers = new_pointers($input, "OrtValue", 1, &$2))) SWIG_fail;
  $1 = ($1_ltype)pointers;
}
%typemap(argout) (OrtValue** UPDATE_VALUES, size_t LENGTH) {
  if (!update_handles($input, (OrtValue**)pointers$argnum, $2)) {
    Py_CLEAR($result);
    SWIG_fail;
  }
}
%typemap(freearg) (const OrtEpDevice* const* READ_DEVICES, size_t LENGTH),
                  (OrtValue* const* READ_VALUES, size_t LENGTH),
                  (OrtValue** UPDATE_VALUES, size_t LENGTH) "PyMem_Free(pointers$argnum);"

// ---- Calls that run models, open plugin libraries or wait for devices let other threads of Python go on ----

%define %without_lock(CALL)
%exception CALL {
  Py_BEGIN_ALLOW_THREADS
  $action
  Py_END_ALLOW_THREADS
}
%enddef
%without_lock(create_session)
%without_lock(create_session_from_bytes)
%without_lock(run_session)
%without_lock(run_binding)
%without_lock(register_provider_library)
%without_lock(unregister_provider_library)
%without_lock(synchronize_inputs)
%without_lock(synchronize_outputs)
%without_lock(copy_tensor)

%without_lock(compile_to_path)
%without_lock(copy_tensors)
%without_lock(create_component_session)
%without_lock(create_stream)

// Python's own calls, some of them in the manner of calls.h.
%handle(OrtEnv)
%handle(OrtEpDevice)
%handle(OrtHardwareDevice)
%handle(OrtKeyValuePairs)
%handle(OrtLoraAdapter)
%handle(OrtMemoryInfo)
%handle(OrtModelCompilationOptions)
%handle(OrtModelPackageComponentContext)
%handle(OrtModelPackageContext)
%handle(OrtModelPackageOptions)
%handle(OrtRunOptions)
%handle(OrtSession)
%handle(OrtSessionOptions)
%handle(TextList)
%handle(OrtSyncStream)
%handle(OrtValue)
%typemap(in) OrtSyncStream* stream {
  if ($input != Py_None && !($1 = handle_pointer($input, "OrtSyncStream"))) SWIG_fail;
}
%apply(const void* READ_BYTES, size_t LENGTH) { (const void* bytes, size_t bytes_length) };
%apply(const int64_t* READ_INT64, size_t LENGTH) { (const int64_t* shape, size_t shape_length) };
%apply(const OrtEpDevice* const* READ_DEVICES, size_t LENGTH) { (const OrtEpDevice* const* devices,
                                                                 size_t devices_length) };
%apply(OrtValue* const* READ_VALUES, size_t LENGTH) { (OrtValue* const* inputs, size_t inputs_length),
                                                      (OrtValue* const* values, size_t values_length) };
%newobject compatibility_in_file;
%newobject compatibility_in_bytes;
%include "handles.h"
%include "arrays.h"
%include "callbacks.h"
%include "compiler.h"
%include "dlpack.h"
%include "extras.h"
%include "memories.h"
%include "objects.h"
%include "packages.h"
%include "runs.h"
%include "sparse.h"
