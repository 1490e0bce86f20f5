/* Python callables that the library calls back: they run with the interpreter's lock, on whatever thread calls, and
 * what they raise becomes a status. Whoever hands one over keeps it alive as long as the library may call. */
#pragma once

#include <Python.h>

#include "calls.h"

#ifndef SWIG
/** A status with the text of the exception that is set, which is cleared. */
OrtStatus* status_of_exception(void);

/** OrtWriteBufferFunc: calls `state` with each piece as bytes. */
OrtStatus* ORT_API_CALL write_to_callable(void* state, const void* buffer, size_t size);

/** OrtGetInitializerLocationFunc: calls `state(name, handle of a share of the value, (path, offset, bytes) or None)`,
 *  which returns None or such a tuple. */
OrtStatus* ORT_API_CALL locate_by_callable(void* state, const char* name, const OrtValue* value,
                                           const OrtExternalInitializerInfo* info, OrtExternalInitializerInfo** chosen);
#endif

/** Lets `choose(handles of devices, model's dict, runtime's dict, most)` choose the devices of sessions: it returns
 * their indices in a list. None takes it back. */
void set_device_chooser(OrtSessionOptions* options, PyObject* choose, OrtStatus** status);

/** Has `read(name)` give the data of compiled nodes, as bytes or a bytearray. None takes it back. */
void set_context_reader(OrtSessionOptions* options, PyObject* read, OrtStatus** status);
