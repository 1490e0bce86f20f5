// What all languages wrap: the calls of calls.h. How a language passes handles, texts, arrays, callbacks and errors is in
// its own file, <language>.i, which the build names by -DLANGUAGE_<LANGUAGE>. The result is a private module: the public
// classes of each language are written by hand on top of it, in bindings/<language>.
%module native

%{
#include "calls.h"
%}

%include <stdint.i>

// Each language's file defines:
//   %handle(TYPE)                                        a pointer to an object of the library, passed as a plain address
//   OrtStatus** status                                   hidden; a status becomes the language's exception
//   OrtLoggingFunction, void* log_param                  what receives log lines
//   (const void* READ_BYTES, size_t LENGTH)              memory that is read during the call
//   (void* WRITE_BYTES, size_t LENGTH)                   memory that is written during the call
//   (void* HELD_BYTES, size_t LENGTH)                    memory that is used after the call
//   (const int64_t* READ_INT64, size_t LENGTH)           arrays, read
//   (const int32_t* READ_INT32, size_t LENGTH)
//   (int64_t* WRITE_INT64, size_t LENGTH)                arrays, written
//   (const OrtEpDevice* const* READ_DEVICES, size_t LENGTH)
//   (OrtValue* const* READ_VALUES, size_t LENGTH)        arrays of handles, read
//   (OrtValue** UPDATE_VALUES, size_t LENGTH)            arrays of handles, read and written
// Texts are UTF-8 in both directions; NULL is the language's null. Owned texts are freed once they are copied; a language
// that copies them later says %typemap(newfree) char* "" and frees them itself.
%typemap(newfree) char* "free($1);"

#if defined(LANGUAGE_JAVA)
%include "java.i"
#elif defined(LANGUAGE_CSHARP)
%include "csharp.i"
#elif defined(LANGUAGE_GO)
%include "go.i"
#elif defined(LANGUAGE_PYTHON)
%include "python.i"
#else
#error "define LANGUAGE_JAVA, LANGUAGE_CSHARP, LANGUAGE_GO or LANGUAGE_PYTHON"
#endif

%handle(OrtEnv)
%handle(OrtEpDevice)
%handle(OrtIoBinding)
%handle(OrtKeyValuePairs)
%handle(OrtMemoryInfo)
%handle(OrtModelMetadata)
%handle(OrtRunOptions)
%handle(OrtSession)
%handle(OrtSessionOptions)
%handle(OrtTypeInfo)
%handle(OrtValue)
%handle(TextList)

%apply(const void* READ_BYTES, size_t LENGTH) { (const void* bytes, size_t bytes_length) };
%apply(void* WRITE_BYTES, size_t LENGTH) { (void* bytes, size_t bytes_length) };
%apply(const int64_t* READ_INT64, size_t LENGTH) { (const int64_t* shape, size_t shape_length),
                                                   (const int64_t* ends, size_t ends_length) };
%apply(int64_t* WRITE_INT64, size_t LENGTH) { (int64_t* ends, size_t ends_length),
                                              (int64_t* facts, size_t facts_length) };
%apply(const int32_t* READ_INT32, size_t LENGTH) { (const int32_t* input_choice, size_t input_choice_length),
                                                   (const int32_t* output_choice, size_t output_choice_length) };
%apply(const OrtEpDevice* const* READ_DEVICES, size_t LENGTH) { (const OrtEpDevice* const* devices,
                                                                 size_t devices_length) };
%apply(OrtValue* const* READ_VALUES, size_t LENGTH) { (OrtValue* const* inputs, size_t inputs_length),
                                                      (OrtValue* const* values, size_t values_length) };
%apply(OrtValue** UPDATE_VALUES, size_t LENGTH) { (OrtValue** outputs, size_t outputs_length),
                                                  (OrtValue** values, size_t values_length) };

// Only tensor_over keeps the memory.
%apply(void* HELD_BYTES, size_t LENGTH) { (void* held, size_t held_length) };

%newobject session_setting;
%newobject end_profiling;
%newobject metadata_producer;
%newobject metadata_graph_name;
%newobject metadata_graph_description;
%newobject metadata_domain;
%newobject metadata_description;
%newobject metadata_value;
%newobject type_symbol;

%include "calls.h"
