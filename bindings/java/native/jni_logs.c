/* Log lines on their way to Java listeners, which have numbers: a line for a listener that is gone is dropped, so no
 * line ever meets freed memory. Number 1 stands for all listeners of the process's environment; while there are none
 * its lines go to stderr. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "jni_glue.h"

enum { kEnvironment = 1 };

static jclass logs_class;
static jmethodID deliver_line;
static atomic_int environment_is_heard;

int prepare_logs(JNIEnv* env) {
  jclass found = (*env)->FindClass(env, "org/ortolan/internal/Logs");
  if (!found || !(logs_class = (*env)->NewGlobalRef(env, found))) return 0;
  deliver_line = (*env)->GetStaticMethodID(env, logs_class, "deliver", "(JI[B[B[B[B)V");
  return deliver_line != NULL;
}

JNIEXPORT void JNICALL Java_org_ortolan_internal_Logs_setEnvironmentHeard(JNIEnv* env, jclass type, jboolean heard) {
  atomic_store(&environment_is_heard, heard);
}

/** A line in the form in which the library writes it itself. */
static void write_line(OrtLoggingLevel severity, const char* id, const char* location, const char* message) {
  struct timespec now;
  struct tm parts;
  char date[32];
  clock_gettime(CLOCK_REALTIME, &now);
  strftime(date, sizeof date, "%F %T", localtime_r(&now.tv_sec, &parts));
  fprintf(stderr, "%s.%09ld [%c:onnxruntime:%s, %s] %s\n", date, now.tv_nsec, "VIWEF"[severity], id, location, message);
}

static void call_listener(JNIEnv* env, jlong listener, OrtLoggingLevel severity, const char* const* texts) {
  jbyteArray parts[4];
  for (int i = 0; i < 4; ++i) {
    if (!(parts[i] = make_text(env, texts[i] ? texts[i] : ""))) return;
  }
  (*env)->CallStaticVoidMethod(env, logs_class, deliver_line, listener, (jint)severity, parts[0], parts[1], parts[2],
                               parts[3]);
}

static void ORT_API_CALL hear(void* listener, OrtLoggingLevel severity, const char* category, const char* id,
                              const char* location, const char* message) {
  jlong number = (jlong)(intptr_t)listener;
  if (number == kEnvironment && !atomic_load(&environment_is_heard)) {
    write_line(severity, id, location, message);
    return;
  }
  const char* texts[] = {category, id, location, message};
  JNIEnv* env = env_of_thread();
  if (!env || (*env)->ExceptionCheck(env) || (*env)->PushLocalFrame(env, 8)) return;
  call_listener(env, number, severity, texts);
  if ((*env)->ExceptionCheck(env)) (*env)->ExceptionClear(env);
  (*env)->PopLocalFrame(env, NULL);
}

OrtLoggingFunction log_function(jlong listener) { return listener ? hear : NULL; }
