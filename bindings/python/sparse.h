/* Sparse tensors over arrays, and arrays over the parts of sparse tensors. */
#pragma once

#include <Python.h>

#include "calls.h"

/** A handle of a sparse tensor of that dense shape over a one-dimensional array of its values, which it keeps alive and
 *  whose elements are as wide as those of `element`. It has no indices yet. */
PyObject* sparse_over_array(PyObject* dense_shape, PyObject* values, int element);
/** Gives it indices, arrays of int64 (int32 for the last) that it keeps alive: of all elements or pairs of coordinates;
 * of rows; of blocks. */
PyObject* use_coo_indices(PyObject* sparse, PyObject* indices);
PyObject* use_csr_indices(PyObject* sparse, PyObject* inner, PyObject* outer);
PyObject* use_block_indices(PyObject* sparse, PyObject* indices);
/** A handle of a sparse tensor of texts, an array of str, with a copy of such COO indices. */
PyObject* sparse_of_texts(PyObject* dense_shape, PyObject* texts, PyObject* indices);

/** OrtSparseFormat. */
int sparse_format(const OrtValue* sparse, OrtStatus** status);
/** (element type, dense shape). */
PyObject* sparse_description(PyObject* sparse);
/** An array over the values, of a type of that number in NumPy whose elements are as wide; texts are copied. */
PyObject* sparse_values(PyObject* sparse, int type_number);
/** An array over indices: OrtSparseIndicesFormat. */
PyObject* sparse_indices(PyObject* sparse, int part);
