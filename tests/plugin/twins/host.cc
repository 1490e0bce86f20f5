// twins_host LIBRARY PLUGIN: two providers on one device, neither of which can use the other's memory. The exit code is
// the number of checks that failed. Microsoft's library tells memories apart by their devices alone.
#include "conformance_host/runtime.h"

namespace ortolan::plugin_test {
namespace {

constexpr const char* kProviders[] = {kCompileProvider, kKernelProvider};

const OrtMemoryInfo* memory_of(const Runtime& runtime, const char* provider) {
  return runtime.api->EpDevice_MemoryInfo(runtime.device(provider), OrtDeviceMemoryType_DEFAULT);
}

OrtAllocator* allocator_of(const Runtime& runtime, const char* provider) {
  OrtAllocator* found = nullptr;
  runtime.ok(runtime.api->GetSharedAllocator(runtime.env, memory_of(runtime, provider), &found));
  expect(found != nullptr, std::string("no shared allocator of ") + provider);
  return found;
}

void copy(const Runtime& runtime, const OrtValue* from, OrtValue* to) {
  runtime.ok(runtime.api->CopyTensors(runtime.env, &from, &to, nullptr, 1));
}

/** Values 1, 1.5, 2 in a provider's memory. */
Handle<OrtValue> tensor_of(const Runtime& runtime, const char* provider) {
  int64_t dim = 3;
  OrtValue* made = nullptr;
  runtime.ok(runtime.api->CreateTensorAsOrtValue(allocator_of(runtime, provider), &dim, 1,
                                                 ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &made));
  Handle<OrtValue> value(made, runtime.api->ReleaseValue);
  copy(runtime, runtime.value(ramp({3})).get(), made);
  return value;
}

GraphText square() {
  GraphText graph;
  return graph.input("x", {3}).output("z", {3}).node("Mul", {"x", "x"}, {"z"});
}

/** z = x * x on a provider, with x wherever it is, in a session of both. */
void expect_square(const Runtime& runtime, const char* provider, const OrtValue* x) {
  Handle<OrtSessionOptions> options = runtime.options_with(provider);
  for (const char* other : kProviders) {
    if (other != provider) runtime.ok(runtime.append(options.get(), {runtime.device(other)}));
  }
  Handle<OrtSession> session = runtime.session(square(), options.get());
  expect_equal(runtime.placement(session.get()).count(provider), size_t{1}, "the provider's part of the graph");
  std::vector<OrtValue*> results;
  runtime.ok(runtime.try_run(session.get(), {{"x", x}}, {"z"}, results));
  Handle<OrtValue> z(results[0], runtime.api->ReleaseValue);
  expect_near(runtime.array(z.get()), multiply(ramp({3}), ramp({3})), "z");
}

void check(Suite& suite, const Runtime& runtime) {
  suite.check("twins: they are on one device", 30, [&] {
    auto device = [&](const char* provider) {
      return runtime.api->GetEpApi()->MemoryInfo_GetMemoryDevice(memory_of(runtime, provider));
    };
    expect(runtime.api->GetEpApi()->MemoryDevice_AreEqual(device(kProviders[0]), device(kProviders[1])),
           "they are not");
  });
  suite.check("twins: each has its allocator", 30, [&] {
    expect(allocator_of(runtime, kProviders[0]) != allocator_of(runtime, kProviders[1]), "there is one for both");
  });
  suite.check("twins: copies from one to the other", 30, [&] {
    Handle<OrtValue> first = tensor_of(runtime, kProviders[0]), second = tensor_of(runtime, kProviders[1]);
    Handle<OrtValue> back = runtime.value(ramp({3}, 9));
    copy(runtime, first.get(), second.get());
    copy(runtime, second.get(), back.get());
    expect_near(runtime.array(back.get()), ramp({3}), "the copy");
  });
  suite.check("twins: a session without the memory's provider says so", 30, [&] {
    Handle<OrtValue> x = tensor_of(runtime, kProviders[0]);
    Handle<OrtSessionOptions> options = runtime.options_with(kProviders[1]);
    Handle<OrtSession> session = runtime.session(square(), options.get());
    std::vector<OrtValue*> results;
    runtime.fails(runtime.try_run(session.get(), {{"x", x.get()}}, {"z"}, results), "add the provider");
  });
  for (const char* owner : kProviders) {
    for (const char* reader : kProviders) {
      suite.check(std::string("twins: ") + reader + " reads memory of " + owner, 30, [&] {
        Handle<OrtValue> x = tensor_of(runtime, owner);
        expect_square(runtime, reader, x.get());
      });
      suite.check(std::string("twins: ") + reader + " reads an address of " + owner, 30, [&] {
        Handle<OrtValue> x = tensor_of(runtime, owner);
        void* address = nullptr;
        int64_t dim = 3;
        OrtValue* made = nullptr;
        runtime.ok(runtime.api->GetTensorMutableData(x.get(), &address));
        runtime.ok(runtime.api->CreateTensorWithDataAsOrtValue(memory_of(runtime, owner), address, 3 * sizeof(float),
                                                               &dim, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &made));
        Handle<OrtValue> view(made, runtime.api->ReleaseValue);
        expect_square(runtime, reader, made);
      });
    }
  }
}

int run(char** argv) {
  Runtime runtime = open_runtime(argv[1], 30);
  runtime.ok(runtime.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "twins", &runtime.env));
  runtime.ok(runtime.api->RegisterExecutionProviderLibrary(runtime.env, "twins", argv[2]));
  Suite suite(30);
  check(suite, runtime);
  runtime.ok(runtime.api->UnregisterExecutionProviderLibrary(runtime.env, "twins"));
  runtime.api->ReleaseEnv(runtime.env);
  return suite.summary();
}

}  // namespace
}  // namespace ortolan::plugin_test

int main(int argc, char** argv) {
  return ortolan::plugin_test::run_checks(argc, argv, "twins_host LIBRARY PLUGIN", ortolan::plugin_test::run);
}
