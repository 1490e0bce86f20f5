/* Compiling models ahead of time, under the rules of calls.h. */
#pragma once

#include <Python.h>

#include "calls.h"

#ifndef SWIG
void destroy_OrtModelCompilationOptions(PyObject* handle);
#endif

/** What to compile, with the providers of the session options. */
OrtModelCompilationOptions* create_compilation(const OrtEnv* environment, const OrtSessionOptions* session_options,
                                               OrtStatus** status);
void compile_from_path(OrtModelCompilationOptions* compilation, const char* path, OrtStatus** status);
/** The bytes must live until the model is compiled. */
void compile_from_bytes(OrtModelCompilationOptions* compilation, const void* bytes, size_t bytes_length,
                        OrtStatus** status);
void compile_with_weights_in(OrtModelCompilationOptions* compilation, const char* path, size_t least_bytes,
                             OrtStatus** status);
/** `locate` as in callbacks.h; it must live as long as the compilation. */
void compile_with_places(OrtModelCompilationOptions* compilation, PyObject* locate, OrtStatus** status);
/** `flags`: OrtCompileApiFlags; `level`: GraphOptimizationLevel; `embed`: whether compiled data stands in the model. */
void compile_with(OrtModelCompilationOptions* compilation, uint32_t flags, int level, int embed, OrtStatus** status);
void compile_with_names(OrtModelCompilationOptions* compilation, const char* folder, const char* model_name,
                        OrtStatus** status);

/** These compile; a NULL path is one beside the input's. */
void compile_to_path(const OrtEnv* environment, OrtModelCompilationOptions* compilation, const char* path,
                     OrtStatus** status);
PyObject* compile_to_bytes(PyObject* environment, PyObject* compilation);
/** Calls `write` with the model's bytes, piece by piece. */
PyObject* compile_to_callable(PyObject* environment, PyObject* compilation, PyObject* write);
