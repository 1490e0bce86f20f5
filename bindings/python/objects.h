/* Values that are no plain arrays as Python objects, and texts as values. Functions that return NULL have set a Python
 * exception. */
#pragma once

#include <Python.h>

#include "calls.h"

/** A value as a run returns it: an array, a list, a dict, or None for an optional without a value. Tensors of types
 * that NumPy lacks are read by `leaf`, a callable of a handle. Elements of containers are copied. */
PyObject* object_of_value(PyObject* handle, PyObject* leaf);

/** A handle of a string tensor of the array's shape and texts: str, as UTF-8, or bytes as they are. The array must be
 *  C-contiguous and of objects. InvalidArgument for other elements. */
PyObject* tensor_of_texts(PyObject* array);

/** The texts of a tensor as an array of str; bytes that are not UTF-8 are replaced. */
PyObject* texts_of_tensor(PyObject* handle);

#ifndef SWIG
/** The texts of a tensor or sparse tensor as an array of that shape, which has as many elements. */
PyObject* new_array_of_texts(const OrtValue* value, const int64_t* shape, size_t rank);
#endif
