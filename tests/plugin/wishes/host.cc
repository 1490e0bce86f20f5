// wishes_host LIBRARY PLUGIN API: what a runtime does when a provider prefers a layout of data, or has little memory
// left. The exit code is the number of checks that failed.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "conformance_host/runtime.h"
#include "wishes.h"

namespace ortolan::plugin_test {
namespace {

using wishes::Wishes;

constexpr const char* kPlain = ":GlobalAveragePool";
constexpr const char* kChannelsLast = "com.ms.internal.nhwc:GlobalAveragePool";

/** y = the mean of -mean(x), which is -mean(x); two nodes for the plugin with one for the CPU between. */
GraphText means() {
  GraphText graph;
  graph.input("x", {2, 3, 4, 5}).output("y", {2, 3, 1, 1});
  graph.node("GlobalAveragePool", {"x"}, {"p"}).node("Neg", {"p"}, {"n"}).node("GlobalAveragePool", {"n"}, {"y"});
  return graph;
}

/** Runs a session made with these wishes; which operators the plugin compiled. */
std::vector<std::string> compiled(const Runtime& runtime, Wishes& wishes, const Wishes& wanted) {
  wishes = wanted;
  Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
  Handle<OrtSession> session = runtime.session(means(), options.get());
  Array x = ramp({2, 3, 4, 5}), y{{2, 3, 1, 1}, std::vector<float>(6, 0)};
  for (size_t i = 0; i < x.values.size(); i++) y.values[i / 20] -= x.values[i] / 20;
  expect_near(runtime.run(session.get(), {{"x", x}}, {"y"}).at(0), y, "y");
  return wishes.compiled;
}

void expect_compiled(const std::vector<std::string>& found, const char* wanted, size_t times) {
  expect_equal(found.size(), times, "compiled nodes");
  for (const std::string& name : found) expect_equal(name, std::string(wanted), "compiled");
}

void check_layout(Suite& suite, const Runtime& runtime, Wishes& wishes) {
  suite.check("layout: channels are second unless a provider prefers otherwise", 23,
              [&] { expect_compiled(compiled(runtime, wishes, {}), kPlain, 2); });
  suite.check("layout: a provider gets channels last", 23, [&] {
    expect_compiled(compiled(runtime, wishes, {.channels_last = true}), kChannelsLast, 2);
    expect(!wishes.asked_about.empty(), "it was not asked which operators are to be changed");
    for (const std::string& name : wishes.asked_about) expect_equal(name, std::string(kPlain), "asked about");
  });
  suite.check("layout: it may say so of one operator", 23, [&] {
    expect_compiled(compiled(runtime, wishes, {.channels_last = true, .should_convert = 1}), kChannelsLast, 2);
  });
  suite.check("layout: it may want one operator as it is", 23, [&] {
    expect_compiled(compiled(runtime, wishes, {.channels_last = true, .should_convert = 0}), kPlain, 2);
  });
}

/** Microsoft's library asks what a provider has left only where its CUDA settings are in the session's entries. */
void check_room(Suite& suite, const Runtime& runtime, Wishes& wishes) {
  if (!runtime.ours) return;
  constexpr uint64_t kOne = 6 * sizeof(float);  // what a node makes
  suite.check("room: nodes go to the provider while it has bytes left", 26, [&] {
    expect_compiled(compiled(runtime, wishes, {.bytes = kOne - 1}), kPlain, 0);
    expect_compiled(compiled(runtime, wishes, {.bytes = kOne}), kPlain, 1);
    expect_compiled(compiled(runtime, wishes, {.bytes = 2 * kOne}), kPlain, 2);
  });
  suite.check("room: what does not fit has its layout back", 26, [&] {
    expect_compiled(compiled(runtime, wishes, {.channels_last = true, .bytes = kOne}), kChannelsLast, 1);
  });
}

int run(char** argv) {
  setenv("ORT_EXAMPLE_EP_API", argv[3], 1);
  Runtime runtime = open_runtime(argv[1], static_cast<uint32_t>(std::atoi(argv[3])));
  void* plugin = dlopen(argv[2], RTLD_NOW);
  expect(plugin != nullptr, "the plugin cannot be opened");
  Wishes& wishes = *reinterpret_cast<Wishes* (*)()>(dlsym(plugin, "TheWishes"))();
  runtime.ok(runtime.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "wishes", &runtime.env));
  runtime.ok(runtime.api->RegisterExecutionProviderLibrary(runtime.env, "wishes", argv[2]));
  Suite suite(runtime.level);
  check_layout(suite, runtime, wishes);
  check_room(suite, runtime, wishes);
  runtime.ok(runtime.api->UnregisterExecutionProviderLibrary(runtime.env, "wishes"));
  runtime.api->ReleaseEnv(runtime.env);
  return suite.summary();
}

}  // namespace
}  // namespace ortolan::plugin_test

int main(int argc, char** argv) {
  return ortolan::plugin_test::run_checks(argc, argv, "wishes_host LIBRARY PLUGIN API", ortolan::plugin_test::run);
}
