// peers_host LIBRARY PLUGIN_A PROVIDER_A PLUGIN_B PROVIDER_B: two providers with memories of their own and the CPU
// share one session, node by node in turn; the plugins take the nodes of their letter (plugin.cc). The exit code is the
// number of checks that failed. Microsoft's library tells queues and memories apart by the kind of device alone.
#include <array>
#include <thread>

#include "conformance_host/runtime.h"

namespace ortolan::plugin_test {
namespace {

struct Peers {
  const Runtime& runtime;
  const std::string a, b;  // providers
};

const Names kOutputs = {"a3", "b2", "c2"};

/** Values go from A to B to the CPU to A to B to A, and two of them to the CPU. */
GraphText in_turn(const Dims& dims) {
  GraphText graph;
  graph.input("x", dims).input("y", dims);
  for (const std::string& name : kOutputs) graph.output(name, dims);
  return graph.weights("w", {8, 8}, ramp({8, 8}, -4).values)
      .node("Mul", {"x", "y"}, {"a1"})
      .node("Add", {"a1", "x"}, {"b1"})
      .node("Neg", {"b1"}, {"c1"})
      .node("MatMul", {"c1", "w"}, {"a2"})
      .node("Mul", {"a2", "b1"}, {"b2"})
      .node("Add", {"b2", "a1"}, {"a3"})
      .node("Sub", {"a3", "b2"}, {"c2"});
}

Array matrix_product(const Array& left, const Array& right) {
  const auto rows = static_cast<size_t>(left.dims[0]), inner = static_cast<size_t>(left.dims[1]),
             columns = static_cast<size_t>(right.dims[1]);
  Array result{{left.dims[0], right.dims[1]}, std::vector<float>(rows * columns)};
  for (size_t i = 0; i < rows * columns; ++i) {
    double sum = 0;
    for (size_t k = 0; k < inner; ++k) {
      sum += double{left.values[i / columns * inner + k]} * right.values[k * columns + i % columns];
    }
    result.values[i] = static_cast<float>(sum);
  }
  return result;
}

std::vector<Array> expected(const Array& x, const Array& y) {
  Array a1 = multiply(x, y), b1 = add(a1, x), a2 = matrix_product(negate(b1), ramp({8, 8}, -4));
  Array b2 = multiply(a2, b1), a3 = add(b2, a1);
  return {a3, b2, add(a3, negate(b2))};
}

void expect_results(const std::vector<Array>& found, const Array& x, const Array& y) {
  std::vector<Array> wanted = expected(x, y);
  for (size_t i = 0; i < wanted.size(); ++i) expect_near(found[i], wanted[i], kOutputs[i]);
}

Handle<OrtSession> session_of(const Peers& peers, const Dims& dims, bool b_first = false) {
  const Runtime& runtime = peers.runtime;
  Handle<OrtSessionOptions> options = runtime.options_with(b_first ? peers.b : peers.a);
  runtime.ok(runtime.append(options.get(), {runtime.device(b_first ? peers.a : peers.b)}));
  return runtime.session(in_turn(dims), options.get());
}

/** An uninitialised tensor in the memory of a provider; on the host where that is "". */
Handle<OrtValue> empty_in(const Runtime& runtime, const std::string& provider, const Dims& dims) {
  OrtAllocator* allocator = nullptr;
  if (provider.empty()) {
    runtime.ok(runtime.api->GetAllocatorWithDefaultOptions(&allocator));
  } else {
    auto* memory = runtime.api->EpDevice_MemoryInfo(runtime.device(provider), OrtDeviceMemoryType_DEFAULT);
    runtime.ok(runtime.api->GetSharedAllocator(runtime.env, memory, &allocator));
  }
  OrtValue* made = nullptr;
  runtime.ok(runtime.api->CreateTensorAsOrtValue(allocator, dims.data(), dims.size(),
                                                 ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &made));
  return {made, runtime.api->ReleaseValue};
}

void copy(const Runtime& runtime, const OrtValue* from, OrtValue* to) {
  runtime.ok(runtime.api->CopyTensors(runtime.env, &from, &to, nullptr, 1));
}

Handle<OrtValue> value_in(const Runtime& runtime, const std::string& provider, const Array& array) {
  if (provider.empty()) return runtime.value(array);
  Handle<OrtValue> value = empty_in(runtime, provider, array.dims);
  copy(runtime, runtime.value(array).get(), value.get());
  return value;
}

Array array_of(const Runtime& runtime, const OrtValue* value, const Dims& dims) {
  Handle<OrtValue> host = empty_in(runtime, "", dims);
  copy(runtime, value, host.get());
  return runtime.array(host.get());
}

/** Inputs lie in one memory each, outputs in another. */
void expect_run(const Peers& peers, OrtSession* session, const std::array<std::string, 2>& inputs,
                const std::string& outputs, const OrtRunOptions* options = nullptr) {
  const Runtime& runtime = peers.runtime;
  const Array x = ramp({4, 8}), y = ramp({4, 8}, -3);
  Handle<OrtValue> xs = value_in(runtime, inputs[0], x), ys = value_in(runtime, inputs[1], y);
  std::vector<Handle<OrtValue>> owners;
  std::vector<OrtValue*> results;
  for (size_t i = 0; i < kOutputs.size(); ++i) {
    owners.push_back(empty_in(runtime, outputs, {4, 8}));
    results.push_back(owners.back().get());
  }
  runtime.ok(runtime.try_run(session, {{"x", xs.get()}, {"y", ys.get()}}, kOutputs, results, options));
  std::vector<Array> arrays;
  for (const auto& owner : owners) arrays.push_back(array_of(runtime, owner.get(), {4, 8}));
  expect_results(arrays, x, y);
}

void check_turns(Suite& suite, const Peers& peers) {
  const Runtime& runtime = peers.runtime;
  suite.check("peers: each has the nodes of its letter", 24, [&] {
    auto placed = runtime.placement(session_of(peers, {4, 8}).get());
    expect(placed[peers.a] == Names{"Add", "MatMul", "Mul"}, "A has other nodes");
    expect(placed[peers.b] == Names{"Add", "Mul"}, "B has other nodes");
    expect(placed["CPUExecutionProvider"] == Names{"Neg", "Sub"}, "the CPU has other nodes");
  });
  for (bool b_first : {false, true}) {
    suite.check(std::string("peers: runs in turn, asked for ") + (b_first ? "B first" : "A first"), 24, [&] {
      Handle<OrtSession> session = session_of(peers, {4, 8}, b_first);
      for (float offset : {1.0f, 2.0f, -7.0f}) {
        Array x = ramp({4, 8}, offset), y = ramp({4, 8}, -offset);
        expect_results(runtime.run(session.get(), {{"x", x}, {"y", y}}, kOutputs), x, y);
      }
    });
  }
  suite.check("peers: shapes that change", 24, [&] {
    Handle<OrtSession> session = session_of(peers, {-1, 8});
    for (int64_t rows : {4, 1, 33, 4, 33}) {
      Array x = ramp({rows, 8}, 0.25f), y = ramp({rows, 8}, -1);
      expect_results(runtime.run(session.get(), {{"x", x}, {"y", y}}, kOutputs), x, y);
    }
  });
  suite.check("peers: runs at once", 24, [&] {
    Handle<OrtSession> session = session_of(peers, {-1, 8});
    std::vector<std::string> failures(4);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < failures.size(); ++i) {
      threads.emplace_back([&, i] {
        try {
          for (int64_t rows = 1; rows < 6; ++rows) {
            Array x = ramp({rows, 8}, static_cast<float>(i)), y = ramp({rows, 8}, -1);
            expect_results(runtime.run(session.get(), {{"x", x}, {"y", y}}, kOutputs), x, y);
          }
        } catch (const Mismatch& mismatch) {
          failures[i] = mismatch.text;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& failure : failures) expect(failure.empty(), failure);
  });
}

void check_memories(Suite& suite, const Peers& peers) {
  const Runtime& runtime = peers.runtime;
  suite.check("peers: copies from one to the other", 24, [&] {
    for (const auto& [from, to] : {std::pair{peers.a, peers.b}, {peers.b, peers.a}}) {
      Handle<OrtValue> source = value_in(runtime, from, ramp({5})), target = empty_in(runtime, to, {5});
      copy(runtime, source.get(), target.get());
      expect_near(array_of(runtime, target.get(), {5}), ramp({5}), "the copy");
    }
  });
  for (const std::string& x : {std::string(), peers.a, peers.b}) {
    for (const std::string& y : {std::string(), peers.a, peers.b}) {
      for (const std::string& outputs : {std::string(), peers.a, peers.b}) {
        auto called = [&](const std::string& place) {
          return place.empty() ? "the host" : place == peers.a ? "A" : "B";
        };
        suite.check(std::string("peers: x on ") + called(x) + ", y on " + called(y) + ", outputs on " + called(outputs),
                    24, [&] {
                      expect_run(peers, session_of(peers, {4, 8}).get(), {x, y}, outputs);
                    });
      }
    }
  }
}

void check_queues(Suite& suite, const Peers& peers) {
  const Runtime& runtime = peers.runtime;
  for (const std::string& owner : {peers.a, peers.b}) {
    suite.check("peers: a run in a queue of the program, of " + std::string(owner == peers.a ? "A" : "B"), 25, [&] {
      OrtSyncStream* stream = nullptr;
      runtime.ok(runtime.api->CreateSyncStreamForEpDevice(runtime.device(owner), nullptr, &stream));
      Handle<OrtSyncStream> stream_owner(stream, runtime.api->ReleaseSyncStream);
      OrtRunOptions* options = nullptr;
      runtime.ok(runtime.api->CreateRunOptions(&options));
      Handle<OrtRunOptions> options_owner(options, runtime.api->ReleaseRunOptions);
      runtime.api->RunOptionsSetSyncStream(options, stream);
      Handle<OrtSession> session = session_of(peers, {4, 8});
      for (int i = 0; i < 2; ++i) expect_run(peers, session.get(), {peers.b, peers.a}, "", options);
    });
  }
}

int run(char** argv) {
  Runtime runtime = open_runtime(argv[1], 30);
  runtime.ok(runtime.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "peers", &runtime.env));
  runtime.ok(runtime.api->RegisterExecutionProviderLibrary(runtime.env, "a", argv[2]));
  runtime.ok(runtime.api->RegisterExecutionProviderLibrary(runtime.env, "b", argv[4]));
  Suite suite(30);
  const Peers peers{runtime, argv[3], argv[5]};
  check_turns(suite, peers);
  check_memories(suite, peers);
  check_queues(suite, peers);
  for (const char* name : {"a", "b"}) runtime.ok(runtime.api->UnregisterExecutionProviderLibrary(runtime.env, name));
  runtime.api->ReleaseEnv(runtime.env);
  return suite.summary();
}

}  // namespace
}  // namespace ortolan::plugin_test

int main(int argc, char** argv) {
  return ortolan::plugin_test::run_checks(argc, argv, "peers_host LIBRARY PLUGIN_A PROVIDER_A PLUGIN_B PROVIDER_B",
                                          ortolan::plugin_test::run);
}
