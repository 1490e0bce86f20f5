/* NumPy's C interface, imported once by arrays.c for all files that include this. Compiled with the headers of NumPy 1
 * the extension runs with NumPy 1 alone, compiled with those of NumPy 2 it runs with both. */
#pragma once

#include <Python.h>

#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#define NPY_TARGET_VERSION NPY_1_23_API_VERSION /* Debian's 1.24 and all later ones */
#define PY_ARRAY_UNIQUE_SYMBOL ortolan_numpy_api
#ifndef IMPORTS_NUMPY
#define NO_IMPORT_ARRAY
#endif
#include <numpy/arrayobject.h>

#if NPY_ABI_VERSION < 0x02000000 /* what NumPy 2 calls it */
#ifdef Py_LIMITED_API
#error "a wheel must be compiled with the headers of NumPy 2, or it runs with NumPy 1 alone"
#endif
#define NPY_NTYPES_LEGACY NPY_NTYPES
static inline npy_intp PyDataType_ELSIZE(const PyArray_Descr* type) { return type->elsize; }
#endif
