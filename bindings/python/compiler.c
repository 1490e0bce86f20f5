/* Compiling models ahead of time. */
#include "compiler.h"

#include "callbacks.h"
#include "handles.h"
#include "table.h"
#include "texts.h"

static const OrtCompileApi* compile_table(void) { return api_table()->GetCompileApi(); }

void destroy_OrtModelCompilationOptions(PyObject* handle) {
  compile_table()->ReleaseModelCompilationOptions(PyCapsule_GetPointer(handle, PyCapsule_GetName(handle)));
  destroy_nothing(handle);
}

OrtModelCompilationOptions* create_compilation(const OrtEnv* environment, const OrtSessionOptions* session_options,
                                               OrtStatus** status) {
  OrtModelCompilationOptions* compilation = NULL;
  *status =
      compile_table()->CreateModelCompilationOptionsFromSessionOptions(environment, session_options, &compilation);
  return compilation;
}

void compile_from_path(OrtModelCompilationOptions* compilation, const char* path, OrtStatus** status) {
  *status = compile_table()->ModelCompilationOptions_SetInputModelPath(compilation, path);
}

void compile_from_bytes(OrtModelCompilationOptions* compilation, const void* bytes, size_t bytes_length,
                        OrtStatus** status) {
  *status = compile_table()->ModelCompilationOptions_SetInputModelFromBuffer(compilation, bytes, bytes_length);
}

void compile_with_weights_in(OrtModelCompilationOptions* compilation, const char* path, size_t least_bytes,
                             OrtStatus** status) {
  *status =
      compile_table()->ModelCompilationOptions_SetOutputModelExternalInitializersFile(compilation, path, least_bytes);
}

void compile_with_places(OrtModelCompilationOptions* compilation, PyObject* locate, OrtStatus** status) {
  *status = compile_table()->ModelCompilationOptions_SetOutputModelGetInitializerLocationFunc(
      compilation, locate_by_callable, locate);
}

void compile_with(OrtModelCompilationOptions* compilation, uint32_t flags, int level, int embed, OrtStatus** status) {
  const OrtCompileApi* table = compile_table();
  *status = table->ModelCompilationOptions_SetFlags(compilation, flags);
  if (!*status)
    *status = table->ModelCompilationOptions_SetGraphOptimizationLevel(compilation, (GraphOptimizationLevel)level);
  if (!*status) *status = table->ModelCompilationOptions_SetEpContextEmbedMode(compilation, embed != 0);
}

void compile_with_names(OrtModelCompilationOptions* compilation, const char* folder, const char* model_name,
                        OrtStatus** status) {
  *status = compile_table()->ModelCompilationOptions_SetEpContextBinaryInformation(compilation, folder, model_name);
}

void compile_to_path(const OrtEnv* environment, OrtModelCompilationOptions* compilation, const char* path,
                     OrtStatus** status) {
  if (path) *status = compile_table()->ModelCompilationOptions_SetOutputModelPath(compilation, path);
  if (!*status) *status = compile_table()->CompileModel(environment, compilation);
}

/** Compiles without the interpreter's lock; 0 with an exception where that fails. */
static int compile(const OrtEnv* environment, const OrtModelCompilationOptions* compilation) {
  OrtStatus* status;
  Py_BEGIN_ALLOW_THREADS;
  status = compile_table()->CompileModel(environment, compilation);
  Py_END_ALLOW_THREADS;
  if (status) raise_status(status);
  return !status;
}

PyObject* compile_to_bytes(PyObject* environment, PyObject* compilation) {
  const OrtEnv* in = handle_pointer(environment, "OrtEnv");
  OrtModelCompilationOptions* what = in ? handle_pointer(compilation, "OrtModelCompilationOptions") : NULL;
  if (!what) return NULL;
  void* bytes = NULL;
  size_t size = 0;
  OrtStatus* status =
      compile_table()->ModelCompilationOptions_SetOutputModelBuffer(what, default_allocator(), &bytes, &size);
  if (status) {
    raise_status(status);
    return NULL;
  }
  PyObject* result = compile(in, what) ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size) : NULL;
  if (bytes) OrtReleaseStatus(OrtAllocatorFree(default_allocator(), bytes));
  return result;
}

PyObject* compile_to_callable(PyObject* environment, PyObject* compilation, PyObject* write) {
  const OrtEnv* in = handle_pointer(environment, "OrtEnv");
  OrtModelCompilationOptions* what = in ? handle_pointer(compilation, "OrtModelCompilationOptions") : NULL;
  if (!what) return NULL;
  OrtStatus* status = compile_table()->ModelCompilationOptions_SetOutputModelWriteFunc(what, write_to_callable, write);
  if (status) {
    raise_status(status);
    return NULL;
  }
  if (!compile(in, what)) return NULL;
  Py_RETURN_NONE;
}
