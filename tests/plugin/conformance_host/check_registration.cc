// Registering and unregistering plugin libraries.
#include <algorithm>

#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

OrtStatus* add(Runtime& runtime, const char* name, const std::string& path) {
  return runtime.api->RegisterExecutionProviderLibrary(runtime.env, name, path.c_str());
}

OrtStatus* remove(Runtime& runtime, const char* name) {
  return runtime.api->UnregisterExecutionProviderLibrary(runtime.env, name);
}

/** Unregistering while things of the library are in use, which the official library does not bear. */
void check_use(Suite& suite, Runtime& runtime) {
  GraphText graph;
  graph.input("x", {2}).output("z", {2}).node("Mul", {"x", "x"}, {"z"});
  suite.check("unregister: a session keeps its library", 23, [&] {
    if (!runtime.ours) return;
    {
      Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
      Handle<OrtSession> session = runtime.session(graph, options.get());
      runtime.ok(remove(runtime, "example"));
      expect_near(runtime.run(session.get(), {{"x", ramp({2})}}, {"z"})[0], multiply(ramp({2}), ramp({2})), "z");
    }
    expect_equal(runtime.live(Live::kFactory), 0, "factories after the session");
    runtime.ok(add(runtime, "example", runtime.plugin));
  });
  suite.check("unregister: options keep their library", 23, [&] {
    if (!runtime.ours) return;
    {
      Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
      runtime.ok(remove(runtime, "example"));
      OrtStatus* status = runtime.try_session(graph, options.get());  // may fail or work, but not crash
      runtime.api->ReleaseStatus(status);
    }
    expect_equal(runtime.live(Live::kFactory), 0, "factories after the options");
    runtime.ok(add(runtime, "example", runtime.plugin));
  });
  suite.check("unregister: a device of before is refused", 23, [&] {
    if (!runtime.ours) return;
    const OrtEpDevice* device = runtime.device(kCompileProvider);
    runtime.ok(remove(runtime, "example"));
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.fails(runtime.append(options.get(), {device}), "is no device of the environment");
    runtime.ok(add(runtime, "example", runtime.plugin));
  });
}

}  // namespace

void check_registration(Suite& suite, Runtime& runtime) {
  suite.check("register: the CPU provider is there before", 22, [&] {
    expect_equal(runtime.devices("CPUExecutionProvider").size(), size_t{1}, "devices of the CPU provider");
    expect(runtime.devices(kCompileProvider).empty(), "the plugin's provider is there already");
  });
  suite.check("register: a file that is not there fails", 22,
              [&] { runtime.fails(add(runtime, "example", "/nowhere/libnothing.so"), "libnothing.so"); });
  suite.check("register: a file that is no library fails", 22,
              [&] { runtime.fails(add(runtime, "example", "/proc/self/status"), "/proc/self/status"); });
  suite.check("register: a library without the functions fails", 22,
              [&] { runtime.fails(add(runtime, "example", runtime.library), "EpFactor"); });
  suite.check("register: failures leave nothing behind", 22,
              [&] { runtime.fails(remove(runtime, "example"), "registered"); });
  suite.check("register: an unknown name cannot be unregistered", 22,
              [&] { runtime.fails(remove(runtime, "nobody"), "nobody"); });
  suite.check("register: the plugin", 22, [&] { runtime.ok(add(runtime, "example", runtime.plugin)); });
  suite.check("register: both factories gave a device", 22, [&] {
    runtime.device(kCompileProvider);
    runtime.device(kKernelProvider);
    expect_equal(runtime.live(Live::kFactory), 2, "factories");
  });
  suite.check("register: a name is taken", 22, [&] {
    int64_t before = runtime.live(Live::kFactory);
    runtime.fails(add(runtime, "example", runtime.plugin), "example");
    // The official library keeps the factories of the call that failed.
    if (runtime.ours) expect_equal(runtime.live(Live::kFactory), before, "factories after the failure");
    expect_equal(runtime.devices(kCompileProvider).size(), size_t{1}, "devices");
  });
  suite.check("register: unregister takes the devices away", 22, [&] {
    runtime.counters();  // they stay: the plugin is never unmapped
    runtime.ok(remove(runtime, "example"));
    expect(runtime.devices(kCompileProvider).empty(), "the device is still there");
    if (runtime.ours) expect_equal(runtime.live(Live::kFactory), 0, "factories");
    runtime.fails(remove(runtime, "example"), "registered");
  });
  suite.check("register: again, under another name", 22, [&] {
    runtime.ok(add(runtime, "example.again", runtime.plugin));
    runtime.device(kKernelProvider);
    runtime.ok(remove(runtime, "example.again"));
  });
  suite.check("register: twenty times", 22, [&] {
    int64_t before = runtime.live(Live::kFactory);
    for (int i = 0; i < 20; i++) {
      runtime.ok(add(runtime, "example", runtime.plugin));
      runtime.ok(remove(runtime, "example"));
    }
    expect_equal(runtime.live(Live::kFactory), before, "factories");
    expect_equal(runtime.live(Live::kAllocator), 0, "allocators");
    expect_equal(runtime.live(Live::kDataTransfer), 0, "data transfers");
  });
  suite.check("register: for the checks below", 22, [&] { runtime.ok(add(runtime, "example", runtime.plugin)); });
}

void check_unregistration(Suite& suite, Runtime& runtime) {
  check_use(suite, runtime);
  suite.check("unregister: the library is released whole", 22, [&] {
    runtime.ok(remove(runtime, "example"));
    for (const OrtEpDevice* device : runtime.devices()) {
      std::string name = runtime.api->EpDevice_EpName(device);
      expect(name != kCompileProvider && name != kKernelProvider, name + " still has a device");
    }
  });
  struct Row {
    const char* name;
    Live kind;
  };
  constexpr Row kRows[] = {{"providers", Live::kProvider},
                           {"allocators", Live::kAllocator},
                           {"data transfers", Live::kDataTransfer},
                           {"streams", Live::kStream},
                           {"notifications", Live::kNotification},
                           {"compiled groups", Live::kCompiledGroup},
                           {"states", Live::kState},
                           {"kernels", Live::kKernel},
                           {"profilers", Live::kProfiler},
                           {"blocks on the device", Live::kDeviceBlock},
                           {"blocks on the host", Live::kHostBlock}};
  for (const Row& row : kRows) {
    suite.check(std::string("leaks: no ") + row.name + " are left", 22,
                [&] { expect_equal(runtime.live(row.kind), 0, row.name); });
  }
  suite.check("leaks: no factories are left", 22, [&] {
    // Two of them are those of the name that was taken, see above.
    expect_equal(runtime.live(Live::kFactory), runtime.ours ? 0 : 2, "factories");
  });
  suite.check("unregister: the CPU provider stays", 22, [&] {
    GraphText graph;
    graph.input("x", {2}).output("y", {2}).node("Neg", {"x"}, {"y"});
    Handle<OrtSessionOptions> options = runtime.options();
    Handle<OrtSession> session = runtime.session(graph, options.get());
    expect_near(runtime.run(session.get(), {{"x", ramp({2})}}, {"y"})[0], negate(ramp({2})), "y");
  });
}

}  // namespace ortolan::plugin_test
