/* Adapters, external initializers, dynamic settings and what sessions tell about their nodes, under the rules of
 * calls.h. */
#pragma once

#include <Python.h>

#include "calls.h"

#ifndef SWIG
void destroy_OrtLoraAdapter(PyObject* handle);
#endif

OrtLoraAdapter* load_adapter(const char* path, OrtStatus** status);
/** The adapter must live as long as the options. */
void add_adapter(OrtRunOptions* run_options, const OrtLoraAdapter* adapter, OrtStatus** status);

/** Gives the model's initializers in external files these values, which live as long as sessions are made. `names` is a
 *  sequence of str. */
PyObject* add_external_initializers(PyObject* options, PyObject* names, PyObject* values);
/** Gives files of external data these contents, bytes or bytearray, which live until the sessions are made. */
PyObject* add_external_files(PyObject* options, PyObject* names, PyObject* contents);
/** Not 0: sessions that are being made with the options end with an error. */
void set_load_cancelled(OrtSessionOptions* session_options, int on, OrtStatus** status);

void set_dynamic_options(OrtSession* session, const OrtKeyValuePairs* settings, OrtStatus** status);
void release_captured_graph(OrtSession* session, int number, OrtStatus** status);
/** The groups of nodes of a session: [(provider, [(node's name, domain, operator)])]. */
PyObject* assigned_groups(PyObject* session);
/** The operators of the library: a list of tuples as catalog.py reads them. */
PyObject* operator_forms(void);
