// Adding a plugin's provider to session options: by devices, by policy, by a function.
#include <cstring>

#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

GraphText product() {
  GraphText graph;
  graph.input("x", {2, 3}).input("y", {2, 3}).output("z", {2, 3}).node("Mul", {"x", "y"}, {"z"});
  return graph;
}

std::string entry(Runtime& runtime, const OrtSessionOptions* options, const std::string& key) {
  int has = 0;
  runtime.ok(runtime.api->HasSessionConfigEntry(options, key.c_str(), &has));
  if (!has) return "(none)";
  char value[256];
  size_t size = sizeof value;
  runtime.ok(runtime.api->GetSessionConfigEntry(options, key.c_str(), value, &size));
  return value;
}

void check_append(Suite& suite, Runtime& runtime) {
  suite.check("options: no device fails", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.fails(runtime.append(options.get(), {}), runtime.ours ? "at least one device" : "one or more");
  });
  suite.check("options: devices of two providers fail", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.fails(runtime.append(options.get(), {runtime.device(kCompileProvider), runtime.device(kKernelProvider)}),
                  runtime.ours ? "of different providers" : "the same execution provider");
  });
  suite.check("options: settings become entries in lower case", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider, {{"min_group_size", "3"}});
    expect_equal(entry(runtime, options.get(), "ep.examplecompileexecutionprovider.min_group_size"), "3", "the entry");
  });
  suite.check("options: defaults of the device are added", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider, {{"prepack", "0"}});
    expect_equal(entry(runtime, options.get(), "ep.examplekernelexecutionprovider.min_group_size"), "1", "a default");
    expect_equal(entry(runtime, options.get(), "ep.examplekernelexecutionprovider.prepack"), "0", "what was set");
  });
  suite.check("options: a setting that no provider knows is kept", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kKernelProvider, {{"colour", "blue"}});
    expect_equal(entry(runtime, options.get(), "ep.examplekernelexecutionprovider.colour"), "blue", "the entry");
  });
  suite.check("options: entries can be listed", 23, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider, {{"gather", "2"}});
    OrtKeyValuePairs* pairs = nullptr;
    runtime.ok(runtime.api->GetSessionOptionsConfigEntries(options.get(), &pairs));
    Handle<OrtKeyValuePairs> owner(pairs, runtime.api->ReleaseKeyValuePairs);
    const char* value = runtime.api->GetKeyValue(pairs, "ep.examplecompileexecutionprovider.gather");
    expect(value && std::strcmp(value, "2") == 0, "the entry is missing");
  });
  suite.check("options: a clone has the provider too", 23, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    OrtSessionOptions* made = nullptr;
    runtime.ok(runtime.api->CloneSessionOptions(options.get(), &made));
    Handle<OrtSessionOptions> clone(made, runtime.api->ReleaseSessionOptions);
    int64_t before = runtime.times(Event::kCompute);
    Handle<OrtSession> session = runtime.session(product(), clone.get());
    runtime.run(session.get(), {{"x", ramp({2, 3})}, {"y", ramp({2, 3})}}, {"z"});
    expect(runtime.times(Event::kCompute) > before, "the provider computed nothing");
  });
  suite.check("options: what the provider refuses fails the session", 22, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider, {{"min_group_size", "many"}});
    runtime.fails(runtime.try_session(product(), options.get()), "min_group_size");
    expect_equal(runtime.live(Live::kProvider), 0, "providers");
  });
  suite.check("options: a setting reaches the provider", 23, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider, {{"min_group_size", "2"}});
    int64_t before = runtime.times(Event::kCompute);
    Handle<OrtSession> session = runtime.session(product(), options.get());
    runtime.run(session.get(), {{"x", ramp({2, 3})}, {"y", ramp({2, 3})}}, {"z"});
    expect_equal(runtime.times(Event::kCompute), before, "computations of the provider");
  });
}

void check_policies(Suite& suite, Runtime& runtime) {
  constexpr const char* kNames[] = {"default",     "prefer CPU", "prefer NPU",   "prefer GPU",
                                    "performance", "efficiency", "overall power"};
  for (int policy = 0; policy < 7; policy++) {
    suite.check(std::string("policy: ") + kNames[policy], 23, [&] {
      Handle<OrtSessionOptions> options = runtime.options();
      runtime.ok(runtime.api->SessionOptionsSetEpSelectionPolicy(
          options.get(), static_cast<OrtExecutionProviderDevicePolicy>(policy)));
      Handle<OrtSession> session = runtime.session(product(), options.get());
      Arrays inputs = {{"x", ramp({2, 3})}, {"y", ramp({2, 3}, 3)}};
      expect_near(runtime.run(session.get(), inputs, {"z"})[0], multiply(inputs["x"], inputs["y"]), "z");
    });
  }
}

struct Choice {
  Runtime* runtime;
  std::string provider;  // "": fails; "none": nothing
  size_t devices = 0;
};

OrtStatus* choose(const OrtEpDevice** devices, size_t count, const OrtKeyValuePairs*, const OrtKeyValuePairs*,
                  const OrtEpDevice** selected, size_t max_selected, size_t* num_selected, void* state) {
  auto& choice = *static_cast<Choice*>(state);
  choice.devices = count;
  *num_selected = 0;
  if (choice.provider.empty()) return choice.runtime->api->CreateStatus(ORT_FAIL, "cannot decide");
  for (size_t i = 0; i < count && *num_selected < max_selected; i++) {
    if (choice.runtime->api->EpDevice_EpName(devices[i]) == choice.provider) selected[(*num_selected)++] = devices[i];
  }
  return nullptr;
}

void check_delegates(Suite& suite, Runtime& runtime) {
  suite.check("delegate: its choice is used", 23, [&] {
    Choice choice{&runtime, kCompileProvider};
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsSetEpSelectionPolicyDelegate(options.get(), choose, &choice));
    int64_t before = runtime.times(Event::kCompute);
    Handle<OrtSession> session = runtime.session(product(), options.get());
    runtime.run(session.get(), {{"x", ramp({2, 3})}, {"y", ramp({2, 3})}}, {"z"});
    expect(runtime.times(Event::kCompute) > before, "the chosen provider computed nothing");
    expect(choice.devices >= 3, "the delegate saw " + std::to_string(choice.devices) + " devices");
  });
  suite.check("delegate: its failure fails the session", 22, [&] {
    Choice choice{&runtime, ""};
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsSetEpSelectionPolicyDelegate(options.get(), choose, &choice));
    runtime.fails(runtime.try_session(product(), options.get()), "cannot decide");
  });
  suite.check("delegate: a choice of nothing fails the session", 22, [&] {
    Choice choice{&runtime, "none"};
    Handle<OrtSessionOptions> options = runtime.options();
    runtime.ok(runtime.api->SessionOptionsSetEpSelectionPolicyDelegate(options.get(), choose, &choice));
    runtime.fails(runtime.try_session(product(), options.get()), "EP selection delegate");
  });
}

}  // namespace

void check_options(Suite& suite, Runtime& runtime) {
  check_append(suite, runtime);
  check_policies(suite, runtime);
  check_delegates(suite, runtime);
}

}  // namespace ortolan::plugin_test
