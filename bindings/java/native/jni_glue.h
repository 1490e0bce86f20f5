/* What the functions on the border to Java share: texts, arrays, exceptions, threads. All take the caller's JNIEnv. A
 * function that reports failure (NULL, 0) has left a Java exception pending. */
#pragma once

#include <jni.h>
#include <ortolan.h>
#include <stddef.h>
#include <stdlib.h>

/** A malloc'd, terminated copy of a text. */
char* read_text(JNIEnv* env, jbyteArray text);

/** A new array with the bytes of a text; NULL for NULL. */
jbyteArray make_text(JNIEnv* env, const char* text);

/** Throws an OrtolanException of a status, which it releases. */
void throw_status(JNIEnv* env, OrtStatus* status);

/** A copy of a long[]: in place when it is short. */
typedef struct {
  jlong* items;
  size_t length;
  jlong space[8];
} LongArray;

/** A copy of an int[]. */
typedef struct {
  jint* items;
  size_t length;
  jint space[8];
} IntArray;

/** Copies of arrays, empty ones for NULL; not 0 on success. The close_ function frees the copy. */
int open_LongArray(JNIEnv* env, jlongArray array, LongArray* copy);
int open_IntArray(JNIEnv* env, jintArray array, IntArray* copy);
void close_LongArray(LongArray* copy);
void close_IntArray(IntArray* copy);
/** Writes what a call has put into the copy back to the array. */
void write_back(JNIEnv* env, jlongArray array, const LongArray* copy);

/** The JNIEnv of this thread, which is made a thread of the JVM, a daemon, until it ends; NULL when that fails. */
JNIEnv* env_of_thread(void);

/** What hears the log lines of listener number `listener`, which it gets as parameter; NULL for 0. */
OrtLoggingFunction log_function(jlong listener);

/** Called once, when the library is loaded; not 0 on success. */
int prepare_logs(JNIEnv* env);
