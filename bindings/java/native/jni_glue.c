/* Texts, arrays and exceptions on the border to Java. */
#include "jni_glue.h"

#include <pthread.h>
#include <string.h>

static JavaVM* machine;
static pthread_key_t attached;
static jclass exception_class;
static jmethodID exception_of_status;

static void detach(void* jvm) { (*(JavaVM*)jvm)->DetachCurrentThread(jvm); }

static int prepare_exceptions(JNIEnv* env) {
  jclass found = (*env)->FindClass(env, "org/ortolan/OrtolanException");
  if (!found || !(exception_class = (*env)->NewGlobalRef(env, found))) return 0;
  exception_of_status =
      (*env)->GetStaticMethodID(env, exception_class, "ofStatus", "(I[B)Lorg/ortolan/OrtolanException;");
  return exception_of_status != NULL;
}

JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* jvm, void* reserved) {
  JNIEnv* env;
  machine = jvm;
  if ((*jvm)->GetEnv(jvm, (void**)&env, JNI_VERSION_10) || pthread_key_create(&attached, detach)) return JNI_ERR;
  return prepare_exceptions(env) && prepare_logs(env) ? JNI_VERSION_10 : JNI_ERR;
}

JNIEnv* env_of_thread(void) {
  JNIEnv* env = NULL;
  jint state = (*machine)->GetEnv(machine, (void**)&env, JNI_VERSION_10);
  if (state == JNI_OK) return env;
  if (state != JNI_EDETACHED || (*machine)->AttachCurrentThreadAsDaemon(machine, (void**)&env, NULL)) return NULL;
  pthread_setspecific(attached, machine);
  return env;
}

static void* throw_no_memory(JNIEnv* env) {
  jclass found = (*env)->FindClass(env, "java/lang/OutOfMemoryError");
  if (found) (*env)->ThrowNew(env, found, "no native memory is left");
  return NULL;
}

char* read_text(JNIEnv* env, jbyteArray text) {
  jsize length = (*env)->GetArrayLength(env, text);
  char* copy = malloc((size_t)length + 1);
  if (!copy) return throw_no_memory(env);
  (*env)->GetByteArrayRegion(env, text, 0, length, (jbyte*)copy);
  copy[length] = '\0';
  return copy;
}

jbyteArray make_text(JNIEnv* env, const char* text) {
  if (!text) return NULL;
  jsize length = (jsize)strlen(text);
  jbyteArray bytes = (*env)->NewByteArray(env, length);
  if (bytes) (*env)->SetByteArrayRegion(env, bytes, 0, length, (const jbyte*)text);
  return bytes;
}

void throw_status(JNIEnv* env, OrtStatus* status) {
  jbyteArray message = make_text(env, OrtGetErrorMessage(status));
  jint code = OrtGetErrorCode(status);
  OrtReleaseStatus(status);
  if (!message) return;
  jobject exception = (*env)->CallStaticObjectMethod(env, exception_class, exception_of_status, code, message);
  if (!(*env)->ExceptionCheck(env)) (*env)->Throw(env, exception);
}

/** The length of an array, which may be NULL, and room for so many items of `size` bytes: `space` if 8 are enough. */
static void* room_for(JNIEnv* env, jarray array, size_t size, size_t* length, void* space) {
  *length = array ? (size_t)(*env)->GetArrayLength(env, array) : 0;
  if (*length <= 8) return space;
  void* room = malloc(*length * size);
  return room ? room : throw_no_memory(env);
}

int open_LongArray(JNIEnv* env, jlongArray array, LongArray* copy) {
  copy->items = room_for(env, array, sizeof *copy->items, &copy->length, copy->space);
  if (copy->items && copy->length) (*env)->GetLongArrayRegion(env, array, 0, (jsize)copy->length, copy->items);
  return copy->items != NULL;
}

int open_IntArray(JNIEnv* env, jintArray array, IntArray* copy) {
  copy->items = room_for(env, array, sizeof *copy->items, &copy->length, copy->space);
  if (copy->items && copy->length) (*env)->GetIntArrayRegion(env, array, 0, (jsize)copy->length, copy->items);
  return copy->items != NULL;
}

void close_LongArray(LongArray* copy) {
  if (copy->items != copy->space) free(copy->items);
}

void close_IntArray(IntArray* copy) {
  if (copy->items != copy->space) free(copy->items);
}

void write_back(JNIEnv* env, jlongArray array, const LongArray* copy) {
  if (copy->length) (*env)->SetLongArrayRegion(env, array, 0, (jsize)copy->length, copy->items);
}
