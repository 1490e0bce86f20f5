/* Handles: objects of the library as Python objects that free them; and the small change of the border: texts, arrays
 * of numbers, errors and log lines. Functions that return NULL or 0 on failure have set a Python exception. All are
 * called with the interpreter's lock held, but for log_to_callable. This folder uses no more of CPython than the
 * limited API of 3.10, so that one binary runs on all later versions. */
#pragma once

#include <Python.h>

#include "calls.h"

#ifndef SWIG
/** A capsule of that type around the pointer, which `destroy` frees; None for NULL. `type` must be a literal. The
 *  object is lost where there is no memory for the capsule. */
PyObject* new_handle(const void* pointer, const char* type, PyCapsule_Destructor destroy);

/** The pointer of a handle of that type. */
void* handle_pointer(PyObject* handle, const char* type);

/** "OrtValue" of "OrtValue const *": the type of handles to a C type. */
const char* handle_type(const char* c_type);

void destroy_nothing(PyObject* handle);
void destroy_TextList(PyObject* handle);
void destroy_OrtKeyValuePairs(PyObject* handle);
void destroy_OrtEnv(PyObject* handle);
void destroy_OrtEpDevice(PyObject* handle);
void destroy_OrtMemoryInfo(PyObject* handle);
void destroy_OrtSessionOptions(PyObject* handle);
void destroy_OrtRunOptions(PyObject* handle);
void destroy_OrtSession(PyObject* handle);
void destroy_OrtModelMetadata(PyObject* handle);
void destroy_OrtTypeInfo(PyObject* handle);
void destroy_OrtValue(PyObject* handle);
void destroy_OrtIoBinding(PyObject* handle);

/** Raises the exception of the status's code, and releases the status. */
void raise_status(OrtStatus* status);

/** Raises TypeError: the text, a format of PyUnicode_FromFormat, and the type of what is there instead. NULL. */
void* raise_wrong_type(PyObject* object, const char* needed, ...);

/** The UTF-8 of a str, or the bytes of a bytes; borrowed from it. A NUL inside is an error. */
const char* text_of(PyObject* object);
/** None for NULL. */
PyObject* new_text(const char* text);

/** The item of what PySequence_Fast gave, borrowed. */
PyObject* item_of(PyObject* fast, size_t i);

/** The numbers of a sequence; freed by PyMem_Free. */
int64_t* new_int64s(PyObject* sequence, size_t* count);
int32_t* new_int32s(PyObject* sequence, size_t* count);

/** The pointers of a sequence of handles, freed by PyMem_Free; None is NULL where that is allowed. */
void** new_pointers(PyObject* sequence, const char* type, int none_allowed, size_t* count);
/** Puts new handles where the list has None and the array has a value. */
int update_handles(PyObject* list, OrtValue** values, size_t count);

/** Any thread: calls the Python callable `param`, whose exceptions are reported and not passed on. Lines that come
 *  while the interpreter ends go to stderr. */
void ORT_API_CALL log_to_callable(void* param, OrtLoggingLevel severity, const char* category, const char* log_id,
                                  const char* where, const char* message);
#endif

/** Keeps `object` alive at least until what the handle stands for is freed. */
PyObject* keep(PyObject* handle, PyObject* object);

/** The address that the handle stands for, to tell handles apart. */
PyObject* handle_address(PyObject* handle);

/** The exceptions to raise: element i for OrtErrorCode i, element 0 for codes beyond them; kept for ever. */
PyObject* set_exceptions(PyObject* types);

/** Environments that are alive. */
int environment_count(void);

/** The interpreter is about to end: log lines go to stderr from now on. Waits, at most a few seconds, until the
 *  functions that lines were given to have returned. */
void stop_logging(void);
