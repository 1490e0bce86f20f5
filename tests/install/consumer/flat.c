/* A program of another project: prints the digit on a picture (PGM), by the flat functions. flat MODEL PICTURE */
#include <ortolan.h>
#include <stdio.h>

#include "picture.h"

static void check(OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "%s\n", OrtGetErrorMessage(status));
  exit(1);
}

int main(int argc, char** argv) {
  float pixels[64], *scores;
  int64_t shape[] = {1, 1, 8, 8};
  const char *inputs[] = {"image"}, *outputs[] = {"probabilities"};
  OrtEnv* environment;
  OrtSession* session;
  OrtMemoryInfo* memory;
  OrtValue *image, *probabilities = NULL;

  if (argc < 3 || read_picture(argv[2], pixels) != 0) return 2;
  check(OrtCreateEnv(ORT_LOGGING_LEVEL_WARNING, "consumer", &environment));
  check(OrtCreateSession(environment, argv[1], NULL, &session));
  check(OrtCreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(OrtCreateTensorWithDataAsOrtValue(memory, pixels, sizeof pixels, shape, 4, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                          &image));
  check(OrtRun(session, NULL, inputs, (const OrtValue* const*)&image, 1, outputs, 1, &probabilities));
  check(OrtGetTensorMutableData(probabilities, (void**)&scores));
  printf("%d\n", best_of(scores, 10));
  OrtReleaseValue(probabilities);
  OrtReleaseValue(image);
  OrtReleaseMemoryInfo(memory);
  OrtReleaseSession(session);
  OrtReleaseEnv(environment);
  return 0;
}
