/* The early form of the API, in the way its programs are written. CREATE_FACTORY names the provider's factory. */
#include <stdio.h>

#include "ortolan.h"

static OrtStatus* report(OrtStatus* status) {
  if (status != NULL) {
    printf("%s\n", OrtGetErrorMessage(status));
  }
  return status;
}

int main(int argc, char** argv) {
  const char* model_path = argc > 1 ? argv[1] : "model.onnx";
  OrtSession* session = NULL;

  OrtEnv* env;
  report(OrtInitialize(ORT_LOGGING_LEVEL_WARNING, "test", &env));
  OrtSessionOptions* session_option = OrtCreateSessionOptions();
  OrtProviderFactoryInterface** factory;
  OrtStatus* missing = report(CREATE_FACTORY(0, &factory));
  OrtStatus* append = report(OrtSessionOptionsAppendExecutionProvider(session_option, factory));
  OrtReleaseObject(factory);
  OrtStatus* create = report(OrtCreateSession(env, model_path, session_option, &session));

  int failed = create != NULL || session == NULL || (append == NULL && missing != NULL);
  printf(failed ? "no session\n" : "session created\n");
  OrtReleaseStatus(missing);
  OrtReleaseStatus(append);
  OrtReleaseStatus(create);
  OrtReleaseSession(session);
  OrtReleaseObject(session_option);
  OrtReleaseObject(env);
  return failed;
}
