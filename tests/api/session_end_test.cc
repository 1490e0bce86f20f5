// The end of a session while runs that RunAsync began are pending: from another thread, and from within one of them.
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "api_test_support.h"

namespace {

using ThreadingOptions = Handle<OrtThreadingOptions, &OrtApi::ReleaseThreadingOptions>;

constexpr int64_t kSize = 64;

std::atomic<int> made{0}, joined{0};
OrtCustomThreadHandle ORT_API_CALL make_thread(void*, OrtThreadWorkerFn worker, void* param) {
  ++made;
  auto* thread = new std::thread([=] { worker(param); });
  return static_cast<OrtCustomThreadHandle>(static_cast<void*>(thread));
}
void ORT_API_CALL join_thread(OrtCustomThreadHandle handle) {
  auto* thread = static_cast<std::thread*>(const_cast<void*>(static_cast<const void*>(handle)));
  thread->join();
  delete thread;
  ++joined;
}

/** y = x*x + x, and z = x*x - x. */
std::string two_branches() {
  ModelWriter model;
  model.input("x", 1, {"64", "64"});
  model.node("MatMul", {"x", "x"}, {"p"});
  model.node("Add", {"p", "x"}, {"y"});
  model.node("Sub", {"p", "x"}, {"z"});
  model.output("y", 1, {"64", "64"});
  model.output("z", 1, {"64", "64"});
  return model.bytes();
}

/** Where the threads of a session come from. */
struct Threads {
  const char* name;
  int count = 1;
  bool global = false;
  bool hooks = false;
  bool parallel = false;
};
void PrintTo(const Threads& threads, std::ostream* out) { *out << threads.name; }

OrtEnv* env_with(const Threads& threads) {
  OrtEnv* env = nullptr;
  if (!threads.global) {
    EXPECT_OK(api().CreateEnv(ORT_LOGGING_LEVEL_WARNING, "t", &env));
    return env;
  }
  ThreadingOptions options;
  EXPECT_OK(api().CreateThreadingOptions(options.out()));
  EXPECT_OK(api().SetGlobalIntraOpNumThreads(options, threads.count));
  EXPECT_OK(api().SetGlobalInterOpNumThreads(options, threads.count));
  if (threads.hooks) {
    EXPECT_OK(api().SetGlobalCustomCreateThreadFn(options, make_thread));
    EXPECT_OK(api().SetGlobalCustomJoinThreadFn(options, join_thread));
  }
  EXPECT_OK(api().CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_WARNING, "t", options, &env));
  return env;
}

OrtSession* session_with(const Threads& threads, OrtEnv* env) {
  SessionOptions options;
  EXPECT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().SetIntraOpNumThreads(options, threads.count));
  EXPECT_OK(api().SetInterOpNumThreads(options, threads.count));
  if (threads.global) {
    EXPECT_OK(api().DisablePerSessionThreads(options));
  }
  if (threads.parallel) {
    EXPECT_OK(api().SetSessionExecutionMode(options, ORT_PARALLEL));
  }
  if (threads.hooks) {
    EXPECT_OK(api().SessionOptionsSetCustomCreateThreadFn(options, make_thread));
    EXPECT_OK(api().SessionOptionsSetCustomJoinThreadFn(options, join_thread));
  }
  const std::string bytes = two_branches();
  OrtSession* session = nullptr;
  EXPECT_OK(api().CreateSessionFromArray(env, bytes.data(), bytes.size(), options, &session));
  return session;
}

/** Runs of one session that are under way; the first that ends calls `on_first`. */
class PendingRuns {
 public:
  std::function<void()> on_first = [] {};

  void begin(OrtSession* session, int count) {
    ASSERT_NE(session, nullptr);
    outputs_.resize(begun_ + count, nullptr);
    for (int i = 0; i < count; ++i) {
      const char *in = "x", *out = "y";
      const OrtValue* inputs[] = {x_};
      EXPECT_OK(api().RunAsync(session, nullptr, &in, inputs, 1, &out, 1, &outputs_[begun_ + i], ended, this));
    }
    begun_ += count;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ == begun_; });
  }
  int count() {
    std::lock_guard lock(mutex_);
    return ended_;
  }
  void expect_right() {
    EXPECT_EQ(failed_, 0);
    for (OrtValue* output : outputs_) {
      ASSERT_NE(output, nullptr);
      EXPECT_EQ(content<float>(Value(output)), std::vector<float>(kSize * kSize, kSize + 1.0f));
    }
  }

 private:
  static void ORT_API_CALL ended(void* user_data, OrtValue**, size_t, OrtStatusPtr status) {
    auto& self = *static_cast<PendingRuns*>(user_data);
    bool first = false;
    {
      std::lock_guard lock(self.mutex_);
      first = !std::exchange(self.called_, true);
      if (status != nullptr) ++self.failed_;
    }
    api().ReleaseStatus(status);
    if (first) self.on_first();
    std::lock_guard lock(self.mutex_);
    ++self.ended_;
    self.changed_.notify_all();
  }

  std::vector<float> data_ = std::vector<float>(kSize * kSize, 1.0f);
  Value x_ = floats(data_, {kSize, kSize});
  std::vector<OrtValue*> outputs_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool called_ = false;
  int begun_ = 0, ended_ = 0, failed_ = 0;
};

/** Waits until all threads that the caller made for the library are joined. */
void wait_for_joins() {
  for (int i = 0; i < 20000 && joined < made; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(joined, made);
}

class SessionEnd : public testing::TestWithParam<Threads> {
 protected:
  void SetUp() override { made = joined = 0; }
  void TearDown() override { wait_for_joins(); }
};

TEST_P(SessionEnd, WaitsForPendingRuns) {
  const Env env(env_with(GetParam()));
  OrtSession* session = session_with(GetParam(), env);
  PendingRuns runs;
  runs.begin(session, 60);
  api().ReleaseSession(session);
  EXPECT_EQ(runs.count(), 60);
  runs.expect_right();
}

TEST_P(SessionEnd, MayComeFromACallback) {
  const Env env(env_with(GetParam()));
  OrtSession* session = session_with(GetParam(), env);
  PendingRuns runs;
  std::atomic<bool> all_begun{false};
  runs.on_first = [&] {
    while (!all_begun) std::this_thread::yield();
    api().ReleaseSession(session);
  };
  runs.begin(session, 20);
  all_begun = true;
  runs.wait();
  runs.expect_right();
}

TEST_P(SessionEnd, MayTakeTheEnvironmentAlong) {
  OrtEnv* env = env_with(GetParam());
  OrtSession* session = session_with(GetParam(), env);
  PendingRuns runs;
  runs.on_first = [&] {
    api().ReleaseSession(session);
    api().ReleaseEnv(env);
  };
  runs.begin(session, 1);
  runs.wait();
  runs.expect_right();
}

TEST_P(SessionEnd, MayBeAskedForByEachOther) {
  const Env env(env_with(GetParam()));
  OrtSession* sessions[] = {session_with(GetParam(), env), session_with(GetParam(), env)};
  PendingRuns runs[2];
  std::atomic<int> begun{0};
  for (int i = 0; i < 2; ++i) {
    runs[i].on_first = [&, i] {
      while (begun < 2) std::this_thread::yield();
      api().ReleaseSession(sessions[1 - i]);
    };
  }
  for (int i = 0; i < 2; ++i) {
    runs[i].begin(sessions[i], 1);
    ++begun;
  }
  for (PendingRuns& one : runs) one.wait();
  for (PendingRuns& one : runs) one.expect_right();
}

TEST_P(SessionEnd, LeavesABindingsOutputs) {
  const Env env(env_with(GetParam()));
  OrtSession* session = session_with(GetParam(), env);
  Handle<OrtIoBinding, &OrtApi::ReleaseIoBinding> binding;
  ASSERT_OK(api().CreateIoBinding(session, binding.out()));
  std::vector<float> data(kSize * kSize, 1.0f);
  Value x = floats(data, {kSize, kSize});
  EXPECT_OK(api().BindInput(binding, "x", x));
  EXPECT_OK(api().BindOutputToDevice(binding, "z", cpu_memory()));
  ASSERT_OK(api().RunWithBinding(session, nullptr, binding));
  PendingRuns runs;
  runs.begin(session, 10);
  api().ReleaseSession(session);
  OrtValue** values = nullptr;
  size_t count = 0;
  ASSERT_OK(api().GetBoundOutputValues(binding, default_allocator(), &values, &count));
  ASSERT_EQ(count, 1u);
  Value z(values[0]);
  EXPECT_OK(api().AllocatorFree(default_allocator(), values));
  EXPECT_EQ(content<float>(z)[0], kSize - 1.0f);
  runs.expect_right();
}

INSTANTIATE_TEST_SUITE_P(Threads, SessionEnd,
                         testing::Values(Threads{"one"}, Threads{"three", 3}, Threads{"hooks", 3, false, true},
                                         Threads{"parallel", 3, false, false, true}, Threads{"global", 2, true},
                                         Threads{"global_hooks", 2, true, true},
                                         Threads{"global_parallel", 2, true, false, true}),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(SessionEndInAFork, DoesNotWaitForRunsOfTheFirstProcess) {
  Env env = make_env();
  OrtSession* session = session_with(Threads{"one"}, env);
  PendingRuns runs;
  std::atomic<bool> go_on{false};
  runs.on_first = [&] {
    while (!go_on) std::this_thread::yield();
  };
  runs.begin(session, 5);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    api().ReleaseSession(session);
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  go_on = true;
  api().ReleaseSession(session);
  EXPECT_EQ(runs.count(), 5);
  runs.expect_right();
}

}  // namespace
