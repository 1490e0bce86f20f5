// A provider's errors reach the program with their texts, and leave the session usable and nothing behind.
#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

GraphText sum() {
  GraphText graph;
  graph.input("x", {-1}).input("y", {-1}).output("z", {-1}).node("Add", {"x", "y"}, {"z"});
  return graph;
}

void check_one(Suite& suite, Runtime& runtime, const char* provider, uint32_t since) {
  std::string title = provider == std::string(kCompileProvider) ? "errors of groups: " : "errors of kernels: ";
  auto run = [&](OrtSession* session, int64_t left, int64_t right) {
    Handle<OrtValue> x = runtime.value(ramp({left})), y = runtime.value(ramp({right}));
    std::vector<OrtValue*> results;
    OrtStatus* status = runtime.try_run(session, {{"x", x.get()}, {"y", y.get()}}, {"z"}, results);
    runtime.api->ReleaseValue(results[0]);
    return status;
  };
  suite.check(title + "a computation that fails", since, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(provider);
    Handle<OrtSession> session = runtime.session(sum(), options.get());
    runtime.fails(run(session.get(), 2, 3), "do not broadcast");
  });
  suite.check(title + "the next run works", since, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(provider);
    Handle<OrtSession> session = runtime.session(sum(), options.get());
    runtime.fails(run(session.get(), 2, 3), "do not broadcast");
    runtime.ok(run(session.get(), 3, 3));
    runtime.fails(run(session.get(), 4, 3), "do not broadcast");
    runtime.ok(run(session.get(), 1, 3));
  });
  suite.check(title + "failed runs leave no memory behind", since, [&] {
    int64_t before = runtime.live(Live::kDeviceBlock);
    {
      Handle<OrtSessionOptions> options = runtime.options_with(provider);
      Handle<OrtSession> session = runtime.session(sum(), options.get());
      for (int i = 0; i < 5; i++) runtime.fails(run(session.get(), 2, 3), "do not broadcast");
    }
    expect_equal(runtime.live(Live::kDeviceBlock), before, "blocks");
  });
  suite.check(title + "memory that does not suffice", since, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(provider, {{"memory_limit", "4096"}});
    Handle<OrtSession> session = runtime.session(sum(), options.get());
    // Microsoft's library does not say how much it asked for.
    runtime.fails(run(session.get(), 5000, 5000), runtime.ours ? "20000 bytes" : "Allocation failed");
    runtime.ok(run(session.get(), 3, 3));
  });
}

}  // namespace

void check_errors(Suite& suite, Runtime& runtime) {
  check_one(suite, runtime, kCompileProvider, 23);
  check_one(suite, runtime, kKernelProvider, 24);
}

}  // namespace ortolan::plugin_test
