// Fuzz target: any bytes become a session at both ends of the rewrite levels, which runs on made-up inputs within
// limits of memory and time. Nothing but an error may come of it.
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>

#include "runtime/session.h"

using namespace ortolan;
using namespace ortolan::runtime;

namespace {

constexpr int64_t kMostElements = 1 << 14;
constexpr auto kLongestRun = std::chrono::seconds(2);

const std::shared_ptr<Environment>& environment() {
  static const auto& environment =
      *new std::shared_ptr<Environment>(std::make_shared<Environment>(Logger(nullptr, "fuzz", Severity::kFatal)));
  return environment;
}

/** Stops a run that takes too long; one thread for the whole process. */
class Watch {
 public:
  static Watch& instance() {
    static Watch& watch = *new Watch;
    return watch;
  }
  void begin(RunOptions* options) { start_ = std::chrono::steady_clock::now(), current_ = options; }
  void end() { current_ = nullptr; }

 private:
  Watch() {
    std::thread([this] {
      for (;; std::this_thread::sleep_for(std::chrono::milliseconds(50))) {
        RunOptions* options = current_;
        if (options && std::chrono::steady_clock::now() - start_.load() > kLongestRun) options->terminate = true;
      }
    }).detach();
  }
  std::atomic<RunOptions*> current_{nullptr};
  std::atomic<std::chrono::steady_clock::time_point> start_{};
};

/** A tensor for an input; undefined when the input is none or too large. */
Tensor made_up(const TypeInfo& type, uint8_t seed) {
  if (!type.is_tensor() || type.element == ElementType::kUndefined) return {};
  Shape shape;
  int64_t count = 1;
  for (Dim dim : type.shape.dims()) {
    shape.push_back(dim.known() ? dim.value() : 2);
    if (__builtin_mul_overflow(count, shape.back(), &count) || count > kMostElements) return {};
  }
  Tensor tensor(type.element, shape);
  if (type.element == ElementType::kString) {
    for (std::string& text : tensor.mutable_span<std::string>()) text = "text";
  } else {
    auto* bytes = static_cast<uint8_t*>(tensor.mutable_raw());
    for (size_t i = 0; i < tensor.byte_count(); ++i) {
      bytes[i] = type.element == ElementType::kBool ? (seed + i) & 1 : static_cast<uint8_t>((seed + i % 3) % 5);
    }
  }
  return tensor;
}

void run_once(const Session& session, uint8_t seed) {
  std::vector<Value> values;
  std::vector<const char*> input_names, output_names;
  for (const SessionValue& input : session.inputs()) {
    Tensor tensor = made_up(input.type, seed);
    if (!tensor.defined()) return;
    values.emplace_back(std::move(tensor));
    input_names.push_back(input.name.c_str());
  }
  std::vector<const Value*> pointers;
  for (const Value& value : values) pointers.push_back(&value);
  for (const SessionValue& output : session.outputs()) output_names.push_back(output.name.c_str());
  std::vector<Value> outputs(output_names.size());
  RunOptions options;
  Watch::instance().begin(&options);
  try {
    session.run(&options, input_names, pointers, output_names, outputs);
  } catch (const base::Error&) {
  }
  Watch::instance().end();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (RewriteLevel level : {RewriteLevel::kNone, RewriteLevel::kAll}) {
    SessionOptions options;
    options.level = level;
    options.intra_op_threads = 1;
    options.config["ortolan.max_tensor_bytes"] = "16777216";
    try {
      auto session = Session::from_bytes(environment(), std::as_bytes(std::span(data, size)), options);
      run_once(*session, size > 0 ? data[size / 2] : 0);
    } catch (const base::Error&) {
    }
  }
  return 0;
}
