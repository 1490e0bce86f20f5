// How the calls cross into Java: handles and addresses are long, texts are String (UTF-8 bytes on the border), arrays are
// copied at the border, a status becomes an OrtolanException. Memory is an address and a length, both long, that the Java
// layer takes from direct buffers; its own functions in bindings/java/native copy primitive arrays.
%{
#include "jni_glue.h"
%}

%pragma(java) moduleclassmodifiers="public final class"
%pragma(java) jniclassclassmodifiers="final class"
%pragma(java) jniclasscode=%{
  static {
    NativeLibrary.load();
  }
%}

%define %java_long(TYPE)
%typemap(jni) TYPE "jlong"
%typemap(jtype) TYPE "long"
%typemap(jstype) TYPE "long"
%typemap(javain) TYPE "$javainput"
%typemap(javaout) TYPE { return $jnicall; }
%enddef

%define %handle(TYPE)
%java_long(TYPE*)
%java_long(const TYPE*)
%typemap(in) TYPE*, const TYPE* "$1 = ($1_ltype)(intptr_t)$input;"
%typemap(out) TYPE*, const TYPE* "$result = (jlong)(intptr_t)$1;"
%enddef

%handle(void)

%java_long(uint64_t)
%typemap(in) uint64_t "$1 = (uint64_t)$input;"
%typemap(out) uint64_t "$result = (jlong)$1;"

// Thrown last of all, when every array is back.
%typemap(in, numinputs = 0, noblock = 1) OrtStatus** status (OrtStatus* made = NULL) { $1 = &made; }
%typemap(argout) OrtStatus** status ""
%typemap(freearg, noblock = 1) OrtStatus** status { if (made$argnum) throw_status(jenv, made$argnum); }

%typemap(jni) char*, const char* "jbyteArray"
%typemap(jtype) char*, const char* "byte[]"
%typemap(jstype) char*, const char* "String"
%typemap(javain) char*, const char* "Texts.encode($javainput)"
%typemap(javaout) char*, const char* { return Texts.decode($jnicall); }
%typemap(in, noblock = 1) char*, const char* {
  $1 = NULL;
  if ($input && !($1 = read_text(jenv, $input))) return $null;
}
%typemap(freearg, noblock = 1) char*, const char* { free($1); }
%typemap(argout) char*, const char* ""
%typemap(out, noblock = 1) char*, const char* { $result = make_text(jenv, $1); }

// The number of a listener: see native/jni_logs.c.
%typemap(jni) (OrtLoggingFunction log, void* log_param) "jlong"
%typemap(jtype) (OrtLoggingFunction log, void* log_param) "long"
%typemap(jstype) (OrtLoggingFunction log, void* log_param) "long"
%typemap(javain) (OrtLoggingFunction log, void* log_param) "$javainput"
%typemap(in, noblock = 1) (OrtLoggingFunction log, void* log_param) {
  $1 = log_function($input);
  $2 = (void*)(intptr_t)$input;
}

// Arrays, of a null for none: copied in before the call and, where the call writes them, back after it.
%define %java_array(CTYPE, JNITYPE, JAVATYPE, STRUCT)
%typemap(jni) (CTYPE, size_t LENGTH) "JNITYPE"
%typemap(jtype) (CTYPE, size_t LENGTH) "JAVATYPE"
%typemap(jstype) (CTYPE, size_t LENGTH) "JAVATYPE"
%typemap(javain) (CTYPE, size_t LENGTH) "$javainput"
%typemap(in, noblock = 1) (CTYPE, size_t LENGTH) (STRUCT array) {
  if (!open_##STRUCT(jenv, $input, &array)) return $null;
  $1 = ($1_ltype)array.items;
  $2 = array.length;
}
%typemap(freearg, noblock = 1) (CTYPE, size_t LENGTH) { close_##STRUCT(&array$argnum); }
%enddef
%java_array(const int64_t* READ_INT64, jlongArray, long[], LongArray)
%java_array(int64_t* WRITE_INT64, jlongArray, long[], LongArray)
%java_array(const int32_t* READ_INT32, jintArray, int[], IntArray)
%java_array(const OrtEpDevice* const* READ_DEVICES, jlongArray, long[], LongArray)
%java_array(OrtValue* const* READ_VALUES, jlongArray, long[], LongArray)
%java_array(OrtValue** UPDATE_VALUES, jlongArray, long[], LongArray)
%typemap(argout, noblock = 1) (int64_t* WRITE_INT64, size_t LENGTH), (OrtValue** UPDATE_VALUES, size_t LENGTH) {
  write_back(jenv, $input, &array$argnum);
}
