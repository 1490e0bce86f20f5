// provider_cost: what the runtime itself costs where a plugin provider computes: the time to give it the nodes of a
// graph, and the time that a call of a compiled node takes, next to the same graph on the built-in CPU provider.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "common/devices.h"
#include "common/options.h"
#include "common/session.h"
#include "common/terminal.h"

namespace ortolan::bench {
namespace {

using tools::Handle;
using tools::Library;
using Clock = std::chrono::steady_clock;

/** A chain of Identity nodes over one float, made with the model editor. */
Handle<OrtModel> chain(const Library& library, int length) {
  const OrtModelEditorApi& editor = *library->GetModelEditorApi();
  auto tensor = library.make<OrtTensorTypeAndShapeInfo>(library->CreateTensorTypeAndShapeInfo,
                                                        library->ReleaseTensorTypeAndShapeInfo);
  const int64_t shape = 1;
  library.check(library->SetTensorElementType(tensor.get(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT));
  library.check(library->SetDimensions(tensor.get(), &shape, 1));
  auto type = library.make<OrtTypeInfo>(editor.CreateTensorTypeInfo, library->ReleaseTypeInfo, tensor.get());
  auto value = [&](const std::string& name) {
    OrtValueInfo* made = nullptr;
    library.check(editor.CreateValueInfo(name.c_str(), type.get(), &made));
    return made;
  };
  auto name = [](int i) { return "v" + std::to_string(i); };
  auto graph = library.make<OrtGraph>(editor.CreateGraph, library->ReleaseGraph);
  OrtValueInfo *input = value(name(0)), *output = value(name(length));
  library.check(editor.SetGraphInputs(graph.get(), &input, 1));
  library.check(editor.SetGraphOutputs(graph.get(), &output, 1));
  for (int i = 0; i < length; ++i) {
    std::string from = name(i), to = name(i + 1), node_name = "n" + std::to_string(i);
    const char *ins[] = {from.c_str()}, *outs[] = {to.c_str()};
    OrtNode* node = nullptr;
    library.check(editor.CreateNode("Identity", "", node_name.c_str(), ins, 1, outs, 1, nullptr, 0, &node));
    library.check(editor.AddNodeToGraph(graph.get(), node));
  }
  const char* domain = "";
  const int opset = 17;
  auto model = library.make<OrtModel>(editor.CreateModel, library->ReleaseModel, &domain, &opset, size_t{1});
  library.check(editor.AddGraphToModel(model.get(), graph.release()));
  return model;
}

struct Loaded {
  Handle<OrtSession> session;
  double milliseconds;  // that its creation took
};

Loaded load(const Library& library, OrtEnv* environment, int length, bool plugin) {
  tools::SessionConfig config;
  config.level = 0;
  config.threads = 1;
  if (plugin) config.providers = {"Empty"};
  auto options = tools::make_session_options(library, environment, config);
  auto model = chain(library, length);
  auto begin = Clock::now();
  auto session = library.make<OrtSession>(library->GetModelEditorApi()->CreateSessionFromModel, library->ReleaseSession,
                                          environment, model.get(), options.get());
  return {std::move(session), std::chrono::duration<double, std::milli>(Clock::now() - begin).count()};
}

/** The fastest of some runs, in microseconds: what disturbs only adds. */
double run_time(const Library& library, OrtSession* session, int length, int runs) {
  float number = 1;
  const int64_t shape = 1;
  auto memory = library.make<OrtMemoryInfo>(library->CreateCpuMemoryInfo, library->ReleaseMemoryInfo,
                                            OrtDeviceAllocator, OrtMemTypeDefault);
  auto input = library.make<OrtValue>(library->CreateTensorWithDataAsOrtValue, library->ReleaseValue, memory.get(),
                                      static_cast<void*>(&number), sizeof number, &shape, size_t{1},
                                      ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  std::string last = "v" + std::to_string(length);
  const char *ins[] = {"v0"}, *outs[] = {last.c_str()};
  const OrtValue* values[] = {input.get()};
  double best = 1e300;
  for (int i = 0; i < runs; ++i) {
    OrtValue* output = nullptr;
    auto begin = Clock::now();
    library.check(library->Run(session, nullptr, ins, values, 1, outs, 1, &output));
    best = std::min(best, std::chrono::duration<double, std::micro>(Clock::now() - begin).count());
    library->ReleaseValue(output);
  }
  return best;
}

/** Microseconds that one more node adds to a run. */
double node_cost(const Library& library, OrtEnv* environment, bool plugin, int runs) {
  constexpr int kShort = 100, kLong = 1100;
  Loaded small = load(library, environment, kShort, plugin), large = load(library, environment, kLong, plugin);
  double difference =
      run_time(library, large.session.get(), kLong, runs) - run_time(library, small.session.get(), kShort, runs);
  return difference / (kLong - kShort);
}

double creation(const Library& library, OrtEnv* environment, int nodes, bool plugin, int times) {
  double best = 1e300;
  for (int i = 0; i < times; ++i) best = std::min(best, load(library, environment, nodes, plugin).milliseconds);
  return best;
}

int run(int argc, char** argv) {
  int nodes = 10000, runs = 300;
  std::vector<std::string> rest = tools::parse(
      argc, argv,
      {"provider_cost [OPTION...] PLUGIN LIBRARY...",
       "Time to create a session and time of a call of a node, with all nodes compiled by the plugin (the one that "
       "bench\n"
       "builds) and with all on the CPU provider, for each library. The best of several, as disturbances only add.",
       {{0, "nodes", "N", "nodes of the graph whose creation is timed (default 10000)", tools::into(nodes, "--nodes")},
        {0, "runs", "N", "runs (default 300)", tools::into(runs, "--runs")}}});
  if (rest.size() < 2) tools::fail_usage("give the plugin and at least one library");
  tools::Table table({"library", "provider", ">creation ms", ">us a node"});
  for (size_t i = 1; i < rest.size(); ++i) {
    Library library = tools::open_library(rest[i]);
    auto environment = tools::create_environment(library);
    library.check(library->RegisterExecutionProviderLibrary(environment.get(), "empty", rest[0].c_str()));
    for (bool plugin : {true, false}) {
      table.add({library.version, plugin ? "plugin" : "cpu",
                 tools::fixed(creation(library, environment.get(), nodes, plugin, 5), 2),
                 tools::fixed(node_cost(library, environment.get(), plugin, runs), 3)});
    }
  }
  std::fputs(table.text().c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace ortolan::bench

int main(int argc, char** argv) {
  return ortolan::tools::run_program("provider_cost", [&] { return ortolan::bench::run(argc, argv); });
}
