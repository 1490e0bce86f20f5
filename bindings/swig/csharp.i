// How C# calls calls.h: the class Ortolan.nativePINVOKE of blittable declarations. Handles are IntPtr, texts are pointers
// to UTF-8, arrays are a pointer and a length, and every status comes back through an out parameter, so that no call
// costs more than its transition. The classes in bindings/csharp turn all of these into what users see.
%pragma(csharp) imclassclassmodifiers="internal static unsafe class"

// TYPE: a C type, IMTYPE: how C# declares it.
%define %plain(TYPE, IMTYPE)
%typemap(ctype) TYPE "void *"
%typemap(imtype) TYPE "IMTYPE"
%typemap(in) TYPE "$1 = ($1_ltype)$input;"
%typemap(out) TYPE "$result = (void *)$1;"
%typemap(freearg) TYPE ""
%enddef

%define %handle(TYPE)
%plain(TYPE *, global::System.IntPtr)
%plain(const TYPE *, global::System.IntPtr)
%enddef

%plain(const char *, byte*)
%plain(char *, byte*)
%typemap(newfree) char * ""
%plain(const void *, void*)
%plain(void *, void*)
%plain(const int64_t *, long*)
%plain(int64_t *, long*)
%plain(const int32_t *, int*)
%plain(const OrtEpDevice* const *, global::System.IntPtr*)
%plain(OrtValue* const *, global::System.IntPtr*)
%plain(OrtValue **, global::System.IntPtr*)
%plain(OrtLoggingFunction, global::System.IntPtr)

// C's long, which the 64-bit types are, is no int here.
%apply long long { int64_t };
%apply unsigned long long { uint64_t };

%typemap(ctype) size_t "int64_t"
%typemap(imtype) size_t "long"
%typemap(in) size_t "$1 = (size_t)$input;"
%typemap(out) size_t "$result = (int64_t)$1;"

%typemap(ctype) OrtStatus ** "OrtStatus **"
%typemap(imtype) OrtStatus ** "out global::System.IntPtr"
%typemap(in) OrtStatus ** "*$input = NULL; $1 = $input;"

// A status, read and released by the class OrtolanException.
%handle(OrtStatus)
%inline %{
int status_code(const OrtStatus* failure) { return OrtGetErrorCode(failure); }
const char* status_text(const OrtStatus* failure) { return OrtGetErrorMessage(failure); }
void release_status(OrtStatus* failure) { OrtReleaseStatus(failure); }
void free_text(char* text) { free(text); }
%}
