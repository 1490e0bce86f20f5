// Sessions of made-up models on made-up inputs.
#include "session_run.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace ortolan::fuzz {
namespace {

constexpr int64_t kMostElements = 1 << 14;
constexpr auto kLongestRun = std::chrono::seconds(2);

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

/** The dimensions of an input, unknown ones as 2; false when it has too many elements. */
bool read_dims(const OrtTensorTypeAndShapeInfo* tensor, std::vector<int64_t>& dims) {
  size_t rank = 0;
  ok(api().GetDimensionsCount(tensor, &rank));
  dims.resize(rank);
  ok(api().GetDimensions(tensor, dims.data(), rank));
  int64_t count = 1;
  for (int64_t& dim : dims) {
    if (dim < 0) dim = 2;
    if (__builtin_mul_overflow(count, dim, &count) || count > kMostElements) return false;
  }
  return true;
}

void fill(OrtValue* value, ONNXTensorElementDataType element, uint8_t seed) {
  void* data = nullptr;
  size_t bytes = 0;
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING || !ok(api().GetTensorMutableData(value, &data)) || !data) return;
  ok(api().GetTensorSizeInBytes(value, &bytes));
  bool booleans = element == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;
  for (size_t i = 0; i < bytes; ++i) {
    static_cast<uint8_t*>(data)[i] = static_cast<uint8_t>(booleans ? (seed + i) & 1 : (seed + i % 3) % 5);
  }
}

/** A tensor for input `index`; NULL when the input is none or too large. */
OrtValue* made_up(OrtSession* session, OrtAllocator* allocator, size_t index, uint8_t seed) {
  OrtTypeInfo* type = nullptr;
  if (!ok(api().SessionGetInputTypeInfo(session, index, &type))) return nullptr;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  OrtValue* value = nullptr;
  if (ok(api().CastTypeInfoToTensorInfo(type, &tensor)) && tensor) {
    ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    std::vector<int64_t> dims;
    ok(api().GetTensorElementType(tensor, &element));
    if (read_dims(tensor, dims) &&
        ok(api().CreateTensorAsOrtValue(allocator, dims.data(), dims.size(), element, &value))) {
      fill(value, element, seed);
    }
  }
  api().ReleaseTypeInfo(type);
  return value;
}

/** What a run is called with. */
class Feeds {
 public:
  Feeds(OrtSession* session, uint8_t seed) {
    ok(api().GetAllocatorWithDefaultOptions(&allocator_));
    size_t inputs = 0, outputs = 0;
    ok(api().SessionGetInputCount(session, &inputs));
    ok(api().SessionGetOutputCount(session, &outputs));
    names_.resize(inputs + outputs, nullptr);
    values_.resize(inputs, nullptr);
    results_.resize(outputs, nullptr);
    for (size_t i = 0; i < inputs && ready_; ++i) {
      ready_ = ok(api().SessionGetInputName(session, i, allocator_, &names_[i]));
      values_[i] = ready_ ? made_up(session, allocator_, i, seed) : nullptr;
      ready_ = values_[i] != nullptr;
    }
    for (size_t i = 0; i < outputs && ready_; ++i) {
      ready_ = ok(api().SessionGetOutputName(session, i, allocator_, &names_[inputs + i]));
    }
  }
  Feeds(const Feeds&) = delete;
  Feeds& operator=(const Feeds&) = delete;
  ~Feeds() {
    for (OrtValue* value : results_) api().ReleaseValue(value);
    for (OrtValue* value : values_) api().ReleaseValue(value);
    for (char* name : names_) {
      if (name) ok(api().AllocatorFree(allocator_, name));
    }
  }
  bool ready() const { return ready_; }
  void run(OrtSession* session, const OrtRunOptions* options) {
    ok(api().Run(session, options, names_.data(), values_.data(), values_.size(), names_.data() + values_.size(),
                 results_.size(), results_.data()));
  }

 private:
  OrtAllocator* allocator_ = nullptr;
  bool ready_ = true;
  std::vector<char*> names_;
  std::vector<OrtValue*> values_, results_;
};

void ORT_API_CALL ignore_message(void*, OrtLoggingLevel, const char*, const char*, const char*, const char*) {}

}  // namespace

const OrtApi& api() {
  static const OrtApi* table = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return *table;
}

bool ok(OrtStatus* status) {
  if (!status) return true;
  api().ReleaseStatus(status);
  return false;
}

OrtEnv* environment() {
  static OrtEnv* env = [] {
    OrtEnv* made = nullptr;
    ok(api().CreateEnvWithCustomLogger(ignore_message, nullptr, ORT_LOGGING_LEVEL_WARNING, "fuzz", &made));
    return made;
  }();
  return env;
}

OrtSessionOptions* limited_options(GraphOptimizationLevel level) {
  OrtSessionOptions* options = nullptr;
  ok(api().CreateSessionOptions(&options));
  ok(api().SetSessionGraphOptimizationLevel(options, level));
  ok(api().SetIntraOpNumThreads(options, 1));
  ok(api().AddSessionConfigEntry(options, "ortolan.max_tensor_bytes", "16777216"));
  return options;
}

void run_once(OrtSession* session, uint8_t seed, OrtRunOptions* run_options) {
  Feeds feeds(session, seed);
  OrtRunOptions* own = nullptr;
  if (!feeds.ready() || (run_options == nullptr && !ok(api().CreateRunOptions(&own)))) return;
  OrtRunOptions* options = run_options ? run_options : own;
  Watch::instance().begin(options);
  feeds.run(session, options);
  Watch::instance().end();
  api().ReleaseRunOptions(own);
}

void load_and_run(std::span<const uint8_t> model, const OrtSessionOptions* options) {
  OrtSession* session = nullptr;
  if (!ok(api().CreateSessionFromArray(environment(), model.data(), model.size(), options, &session))) return;
  run_once(session, model[model.size() / 2]);
  api().ReleaseSession(session);
}

}  // namespace ortolan::fuzz
