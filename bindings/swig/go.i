// How Go sees the calls: handles are uintptr, texts are pointers to their bytes, arrays are slices, and a failed call
// leaves its status in a uintptr that the caller gives. The result is the package ortolan.org/ortolan/internal/native.

%{
#include "frame.h"
#include "log.h"
%}

%typemap(gotype) int "int32"
%typemap(gotype) int32_t "int32"
%typemap(gotype) uint32_t "uint32"
%typemap(gotype) size_t "int"

%define %handle(TYPE)
%typemap(gotype) TYPE*, const TYPE* "uintptr"
%typemap(in) TYPE*, const TYPE* "$1 = ($1_ltype)$input;"
%typemap(out) TYPE*, const TYPE* "$result = ($1_ltype)$1;"
%enddef
%handle(OrtStatus)

// The place of the status belongs to Go; what is written there is an address of the library.
%typemap(gotype) OrtStatus** status "*uintptr"
%typemap(in) OrtStatus** status "$1 = (OrtStatus**)$input;"

// Texts end with a zero byte. Those that go in are Go's memory, read during the call; char* results are freed by
// free_text.
%typemap(gotype) char*, const char* "*byte"
%typemap(in) char*, const char* "$1 = ($1_ltype)$input;"
%typemap(freearg) char*, const char* ""
%typemap(out) char*, const char* "*(const char**)&$result = $1;"
%typemap(goout) char*, const char* ""
%typemap(newfree) char* ""

%typemap(gotype) void*, const void* "unsafe.Pointer"
%typemap(in) void*, const void* "$1 = (void*)$input;"
%typemap(out) void* "*(void**)&$result = $1;"

// What receives log lines: the number of a Go object, 0 for none; see log.go.
%typemap(gotype) (OrtLoggingFunction log, void* log_param) "uintptr"
%typemap(in) (OrtLoggingFunction log, void* log_param)
%{ $1 = $input ? ortolan_log_to_go : NULL;
   $2 = (void*)$input; %}

%define %slice(TYPES, GO_TYPE)
%typemap(gotype) TYPES "GO_TYPE"
%typemap(in) TYPES
%{ $1 = ($1_ltype)$input.array;
   $2 = (size_t)$input.len; %}
%enddef
%slice((const void* READ_BYTES, size_t LENGTH), []byte)
%slice((void* WRITE_BYTES, size_t LENGTH), []byte)
%slice((const int64_t* READ_INT64, size_t LENGTH), []int64)
%slice((int64_t* WRITE_INT64, size_t LENGTH), []int64)
%slice((const int32_t* READ_INT32, size_t LENGTH), []int32)
%slice((const OrtEpDevice* const* READ_DEVICES, size_t LENGTH), []uintptr)
%slice((OrtValue* const* READ_VALUES, size_t LENGTH), []uintptr)
%slice((OrtValue** UPDATE_VALUES, size_t LENGTH), []uintptr)

// C may not keep memory of Go's, so that no tensor lies over it.
%ignore tensor_over;
%typemap(gotype) (void* HELD_BYTES, size_t LENGTH) "[]byte"
%typemap(in) (void* HELD_BYTES, size_t LENGTH) "$1 = NULL; $2 = 0;"

%inline %{
static int status_code(const OrtStatus* failure) { return OrtGetErrorCode(failure); }
static const char* status_message(const OrtStatus* failure) { return OrtGetErrorMessage(failure); }
static void release_status(OrtStatus* failure) { OrtReleaseStatus(failure); }
static void free_text(char* text) { free(text); }
%}

%handle(Frame)
%handle(OrtRunOptions)
%handle(OrtSession)
%handle(OrtValue)
%handle(TextList)
%include "frame.h"
