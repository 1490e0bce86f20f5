// Threads that make sessions, run them in every way and let them go: no result may differ and memory must not grow.
#include <malloc.h>
#include <onnxruntime_cxx_api.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kMeasuresMemory = false;  // freed memory is kept back for a while; leaks are found by the sanitiser
#else
constexpr bool kMeasuresMemory = true;
#endif
constexpr int kThreads = 4, kRounds = kMeasuresMemory ? 300 : 20, kSessionsPerRound = 3;
constexpr long kAllowedGrowth = 512 << 10;

long resident_bytes() {
  malloc_trim(0);
  long pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

class Worker {
 public:
  Worker(const Ort::Env& env, std::string models) : env_(env), models_(std::move(models)) {}

  void operator()() const {
    for (int i = 0; i < kSessionsPerRound; ++i) {
      Ort::Session session(env_, (models_ + "/add.onnx").c_str(), Ort::SessionOptions());
      for (int run = 0; run < 20; ++run) add(session, static_cast<float>(run));
      strings();
      fail();
    }
  }

 private:
  static void require(bool right, const char* what) {
    if (!right) throw std::runtime_error(what);
  }

  void add(Ort::Session& session, float number) const {
    std::vector<float> a(16, number), b(16, 1);
    const int64_t length = 16;
    std::vector<Ort::Value> values;
    values.push_back(Ort::Value::CreateTensor<float>(memory_, a.data(), a.size(), &length, 1));
    values.push_back(Ort::Value::CreateTensor<float>(memory_, b.data(), b.size(), &length, 1));
    const char *inputs[] = {"a", "b"}, *outputs[] = {"sum", "scaled"};
    auto results = session.Run(Ort::RunOptions{nullptr}, inputs, values.data(), 2, outputs, 2);
    require(results[0].At<float>({15}) == number + 1 && results[1].At<float>({0}) == 2 * (number + 1), "run");
    Ort::IoBinding binding(session);
    binding.BindInput("a", values[0]);
    binding.BindInput("b", values[1]);
    binding.BindOutput("scaled", memory_);
    session.Run(Ort::RunOptions{}, binding);
    require(binding.GetOutputValues().at(0).At<float>({7}) == 2 * (number + 1), "bound run");
    require(binding.GetOutputNames().at(0) == "scaled", "name");
  }

  void strings() const {
    Ort::Session session(env_, (models_ + "/identity_string.onnx").c_str(), Ort::SessionOptions());
    Ort::AllocatorWithDefaultOptions allocator;
    const int64_t shape[] = {1, 2};
    auto x = Ort::Value::CreateTensor(allocator, shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
    const std::string long_text(1000, 'x');
    const char* words[] = {"word", long_text.c_str()};
    x.FillStringTensor(words, 2);
    const char *inputs[] = {"x"}, *outputs[] = {"y"};
    const auto y = session.Run(Ort::RunOptions{nullptr}, inputs, &x, 1, outputs, 1);
    require(y[0].GetStringTensorElement(1) == long_text, "strings");
    require(session.GetInputTypeInfo(0).GetONNXType() == ONNX_TYPE_TENSOR, "type");
    require(session.GetModelMetadata().GetCustomMetadataMapKeysAllocated(allocator).empty(), "metadata");
  }

  void fail() const {
    try {
      Ort::Session(env_, (models_ + "/broken.onnx").c_str(), Ort::SessionOptions());
    } catch (const Ort::Exception& e) {
      require(e.GetOrtErrorCode() == ORT_INVALID_PROTOBUF, "code");
      return;
    }
    throw std::runtime_error("a broken model was loaded");
  }

  const Ort::Env& env_;
  std::string models_;
  Ort::MemoryInfo memory_ = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
};

bool run_threads(const Ort::Env& env, const char* models) {
  std::atomic<bool> right{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      try {
        Worker(env, models)();
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        right = false;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return right;
}

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  Ort::Env env(ORT_LOGGING_LEVEL_FATAL, "stress");
  long before = 0;
  for (int round = 0; round < kRounds; ++round) {
    if (!run_threads(env, argv[1])) return 1;
    if (round == kRounds / 3) before = resident_bytes();
  }
  const long growth = resident_bytes() - before;
  std::printf("%d sessions in %d threads; memory grew by %ld KiB\n", kRounds * kThreads * kSessionsPerRound * 2,
              kThreads, growth / 1024);
  return kMeasuresMemory && growth > kAllowedGrowth ? 3 : 0;
}
