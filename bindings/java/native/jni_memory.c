/* Memory between Java and the library: primitive arrays copied once, direct buffers by address. */
#include <stdint.h>
#include <string.h>

#include "calls.h"
#include "jni_glue.h"

#define MEMORY(name) Java_org_ortolan_internal_Memory_##name

/** Nothing may be called between Get and Release but the copy. */
static int copy_from_array(JNIEnv* env, jarray array, void* to, size_t length) {
  if (!length) return 1;
  void* from = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  if (!from) return 0;
  memcpy(to, from, length);
  (*env)->ReleasePrimitiveArrayCritical(env, array, from, JNI_ABORT);
  return 1;
}

static OrtValue* new_tensor(const LongArray* shape, jint element_type, void** data, OrtStatus** status) {
  OrtAllocator* allocator = NULL;
  OrtValue* tensor = NULL;
  if ((*status = OrtGetAllocatorWithDefaultOptions(&allocator))) return NULL;
  *status = OrtCreateTensorAsOrtValue(allocator, (const int64_t*)shape->items, shape->length,
                                      (ONNXTensorElementDataType)element_type, &tensor);
  if (tensor) *data = tensor_data(tensor, status);
  return tensor;
}

JNIEXPORT jlong JNICALL MEMORY(tensorOf)(JNIEnv* env, jclass type, jarray array, jlong length, jlongArray shape,
                                         jint element_type) {
  LongArray sizes;
  void* data = NULL;
  OrtStatus* status = NULL;
  if (!open_LongArray(env, shape, &sizes)) return 0;
  OrtValue* tensor = new_tensor(&sizes, element_type, &data, &status);
  close_LongArray(&sizes);
  if (!status && copy_from_array(env, array, data, (size_t)length)) return (jlong)(intptr_t)tensor;
  OrtReleaseValue(tensor);
  if (status) throw_status(env, status);
  return 0;
}

JNIEXPORT void JNICALL MEMORY(copyFrom)(JNIEnv* env, jclass type, jarray array, jlong address, jlong length) {
  copy_from_array(env, array, (void*)(intptr_t)address, (size_t)length);
}

JNIEXPORT void JNICALL MEMORY(copyTo)(JNIEnv* env, jclass type, jarray array, jlong address, jlong length) {
  if (!length) return;
  void* to = (*env)->GetPrimitiveArrayCritical(env, array, NULL);
  if (!to) return;
  memcpy(to, (const void*)(intptr_t)address, (size_t)length);
  (*env)->ReleasePrimitiveArrayCritical(env, array, to, 0);
}

JNIEXPORT jobject JNICALL MEMORY(bufferOver)(JNIEnv* env, jclass type, jlong address, jlong length) {
  static char nothing;
  return (*env)->NewDirectByteBuffer(env, address ? (void*)(intptr_t)address : &nothing, length);
}

JNIEXPORT jlong JNICALL MEMORY(addressOf)(JNIEnv* env, jclass type, jobject buffer) {
  return (jlong)(intptr_t)(*env)->GetDirectBufferAddress(env, buffer);
}
