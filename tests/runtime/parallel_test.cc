// Parallel mode without threads: in a process that was forked, and where the host makes none.
#include "runtime/session/session.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "model_builder.h"

namespace ortolan::runtime {
namespace {

constexpr float kInput = 3;

/** Rungs of two nodes that read the same value; the next rung reads one of them, and the other is an output. Each node
    that is done makes two others ready. The last value is that of the input, with the sign of the number of rungs. */
std::unique_ptr<Model> ladder(int rungs) {
  Builder build;
  ValueInfo* rail = build.input("x", Shape{1});
  for (int i = 0; i < rungs; ++i) {
    const std::string n = std::to_string(i);
    build.graph().mark_output(build.node("Abs", {rail}, "side" + n));
    rail = build.node("Neg", {rail}, i + 1 == rungs ? "last" : "rail" + n);
  }
  build.graph().mark_output(rail);
  return std::move(build.model);
}

SessionOptions in_parallel() {
  SessionOptions options;
  options.mode = ExecutionMode::kParallel;
  options.level = RewriteLevel::kNone;
  options.intra_op_threads = options.inter_op_threads = 2;
  return options;
}

SessionOptions in_parallel_without_threads() {
  SessionOptions options = in_parallel();
  options.thread_hooks.hooks.create = [](void*, void (*)(void*), void*) -> void* { return nullptr; };
  options.thread_hooks.hooks.join = [](void*) {};
  return options;
}

float last_of(const Session& session) {
  Value x(vector_tensor<float>(std::vector<float>{kInput})), last;
  const Value* values[] = {&x};
  const char *in[] = {"x"}, *out[] = {"last"};
  session.run(nullptr, in, values, out, std::span(&last, 1));
  return last.tensor().data<float>()[0];
}

/** Whether a forked process in which `body` has to hold comes to its end. */
testing::AssertionResult holds_in_a_fork(FunctionRef<bool()> body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body() ? 0 : 1);
  }
  int status = -1;
  if (waitpid(child, &status, 0) != child) return testing::AssertionFailure() << "there was no process to wait for";
  if (WIFSIGNALED(status)) return testing::AssertionFailure() << "ended by signal " << WTERMSIG(status);
  if (WEXITSTATUS(status) != 0) return testing::AssertionFailure() << "another result";
  return testing::AssertionSuccess();
}

/** Calls `body` on a thread with a stack of half a megabyte. */
void on_a_small_stack(FunctionRef<void()> body) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_t{512} << 10);
  pthread_t thread;
  auto call = [](void* what) -> void* {
    (*static_cast<FunctionRef<void()>*>(what))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, call, &body), 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

TEST(ParallelMode, GoesOnInAForkedProcess) {
  auto session = Session::from_model(environment(), ladder(3), in_parallel());
  EXPECT_EQ(last_of(*session), -kInput);
  EXPECT_TRUE(holds_in_a_fork([&] { return last_of(*session) == -kInput; }));
}

TEST(ParallelMode, NeedsNoThreads) {
  EXPECT_TRUE(holds_in_a_fork([] {
    auto session = Session::from_model(environment(), ladder(3), in_parallel_without_threads());
    return last_of(*session) == -kInput;
  }));
}

TEST(ParallelMode, NeedsNoMoreStackForMoreNodes) {
  EXPECT_TRUE(holds_in_a_fork([] {
    auto session = Session::from_model(environment(), ladder(5000), in_parallel_without_threads());
    float last = 0;
    on_a_small_stack([&] { last = last_of(*session); });
    return last == kInput;
  }));
}

}  // namespace
}  // namespace ortolan::runtime
