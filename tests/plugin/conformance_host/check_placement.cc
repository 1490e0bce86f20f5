// Which nodes go to a plugin's provider.
#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

using Types = std::vector<std::string>;
constexpr const char* kCpu = "CPUExecutionProvider";

std::string text(const std::map<std::string, Types>& placement) {
  std::string text;
  for (const auto& [provider, types] : placement) {
    text += (text.empty() ? "" : "; ") + provider + ":";
    for (const std::string& type : types) text += " " + type;
  }
  return text;
}

std::string placed(Runtime& runtime, const GraphText& graph, const OrtSessionOptions* options) {
  Handle<OrtSession> session = runtime.session(graph, options);
  std::map<std::string, Types> placement = runtime.placement(session.get());
  for (auto& [provider, types] : placement) {  // copies are the runtime's own affair
    Types kept;
    for (const std::string& type : types) {
      if (type.find("Memcpy") == std::string::npos) kept.push_back(type);
    }
    types = kept;
  }
  return text(placement);
}

GraphText chain() {
  GraphText graph;
  graph.input("x", {2}).input("y", {2}).output("z", {2});
  graph.node("Mul", {"x", "y"}, {"a"}).node("Add", {"a", "x"}, {"b"}).node("Mul", {"b", "y"}, {"z"});
  return graph;
}

GraphText mixed() {
  GraphText graph;
  graph.input("x", {2}).input("y", {2}).output("z", {2});
  graph.node("Mul", {"x", "y"}, {"a"}).node("Neg", {"a"}, {"b"}).node("Add", {"b", "y"}, {"z"});
  return graph;
}

void check_one(Suite& suite, Runtime& runtime, const char* provider) {
  std::string title = provider == std::string(kCompileProvider) ? "placement of groups: " : "placement of kernels: ";
  auto expect_placed = [&](const GraphText& graph, const std::string& wanted, const Pairs& settings = {}) {
    Handle<OrtSessionOptions> options = runtime.options_with(provider, settings);
    expect_equal(placed(runtime, graph, options.get()), wanted, "placement");
  };
  std::string own = std::string(provider) + ":";
  suite.check(title + "all nodes", 24, [&] { expect_placed(chain(), own + " Add Mul Mul"); });
  suite.check(title + "the CPU gets the rest", 24,
              [&] { expect_placed(mixed(), std::string(kCpu) + ": Neg; " + own + " Add Mul"); });
  suite.check(title + "other types stay with the CPU", 24, [&] {
    GraphText graph;
    graph.input("x", {2}, kInt64).output("z", {2}, kInt64).node("Mul", {"x", "x"}, {"z"});
    expect_placed(graph, std::string(kCpu) + ": Mul");
  });
  suite.check(title + "without CPU fallback a rest is an error", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(provider);
    runtime.ok(runtime.api->AddSessionConfigEntry(options.get(), "session.disable_cpu_ep_fallback", "1"));
    runtime.fails(runtime.try_session(mixed(), options.get()), "fallback");
  });
  suite.check(title + "without CPU fallback all nodes are taken", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(provider);
    runtime.ok(runtime.api->AddSessionConfigEntry(options.get(), "session.disable_cpu_ep_fallback", "1"));
    runtime.session(chain(), options.get());
  });
}

}  // namespace

void check_placement(Suite& suite, Runtime& runtime) {
  check_one(suite, runtime, kCompileProvider);
  check_one(suite, runtime, kKernelProvider);
  suite.check("placement: small groups stay with the CPU", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider, {{"min_group_size", "2"}});
    expect_equal(placed(runtime, mixed(), options.get()), std::string(kCpu) + ": Add Mul Neg", "placement");
  });
  suite.check("placement: it is not known unless recorded", 24, [&] {
    Handle<OrtSessionOptions> options = runtime.options_with(kCompileProvider);
    runtime.ok(runtime.api->AddSessionConfigEntry(options.get(), "session.record_ep_graph_assignment_info", "0"));
    Handle<OrtSession> session = runtime.session(chain(), options.get());
    const OrtEpAssignedSubgraph* const* parts = nullptr;
    size_t count = 0;
    runtime.fails(runtime.api->Session_GetEpGraphAssignmentInfo(session.get(), &parts, &count),
                  "record_ep_graph_assignment_info");
  });
}

}  // namespace ortolan::plugin_test
