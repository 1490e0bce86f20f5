/* Adapters, external initializers, dynamic settings and reports of sessions. */
#include "extras.h"

#include "arrays.h"
#include "handles.h"
#include "table.h"
#include "texts.h"

static PyObject* none_or_raise(OrtStatus* status) {
  if (!status) Py_RETURN_NONE;
  raise_status(status);
  return NULL;
}

void destroy_OrtLoraAdapter(PyObject* handle) {
  api_table()->ReleaseLoraAdapter(PyCapsule_GetPointer(handle, PyCapsule_GetName(handle)));
  destroy_nothing(handle);
}

OrtLoraAdapter* load_adapter(const char* path, OrtStatus** status) {
  OrtLoraAdapter* adapter = NULL;
  *status = api_table()->CreateLoraAdapter(path, NULL, &adapter);
  return adapter;
}

void add_adapter(OrtRunOptions* run_options, const OrtLoraAdapter* adapter, OrtStatus** status) {
  *status = api_table()->RunOptionsAddActiveLoraAdapter(run_options, adapter);
}

/* ---- External initializers ---- */

/** The texts of a sequence of str, freed by PyMem_Free and borrowed from it, which must be a list or tuple. */
static const char** texts_of(PyObject* fast, size_t count) {
  const char** texts = PyMem_New(const char*, count + 1);
  if (!texts) PyErr_NoMemory();
  for (size_t i = 0; texts && i < count; ++i) {
    if ((texts[i] = text_of(item_of(fast, i)))) continue;
    PyMem_Free(texts);
    texts = NULL;
  }
  return texts;
}

PyObject* add_external_initializers(PyObject* options, PyObject* names, PyObject* values) {
  OrtSessionOptions* target = handle_pointer(options, "OrtSessionOptions");
  if (!target || !PyList_Check(names)) return target ? raise_wrong_type(names, "names come in a list") : NULL;
  size_t count = (size_t)PyList_Size(names), value_count = 0;
  const char** texts = texts_of(names, count);
  void** pointers = texts ? new_pointers(values, "OrtValue", 0, &value_count) : NULL;
  PyObject* result = NULL;
  if (pointers && value_count != count)
    PyErr_Format(PyExc_ValueError, "there are %zu names and %zu values", count, value_count);
  else if (pointers)
    result =
        none_or_raise(api_table()->AddExternalInitializers(target, texts, (const OrtValue* const*)pointers, count));
  PyMem_Free(pointers);
  PyMem_Free(texts);
  return result;
}

/** Fills what the contents are and how long. */
static int read_contents(PyObject* contents, size_t count, char** bytes, size_t* lengths) {
  for (size_t i = 0; i < count; ++i) {
    if (!(bytes[i] = memory_of(item_of(contents, i), 0, &lengths[i]))) return 0;
  }
  return 1;
}

PyObject* add_external_files(PyObject* options, PyObject* names, PyObject* contents) {
  OrtSessionOptions* target = handle_pointer(options, "OrtSessionOptions");
  if (!target) return NULL;
  if (!PyList_Check(names) || !PyList_Check(contents) || PyList_Size(names) != PyList_Size(contents))
    return PyErr_Format(PyExc_TypeError, "names and contents come in lists of one length");
  size_t count = (size_t)PyList_Size(names);
  const char** texts = texts_of(names, count);
  char** bytes = PyMem_New(char*, count + 1);
  size_t* lengths = PyMem_New(size_t, count + 1);
  PyObject* result = NULL;
  if (texts && bytes && lengths && read_contents(contents, count, bytes, lengths))
    result = none_or_raise(api_table()->AddExternalInitializersFromFilesInMemory(target, (const ORTCHAR_T* const*)texts,
                                                                                 bytes, lengths, count));
  else if (!PyErr_Occurred())
    PyErr_NoMemory();
  PyMem_Free(lengths);
  PyMem_Free(bytes);
  PyMem_Free(texts);
  return result;
}

void set_load_cancelled(OrtSessionOptions* session_options, int on, OrtStatus** status) {
  *status = OrtSessionOptionsSetLoadCancellationFlag(session_options, on != 0);
}

/* ---- Sessions ---- */

void set_dynamic_options(OrtSession* session, const OrtKeyValuePairs* settings, OrtStatus** status) {
  const char *const *keys = NULL, *const *values = NULL;
  size_t count = 0;
  OrtGetKeyValuePairs(settings, &keys, &values, &count);
  *status = api_table()->SetEpDynamicOptions(session, keys, values, count);
}

void release_captured_graph(OrtSession* session, int number, OrtStatus** status) {
  *status = api_table()->SessionReleaseCapturedGraph(session, number);
}

static PyObject* describe_node(const OrtEpAssignedNode* node) {
  const char *name = NULL, *domain = NULL, *type = NULL;
  OrtStatus* status = OrtEpAssignedNode_GetName(node, &name);
  if (!status) status = OrtEpAssignedNode_GetDomain(node, &domain);
  if (!status) status = OrtEpAssignedNode_GetOperatorType(node, &type);
  if (!status) return Py_BuildValue("NNN", new_text(name), new_text(domain), new_text(type));
  raise_status(status);
  return NULL;
}

/** A list of what `describe` makes of each pointer. */
static PyObject* list_of(const void* const* items, size_t count, PyObject* (*describe)(const void*)) {
  PyObject* list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && i < count; ++i) {
    PyObject* item = describe(items[i]);
    if (!item) Py_CLEAR(list);
    if (item) PyList_SetItem(list, (Py_ssize_t)i, item);
  }
  return list;
}

static PyObject* describe_any_node(const void* node) { return describe_node(node); }

static PyObject* describe_group(const void* group) {
  const char* provider = NULL;
  const OrtEpAssignedNode* const* nodes = NULL;
  size_t count = 0;
  OrtStatus* status = OrtEpAssignedSubgraph_GetEpName(group, &provider);
  if (!status) status = OrtEpAssignedSubgraph_GetNodes(group, &nodes, &count);
  if (status) {
    raise_status(status);
    return NULL;
  }
  PyObject* list = list_of((const void* const*)nodes, count, describe_any_node);
  return list ? Py_BuildValue("NN", new_text(provider), list) : NULL;
}

PyObject* assigned_groups(PyObject* handle) {
  const OrtSession* session = handle_pointer(handle, "OrtSession");
  if (!session) return NULL;
  const OrtEpAssignedSubgraph* const* groups = NULL;
  size_t count = 0;
  OrtStatus* status = OrtSession_GetEpGraphAssignmentInfo(session, &groups, &count);
  if (!status) return list_of((const void* const*)groups, count, describe_group);
  raise_status(status);
  return NULL;
}

/* ---- Operators ---- */

static PyObject* describe_side(const OrtOperatorSide* side) {
  PyObject* list = PyList_New((Py_ssize_t)side->count);
  for (size_t i = 0; list && i < side->count; ++i) {
    const OrtOperatorValue* value = &side->values[i];
    PyObject* item = Py_BuildValue("NNN", new_text(value->name), new_text(value->parameter), new_text(value->types));
    if (!item) Py_CLEAR(list);
    if (item) PyList_SetItem(list, (Py_ssize_t)i, item);
  }
  return list;
}

static PyObject* describe_form(const OrtOperatorForm* form) {
  PyObject *inputs = describe_side(&form->inputs), *outputs = inputs ? describe_side(&form->outputs) : NULL;
  if (outputs)
    return Py_BuildValue("NNNiiiNnnNnn", new_text(form->domain), new_text(form->name), new_text(form->provider),
                         (int)form->since_version, (int)form->until_version, (int)form->deprecated, inputs,
                         (Py_ssize_t)form->inputs.min, (Py_ssize_t)form->inputs.max, outputs,
                         (Py_ssize_t)form->outputs.min, (Py_ssize_t)form->outputs.max);
  Py_XDECREF(inputs);
  return NULL;
}

PyObject* operator_forms(void) {
  size_t count = 0;
  const OrtOperatorForm* forms = OrtOperatorCatalog(&count);
  PyObject* list = PyList_New((Py_ssize_t)count);
  for (size_t i = 0; list && forms && i < count; ++i) {
    PyObject* item = describe_form(&forms[i]);
    if (!item) Py_CLEAR(list);
    if (item) PyList_SetItem(list, (Py_ssize_t)i, item);
  }
  return list;
}
