// Denormals as zero: on every thread that computes for a session that asks for it, for no other, and for no longer.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <future>
#include <limits>

#include "base/threads/run_scope.h"
#include "model_builder.h"

namespace ortolan::runtime {
namespace {

constexpr int64_t kCount = 1 << 20;  // enough for several threads

/** y = x/2 and z = -x/2, in products. */
std::unique_ptr<Model> halves() {
  Builder build;
  ValueInfo* x = build.input("x", Shape{kCount});
  ValueInfo* half = build.graph().add_initializer("half", scalar<float>(0.5f));
  ValueInfo* minus_half = build.graph().add_initializer("minus_half", scalar<float>(-0.5f));
  build.graph().mark_output(build.node("Mul", {x, half}, "y"));
  build.graph().mark_output(build.node("Mul", {x, minus_half}, "z"));
  return std::move(build.model);
}

SessionOptions options_of(bool as_zero, int threads, ExecutionMode mode = ExecutionMode::kSequential) {
  SessionOptions options;
  options.intra_op_threads = options.inter_op_threads = threads;
  options.mode = mode;
  options.config["session.set_denormal_as_zero"] = as_zero ? "1" : "0";
  return options;
}

std::unique_ptr<Session> session_with(const SessionOptions& options,
                                      std::shared_ptr<Environment> shared = environment()) {
  return Session::from_model(std::move(shared), halves(), options);
}

std::shared_ptr<Environment> with_global_pools(bool as_zero) {
  auto shared = environment();
  ThreadingOptions threading;
  threading.intra.threads = threading.inter.threads = 4;
  threading.denormals_are_zero = as_zero;
  shared->create_global_pools(threading);
  return shared;
}

Value smallest_normals() {
  Tensor x(ElementType::kFloat, Shape{kCount});
  for (float& element : std::span(x.mutable_data<float>(), kCount)) element = std::numeric_limits<float>::min();
  return Value(x);
}

int64_t zeros_of(std::span<const Value> results) {
  int64_t zeros = 0;
  for (const Value& result : results) {
    for (float element : result.tensor().span<float>()) zeros += element == 0.0f;
  }
  return zeros;
}

int64_t zeros_of_a_run(const Session& session) {
  static const Value x = smallest_normals();
  const Value* values[] = {&x};
  const char *in[] = {"x"}, *out[] = {"y", "z"};
  std::vector<Value> results(2);
  session.run(nullptr, in, values, out, results);
  return zeros_of(results);
}

int64_t zeros_of_a_later_run(const Session& session) {
  const Value x = smallest_normals();
  std::vector<Value> results(2);
  std::promise<void> done;
  session.run_async(nullptr, {"x"}, {&x}, {"y", "z"}, results, [&](const Error*) { done.set_value(); });
  done.get_future().wait();
  return zeros_of(results);
}

void expect_throughout(const Session& session, bool as_zero) {
  for (int repeat = 0; repeat < 5; ++repeat) {
    EXPECT_EQ(zeros_of_a_run(session), as_zero ? 2 * kCount : 0);
    EXPECT_FALSE(base::denormals_are_zero()) << "after the run";
    EXPECT_EQ(zeros_of_a_later_run(session), as_zero ? 2 * kCount : 0);
  }
}

TEST(Denormals, AreZeroOnAllThreadsOfTheSession) {
  for (bool as_zero : {true, false}) {
    for (int threads : {1, 4}) {
      for (ExecutionMode mode : {ExecutionMode::kSequential, ExecutionMode::kParallel}) {
        SCOPED_TRACE(join("as zero ", as_zero, ", threads ", threads, ", mode ", static_cast<int>(mode)));
        expect_throughout(*session_with(options_of(as_zero, threads, mode)), as_zero);
      }
    }
  }
}

TEST(Denormals, AreEachSessionsOwnMatterInSharedPools) {
  for (ExecutionMode mode : {ExecutionMode::kSequential, ExecutionMode::kParallel}) {
    auto shared = with_global_pools(false);
    SessionOptions keeping = options_of(false, 4, mode), flushing = options_of(true, 4, mode);
    keeping.use_global_threads = flushing.use_global_threads = true;
    auto keeps = session_with(keeping, shared), flushes = session_with(flushing, shared);
    for (int repeat = 0; repeat < 3; ++repeat) {
      expect_throughout(*flushes, true);
      expect_throughout(*keeps, false);
    }
  }
}

TEST(Denormals, AreZeroForAllSessionsOfGlobalPoolsThatSaySo) {
  auto shared = with_global_pools(true);
  SessionOptions global = options_of(false, 4), own = options_of(false, 4);
  global.use_global_threads = true;
  expect_throughout(*session_with(global, shared), true);
  expect_throughout(*session_with(own, shared), false);
}

TEST(Denormals, AreZeroOnAllThreadsWhereTheCallerSaysSo) {
  auto session = session_with(options_of(false, 4));
  const base::ScopedRunScope of_caller({.denormals_are_zero = true});
  EXPECT_EQ(zeros_of_a_run(*session), 2 * kCount);
  EXPECT_TRUE(base::denormals_are_zero());
}

}  // namespace
}  // namespace ortolan::runtime
