// Tensors in a plugin's memory: allocators, copies, bindings. The device's addresses fault when the host touches them.
#include <cstring>

#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

/** The library's shared allocator for a provider's memory, and tensors in it. */
struct Memory {
  Runtime& runtime;
  const char* provider = kCompileProvider;

  OrtAllocator* allocator(OrtDeviceMemoryType kind = OrtDeviceMemoryType_DEFAULT) const {
    const OrtMemoryInfo* info = runtime.api->EpDevice_MemoryInfo(runtime.device(provider), kind);
    OrtAllocator* found = nullptr;
    runtime.ok(runtime.api->GetSharedAllocator(runtime.env, info, &found));
    expect(found != nullptr, "there is no shared allocator");
    return found;
  }
  Handle<OrtValue> tensor(const Dims& dims, OrtDeviceMemoryType kind = OrtDeviceMemoryType_DEFAULT) const {
    OrtValue* value = nullptr;
    runtime.ok(runtime.api->CreateTensorAsOrtValue(allocator(kind), dims.data(), dims.size(),
                                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    return {value, runtime.api->ReleaseValue};
  }
  void copy(const OrtValue* from, OrtValue* to, OrtSyncStream* stream = nullptr) const {
    runtime.ok(runtime.api->CopyTensors(runtime.env, &from, &to, stream, 1));
  }
  Handle<OrtValue> upload(const Array& array) const {
    Handle<OrtValue> host = runtime.value(array), device = tensor(array.dims);
    copy(host.get(), device.get());
    return device;
  }
  Array download(const OrtValue* value, const Dims& dims) const {
    Handle<OrtValue> host = runtime.value(ramp(dims, -99));
    copy(value, host.get());
    return runtime.array(host.get());
  }
  std::string place(const OrtValue* value) const {
    const OrtMemoryInfo* info = nullptr;
    const char* name = nullptr;
    runtime.ok(runtime.api->GetTensorMemoryInfo(value, &info));
    runtime.ok(runtime.api->MemoryInfoGetName(info, &name));
    return name;
  }
};

void check_allocators(Suite& suite, Runtime& runtime) {
  const OrtApi& api = *runtime.api;
  Memory memory{runtime};
  auto info = [&](OrtDeviceMemoryType kind) { return api.EpDevice_MemoryInfo(runtime.device(kCompileProvider), kind); };
  suite.check("memory: the device's shared allocator", 23, [&] {
    OrtAllocator* allocator = memory.allocator();
    expect(allocator == memory.allocator(), "it is another one each time");
    const OrtMemoryInfo* own = nullptr;
    int difference = 1;
    runtime.ok(api.AllocatorGetInfo(allocator, &own));
    runtime.ok(api.CompareMemoryInfo(own, info(OrtDeviceMemoryType_DEFAULT), &difference));
    expect_equal(difference, 0, "the difference of its memory");
  });
  suite.check("memory: blocks come and go", 23, [&] {
    int64_t before = runtime.live(Live::kDeviceBlock);
    void* block = nullptr;
    runtime.ok(api.AllocatorAlloc(memory.allocator(), 1000, &block));
    expect_equal(runtime.live(Live::kDeviceBlock), before + 1, "blocks");
    runtime.ok(api.AllocatorFree(memory.allocator(), block));
    expect_equal(runtime.live(Live::kDeviceBlock), before, "blocks");
  });
  suite.check("memory: freeing a block waits for no work that uses it", 23, [&] {
    int64_t before = runtime.live(Live::kDeviceBlock);
    OrtSyncStream* made = nullptr;
    runtime.ok(api.CreateSyncStreamForEpDevice(runtime.device(kCompileProvider), nullptr, &made));
    Handle<OrtSyncStream> stream(made, api.ReleaseSyncStream);
    Handle<OrtValue> device = memory.tensor({6});
    memory.copy(runtime.value(ramp({6})).get(), device.get(), stream.get());
    device.reset();
    expect_equal(runtime.live(Live::kDeviceBlock), before + 1, "blocks while the copy waits");
    stream.reset();
    expect_equal(runtime.live(Live::kDeviceBlock), before, "blocks when the copy is done");
  });
  suite.check("memory: a stream may have a freed block at once", 23, [&] {
    OrtSyncStream* made[2] = {};
    for (OrtSyncStream*& one : made) {
      runtime.ok(api.CreateSyncStreamForEpDevice(runtime.device(kCompileProvider), nullptr, &one));
    }
    Handle<OrtSyncStream> own(made[0], api.ReleaseSyncStream), other(made[1], api.ReleaseSyncStream);
    OrtAllocator* allocator = memory.allocator();
    expect(allocator->AllocOnStream != nullptr, "AllocOnStream is NULL");
    Handle<OrtValue> device = memory.tensor({6});
    void* address = nullptr;
    runtime.ok(api.GetTensorMutableData(device.get(), &address));
    memory.copy(runtime.value(ramp({6})).get(), device.get(), own.get());
    device.reset();
    void* elsewhere = allocator->AllocOnStream(allocator, 6 * sizeof(float), other.get());
    void* again = allocator->AllocOnStream(allocator, 6 * sizeof(float), own.get());
    for (void* block : {elsewhere, again}) allocator->Free(allocator, block);
    expect(elsewhere != address, "another stream gets a block in use");
    expect(again == address, "the stream gets another block");
  });
  suite.check("memory: blocks on the host can be written", 23, [&] {
    OrtAllocator* allocator = memory.allocator(OrtDeviceMemoryType_HOST_ACCESSIBLE);
    void* block = nullptr;
    runtime.ok(api.AllocatorAlloc(allocator, 1000, &block));
    std::memset(block, 7, 1000);
    runtime.ok(api.AllocatorFree(allocator, block));
  });
  suite.check("memory: no allocator for unknown memory", 23, [&] {
    OrtMemoryInfo* unknown = nullptr;
    runtime.ok(api.CreateMemoryInfo_V2("Unknown", OrtMemoryInfoDeviceType_GPU, 0x1234, 9, OrtDeviceMemoryType_DEFAULT,
                                       0, OrtDeviceAllocator, &unknown));
    Handle<OrtMemoryInfo> owner(unknown, api.ReleaseMemoryInfo);
    OrtAllocator* found = nullptr;
    api.ReleaseStatus(api.GetSharedAllocator(runtime.env, unknown, &found));
    expect(found == nullptr, "there is one");
  });
  suite.check("memory: a shared allocator can be made anew", 23, [&] {
    OrtKeyValuePairs* made = nullptr;
    api.CreateKeyValuePairs(&made);
    Handle<OrtKeyValuePairs> settings(made, api.ReleaseKeyValuePairs);
    api.AddKeyValuePair(made, "memory_limit", "4096");
    OrtAllocator* allocator = nullptr;
    runtime.ok(api.CreateSharedAllocator(runtime.env, runtime.device(kCompileProvider), OrtDeviceMemoryType_DEFAULT,
                                         OrtDeviceAllocator, made, &allocator));
    expect(allocator && allocator == memory.allocator(), "GetSharedAllocator gives another one");
    void* block = nullptr;
    OrtStatus* status = api.AllocatorAlloc(allocator, 5000, &block);
    expect(status || !block, "its limit is not kept");
    api.ReleaseStatus(status);
    runtime.ok(api.CreateSharedAllocator(runtime.env, runtime.device(kCompileProvider), OrtDeviceMemoryType_DEFAULT,
                                         OrtDeviceAllocator, nullptr, &allocator));
  });
  suite.check("memory: an arena is refused", 23, [&] {
    OrtAllocator* allocator = nullptr;
    runtime.fails(api.CreateSharedAllocator(runtime.env, runtime.device(kKernelProvider), OrtDeviceMemoryType_DEFAULT,
                                            OrtArenaAllocator, nullptr, &allocator),
                  "OrtDeviceAllocator");
  });
  suite.check("memory: a shared allocator can be released", 23, [&] {
    const OrtEpDevice* device = runtime.device(kKernelProvider);
    int64_t before = runtime.live(Live::kAllocator);
    runtime.ok(api.ReleaseSharedAllocator(runtime.env, device, OrtDeviceMemoryType_HOST_ACCESSIBLE));
    expect_equal(runtime.live(Live::kAllocator), before - 1, "allocators");
    OrtAllocator* allocator = nullptr;
    runtime.ok(api.CreateSharedAllocator(runtime.env, device, OrtDeviceMemoryType_HOST_ACCESSIBLE, OrtDeviceAllocator,
                                         nullptr, &allocator));
    expect_equal(runtime.live(Live::kAllocator), before, "allocators");
  });
  suite.check("memory: allocators count", 23, [&] {
    OrtKeyValuePairs* pairs = nullptr;
    runtime.ok(api.AllocatorGetStats(memory.allocator(), &pairs));
    Handle<OrtKeyValuePairs> owner(pairs, api.ReleaseKeyValuePairs);
    expect(api.GetKeyValue(pairs, "InUse") != nullptr, "there is no InUse");
    expect(api.GetKeyValue(pairs, "NumAllocs") != nullptr, "there is no NumAllocs");
  });
}

void check_copies(Suite& suite, Runtime& runtime) {
  Memory memory{runtime};
  suite.check("copies: to the device and back", 23, [&] {
    Array x = ramp({3, 5});
    Handle<OrtValue> device = memory.upload(x);
    expect_near(memory.download(device.get(), x.dims), x, "the copy");
  });
  suite.check("copies: on the device", 23, [&] {
    Array x = ramp({7});
    Handle<OrtValue> first = memory.upload(x), second = memory.tensor({7});
    int64_t before = runtime.times(Event::kOnDevice);
    memory.copy(first.get(), second.get());
    expect_equal(runtime.times(Event::kOnDevice), before + 1, "copies on the device");
    expect_near(memory.download(second.get(), x.dims), x, "the copy");
  });
  suite.check("copies: several at once", 23, [&] {
    Array x = ramp({2}), y = ramp({3, 3}, 9);
    Handle<OrtValue> from[] = {runtime.value(x), runtime.value(y)}, to[] = {memory.tensor({2}), memory.tensor({3, 3})};
    const OrtValue* sources[] = {from[0].get(), from[1].get()};
    OrtValue* destinations[] = {to[0].get(), to[1].get()};
    runtime.ok(runtime.api->CopyTensors(runtime.env, sources, destinations, nullptr, 2));
    expect_near(memory.download(to[0].get(), x.dims), x, "the first copy");
    expect_near(memory.download(to[1].get(), y.dims), y, "the second copy");
  });
  suite.check("copies: different sizes fail", 23, [&] {
    Handle<OrtValue> host = runtime.value(ramp({2})), device = memory.tensor({3});
    const OrtValue* from = host.get();
    OrtValue* to = device.get();
    runtime.fails(runtime.api->CopyTensors(runtime.env, &from, &to, nullptr, 1), "cannot copy");
  });
  suite.check("copies: a tensor knows where it is", 23, [&] {
    expect_equal(memory.place(memory.tensor({2}).get()), "ExampleCompile", "the device's tensor");
    expect_equal(memory.place(memory.tensor({2}, OrtDeviceMemoryType_HOST_ACCESSIBLE).get()), "ExampleCompileHost",
                 "the host's tensor");
    expect_equal(memory.place(runtime.value(ramp({2})).get()), "Cpu", "an ordinary tensor");
  });
  suite.check("copies: not between the memories of two providers", 23, [&] {
    Memory other{runtime, kKernelProvider};
    Handle<OrtValue> mine = memory.upload(ramp({2})), theirs = other.tensor({2});
    const OrtValue* from = mine.get();
    OrtValue* to = theirs.get();
    OrtStatus* status = runtime.api->CopyTensors(runtime.env, &from, &to, nullptr, 1);
    if (!status) expect_near(other.download(to, {2}), ramp({2}), "a copy through the host");
    runtime.api->ReleaseStatus(status);
  });
}

GraphText mixed() {
  GraphText graph;
  graph.input("x", {2, 2}).input("y", {2, 2}).output("z", {2, 2}).output("n", {2, 2});
  graph.node("Mul", {"x", "y"}, {"z"}).node("Neg", {"y"}, {"n"});
  return graph;
}

void check_session_memory(Suite& suite, Runtime& runtime) {
  const OrtApi& api = *runtime.api;
  auto names = [&](const std::vector<const OrtMemoryInfo*>& infos) {
    std::string text;
    for (const OrtMemoryInfo* info : infos) {
      const char* name = nullptr;
      runtime.ok(api.MemoryInfoGetName(info, &name));
      text += (text.empty() ? "" : " ") + std::string(name);
    }
    return text;
  };
  suite.check("session memory: outputs are made where their nodes run", 23, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    Handle<OrtSession> session = runtime.session(mixed(), options.get());
    std::vector<const OrtMemoryInfo*> infos(2);
    runtime.ok(api.SessionGetMemoryInfoForOutputs(session.get(), infos.data(), 2));
    expect_equal(names(infos), "ExampleCompile Cpu", "memory");
  });
  suite.check("session memory: inputs are wanted where their nodes run", 24, [&] {
    GraphText graph;
    graph.input("x", {2}).input("y", {2}).output("z", {2}).output("n", {2});
    graph.node("Mul", {"x", "x"}, {"z"}).node("Neg", {"y"}, {"n"});
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider);
    Handle<OrtSession> session = runtime.session(graph, options.get());
    std::vector<const OrtMemoryInfo*> infos(2);
    runtime.ok(api.SessionGetMemoryInfoForInputs(session.get(), infos.data(), 2));
    expect_equal(names(infos), "ExampleKernel Cpu", "memory");
  });
  suite.check("session memory: the devices of inputs", 23, [&] {
    GraphText graph;
    graph.input("x", {2}).output("z", {2}).node("Mul", {"x", "x"}, {"z"});
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    Handle<OrtSession> session = runtime.session(graph, options.get());
    const OrtEpDevice* device = nullptr;
    runtime.ok(api.SessionGetEpDeviceForInputs(session.get(), &device, 1));
    expect(device == runtime.device(kCompileProvider), "it is another device");
  });
  suite.check("session memory: the devices of outputs", 24, [&] {
    GraphText graph;
    graph.input("x", {2}).output("z", {2}).node("Mul", {"x", "x"}, {"z"});
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider);
    Handle<OrtSession> session = runtime.session(graph, options.get());
    const OrtEpDevice* device = nullptr;
    runtime.ok(api.SessionGetEpDeviceForOutputs(session.get(), &device, 1));
    expect(device == runtime.device(kKernelProvider), "it is another device");
  });
  suite.check("session memory: a wrong count fails", 23, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    Handle<OrtSession> session = runtime.session(mixed(), options.get());
    std::vector<const OrtMemoryInfo*> infos(1);
    runtime.fails(api.SessionGetMemoryInfoForInputs(session.get(), infos.data(), 1),
                  runtime.ours ? "num_inputs is 1" : "size of 1");
  });
}

/** One session with device tensors at its edges. */
struct Bound {
  Bound(Runtime& runtime, const char* provider)
      : memory{runtime, provider},
        options(runtime.options_with(provider)),
        session(make(runtime)),
        binding(nullptr, runtime.api->ReleaseIoBinding) {
    OrtIoBinding* made = nullptr;
    runtime.ok(runtime.api->CreateIoBinding(session.get(), &made));
    binding.reset(made);
  }
  Handle<OrtSession> make(Runtime& runtime) {
    GraphText graph;
    graph.input("x", {4}).input("y", {4}).output("z", {4});
    graph.node("Mul", {"x", "y"}, {"a"}).node("Add", {"a", "x"}, {"z"});
    return runtime.session(graph, options.get());
  }
  void run() { memory.runtime.ok(memory.runtime.api->RunWithBinding(session.get(), nullptr, binding.get())); }
  Memory memory;
  Handle<OrtSessionOptions> options;
  Handle<OrtSession> session;
  Handle<OrtIoBinding> binding;
};

void check_binding(Suite& suite, Runtime& runtime, const char* provider, uint32_t since) {
  const OrtApi& api = *runtime.api;
  std::string title = provider == std::string(kCompileProvider) ? "binding of groups: " : "binding of kernels: ";
  Array x = ramp({4}), y = ramp({4}, 3), wanted = add(multiply(x, y), x);
  suite.check(title + "inputs and outputs on the device", since, [&] {
    Bound bound(runtime, provider);
    Handle<OrtValue> xs = bound.memory.upload(x), ys = bound.memory.upload(y), zs = bound.memory.tensor({4});
    runtime.ok(api.BindInput(bound.binding.get(), "x", xs.get()));
    runtime.ok(api.BindInput(bound.binding.get(), "y", ys.get()));
    runtime.ok(api.BindOutput(bound.binding.get(), "z", zs.get()));
    int64_t in = runtime.times(Event::kToDevice), out = runtime.times(Event::kToHost);
    bound.run();
    expect_equal(runtime.times(Event::kToDevice), in, "copies to the device");
    expect_equal(runtime.times(Event::kToHost), out, "copies to the host");
    expect_near(bound.memory.download(zs.get(), {4}), wanted, "z");
  });
  suite.check(title + "an output wherever the device has room", since, [&] {
    Bound bound(runtime, provider);
    Handle<OrtValue> xs = bound.memory.upload(x), ys = runtime.value(y);
    runtime.ok(api.BindInput(bound.binding.get(), "x", xs.get()));
    runtime.ok(api.BindInput(bound.binding.get(), "y", ys.get()));
    runtime.ok(api.BindOutputToDevice(bound.binding.get(), "z",
                                      api.EpDevice_MemoryInfo(runtime.device(provider), OrtDeviceMemoryType_DEFAULT)));
    bound.run();
    OrtAllocator* allocator = nullptr;
    runtime.ok(api.GetAllocatorWithDefaultOptions(&allocator));
    OrtValue** values = nullptr;
    size_t count = 0;
    runtime.ok(api.GetBoundOutputValues(bound.binding.get(), allocator, &values, &count));
    expect_equal(count, size_t{1}, "outputs");
    Handle<OrtValue> z(values[0], api.ReleaseValue);
    runtime.ok(api.AllocatorFree(allocator, values));
    expect(bound.memory.place(z.get()) != "Cpu", "the output is on the host");
    expect_near(bound.memory.download(z.get(), {4}), wanted, "z");
  });
  suite.check(title + "an output on the host", since, [&] {
    Bound bound(runtime, provider);
    Handle<OrtValue> xs = bound.memory.upload(x), ys = bound.memory.upload(y), zs = runtime.value(ramp({4}, -9));
    runtime.ok(api.BindInput(bound.binding.get(), "x", xs.get()));
    runtime.ok(api.BindInput(bound.binding.get(), "y", ys.get()));
    runtime.ok(api.BindOutput(bound.binding.get(), "z", zs.get()));
    bound.run();
    expect_near(runtime.array(zs.get()), wanted, "z");
  });
  suite.check(title + "device tensors in a plain run", since, [&] {
    Bound bound(runtime, provider);
    Handle<OrtValue> xs = bound.memory.upload(x), ys = bound.memory.upload(y), zs = bound.memory.tensor({4});
    std::vector<OrtValue*> results = {zs.get()};
    runtime.ok(runtime.try_run(bound.session.get(), {{"x", xs.get()}, {"y", ys.get()}}, {"z"}, results));
    expect_near(bound.memory.download(zs.get(), {4}), wanted, "z");
  });
  suite.check(title + "one run's output is the next one's input", since, [&] {
    Bound bound(runtime, provider);
    Handle<OrtValue> xs = bound.memory.upload(x), ys = bound.memory.upload(y), zs = bound.memory.tensor({4});
    std::vector<OrtValue*> first = {zs.get()}, second;
    runtime.ok(runtime.try_run(bound.session.get(), {{"x", xs.get()}, {"y", ys.get()}}, {"z"}, first));
    runtime.ok(runtime.try_run(bound.session.get(), {{"x", zs.get()}, {"y", ys.get()}}, {"z"}, second));
    Handle<OrtValue> last(second[0], api.ReleaseValue);
    expect_near(runtime.array(last.get()), add(multiply(wanted, y), wanted), "z");
  });
}

/** Constants of nodes that run with the provider's kernels; compiled ones have their own copies. */
void check_constants(Suite& suite, Runtime& runtime) {
  suite.check("session memory: constants are in the memory for them", 24, [&] {
    GraphText graph;
    graph.input("x", {2}).output("z", {2}).weights("a", {2}, {3, 4}).weights("b", {2}, {5, 6});
    graph.node("Mul", {"x", "a"}, {"y"}).node("Add", {"y", "b"}, {"z"});
    int64_t before = runtime.times(Event::kConstant);
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider, {{"prepack", "0"}});
    Handle<OrtSession> session = runtime.session(graph, options.get());
    expect_equal(runtime.times(Event::kConstant), before + 2, "blocks for constants");
    Array x = ramp({2}), wanted = add(multiply(x, {{2}, {3, 4}}), {{2}, {5, 6}});
    expect_near(runtime.run(session.get(), {{"x", x}}, {"z"}).at(0), wanted, "z");
    expect_equal(runtime.times(Event::kConstant), before + 2, "blocks for constants after a run");
  });
}

void check_session_allocator(Suite& suite, Runtime& runtime) {
  suite.check("session memory: a session's allocator for the device", 23, [&] {
    Bound bound(runtime, kCompileProvider);
    OrtAllocator* made = nullptr;
    runtime.ok(runtime.api->CreateAllocator(
        bound.session.get(),
        runtime.api->EpDevice_MemoryInfo(runtime.device(kCompileProvider), OrtDeviceMemoryType_DEFAULT), &made));
    Handle<OrtAllocator> allocator(made, runtime.api->ReleaseAllocator);
    OrtValue* value = nullptr;
    int64_t dim = 4;
    runtime.ok(runtime.api->CreateTensorAsOrtValue(made, &dim, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &value));
    Handle<OrtValue> tensor(value, runtime.api->ReleaseValue);
    bound.memory.copy(runtime.value(ramp({4})).get(), value);
    expect_near(bound.memory.download(value, {4}), ramp({4}), "the tensor");
  });
}

}  // namespace

void check_memory(Suite& suite, Runtime& runtime) {
  check_allocators(suite, runtime);
  check_copies(suite, runtime);
  check_session_memory(suite, runtime);
  check_session_allocator(suite, runtime);
  check_constants(suite, runtime);
  check_binding(suite, runtime, kCompileProvider, 23);
  check_binding(suite, runtime, kKernelProvider, 24);
}

}  // namespace ortolan::plugin_test
