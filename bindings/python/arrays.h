/* Tensors over NumPy arrays and arrays over tensors. Functions that return NULL have set a Python exception. */
#pragma once

#include <Python.h>

#include "calls.h"

#ifndef SWIG
/** ONNXTensorElementDataType of the array's elements when the library can read the array as it lies: C-contiguous,
 *  aligned, in the machine's byte order, of a type that both sides have. 0 otherwise, and for what is no array. */
int element_in_place(PyObject* object);

/** The memory of bytes, a bytearray or a C-contiguous array, and its length in bytes; borrowed. */
void* memory_of(PyObject* object, int writable, size_t* length);

/** A tensor over an array for which element_in_place is `element`. The array must stay alive as long. */
OrtValue* tensor_over_elements(PyObject* array, int element, OrtStatus** status);

/** An array of the tensor's elements; takes the value over, also on failure. Short ones are copied, others stay where
 *  they are and keep the value alive. NULL without an exception when the value is no tensor of a type that NumPy has:
 *  then the value stays the caller's. */
PyObject* take_array(OrtValue* value);

/** An array of its own with the tensor's elements. NULL without an exception when NumPy has no such type. */
PyObject* copy_array(const OrtValue* tensor);
#endif

/** Readies NumPy and the tables of types, before all else here. ImportError where NumPy is not there. */
PyObject* prepare_arrays(void);

/** A handle of a tensor over the array, which it keeps alive. The array must be C-contiguous, aligned, in the machine's
 *  byte order, and its elements as wide as those of `element`, ONNXTensorElementDataType. */
PyObject* tensor_over_array(PyObject* array, int element);

/** (element type, address, size in bytes, shape) of a tensor; address and size are 0 for strings. */
PyObject* tensor_description(PyObject* value);

/** An array over a tensor in CPU memory that lies there as long as the array; without a copy. `type_number` is NumPy's
 *  number of a type whose elements are as wide as the tensor's. */
PyObject* array_over_tensor(PyObject* value, int type_number);
