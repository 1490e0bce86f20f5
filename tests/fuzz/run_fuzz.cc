// Fuzz target: any bytes become a session at both ends of the optimisation levels, which runs on made-up inputs within
// limits of memory and time, all through the C API. Nothing but a status may come of it.
#include <onnxruntime_c_api.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int64_t kMostElements = 1 << 14;
constexpr auto kLongestRun = std::chrono::seconds(2);

const OrtApi& api() {
  static const OrtApi* table = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return *table;
}

/** True when the call succeeded; the status is released. */
bool ok(OrtStatus* status) {
  if (!status) return true;
  api().ReleaseStatus(status);
  return false;
}

OrtEnv* environment() {
  static OrtEnv* env = [] {
    OrtEnv* made = nullptr;
    ok(api().CreateEnv(ORT_LOGGING_LEVEL_FATAL, "fuzz", &made));
    return made;
  }();
  return env;
}

/** Stops a run that takes too long; one thread for the whole process. */
class Watch {
 public:
  static Watch& instance() {
    static Watch& watch = *new Watch;
    return watch;
  }
  void begin(OrtRunOptions* options) {
    start_ = std::chrono::steady_clock::now();
    current_ = options;
  }
  void end() {
    current_ = nullptr;
    while (busy_) std::this_thread::yield();
  }

 private:
  Watch() {
    std::thread([this] {
      for (;; std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
        busy_ = true;
        OrtRunOptions* options = current_;
        if (options && std::chrono::steady_clock::now() - start_.load() > kLongestRun) {
          ok(api().RunOptionsSetTerminate(options));
        }
        busy_ = false;
      }
    }).detach();
  }
  std::atomic<OrtRunOptions*> current_{nullptr};
  std::atomic<bool> busy_{false};
  std::atomic<std::chrono::steady_clock::time_point> start_{};
};

/** A tensor for input `index`; NULL when the input is none or too large. */
OrtValue* made_up(OrtSession* session, OrtAllocator* allocator, size_t index, uint8_t seed) {
  OrtTypeInfo* type = nullptr;
  if (!ok(api().SessionGetInputTypeInfo(session, index, &type))) return nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  OrtValue* value = nullptr;
  if (ok(api().CastTypeInfoToTensorInfo(type, &tensor)) && tensor) {
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    size_t rank = 0;
    ok(api().GetTensorElementType(tensor, &element));
    ok(api().GetDimensionsCount(tensor, &rank));
    std::vector<int64_t> dims(rank);
    ok(api().GetDimensions(tensor, dims.data(), rank));
    int64_t count = 1;
    bool fits = true;
    for (int64_t& dim : dims) {
      if (dim < 0) dim = 2;
      fits = fits && !__builtin_mul_overflow(count, dim, &count) && count <= kMostElements;
    }
    if (fits && ok(api().CreateTensorAsOrtValue(allocator, dims.data(), rank, element, &value))) {
      void* data = nullptr;
      size_t bytes = static_cast<size_t>(count);
      bool numbers = element != ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING && ok(api().GetTensorMutableData(value, &data));
      if (numbers && data) {
        ok(api().GetTensorSizeInBytes(value, &bytes));
        bool booleans = element == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
        for (size_t i = 0; i < bytes; ++i) {
          static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(booleans ? (seed + i) & 1 : (seed + i % 3) % 5);
        }
      }
    }
  }
  api().ReleaseTypeInfo(type);
  return value;
}

void run_once(OrtSession* session, uint8_t seed) {
  OrtAllocator* allocator = nullptr;
  ok(api().GetAllocatorWithDefaultOptions(&allocator));
  size_t inputs = 0, outputs = 0;
  ok(api().SessionGetInputCount(session, &inputs));
  ok(api().SessionGetOutputCount(session, &outputs));
  std::vector<char*> names(inputs + outputs, nullptr);
  std::vector<OrtValue*> values(inputs, nullptr), results(outputs, nullptr);
  bool ready = true;
  for (size_t i = 0; i < inputs; ++i) {
    ready = ok(api().SessionGetInputName(session, i, allocator, &names[i])) && ready;
    values[i] = ready ? made_up(session, allocator, i, seed) : nullptr;
    ready = ready && values[i];
  }
  for (size_t i = 0; i < outputs; ++i) {
    ready = ok(api().SessionGetOutputName(session, i, allocator, &names[inputs + i])) && ready;
  }
  OrtRunOptions* options = nullptr;
  if (ready && ok(api().CreateRunOptions(&options))) {
    Watch::instance().begin(options);
    ok(api().Run(session, options, names.data(), values.data(), inputs, names.data() + inputs, outputs,
                 results.data()));
    Watch::instance().end();
    api().ReleaseRunOptions(options);
  }
  for (OrtValue* value : results) api().ReleaseValue(value);
  for (OrtValue* value : values) api().ReleaseValue(value);
  for (char* name : names) {
    if (name) ok(api().AllocatorFree(allocator, name));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (GraphOptimizationLevel level : {ORT_DISABLE_ALL, ORT_ENABLE_ALL}) {
    OrtSessionOptions* options = nullptr;
    ok(api().CreateSessionOptions(&options));
    ok(api().SetSessionGraphOptimizationLevel(options, level));
    ok(api().SetIntraOpNumThreads(options, 1));
    ok(api().AddSessionConfigEntry(options, "ortolan.max_tensor_bytes", "16777216"));
    OrtSession* session = nullptr;
    if (ok(api().CreateSessionFromArray(environment(), data, size, options, &session))) {
      run_once(session, size > 0 ? data[size / 2] : 0);
      api().ReleaseSession(session);
    }
    api().ReleaseSessionOptions(options);
  }
  return 0;
}
