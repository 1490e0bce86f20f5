// Functions of the caller that hear of the work of sessions' thread pools.
#include <atomic>
#include <mutex>
#include <set>

#include "api_test_support.h"

namespace {

/** Follows each piece of work from being put in to its end. */
struct Work {
  std::mutex mutex;
  std::set<void*> waiting, under_way;
  int announced = 0, carried_out = 0, abandoned = 0, wrong = 0;

  static Work& of(void* context) { return *static_cast<Work*>(context); }
  OrtThreadPoolCallbacksConfig config() {
    OrtThreadPoolCallbacksConfig config{};
    config.version = ORT_API_VERSION;
    config.user_context = this;
    config.on_enqueue = [](void* context) -> void* {
      Work& work = of(context);
      std::lock_guard lock(work.mutex);
      auto* data = reinterpret_cast<void*>(static_cast<intptr_t>(++work.announced));
      work.waiting.insert(data);
      return data;
    };
    config.on_start_work = [](void* context, void* data) {
      Work& work = of(context);
      std::lock_guard lock(work.mutex);
      work.wrong += work.waiting.erase(data) != 1;
      work.under_way.insert(data);
    };
    config.on_stop_work = [](void* context, void* data) {
      Work& work = of(context);
      std::lock_guard lock(work.mutex);
      work.wrong += work.under_way.erase(data) != 1;
      ++work.carried_out;
    };
    config.on_abandon = [](void* context, void* data) {
      Work& work = of(context);
      std::lock_guard lock(work.mutex);
      work.wrong += work.waiting.erase(data) != 1;
      ++work.abandoned;
    };
    return config;
  }
};

/** Runs a model with one long loop. */
void run_session(OrtEnv* env, int runs) {
  ModelWriter model;
  model.input("x", 1, {"N"});
  model.node("Exp", {"x"}, {"y"});
  model.output("y", 1, {"N"});
  SessionOptions options;
  EXPECT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().SetIntraOpNumThreads(options, 4));
  Session session = make_session(env, model.bytes(), options);
  std::vector<float> x(1 << 20, 1.0f);
  Value input = floats(x, {1 << 20});
  const char *in = "x", *out = "y";
  const OrtValue* inputs = input;
  for (int i = 0; i < runs; ++i) {
    Value result;
    EXPECT_OK(api().Run(session, nullptr, &in, &inputs, 1, &out, 1, result.out()));
  }
}

TEST(ThreadPoolCallbacks, EachPieceOfWorkIsFollowedToItsEnd) {
  Env env = make_env();
  Work work;
  OrtThreadPoolCallbacksConfig config = work.config();
  EXPECT_OK(api().SetPerSessionThreadPoolCallbacks(env, &config));
  run_session(env, 20);
  EXPECT_GT(work.announced, 0);
  EXPECT_EQ(work.carried_out + work.abandoned, work.announced);
  EXPECT_EQ(work.wrong, 0);
  EXPECT_TRUE(work.waiting.empty());
  EXPECT_TRUE(work.under_way.empty());
}

TEST(ThreadPoolCallbacks, AnyFunctionMayBeLeftOut) {
  Env env = make_env();
  OrtThreadPoolCallbacksConfig config{};
  config.version = ORT_API_VERSION;
  static std::atomic<int> stops;
  stops = 0;
  config.on_stop_work = [](void*, void*) { ++stops; };
  EXPECT_OK(api().SetPerSessionThreadPoolCallbacks(env, &config));
  run_session(env, 20);
  config.on_stop_work = nullptr;
  EXPECT_OK(api().SetPerSessionThreadPoolCallbacks(env, &config));
  int before = stops;
  run_session(env, 2);
  EXPECT_EQ(stops, before);
}

TEST(ThreadPoolCallbacks, WrongUsesAreRefused) {
  Env env = make_env();
  OrtThreadPoolCallbacksConfig config{};
  for (uint32_t version : {0u, ORT_API_VERSION + 1u}) {
    config.version = version;
    EXPECT_REFUSED(api().SetPerSessionThreadPoolCallbacks(env, &config), ORT_INVALID_ARGUMENT, "version");
  }
  EXPECT_REFUSED(api().SetPerSessionThreadPoolCallbacks(env, nullptr), ORT_INVALID_ARGUMENT, "config");
}

}  // namespace
