// What a session tells its provider: runs, settings, the end of its making; and the provider's part of profiles.
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

GraphText product(bool constant = false) {
  GraphText graph;
  graph.input("x", {2}).output("z", {2});
  if (constant) graph.weights("w", {2}, {1, 2});
  graph.node("Mul", {"x", constant ? "w" : "x"}, {"z"});
  return graph;
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

void check_dynamic_options(Suite& suite, Runtime& runtime) {
  auto set = [&](OrtSession* session, const char* key, const char* value) {
    return runtime.api->SetEpDynamicOptions(session, &key, &value, 1);
  };
  suite.check("hooks: settings change while a session lives", 23, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    Handle<OrtSession> session = runtime.session(product(), options.get());
    int64_t before = runtime.times(Event::kDynamicOption);
    runtime.ok(set(session.get(), "gather", "1"));
    expect_equal(runtime.times(Event::kDynamicOption), before + 1, "settings");
    expect_near(runtime.run(session.get(), {{"x", ramp({2})}}, {"z"})[0], multiply(ramp({2}), ramp({2})), "z");
  });
  suite.check("hooks: a setting that the provider refuses fails", 23, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    Handle<OrtSession> session = runtime.session(product(), options.get());
    runtime.fails(set(session.get(), "min_group_size", "1"), "min_group_size");
  });
}

void check_profile(Suite& suite, Runtime& runtime, const char* provider) {
  suite.check(std::string("hooks: a profile has the provider's events: ") + provider, 25, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(provider);
    // Profiles are named by the second; hosts beside this one must not write to the same file.
    const std::string prefix = "conformance_profile_" + std::to_string(getpid());
    runtime.ok(runtime.api->EnableProfiling(options.get(), prefix.c_str()));
    Handle<OrtSession> session = runtime.session(product(), options.get());
    int64_t before = runtime.times(Event::kProfile);
    runtime.run(session.get(), {{"x", ramp({2})}}, {"z"});
    OrtAllocator* allocator = nullptr;
    runtime.ok(runtime.api->GetAllocatorWithDefaultOptions(&allocator));
    char* name = nullptr;
    runtime.ok(runtime.api->SessionEndProfiling(session.get(), allocator, &name));
    std::string path = name, text = read_file(path);
    runtime.ok(runtime.api->AllocatorFree(allocator, name));
    std::remove(path.c_str());
    expect_equal(runtime.times(Event::kProfile), before + 1, "profiles that the provider heard of");
    // The provider's own event is beside the runtime's, which is of the category Node.
    size_t own = text.find("example.provider");
    expect(own != std::string::npos, "no event of the provider is in " + path);
    expect(text.find(provider, own) < own + 100, "the event's argument is wrong in " + path);
  });
}

}  // namespace

void check_hooks(Suite& suite, Runtime& runtime) {
  for (const char* provider : {kCompileProvider, kKernelProvider}) {
    suite.check(std::string("hooks: each run begins and ends: ") + provider, provider == kCompileProvider ? 23 : 24,
                [&] {
                  Handle<OrtSessionOptions> options = runtime.options_with(provider);
                  Handle<OrtSession> session = runtime.session(product(), options.get());
                  int64_t starts = runtime.times(Event::kRunStart), ends = runtime.times(Event::kRunEnd);
                  for (int i = 0; i < 3; i++) runtime.run(session.get(), {{"x", ramp({2})}}, {"z"});
                  expect_equal(runtime.times(Event::kRunStart), starts + 3, "starts");
                  expect_equal(runtime.times(Event::kRunEnd), ends + 3, "ends");
                });
  }
  suite.check("hooks: kernels pack constant inputs once", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider);
    int64_t before = runtime.times(Event::kPrePack);
    Handle<OrtSession> session = runtime.session(product(true), options.get());
    for (int i = 0; i < 2; i++) runtime.run(session.get(), {{"x", ramp({2})}}, {"z"});
    expect_equal(runtime.times(Event::kPrePack), before + 1, "packings");
  });
  suite.check("hooks: packing can be turned off", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider);
    runtime.ok(runtime.api->AddSessionConfigEntry(options.get(), "session.disable_prepacking", "1"));
    int64_t before = runtime.times(Event::kPrePack);
    Handle<OrtSession> session = runtime.session(product(true), options.get());
    expect_near(runtime.run(session.get(), {{"x", ramp({2})}}, {"z"})[0], multiply(ramp({2}), {{2}, {1, 2}}), "z");
    expect_equal(runtime.times(Event::kPrePack), before, "packings");
  });
  suite.check("hooks: the provider hears when a session is made", 27, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    int64_t before = runtime.times(Event::kInitializationEnd);
    Handle<OrtSession> session = runtime.session(product(), options.get());
    expect_equal(runtime.times(Event::kInitializationEnd), before + 1, "ends");
  });
  suite.check("hooks: kernels get device tensors", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider, {{"prepack", "0"}});
    int64_t before = runtime.times(Event::kHostTensor);
    Handle<OrtSession> session = runtime.session(product(true), options.get());
    runtime.run(session.get(), {{"x", ramp({2})}}, {"z"});
    expect_equal(runtime.times(Event::kHostTensor), before, "tensors on the host");
  });
  check_dynamic_options(suite, runtime);
  check_profile(suite, runtime, kCompileProvider);
  check_profile(suite, runtime, kKernelProvider);
}

}  // namespace ortolan::plugin_test
