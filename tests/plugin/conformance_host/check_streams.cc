// Streams that a program makes, and the order in which a run uses its own.
#include <algorithm>

#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

Handle<OrtSyncStream> stream_of(Runtime& runtime, const char* provider) {
  OrtSyncStream* stream = nullptr;
  runtime.ok(runtime.api->CreateSyncStreamForEpDevice(runtime.device(provider), nullptr, &stream));
  return {stream, runtime.api->ReleaseSyncStream};
}

GraphText alternating() {
  GraphText graph;
  graph.input("x", {2}).output("z", {2});
  graph.node("Mul", {"x", "x"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Add", {"b", "x"}, {"z"});
  return graph;
}

void check_own(Suite& suite, Runtime& runtime) {
  const OrtApi& api = *runtime.api;
  suite.check("streams: made and released", 23, [&] {
    int64_t before = runtime.live(Live::kStream);
    {
      Handle<OrtSyncStream> stream = stream_of(runtime, kCompileProvider);
      expect_equal(runtime.live(Live::kStream), before + 1, "streams");
    }
    expect_equal(runtime.live(Live::kStream), before, "streams");
  });
  suite.check("streams: each has its own handle", 23, [&] {
    Handle<OrtSyncStream> first = stream_of(runtime, kCompileProvider), second = stream_of(runtime, kCompileProvider);
    void* handle = api.SyncStream_GetHandle(first.get());
    expect(handle != nullptr, "the handle is NULL");
    expect(handle == api.SyncStream_GetHandle(first.get()), "the handle changes");
    expect(handle != api.SyncStream_GetHandle(second.get()), "both have one handle");
  });
  suite.check("streams: the CPU has none", 23, [&] {
    OrtSyncStream* stream = nullptr;
    runtime.fails(api.CreateSyncStreamForEpDevice(runtime.device("CPUExecutionProvider"), nullptr, &stream), "memory");
  });
  suite.check("streams: copies in a stream", 23, [&] {
    Handle<OrtSyncStream> stream = stream_of(runtime, kKernelProvider);
    const OrtMemoryInfo* info = api.EpDevice_MemoryInfo(runtime.device(kKernelProvider), OrtDeviceMemoryType_DEFAULT);
    OrtAllocator* allocator = nullptr;
    runtime.ok(api.GetSharedAllocator(runtime.env, info, &allocator));
    OrtValue* made = nullptr;
    int64_t dim = 6;
    runtime.ok(api.CreateTensorAsOrtValue(allocator, &dim, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &made));
    Handle<OrtValue> device(made, api.ReleaseValue), host = runtime.value(ramp({6})),
                                                     back = runtime.value(ramp({6}, 9));
    const OrtValue* up = host.get();
    runtime.ok(api.CopyTensors(runtime.env, &up, &made, stream.get(), 1));
    const OrtValue* down = made;
    OrtValue* target = back.get();
    runtime.ok(api.CopyTensors(runtime.env, &down, &target, stream.get(), 1));
    expect_near(runtime.array(target), ramp({6}), "the copy");
  });
  suite.check("streams: a run in a stream of the program", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    Handle<OrtSession> session = runtime.session(alternating(), options.get());
    Handle<OrtSyncStream> stream = stream_of(runtime, kCompileProvider);
    OrtRunOptions* made = nullptr;
    runtime.ok(api.CreateRunOptions(&made));
    Handle<OrtRunOptions> run_options(made, api.ReleaseRunOptions);
    api.RunOptionsSetSyncStream(made, stream.get());
    Array x = ramp({2});
    Handle<OrtValue> value = runtime.value(x);
    std::vector<OrtValue*> results;
    runtime.ok(runtime.try_run(session.get(), {{"x", value.get()}}, {"z"}, results, made));
    Handle<OrtValue> z(results[0], api.ReleaseValue);
    expect_near(runtime.array(z.get()), add(negate(multiply(x, x)), x), "z");
  });
}

void check_order(Suite& suite, Runtime& runtime, const char* provider, uint32_t since) {
  std::string title = provider == std::string(kCompileProvider) ? "streams of groups: " : "streams of kernels: ";
  auto run = [&](int times) {
    Handle<OrtSessionOptions> options = runtime.options_with(provider);
    Handle<OrtSession> session = runtime.session(alternating(), options.get());
    for (int i = 0; i < times; i++) runtime.run(session.get(), {{"x", ramp({2})}}, {"z"});
    return session;
  };
  suite.check(title + "a run uses the hooks in order", since, [&] {
    Handle<OrtSession> session = run(1);
    constexpr Event kOrder[] = {Event::kRunStart, Event::kCompute, Event::kRunEnd, Event::kStreamRunEnd, Event::kFlush};
    constexpr const char* kNames[] = {"OnRunStart", "Compute", "OnRunEnd", "OnSessionRunEnd", "Flush"};
    for (int i = 1; i < 5; i++) {
      expect(runtime.last(kOrder[i - 1]) < runtime.last(kOrder[i]),
             std::string(kNames[i]) + " does not come after " + kNames[i - 1]);
    }
  });
  suite.check(title + "each run flushes once", since, [&] {
    int64_t before = runtime.times(Event::kFlush), ends = runtime.times(Event::kStreamRunEnd);
    Handle<OrtSession> session = run(3);
    expect_equal(runtime.times(Event::kFlush), before + 3, "flushes");
    expect_equal(runtime.times(Event::kStreamRunEnd), ends + 3, "ends");
  });
  suite.check(title + "streams are kept for the next run", since, [&] {
    int64_t before = runtime.live(Live::kStream);
    {
      Handle<OrtSession> session = run(3);
      expect_equal(runtime.live(Live::kStream), before + 1, "streams");
    }
    expect_equal(runtime.live(Live::kStream), before, "streams after the session");
  });
  suite.check(title + "the CPU waits for the device", since, [&] {
    // Without copying kernels of the provider, the official library lets the CPU wait "on the device" of no stream.
    auto waits = [&] { return runtime.times(Event::kWaitOnHost) + runtime.times(Event::kWaitOnDevice); };
    int64_t activated = runtime.times(Event::kActivate), before = waits();
    Handle<OrtSession> session = run(1);
    expect(runtime.times(Event::kActivate) > activated, "no notification was activated");
    expect(waits() > before, "nobody waited");
    int64_t wait = std::max(runtime.last(Event::kWaitOnHost), runtime.last(Event::kWaitOnDevice));
    expect(runtime.last(Event::kActivate) < wait, "the wait came first");
  });
}

}  // namespace

void check_streams(Suite& suite, Runtime& runtime) {
  check_own(suite, runtime);
  check_order(suite, runtime, kCompileProvider, 23);
  check_order(suite, runtime, kKernelProvider, 24);
}

}  // namespace ortolan::plugin_test
