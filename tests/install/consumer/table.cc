// A C++ program of another project, written for ONNX Runtime's function table: prints the digit on a picture (PGM).
// table MODEL PICTURE [PLUGIN_LIBRARY]: with a library, its provider ExampleKernel comes first.
#include <onnxruntime_c_api.h>
#include <onnxruntime_session_options_config_keys.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "picture.h"

namespace {

const OrtApi* const api = OrtGetApiBase()->GetApi(ORT_API_VERSION);

void check(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%s\n", api->GetErrorMessage(status));
  std::exit(1);
}

void append_example(OrtEnv* environment, OrtSessionOptions* options, const char* library) {
  check(api->RegisterExecutionProviderLibrary(environment, "example", library));
  const OrtEpDevice* const* devices = nullptr;
  size_t count = 0;
  check(api->GetEpDevices(environment, &devices, &count));
  std::vector<const OrtEpDevice*> chosen;
  for (size_t i = 0; i < count; ++i) {
    if (std::strstr(api->EpDevice_EpName(devices[i]), "ExampleKernel") != nullptr) chosen.push_back(devices[i]);
  }
  check(api->SessionOptionsAppendExecutionProvider_V2(options, environment, chosen.data(), chosen.size(), nullptr,
                                                      nullptr, 0));
}

int classify(OrtSession* session, float* pixels) {
  const int64_t shape[] = {1, 1, 8, 8};
  const char *inputs[] = {"image"}, *outputs[] = {"probabilities"};
  OrtMemoryInfo* memory = nullptr;
  OrtValue *image = nullptr, *probabilities = nullptr;
  float* scores = nullptr;
  check(api->CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, &memory));
  check(api->CreateTensorWithDataAsOrtValue(memory, pixels, 64 * sizeof(float), shape, 4,
                                            ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &image));
  check(api->Run(session, nullptr, inputs, &image, 1, outputs, 1, &probabilities));
  check(api->GetTensorMutableData(probabilities, reinterpret_cast<void**>(&scores)));
  int digit = best_of(scores, 10);
  api->ReleaseValue(probabilities);
  api->ReleaseValue(image);
  api->ReleaseMemoryInfo(memory);
  return digit;
}

}  // namespace

int main(int argc, char** argv) {
  float pixels[64];
  OrtEnv* environment = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  if (argc < 3 || read_picture(argv[2], pixels) != 0) return 2;
  check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "consumer", &environment));
  check(api->CreateSessionOptions(&options));
  check(api->AddSessionConfigEntry(options, kOrtSessionOptionsConfigDisablePrepacking, "0"));
  if (argc > 3) append_example(environment, options, argv[3]);
  check(api->CreateSession(environment, argv[1], options, &session));
  std::printf("%d\n", classify(session, pixels));
  api->ReleaseSession(session);
  api->ReleaseSessionOptions(options);
  api->ReleaseEnv(environment);
}
