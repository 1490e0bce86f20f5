/* Runs from arrays to arrays in one call: the quick way of InferenceSession.run. */
#pragma once

#include <Python.h>

#include "calls.h"

/** What the runs of a session look up: the names of inputs and outputs, and their types. */
typedef struct Ports Ports;

#ifndef SWIG
void destroy_Ports(PyObject* handle);
#endif

/** `inputs` and `required` are sequences of (name, element type), element type 0 for all but tensors: all inputs, of
 *  which the first `required` must be given; `outputs` is a sequence of names. `convert(index, name, value)` makes the
 *  handle of an input that is no array in place, the index -1 for names that are no input's; `read(handle)` makes the
 *  array of a tensor whose type NumPy lacks. NULL, with an exception, when an argument is not that. */
Ports* create_ports(PyObject* inputs, size_t required, PyObject* outputs, PyObject* convert, PyObject* read);

/** Runs: `output_names` is a sequence of str, or None or empty for all; `feed` maps names to values. Returns the list
 * of outputs. Arrays are not copied on the way in. */
PyObject* run_arrays(OrtSession* session, const Ports* ports, PyObject* output_names, PyObject* feed,
                     const OrtRunOptions* options);
