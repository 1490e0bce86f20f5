/* A program as it is linked with a release of the official library: it asks for names under that release's node. */
#include <stdio.h>

#include "onnxruntime_c_api.h"

int main(void) {
  const OrtApi* api = OrtGetApiBase()->GetApi(1);
  OrtEnv* environment = NULL;
  OrtSessionOptions* options = NULL;
  if (api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "client", &environment) || api->CreateSessionOptions(&options)) return 2;
  OrtStatus* status = OrtSessionOptionsAppendExecutionProvider_CUDA(options, 0);
  printf("%s: %s\n", OrtGetApiBase()->GetVersionString(), api->GetErrorMessage(status));
  int failed = status == NULL;
  api->ReleaseStatus(status);
  api->ReleaseSessionOptions(options);
  api->ReleaseEnv(environment);
  return failed;
}
