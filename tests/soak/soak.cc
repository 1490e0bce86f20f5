// Uses the library hard for long: sessions of random kinds come and go while several threads run them at once, later,
// with bound values, and stop them. Results must be those of a first run alone, and memory must stay level.
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "../api/api_test_support.h"
#include "level.h"
#include "models.h"

namespace {

using soak::SoakModel;
using Clock = std::chrono::steady_clock;
using Random = std::mt19937;

constexpr int kThreads = 4;
constexpr int kShapes = 3;  // of each model in an epoch, so that plans are made and met again
constexpr size_t kSessions = 6;

struct Settings {
  double minutes = 10;
  int epochs = 0;  // 0: as many as fit into the minutes
  int actions = 60;
  unsigned seed = std::random_device()();
  size_t leak = 0;  // bytes an epoch, to see that they are noticed
};

struct Counts {
  std::atomic<int64_t> sessions{0}, runs{0}, later{0}, bound{0}, stopped{0}, failures{0};
};

[[noreturn]] void die(const std::string& text) {
  std::fprintf(stderr, "soak: %s\n", text.c_str());
  std::exit(2);
}

void must(OrtStatus* status, const char* what) {
  if (status != nullptr) die(std::string(what) + ": " + api().GetErrorMessage(status));
}

int below(Random& random, int count) { return std::uniform_int_distribution<int>(0, count - 1)(random); }

/** An input and what the model makes of it. */
struct Case {
  size_t model = 0;
  std::vector<int64_t> shape;
  std::vector<float> x, y;
};

class SharedSession {
 public:
  SharedSession(OrtEnv* env, const SoakModel& model, Random& random) {
    SessionOptions options;
    must(api().CreateSessionOptions(options.out()), "CreateSessionOptions");
    must(api().SetIntraOpNumThreads(options, 1 + below(random, 4)), "SetIntraOpNumThreads");
    must(api().SetInterOpNumThreads(options, 1 + below(random, 3)), "SetInterOpNumThreads");
    if (below(random, 3) == 0) must(api().SetSessionExecutionMode(options, ORT_PARALLEL), "SetSessionExecutionMode");
    if (below(random, 3) == 0) must(api().DisableMemPattern(options), "DisableMemPattern");
    if (below(random, 3) == 0) must(api().DisableCpuMemArena(options), "DisableCpuMemArena");
    must(api().CreateSessionFromArray(env, model.bytes.data(), model.bytes.size(), options, &session_),
         "CreateSessionFromArray");
  }
  ~SharedSession() { release(); }
  SharedSession(const SharedSession&) = delete;
  SharedSession& operator=(const SharedSession&) = delete;
  OrtSession* get() const { return session_; }
  void release() { api().ReleaseSession(std::exchange(session_, nullptr)); }

 private:
  OrtSession* session_ = nullptr;
};

/** One run behind the caller's back. */
class LaterRun {
 public:
  LaterRun(OrtSession* session, const Case& one, std::function<void()> in_callback)
      : data_(one.x), x_(floats(data_, one.shape)), in_callback_(std::move(in_callback)) {
    const char *in = "x", *out = "y";
    const OrtValue* inputs[] = {x_};
    must(api().RunAsync(session, nullptr, &in, inputs, 1, &out, 1, &output_, ended, this), "RunAsync");
  }
  Value wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_; });
    return Value(output_);
  }

 private:
  static void ORT_API_CALL ended(void* user_data, OrtValue**, size_t, OrtStatusPtr status) {
    must(status, "a later run");
    auto& self = *static_cast<LaterRun*>(user_data);
    self.in_callback_();
    std::lock_guard lock(self.mutex_);
    self.ended_ = true;
    self.changed_.notify_all();
  }

  std::vector<float> data_;
  Value x_;
  OrtValue* output_ = nullptr;
  std::function<void()> in_callback_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

/** What the threads of one epoch share. */
class Epoch {
 public:
  Epoch(OrtEnv* env, Counts& counts, unsigned seed) : env_(env), counts_(counts), random_(seed) {
    for (size_t model = 0; model < soak::models().size(); ++model) {
      for (int i = 0; i < kShapes; ++i) cases_.push_back(case_of(model));
    }
    for (size_t i = 0; i < kSessions; ++i) replace(i, random_);
  }

  void run(int actions) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([this, actions, seed = random_()] {
        Random random(seed);
        for (int action = 0; action < actions; ++action) act(random);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  struct Slot {
    size_t model = 0;
    std::shared_ptr<SharedSession> session;
  };

  Case case_of(size_t model) {
    Case one{model, soak::models()[model].shape(random_), {}, {}};
    int64_t count = 1;
    for (int64_t dim : one.shape) count *= dim;
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < count; ++i) one.x.push_back(normal(random_));
    SharedSession alone(env_, soak::models()[model], random_);
    one.y = content<float>(run_now(alone.get(), one, nullptr));
    return one;
  }

  void replace(size_t slot, Random& random) {
    const size_t model = static_cast<size_t>(below(random, static_cast<int>(soak::models().size())));
    auto made = std::make_shared<SharedSession>(env_, soak::models()[model], random);
    ++counts_.sessions;
    std::lock_guard lock(mutex_);
    std::swap(slots_[slot].session, made);
    slots_[slot].model = model;
  }

  Slot any_slot(Random& random) {
    std::lock_guard lock(mutex_);
    return slots_[below(random, kSessions)];
  }
  const Case& any_case(size_t model, Random& random) const {
    return cases_[model * kShapes + static_cast<size_t>(below(random, kShapes))];
  }

  void act(Random& random) {
    const int kind = below(random, 10);
    if (kind == 0) return replace(static_cast<size_t>(below(random, kSessions)), random);
    if (kind == 1) return end_with_runs_pending(random);
    const Slot slot = any_slot(random);
    const Case& one = any_case(slot.model, random);
    if (kind == 2) return run_bound(slot.session->get(), one);
    if (kind == 3) return run_and_stop(slot.session->get(), one, random);
    if (kind == 4) return run_later(slot.session->get(), one);
    ++counts_.runs;
    check(one, run_now(slot.session->get(), one, nullptr));
  }

  static Value run_now(OrtSession* session, const Case& one, OrtRunOptions* options) {
    std::vector<float> data = one.x;
    const Value x = floats(data, one.shape);
    const char *in = "x", *out = "y";
    const OrtValue* inputs[] = {x};
    OrtValue* output = nullptr;
    OrtStatus* status = api().Run(session, options, &in, inputs, 1, &out, 1, &output);
    if (status != nullptr && options != nullptr) {
      const std::string text = api().GetErrorMessage(status);
      if (text.find("terminate is set") == std::string::npos) die("a run that was stopped says: " + text);
      api().ReleaseStatus(status);
      return Value();
    }
    must(status, "Run");
    return Value(output);
  }

  void run_bound(OrtSession* session, const Case& one) {
    Handle<OrtIoBinding, &OrtApi::ReleaseIoBinding> binding;
    must(api().CreateIoBinding(session, binding.out()), "CreateIoBinding");
    std::vector<float> data = one.x;
    const Value x = floats(data, one.shape);
    must(api().BindInput(binding, "x", x), "BindInput");
    must(api().BindOutputToDevice(binding, "y", cpu_memory()), "BindOutputToDevice");
    must(api().RunWithBinding(session, nullptr, binding), "RunWithBinding");
    OrtValue** values = nullptr;
    size_t count = 0;
    must(api().GetBoundOutputValues(binding, default_allocator(), &values, &count), "GetBoundOutputValues");
    const Value y(values[0]);
    must(api().AllocatorFree(default_allocator(), values), "AllocatorFree");
    ++counts_.bound;
    check(one, y);
  }

  void run_and_stop(OrtSession* session, const Case& one, Random& random) {
    RunOptions options;
    must(api().CreateRunOptions(options.out()), "CreateRunOptions");
    std::thread stopper([&, pause = std::chrono::microseconds(below(random, 3000))] {
      std::this_thread::sleep_for(pause);
      must(api().RunOptionsSetTerminate(options), "RunOptionsSetTerminate");
    });
    const Value y = run_now(session, one, options);
    stopper.join();
    static_cast<OrtValue*>(y) == nullptr ? void(++counts_.stopped) : check(one, y);
  }

  void run_later(OrtSession* session, const Case& one) {
    LaterRun first(session, one, [] {}), second(session, one, [] {});
    counts_.later += 2;
    check(one, first.wait());
    check(one, second.wait());
  }

  /** A session that ends while runs are pending, now and then from within one of them. */
  void end_with_runs_pending(Random& random) {
    const size_t model = static_cast<size_t>(below(random, static_cast<int>(soak::models().size())));
    const Case& one = any_case(model, random);
    SharedSession session(env_, soak::models()[model], random);
    ++counts_.sessions;
    std::atomic<bool> all_begun{false};
    const bool from_within = below(random, 2) == 0;
    LaterRun first(session.get(), one, [&] {
      while (!all_begun) std::this_thread::yield();
      if (from_within) session.release();
    });
    LaterRun second(session.get(), one, [] {});
    all_begun = true;
    if (!from_within) session.release();
    counts_.later += 2;
    check(one, first.wait());
    check(one, second.wait());
  }

  void check(const Case& one, const OrtValue* y) {
    const std::vector<float> got = content<float>(y);
    bool same = got.size() == one.y.size();
    for (size_t i = 0; same && i < got.size(); ++i) {
      same = std::abs(got[i] - one.y[i]) <= 1e-5f + 1e-4f * std::abs(one.y[i]);
    }
    if (same) return;
    ++counts_.failures;
    std::fprintf(stderr, "soak: model %s gives another result\n", soak::models()[one.model].name);
  }

  OrtEnv* env_;
  Counts& counts_;
  Random random_;
  std::vector<Case> cases_;
  std::mutex mutex_;
  Slot slots_[kSessions];
};

Settings read_settings(int argc, char** argv) {
  Settings settings;
  const std::map<std::string, std::function<void(const char*)>> options{
      {"--minutes", [&](const char* text) { settings.minutes = std::atof(text); }},
      {"--epochs", [&](const char* text) { settings.epochs = std::atoi(text); }},
      {"--actions", [&](const char* text) { settings.actions = std::atoi(text); }},
      {"--seed", [&](const char* text) { settings.seed = static_cast<unsigned>(std::strtoul(text, nullptr, 10)); }},
      {"--leak", [&](const char* text) { settings.leak = std::strtoull(text, nullptr, 10); }},
  };
  for (int i = 1; i < argc; i += 2) {
    auto found = options.find(argv[i]);
    if (found == options.end() || i + 1 == argc) {
      die(std::string("usage: soak [--minutes N | --epochs N] [--actions N] [--seed N] [--leak BYTES]; not '") +
          argv[i] + "'");
    }
    found->second(argv[i + 1]);
  }
  return settings;
}

/** Sanitizers keep freed memory for a while, so that the level says nothing. */
constexpr bool level_counts() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#else
  return true;
#endif
}

void print(const Counts& counts, size_t epochs, const soak::Level& level) {
  std::printf("%zu epochs, %lld sessions, %lld runs, %lld later, %lld bound, %lld stopped; memory: %s\n", epochs,
              static_cast<long long>(counts.sessions), static_cast<long long>(counts.runs),
              static_cast<long long>(counts.later), static_cast<long long>(counts.bound),
              static_cast<long long>(counts.stopped), level.text().c_str());
  std::fflush(stdout);
}

/** Memory that nobody gives back. */
void leak(size_t bytes) {
  if (bytes == 0) return;
  static std::vector<std::unique_ptr<std::vector<char>>> kept;
  kept.push_back(std::make_unique<std::vector<char>>(bytes, 1));
}

}  // namespace

int main(int argc, char** argv) {
  const Settings settings = read_settings(argc, argv);
  std::printf("seed %u\n", settings.seed);
  const auto until = Clock::now() + std::chrono::duration<double, std::ratio<60>>(settings.minutes);
  Counts counts;
  soak::Level level;
  Random random(settings.seed);
  auto next_report = Clock::now() + std::chrono::seconds(30);
  auto go_on = [&] {
    return settings.epochs > 0 ? static_cast<int>(level.count()) < settings.epochs : Clock::now() < until;
  };
  while (go_on() && counts.failures == 0) {
    const Env env = make_env("soak");
    { Epoch(env, counts, random()).run(settings.actions); }
    leak(settings.leak);
    level.add(soak::resident_bytes());
    if (Clock::now() < next_report) continue;
    print(counts, level.count(), level);
    next_report = Clock::now() + std::chrono::seconds(30);
  }
  print(counts, level.count(), level);
  if (level_counts() && !level.holds()) std::fprintf(stderr, "soak: memory grows\n");
  return counts.failures != 0 || (level_counts() && !level.holds()) ? 1 : 0;
}
