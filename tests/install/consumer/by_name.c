/* A program of another project: prints the digit on a picture (PGM), computed by an execution provider that it asks for
 * by name, or by the early functions: OpenCL's, or CREATE_FACTORY's. by_name MODEL PICTURE [NAME] */
#include <ortolan.h>
#include <stdio.h>
#include <stdlib.h>

#include "picture.h"

#ifndef CREATE_FACTORY
#define CREATE_FACTORY OrtCreateOpenCLExecutionProviderFactory
#endif

static void check(OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "%s\n", OrtGetErrorMessage(status));
  exit(1);
}

static void append_by_factory(OrtSessionOptions* options) {
  OrtProviderFactoryInterface** factory;
  check(CREATE_FACTORY(0, &factory));
  check(OrtSessionOptionsAppendExecutionProvider(options, factory));
  OrtReleaseObject(factory);
}

static int classify(OrtSession* session, float pixels[64]) {
  const char *inputs[] = {"image"}, *outputs[] = {"probabilities"};
  int64_t shape[] = {1, 1, 8, 8};
  float* scores;
  OrtMemoryInfo* memory;
  OrtValue *image, *probabilities = NULL;
  check(OrtCreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(OrtCreateTensorWithDataAsOrtValue(memory, pixels, 64 * sizeof(float), shape, 4,
                                          ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &image));
  check(OrtRun(session, NULL, inputs, (const OrtValue* const*)&image, 1, outputs, 1, &probabilities));
  check(OrtGetTensorMutableData(probabilities, (void**)&scores));
  int digit = best_of(scores, 10);
  OrtReleaseValue(probabilities);
  OrtReleaseValue(image);
  OrtReleaseMemoryInfo(memory);
  return digit;
}

int main(int argc, char** argv) {
  float pixels[64];
  OrtEnv* environment;
  OrtSession* session;
  if (argc < 3 || read_picture(argv[2], pixels) != 0) return 2;
  check(OrtInitialize(ORT_LOGGING_LEVEL_WARNING, "by_name", &environment));
  OrtSessionOptions* options = OrtCreateSessionOptions();
  if (argc > 3) {
    check(OrtSessionOptionsAppendExecutionProviderByName(options, argv[3], NULL, NULL, 0));
  } else {
    append_by_factory(options);
  }
  /* A node that the provider leaves is an error. */
  check(OrtAddSessionConfigEntry(options, "session.disable_cpu_ep_fallback", "1"));
  check(OrtCreateSession(environment, argv[1], options, &session));
  OrtReleaseSessionOptions(options);
  printf("%d\n", classify(session, pixels));
  OrtReleaseSession(session);
  OrtReleaseEnv(environment);
  return 0;
}
