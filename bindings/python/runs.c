/* Runs from arrays to arrays: names and types are looked up once a session, what a run needs stands on the stack, and
 * values that are no plain arrays are left to Python's functions. */
#include "runs.h"

#include "arrays.h"
#include "handles.h"
#include "objects.h"

typedef struct {
  PyObject* name;   /* str, interned */
  const char* text; /* borrowed from the name */
  int element;      /* ONNXTensorElementDataType; 0 for all but tensors */
} Port;

struct Ports {
  Port *inputs, *outputs;
  size_t input_count, required, output_count;
  PyObject *convert, *read;
};

static void free_list(Port* ports, size_t count) {
  for (size_t i = 0; i < count; ++i) Py_XDECREF(ports[i].name);
  PyMem_Free(ports);
}

static void free_ports(Ports* ports) {
  free_list(ports->inputs, ports->input_count);
  free_list(ports->outputs, ports->output_count);
  Py_XDECREF(ports->convert);
  Py_XDECREF(ports->read);
  PyMem_Free(ports);
}

void destroy_Ports(PyObject* handle) {
  free_ports(PyCapsule_GetPointer(handle, "Ports"));
  Py_XDECREF((PyObject*)PyCapsule_GetContext(handle));
}

static int fill_port(Port* port, PyObject* pair) {
  if (!PyArg_ParseTuple(pair, "Ui", &port->name, &port->element)) {
    port->name = NULL;
    return 0;
  }
  Py_INCREF(port->name);
  PyUnicode_InternInPlace(&port->name);
  return (port->text = PyUnicode_AsUTF8AndSize(port->name, NULL)) != NULL;
}

static int fill_list(Port** list, size_t* count, PyObject* pairs) {
  PyObject* fast = PySequence_Fast(pairs, "a sequence of (name, element type) is needed");
  if (!fast) return 0;
  size_t size = (size_t)PySequence_Size(fast);
  *list = PyMem_Calloc(size + 1, sizeof(Port));
  for (size_t i = 0; *list && i < size && !PyErr_Occurred(); ++i) {
    ++*count;
    fill_port(*list + i, item_of(fast, i));
  }
  Py_DECREF(fast);
  if (!*list) PyErr_NoMemory();
  return !PyErr_Occurred();
}

Ports* create_ports(PyObject* inputs, size_t required, PyObject* outputs, PyObject* convert, PyObject* read) {
  Ports* ports = PyMem_Calloc(1, sizeof *ports);
  if (!ports) {
    PyErr_NoMemory();
    return NULL;
  }
  Py_INCREF(ports->convert = convert);
  Py_INCREF(ports->read = read);
  ports->required = required;
  if (fill_list(&ports->inputs, &ports->input_count, inputs) &&
      fill_list(&ports->outputs, &ports->output_count, outputs))
    return ports;
  free_ports(ports);
  return NULL;
}

/* The port of that name, or -1. Names that programs write in their text are interned, so mostly one look is enough. */
static Py_ssize_t find_port(const Port* ports, size_t count, PyObject* name) {
  for (size_t i = 0; i < count; ++i) {
    if (ports[i].name == name) return (Py_ssize_t)i;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!PyUnicode_Compare(ports[i].name, name)) return (Py_ssize_t)i;
  }
  return -1;
}

enum { kFew = 12 };

/* One side of a run. `held` has the objects that name i and value i come from, at 2 i and 2 i + 1: an array under a
 * value that the side owns, a handle that owns the value, or nothing. */
typedef struct {
  size_t count;
  const char** names;
  OrtValue** values;
  PyObject** held;
  void* block;
  const char* few_names[kFew];
  OrtValue* few_values[kFew];
  PyObject* few_held[2 * kFew];
} Side;

static int open_side(Side* side, size_t count) {
  side->count = count;
  side->block = NULL;
  if (count <= kFew) {
    side->names = side->few_names;
    side->values = side->few_values;
    side->held = side->few_held;
  } else {
    if (!(side->block = PyMem_Calloc(count, 4 * sizeof(void*)))) {
      side->count = 0;
      PyErr_NoMemory();
      return 0;
    }
    side->held = side->block;
    side->names = (const char**)(side->held + 2 * count);
    side->values = (OrtValue**)(side->names + count);
  }
  memset(side->values, 0, count * sizeof *side->values);
  memset(side->held, 0, 2 * count * sizeof *side->held);
  return 1;
}

static int belongs_to_handle(const Side* side, size_t i) {
  PyObject* holder = side->held[2 * i + 1];
  return holder && PyCapsule_CheckExact(holder);
}

static void close_side(Side* side) {
  for (size_t i = 0; i < side->count; ++i) {
    if (!belongs_to_handle(side, i)) release_value(side->values[i]);
  }
  for (size_t i = 0; i < 2 * side->count; ++i) Py_XDECREF(side->held[i]);
  PyMem_Free(side->block);
}

static int missing_inputs(const Ports* ports, const Side* feed) {
  PyObject *missing = PyList_New(0), *given = PyList_New(0);
  for (size_t i = 0; missing && given && i < feed->count; ++i) PyList_Append(given, feed->held[2 * i]);
  for (size_t i = 0; missing && given && i < ports->required; ++i) {
    if (PySequence_Contains(given, ports->inputs[i].name) == 0) PyList_Append(missing, ports->inputs[i].name);
  }
  if (missing && given)
    PyErr_Format(PyExc_ValueError, "Required inputs (%R) are missing from input feed (%R).", missing, given);
  Py_XDECREF(missing);
  Py_XDECREF(given);
  return 0;
}

/* Takes hold of all names and values first: making values may run Python code that changes the feed. */
static int hold_feed(Side* side, PyObject* feed) {
  PyObject *name, *value;
  Py_ssize_t position = 0;
  if (!open_side(side, (size_t)PyDict_Size(feed))) return 0;
  for (size_t i = 0; i < side->count && PyDict_Next(feed, &position, &name, &value); ++i) {
    Py_INCREF(side->held[2 * i] = name);
    Py_INCREF(side->held[2 * i + 1] = value);
  }
  return 1;
}

static int make_value(const Ports* ports, Side* side, size_t i, Py_ssize_t port) {
  PyObject* object = side->held[2 * i + 1];
  int element = element_in_place(object);
  if (element && port >= 0 && element == ports->inputs[port].element) {
    OrtStatus* status = NULL;
    side->values[i] = tensor_over_elements(object, element, &status);
    if (status) raise_status(status);
    return !PyErr_Occurred();
  }
  PyObject* handle = PyObject_CallFunction(ports->convert, "nOO", port, side->held[2 * i], object);
  if (!handle) return 0;
  side->held[2 * i + 1] = handle;
  Py_DECREF(object);
  return (side->values[i] = handle_pointer(handle, "OrtValue")) != NULL;
}

static int fill_feed(const Ports* ports, Side* side) {
  size_t required = 0;
  for (size_t i = 0; i < side->count; ++i) {
    PyObject* name = side->held[2 * i];
    if (!PyUnicode_Check(name)) {
      raise_wrong_type(name, "the names of inputs must be str");
      return 0;
    }
    Py_ssize_t port = find_port(ports->inputs, ports->input_count, name);
    side->names[i] = port >= 0 ? ports->inputs[port].text : text_of(name);
    required += port >= 0 && (size_t)port < ports->required;
    if (!side->names[i] || !make_value(ports, side, i, port)) return 0;
  }
  return required == ports->required || missing_inputs(ports, side);
}

static int all_outputs(const Ports* ports, Side* side) {
  if (!open_side(side, ports->output_count)) return 0;
  for (size_t i = 0; i < side->count; ++i) side->names[i] = ports->outputs[i].text;
  return 1;
}

static int chosen_outputs(const Ports* ports, Side* side, PyObject* names) {
  PyObject* fast = PySequence_Fast(names, "the names of outputs must be a sequence of str, or None");
  if (!fast) return 0;
  size_t count = (size_t)PySequence_Size(fast);
  int filled = count ? open_side(side, count) : all_outputs(ports, side);
  for (size_t i = 0; filled && i < count; ++i) {
    PyObject* name = item_of(fast, i);
    Py_ssize_t port = PyUnicode_Check(name) ? find_port(ports->outputs, ports->output_count, name) : -1;
    side->names[i] = port >= 0 ? ports->outputs[port].text : text_of(name);
    Py_INCREF(side->held[2 * i] = name);
    filled = side->names[i] != NULL;
  }
  Py_DECREF(fast);
  return filled;
}

static PyObject* read_output(const Ports* ports, Side* side, size_t i) {
  OrtValue* value = side->values[i];
  side->values[i] = NULL;
  PyObject* array = take_array(value);
  if (array || PyErr_Occurred()) return array;
  PyObject* handle = new_handle(value, "OrtValue", destroy_OrtValue);
  PyObject* read = handle ? object_of_value(handle, ports->read) : NULL;
  Py_XDECREF(handle);
  return read;
}

static PyObject* read_outputs(const Ports* ports, Side* side) {
  PyObject* list = PyList_New((Py_ssize_t)side->count);
  for (size_t i = 0; list && i < side->count; ++i) {
    PyObject* output = read_output(ports, side, i);
    if (!output) Py_CLEAR(list);
    if (output) PyList_SetItem(list, (Py_ssize_t)i, output);
  }
  return list;
}

static PyObject* run_sides(OrtSession* session, const Ports* ports, const OrtRunOptions* options, Side* in, Side* out) {
  OrtStatus* status;
  Py_BEGIN_ALLOW_THREADS;
  status = OrtRun(session, options, in->names, (const OrtValue* const*)in->values, in->count, out->names, out->count,
                  out->values);
  Py_END_ALLOW_THREADS;
  if (!status) return read_outputs(ports, out);
  raise_status(status);
  return NULL;
}

static PyObject* run_feed(OrtSession* session, const Ports* ports, PyObject* output_names, const OrtRunOptions* options,
                          Side* in) {
  Side out;
  PyObject* result = NULL;
  out.count = 0;
  out.block = NULL;
  int ready = output_names == Py_None ? all_outputs(ports, &out) : chosen_outputs(ports, &out, output_names);
  if (ready) result = run_sides(session, ports, options, in, &out);
  close_side(&out);
  return result;
}

/* A feed that is no dict as one. */
static PyObject* as_dict(PyObject* feed) {
  if (PyDict_Check(feed)) {
    Py_INCREF(feed);
    return feed;
  }
  PyObject* dict = PyMapping_Check(feed) ? PyDict_New() : NULL;
  if (!dict) return PyErr_Format(PyExc_TypeError, "the feed must be a dict from names to values");
  if (PyDict_Update(dict, feed)) Py_CLEAR(dict);
  return dict;
}

PyObject* run_arrays(OrtSession* session, const Ports* ports, PyObject* output_names, PyObject* feed,
                     const OrtRunOptions* options) {
  Side in;
  PyObject *result = NULL, *dict = as_dict(feed);
  if (!dict) return NULL;
  if (hold_feed(&in, dict) && fill_feed(ports, &in)) result = run_feed(session, ports, output_names, options, &in);
  close_side(&in);
  Py_DECREF(dict);
  return result;
}
