// Sessions with providers on devices: nothing but the provider touches device memory, values are copied where they must
// be, claims that cannot be are refused alone, and what a provider fails at ends in an error or a fallback.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "../thrown_text.h"
#include "fake_provider.h"
#include "model_builder.h"
#include "runtime/devices.h"
#include "runtime/io_binding.h"
#include "runtime/session.h"

namespace ortolan::runtime {
namespace {

constexpr int64_t kWidth = 6;

class Messages final : public LogSink {
 public:
  void write(Severity severity, std::string_view, std::string_view, std::string_view text) override {
    std::lock_guard lock(mutex_);
    if (severity >= Severity::kWarning) texts_.emplace_back(text);
  }
  bool has(const std::string& part) const {
    return std::ranges::any_of(texts_, [&](const auto& text) { return text.find(part) != std::string::npos; });
  }
  std::string all() const {
    std::string joined;
    for (const auto& text : texts_) joined += text + "\n";
    return joined;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

/** y = tanh(x * a + b) * x + tanh(x), with the values in between also read twice, in nodes m s t p u y. */
std::unique_ptr<Model> small_model(bool known = false) {
  Builder build;
  SymbolicShape rows = known ? SymbolicShape(Shape{2, kWidth})
                             : SymbolicShape(DimVector{build.model->context->symbols.named("N"), Dim(kWidth)});
  ValueInfo* x = build.input("x", rows);
  ValueInfo* a = build.graph().add_initializer("a", scalar<float>(0.75f));
  ValueInfo* b = build.graph().add_initializer("b", scalar<float>(-0.25f));
  ValueInfo* m = build.node("Mul", {x, a}, "m");
  ValueInfo* s = build.node("Add", {m, b}, "s");
  ValueInfo* t = build.node("Tanh", {s}, "t");
  ValueInfo* p = build.node("Mul", {t, x}, "p");
  ValueInfo* u = build.node("Tanh", {x}, "u");
  build.graph().mark_output(build.node("Add", {p, u}, "y"));
  build.graph().mark_output(s);
  return std::move(build.model);
}

double expected(double x) { return std::tanh(x * 0.75 - 0.25) * x + std::tanh(x); }

Tensor ramp(int64_t rows) {
  Tensor tensor(ElementType::kFloat, Shape{rows, kWidth});
  for (int64_t i = 0; i < rows * kWidth; ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i % 17) / 5 - 1;
  return tensor;
}

std::vector<Value> run(const Session& session, const Value& x, std::vector<const char*> outputs = {"y", "s"}) {
  const Value* values[] = {&x};
  const char* in[] = {"x"};
  std::vector<Value> results(outputs.size());
  session.run(nullptr, in, values, outputs, results);
  return results;
}

void expect_right(const Session& session, int64_t rows) {
  Tensor x = ramp(rows);
  auto results = run(session, x);
  const Tensor &y = results[0].tensor(), &s = results[1].tensor();
  ASSERT_TRUE(y.memory().on_cpu());
  for (int64_t i = 0; i < rows * kWidth; ++i) {
    double value = x.data<float>()[i];
    ASSERT_NEAR(y.data<float>()[i], expected(value), 1e-5) << "element " << i;
    ASSERT_NEAR(s.data<float>()[i], value * 0.75 - 0.25, 1e-6) << "element " << i;
  }
}

struct Fakes {
  SessionOptions options;
  std::shared_ptr<Messages> messages = std::make_shared<Messages>();
  Fakes() { options.level = RewriteLevel::kNone; }
  void add(std::shared_ptr<FakeSettings> settings, bool required = true) {
    options.providers.push_back({settings->type, {}, fake_factory(settings), required});
  }
  std::unique_ptr<Session> session(std::unique_ptr<Model> model = small_model()) {
    return Session::from_model(environment(messages), std::move(model), options);
  }
  std::string error() {
    return test::error_of([&] { session(); });
  }
};

std::shared_ptr<FakeSettings> settings(bool compile, bool streams = false) {
  auto made = std::make_shared<FakeSettings>();
  made->compile = compile;
  made->streams = streams;
  return made;
}

std::function<int(const Node&)> only(std::set<std::string> names) {
  return [names](const Node& node) { return names.contains(node.name) ? 0 : -1; };
}

TEST(Devices, NobodyElseTouchesTheirMemory) {
  for (bool compile : {false, true}) {
    for (bool streams : {false, true}) {
      auto fake = settings(compile, streams);
      fake->drop_constants = streams;
      Fakes fakes;
      fakes.add(fake);
      auto session = fakes.session();
      for (int64_t rows : {2, 2, 2, 5, 1, 0, 2}) expect_right(*session, rows);
      EXPECT_EQ(fake->runs_started, 7);
      EXPECT_EQ(fake->runs_ended, 7);
      ASSERT_EQ(session->assignments().size(), 6u);
      for (const auto& assignment : session->assignments()) EXPECT_EQ(assignment.provider, fake->type);
      session.reset();
      EXPECT_EQ(fake->memory->blocks(), 0u) << "memory of the device is not given back";
    }
  }
}

TEST(Devices, AnySharingOutOfNodesGivesTheSame) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    Fakes fakes;
    for (int device = 0; device < 2; ++device) {
      auto fake = settings(random() % 2, random() % 2);
      fake->type = join("Fake", device);
      fake->device = device;
      uint32_t mask = random(), parts = 1 + random() % 3;
      fake->group_of = [mask, parts](const Node& node) {
        uint32_t bit = static_cast<uint32_t>(node.name[0]) % 16;
        return (mask >> bit) & 1 ? static_cast<int>(bit % parts) : -1;
      };
      fakes.add(fake);
    }
    fakes.options.mode = random() % 2 ? ExecutionMode::kParallel : ExecutionMode::kSequential;
    auto session = fakes.session(small_model(random() % 2));
    SCOPED_TRACE(join("seed ", seed));
    for (int repeat = 0; repeat < 3; ++repeat) expect_right(*session, 2);
  }
}

TEST(Devices, QueuesWaitForEachOther) {
  for (bool one_way : {true, false}) {
    Fakes fakes;
    auto first = settings(false, true), second = settings(false, true);
    first->type = "First";
    second->type = "Second";
    second->device = 1;
    first->memory = std::make_shared<OpaqueMemory>(0);
    second->memory = std::make_shared<OpaqueMemory>(1);
    (one_way ? first : second)->peer = (one_way ? second : first)->memory;
    first->group_of = only({"m", "t", "y"});
    fakes.add(first);
    fakes.add(second);
    auto session = fakes.session();
    for (int repeat = 0; repeat < 3; ++repeat) expect_right(*session, 3);
  }
}

TEST(Devices, QueuesBelongToOneThreadInParallelModeToo) {
  Builder build;
  ValueInfo* x = build.input("x", Shape{64, kWidth});
  ValueInfo* sum = x;
  for (int i = 0; i < 24; ++i) {
    std::string n = std::to_string(i);
    sum = build.node("Add", {sum, build.node("Tanh", {build.node("Mul", {x, x}, "m" + n)}, "t" + n)}, "s" + n);
  }
  build.graph().mark_output(sum);
  Fakes fakes;
  auto fake = settings(false, true);
  fake->slow = true;
  fakes.add(fake);
  fakes.options.mode = ExecutionMode::kParallel;
  fakes.options.inter_op_threads = 4;
  auto session = fakes.session(std::move(build.model));
  Tensor given = ramp(64);
  for (int repeat = 0; repeat < 3; ++repeat) {
    auto y = run(*session, given, {"s23"});
    double value = given.data<float>()[9];
    ASSERT_NEAR(y[0].tensor().data<float>()[9], value + 24 * std::tanh(value * value), 1e-4);
  }
}

TEST(Devices, AValueIsCopiedOnceForAllReaders) {
  auto fake = settings(false);
  fake->group_of = only({"m", "p", "u", "t"});
  Fakes fakes;
  fakes.add(fake);
  auto session = fakes.session();
  std::multiset<std::string> copied;
  for (const PlacedCopy& copy : session->copies()) copied.insert(copy.value + " to " + copy.to);
  EXPECT_EQ(copied, (std::multiset<std::string>{"x to " + fake->type, "m to CPUExecutionProvider", "s to " + fake->type,
                                                "p to CPUExecutionProvider", "u to CPUExecutionProvider"}));
}

TEST(Devices, ManyThreadsRunAtOnce) {
  Fakes fakes;
  auto fake = settings(false, true);
  fake->group_of = only({"m", "t", "u"});
  fakes.add(fake);
  auto session = fakes.session();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int repeat = 0; repeat < 20; ++repeat) expect_right(*session, 1 + (i + repeat) % 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Devices, InputsAndOutputsStayThereWhenAsked) {
  auto fake = settings(false, true);
  Fakes fakes;
  fakes.add(fake);
  auto session = fakes.session();
  EXPECT_EQ(&session->input_memory(0), &fake->memory->info());
  EXPECT_EQ(&session->output_memory(0), &fake->memory->info());
  IoBinding binding(*session);
  Tensor x = session->devices()->copied(ramp(2), fake->memory->info(), nullptr);
  binding.bind_input("x", x);
  binding.bind_output("y", fake->memory->info());
  Tensor s(ElementType::kFloat, Shape{2, kWidth});
  binding.bind_output("s", s);
  for (int repeat = 0; repeat < 3; ++repeat) {
    binding.run(nullptr);
    const Tensor& y = binding.outputs()[0].tensor();
    EXPECT_EQ(y.memory(), fake->memory->info());
    Tensor back = session->devices()->copied(y, cpu_allocator()->info(), nullptr);
    EXPECT_NEAR(back.data<float>()[3], expected(ramp(2).data<float>()[3]), 1e-5);
    EXPECT_NEAR(s.data<float>()[3], ramp(2).data<float>()[3] * 0.75 - 0.25, 1e-6);
  }
  size_t before = fake->memory->allocations();
  binding.run(nullptr);
  size_t made_anew = fake->memory->allocations() - before;
  Tensor target = session->devices()->make(fake->memory->info(), ElementType::kFloat, Shape{2, kWidth}, nullptr);
  binding.bind_output("y", target);
  before = fake->memory->allocations();
  binding.run(nullptr);
  EXPECT_EQ(binding.outputs()[0].tensor().raw(), target.raw());
  EXPECT_EQ(fake->memory->allocations() - before, made_anew - 1) << "the bound output is not written in place";
}

TEST(Devices, NodesOnTheCpuReadInputsFromDevices) {
  auto fake = settings(false);
  fake->group_of = only({"u"});
  Fakes fakes;
  fakes.add(fake);
  auto session = fakes.session();
  Value x(session->devices()->copied(ramp(2), fake->memory->info(), nullptr));
  auto results = run(*session, x);
  EXPECT_NEAR(results[0].tensor().data<float>()[4], expected(ramp(2).data<float>()[4]), 1e-5);
}

/** z = -(c ? k * w * w : k + w + w), k = tanh(x); w and k lie outside the branches. */
std::unique_ptr<Model> branching_model() {
  Builder build;
  ValueInfo* c = build.input("c", Shape{}, ElementType::kBool);
  ValueInfo* x = build.input("x", Shape{2, kWidth});
  ValueInfo* w = build.graph().add_initializer("w", scalar<float>(3));
  ValueInfo* k = build.node("Tanh", {x}, "k");
  auto branch = [&](const std::string& op) {
    auto graph = std::make_shared<Graph>(build.model->context, &build.graph());
    ValueInfo* first = Builder::node_in(*graph, op, {k, w}, "first_" + op);
    graph->mark_output(Builder::node_in(*graph, op, {first, w}, "second_" + op));
    return graph;
  };
  ValueInfo* y = build.node("If", {c}, "y");
  y->producer->set_attribute("then_branch", branch("Mul"));
  y->producer->set_attribute("else_branch", branch("Add"));
  build.graph().mark_output(build.node("Neg", {y}, "z"));
  return std::move(build.model);
}

TEST(Devices, SubgraphsAreSharedOutToo) {
  for (bool compile : {false, true}) {
    for (auto names : {std::set<std::string>{"k"},
                       {"first_Mul", "second_Add"},
                       {"second_Mul", "k"},
                       {"k", "first_Mul", "second_Mul", "first_Add", "second_Add"}}) {
      auto fake = settings(compile, true);
      fake->group_of = only(names);
      Fakes fakes;
      fakes.add(fake);
      auto session = fakes.session(branching_model());
      for (bool condition : {true, false, true}) {
        Value c(scalar<bool>(condition)), x(ramp(2));
        const Value* values[] = {&c, &x};
        const char *in[] = {"c", "x"}, *out[] = {"z"};
        Value y;
        session->run(nullptr, in, values, out, std::span(&y, 1));
        double k = std::tanh(ramp(2).data<float>()[5]);
        EXPECT_NEAR(y.tensor().data<float>()[5], condition ? -k * 9 : -k - 6, 1e-5);
      }
    }
  }
}

TEST(Devices, GroupsThatCannotBeAreDroppedAlone) {
  struct Case {
    std::map<std::string, int> groups;
    const char* why;
    size_t granted;
  };
  const Case kCases[] = {
      {{{"m", 0}, {"p", 0}, {"u", 1}}, "runs through node 't'", 1},
      {{{"m", 0}, {"y", 0}}, "not connected", 0},
      {{{"s", 0}, {"t", 0}, {"p", 1}, {"y", 1}}, nullptr, 4},
  };
  for (const Case& each : kCases) {
    auto fake = settings(/*compile=*/true);
    fake->group_of = [&](const Node& node) {
      auto found = each.groups.find(node.name);
      return found == each.groups.end() ? -1 : found->second;
    };
    Fakes fakes;
    fakes.add(fake);
    auto session = fakes.session();
    expect_right(*session, 2);
    auto on_fake = [&](const NodeAssignment& node) { return node.provider == fake->type; };
    EXPECT_EQ(static_cast<size_t>(std::ranges::count_if(session->assignments(), on_fake)), each.granted);
    if (each.why != nullptr) {
      EXPECT_TRUE(fakes.messages->has(each.why)) << fakes.messages->all();
    }
  }
}

/** Two chains a1 -> b1 and b2 -> a2 side by side: groups {a1, a2} and {b1, b2} share inputs and would need each other.
 */
TEST(Devices, GroupsThatNeedEachOtherAreNotBothGranted) {
  Builder build;
  ValueInfo* x = build.input("x", Shape{2, kWidth});
  ValueInfo* a1 = build.node("Tanh", {x}, "a1");
  ValueInfo* b2 = build.node("Tanh", {x}, "b2");
  ValueInfo* b1 = build.node("Mul", {a1, x}, "b1");
  ValueInfo* a2 = build.node("Mul", {b2, x}, "a2");
  build.graph().mark_output(build.node("Add", {b1, a2}, "y"));
  auto fake = settings(/*compile=*/true);
  fake->group_of = [](const Node& node) { return node.name[0] == 'a' ? 0 : node.name[0] == 'b' ? 1 : -1; };
  Fakes fakes;
  fakes.add(fake);
  auto session = fakes.session(std::move(build.model));
  EXPECT_TRUE(fakes.messages->has("depend on itself")) << fakes.messages->all();
  auto y = run(*session, ramp(2), {"y"});
  double value = ramp(2).data<float>()[2];
  EXPECT_NEAR(y[0].tensor().data<float>()[2], 2 * std::tanh(value) * value, 1e-5);
}

TEST(Devices, SaysHowManyNodesFallBack) {
  auto fake = settings(false);
  fake->group_of = only({"m", "s", "t"});
  Fakes fakes;
  fakes.add(fake);
  auto session = fakes.session();
  EXPECT_TRUE(fakes.messages->has("3 of 6 nodes run on CPUExecutionProvider")) << fakes.messages->all();
  EXPECT_TRUE(fakes.messages->has("the test does not want it")) << fakes.messages->all();
  fakes.options.config["session.disable_cpu_ep_fallback"] = "1";
  EXPECT_NE(fakes.error().find("forbids that"), std::string::npos);
  fake->group_of = [](const Node&) { return 0; };
  EXPECT_EQ(fakes.error(), "");
}

/** The provider may set the limit, and so may the session. */
void expect_small_islands_return(size_t providers_limit, const char* sessions_limit) {
  auto fake = settings(false);
  fake->group_of = only({"m", "s", "y"});
  fake->least_island = providers_limit;
  Fakes fakes;
  fakes.options.config["ortolan.min_island_nodes"] = sessions_limit;
  fakes.add(fake);
  auto session = fakes.session();
  expect_right(*session, 2);
  ASSERT_EQ(session->assignments().size(), 6u);
  for (const NodeAssignment& node : session->assignments()) {
    EXPECT_EQ(node.provider == fake->type, node.node_name == "m" || node.node_name == "s") << node.node_name;
    if (node.node_name == "y") {
      ASSERT_FALSE(node.declined.empty());
      EXPECT_NE(node.declined[0].second.find("fewer than the 2"), std::string::npos) << node.declined[0].second;
    }
  }
}

TEST(Devices, ReturnsIslandsThatAreTooSmall) {
  expect_small_islands_return(2, "1");
  expect_small_islands_return(1, "2");
}

TEST(Devices, TheLastProviderKeepsIslandsOfAnySize) {
  Fakes fakes;
  fakes.add(settings(false));
  fakes.options.config["ortolan.min_island_nodes"] = "100";
  auto session = fakes.session();
  ASSERT_EQ(session->assignments().size(), 6u);
  for (const NodeAssignment& node : session->assignments()) EXPECT_EQ(node.provider, "CPUExecutionProvider");
  expect_right(*session, 2);
}

TEST(Devices, FailuresEndInAnErrorOrAFallback) {
  auto error_at = [](const char* point, bool required = true) {
    auto fake = settings(/*compile=*/true);
    fake->fails_at = point;
    Fakes fakes;
    fakes.add(fake, required);
    return fakes.error();
  };
  EXPECT_NE(error_at("make").find("the fake fails at make"), std::string::npos);
  EXPECT_EQ(error_at("make", /*required=*/false), "");
  EXPECT_EQ(error_at("get_capability"), "");
  EXPECT_NE(error_at("compile").find("the fake fails at compile"), std::string::npos);
  EXPECT_NE(error_at("nothing compiled").find("made nothing of group"), std::string::npos);
}

TEST(Devices, RunHooksMayFail) {
  for (const char* point : {"run start", "run end"}) {
    auto fake = settings(false, true);
    Fakes fakes;
    fakes.add(fake);
    auto session = fakes.session();
    fake->fails_at = point;
    EXPECT_TRUE(test::throws(std::string("the fake fails at ") + point, [&] { run(*session, ramp(2)); }));
    fake->fails_at = "";
    expect_right(*session, 2);
  }
}

TEST(Devices, ATypeComesOnce) {
  Fakes fakes;
  fakes.add(settings(false));
  fakes.add(settings(true));
  EXPECT_NE(fakes.error().find("asked for twice"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::runtime
