// Creates a session of each generated model, runs it once and releases it, in one function whose work callgrind counts:
// load_work N SHAPE... makes the models with N parts. Without shapes their names are written.
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "load_work/shapes.h"

namespace {

const OrtApi& api() {
  static const OrtApi* const table = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return *table;
}

void check(OrtStatus* status) {
  if (status == nullptr) return;
  std::fprintf(stderr, "%.2000s\n", api().GetErrorMessage(status));
  std::exit(1);
}

struct Names {
  std::vector<char*> texts;
  std::vector<const char*> pointers() const { return {texts.begin(), texts.end()}; }
};

template <class Get>
Names names_of(const OrtSession* session, size_t count, Get get) {
  OrtAllocator* allocator = nullptr;
  check(api().GetAllocatorWithDefaultOptions(&allocator));
  Names names;
  for (size_t i = 0; i < count; ++i) check(get(session, i, allocator, &names.texts.emplace_back()));
  return names;
}

void release(const Names& names) {
  OrtAllocator* allocator = nullptr;
  check(api().GetAllocatorWithDefaultOptions(&allocator));
  for (char* text : names.texts) check(api().AllocatorFree(allocator, text));
}

/** Two floats, which every input of the models takes. */
OrtValue* two_floats() {
  OrtAllocator* allocator = nullptr;
  check(api().GetAllocatorWithDefaultOptions(&allocator));
  const int64_t shape[] = {2};
  OrtValue* value = nullptr;
  check(api().CreateTensorAsOrtValue(allocator, shape, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
  void* elements = nullptr;
  check(api().GetTensorMutableData(value, &elements));
  std::memset(elements, 0, 2 * sizeof(float));
  return value;
}

/** Names are given in the reverse of the model's order, inputs and outputs. */
void run_once(OrtSession* session) {
  size_t inputs = 0, outputs = 0;
  check(api().SessionGetInputCount(session, &inputs));
  check(api().SessionGetOutputCount(session, &outputs));
  Names input_names = names_of(session, inputs, api().SessionGetInputName);
  Names output_names = names_of(session, outputs, api().SessionGetOutputName);
  std::ranges::reverse(input_names.texts);
  std::ranges::reverse(output_names.texts);
  OrtValue* value = two_floats();
  std::vector<const OrtValue*> feeds(inputs, value);
  std::vector<OrtValue*> results(outputs, nullptr);
  check(api().Run(session, nullptr, input_names.pointers().data(), feeds.data(), inputs, output_names.pointers().data(),
                  outputs, results.data()));
  for (OrtValue* result : results) api().ReleaseValue(result);
  api().ReleaseValue(value);
  release(input_names);
  release(output_names);
}

}  // namespace

/** What is counted. */
extern "C" [[gnu::noinline]] void load_and_run(const OrtEnv* env, const OrtSessionOptions* options,
                                               const std::string& model) {
  OrtSession* session = nullptr;
  check(api().CreateSessionFromArray(env, model.data(), model.size(), options, &session));
  run_once(session);
  api().ReleaseSession(session);
}

int main(int argc, char** argv) {
  const auto shapes = ortolan::test::model_shapes();
  if (argc < 3) {
    for (const auto& shape : shapes) std::printf("%s\n", shape.name);
    return 0;
  }
  OrtEnv* env = nullptr;
  OrtSessionOptions* options = nullptr;
  check(api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, "load_work", &env));
  check(api().CreateSessionOptions(&options));
  check(api().SetIntraOpNumThreads(options, 1));
  const size_t parts = std::strtoull(argv[1], nullptr, 10);
  for (int i = 2; i < argc; ++i) {
    auto shape = std::ranges::find_if(shapes, [&](const auto& known) { return std::strcmp(known.name, argv[i]) == 0; });
    if (shape == shapes.end()) return std::fprintf(stderr, "no shape '%s'\n", argv[i]), 1;
    const std::string model = shape->make(parts);
    const auto begin = std::chrono::steady_clock::now();
    load_and_run(env, options, model);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    std::printf("%-24s %9zu parts %10zu bytes %8.3f s\n", shape->name, parts, model.size(), seconds.count());
    std::fflush(stdout);
  }
  api().ReleaseSessionOptions(options);
  api().ReleaseEnv(env);
  return 0;
}
