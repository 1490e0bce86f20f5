/* What a run costs in C: the figure that the bindings' programs of the same name are compared with.
 *
 *   overhead MODEL SECONDS
 *
 * One run makes a tensor over an array of 32 floats, runs the model (x to y), reads the 32 floats of the result and
 * releases both. Prints the median over batches of 1000 runs, in microseconds a run.
 */
#include <ortolan.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { kWidth = 32, kBatch = 1000, kMaxBatches = 1 << 16 };

static void check(OrtStatus* status) {
  if (!status) return;
  fprintf(stderr, "overhead: %s\n", OrtGetErrorMessage(status));
  exit(1);
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static float run(OrtSession* session, const OrtMemoryInfo* memory, float* input) {
  static const int64_t shape[] = {1, kWidth};
  static const char *const inputs[] = {"x"}, *const outputs[] = {"y"};
  OrtValue *x = NULL, *y = NULL;
  float *result, sum = 0;
  check(OrtCreateTensorWithDataAsOrtValue(memory, input, kWidth * sizeof(float), shape, 2,
                                          ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &x));
  check(OrtRun(session, NULL, inputs, (const OrtValue* const*)&x, 1, outputs, 1, &y));
  check(OrtGetTensorMutableData(y, (void**)&result));
  for (int i = 0; i < kWidth; ++i) sum += result[i];
  OrtReleaseValue(y);
  OrtReleaseValue(x);
  return sum;
}

static int ascending(const void* a, const void* b) {
  double left = *(const double*)a, right = *(const double*)b;
  return (left > right) - (left < right);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: overhead MODEL SECONDS\n");
    return 2;
  }
  OrtEnv* env;
  OrtSession* session;
  OrtMemoryInfo* memory;
  OrtSessionOptions* options = OrtCreateSessionOptions();
  check(OrtCreateEnv(ORT_LOGGING_LEVEL_WARNING, "overhead", &env));
  check(OrtSetIntraOpNumThreads(options, 1));
  check(OrtCreateSession(env, argv[1], options, &session));
  check(OrtCreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));

  static double batches[kMaxBatches];
  float input[kWidth];
  for (int i = 0; i < kWidth; ++i) input[i] = (float)i / kWidth;
  volatile float sum = 0;
  size_t count = 0;
  for (double end = now() + atof(argv[2]); now() < end && count < kMaxBatches; ++count) {
    double start = now();
    for (int i = 0; i < kBatch; ++i) sum += run(session, memory, input);
    batches[count] = 1e6 * (now() - start) / kBatch;
  }
  qsort(batches, count, sizeof *batches, ascending);
  printf("median_us %.3f\n", count ? batches[count / 2] : 0.0);
  OrtReleaseMemoryInfo(memory);
  OrtReleaseSessionOptions(options);
  OrtReleaseSession(session);
  OrtReleaseEnv(env);
}
