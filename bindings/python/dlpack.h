/* Tensors shared with other packages through DLPack, without copies. */
#pragma once

#include <Python.h>

#include "calls.h"

/** A capsule "dltensor" of the tensor's memory, on that device (DLDeviceType and number); it keeps the handle alive.
 *  BufferError for elements that DLPack does not have. */
PyObject* dlpack_of_tensor(PyObject* value, int device_type, int device_id);

/** (DLDeviceType, number) of what a capsule "dltensor" has; TypeError for what is none. */
PyObject* dlpack_device(PyObject* capsule);

/** A handle of a tensor over the memory of a capsule "dltensor", which is used up; `memory` says where that is, None
 * for the CPU. BufferError for elements that ONNX does not have, and for what is not contiguous. */
PyObject* tensor_of_dlpack(PyObject* capsule, PyObject* memory);
