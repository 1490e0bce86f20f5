// Copies between the CPU and devices in a run: how often the host waits, whose memory they may read and when, and which
// memory of a device is whose.
#include <gtest/gtest.h>

#include <cmath>

#include "../thrown_text.h"
#include "fake_provider.h"
#include "model_builder.h"
#include "runtime/providers/devices.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {
namespace {

const Shape kShape{2, 6};

std::shared_ptr<FakeSettings> fake(const std::string& type, std::function<bool(const Node&)> takes) {
  auto made = std::make_shared<FakeSettings>();
  made->type = type;
  made->streams = true;
  made->group_of = [takes](const Node& node) { return takes(node) ? 0 : -1; };
  return made;
}

std::function<bool(const Node&)> called(std::vector<std::string> names) {
  return [names](const Node& node) { return std::ranges::find(names, node.name) != names.end(); };
}

bool all(const Node&) { return true; }

std::unique_ptr<Session> session_of(Builder& build, std::vector<std::shared_ptr<FakeSettings>> fakes) {
  SessionOptions options;
  options.level = RewriteLevel::kNone;
  for (const auto& each : fakes) options.providers.push_back({each->type, {}, fake_factory(each)});
  return Session::from_model(environment(), std::move(build.model), options);
}

Tensor ramp(float first) {
  Tensor tensor(ElementType::kFloat, kShape);
  for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.mutable_data<float>()[i] = first + 0.25f * float(i);
  return tensor;
}

std::vector<Value> run(const Session& session, std::vector<const char*> names, std::vector<Value> inputs,
                       std::vector<const char*> outputs) {
  std::vector<const Value*> given;
  for (const Value& input : inputs) given.push_back(&input);
  std::vector<Value> results(outputs.size());
  session.run(nullptr, names, given, outputs, results);
  return results;
}

TEST(DeviceCopies, TheHostWaitsOnceARun) {
  Builder build;
  ValueInfo *a = build.input("a", kShape), *b = build.input("b", kShape), *c = build.input("c", kShape);
  ValueInfo* s = build.node("Add", {a, b}, "s");
  build.graph().mark_output(build.node("Mul", {s, c}, "y"));
  build.graph().mark_output(build.node("Tanh", {s}, "z"));
  auto device = fake("Fake", all);
  auto session = session_of(build, {device});
  for (int repeat = 1; repeat <= 3; ++repeat) {
    Tensor ta = ramp(1), tb = ramp(-2), tc = ramp(3);
    auto results = run(*session, {"a", "b", "c"}, {ta, tb, tc}, {"y", "z"});
    float sum = ta.data<float>()[5] + tb.data<float>()[5];
    EXPECT_FLOAT_EQ(results[0].tensor().data<float>()[5], sum * tc.data<float>()[5]);
    EXPECT_FLOAT_EQ(results[1].tensor().data<float>()[5], std::tanh(sum));
    EXPECT_EQ(device->host_waits, repeat);
  }
}

/** The caller may change inputs when a run is over, although its results are still on the device. */
TEST(DeviceCopies, InputsHaveBeenReadWhenARunIsOver) {
  Builder build;
  build.graph().mark_output(build.node("Tanh", {build.input("x", kShape)}, "y"));
  auto device = fake("Fake", all);
  auto session = session_of(build, {device});
  Tensor x = ramp(1);
  const Value input(Tensor(x.type(), x.shape(), x.mutable_raw()));
  const Value* inputs[] = {&input};
  const char *in[] = {"x"}, *out[] = {"y"};
  const MemoryInfo* places[] = {&device->memory->info()};
  Value y;
  session->run(nullptr, in, inputs, out, {&y, 1}, places);
  EXPECT_EQ(device->host_waits, 1);
  x.mutable_data<float>()[3] = 99;
  Tensor back = session->devices()->copied(y.tensor(), cpu_allocator()->info(), nullptr);
  EXPECT_FLOAT_EQ(back.data<float>()[3], std::tanh(1.75f));
}

TEST(DeviceCopies, InputsHaveBeenReadWhenARunHasFailed) {
  Builder build;
  build.graph().mark_output(build.node("Tanh", {build.input("x", kShape)}, "y"));
  auto device = fake("Fake", all);
  auto session = session_of(build, {device});
  Value x(ramp(1)), misfit(Tensor(ElementType::kFloat, Shape{1}));
  const Value* inputs[] = {&x};
  const char *in[] = {"x"}, *out[] = {"y"};
  EXPECT_TRUE(test::throws("the value given for it", [&] { session->run(nullptr, in, inputs, out, {&misfit, 1}); }));
  EXPECT_EQ(device->host_waits, 1);
}

/** n's memory would be taken for what the CPU computes next, were it not for the copy that reads it later: for which
    nobody waits. */
TEST(DeviceCopies, ValuesOfTheCpuStayUntilTheyAreRead) {
  Builder build;
  ValueInfo* x = build.input("x", kShape);
  ValueInfo* n = build.node("Abs", {x}, "n");
  ValueInfo* v = build.node("Identity", {n}, "v");
  ValueInfo* d = build.node("Tanh", {v}, "d");
  ValueInfo* o = build.node("Neg", {n}, "o");
  ValueInfo* p = build.node("Exp", {o}, "p");
  ValueInfo* e = build.node("Tanh", {p}, "e");
  ValueInfo* q = build.node("Sqrt", {p}, "q");
  build.graph().mark_output(build.node("Add", {d, e}, "y"));
  build.graph().mark_output(build.node("Sqrt", {q}, "z"));
  auto device = fake("Fake", called({"d", "e", "y"}));
  auto session = session_of(build, {device});
  for (int repeat = 1; repeat <= 3; ++repeat) {
    auto results = run(*session, {"x"}, {ramp(-1)}, {"y", "z"});
    EXPECT_EQ(device->host_waits, repeat);
    double value = std::abs(ramp(-1).data<float>()[1]);
    EXPECT_NEAR(results[0].tensor().data<float>()[1], std::tanh(value) + std::tanh(std::exp(-value)), 1e-5);
    EXPECT_NEAR(results[1].tensor().data<float>()[1], std::exp(-value / 4), 1e-5);
  }
}

TEST(DeviceCopies, ConstantsGoToTheMemoryForThem) {
  Builder build;
  ValueInfo* a = build.graph().add_initializer("a", scalar<float>(3));
  ValueInfo* b = build.graph().add_initializer("b", scalar<float>(4));
  ValueInfo* m = build.node("Mul", {build.input("x", kShape), a}, "m");
  build.graph().mark_output(build.node("Add", {m, b}, "y"));
  auto device = fake("Fake", all);
  device->constants = std::make_shared<OpaqueMemory>(0, "Fake", kReadOnlyAllocator);
  auto session = session_of(build, {device});
  EXPECT_EQ(device->constants->blocks(), 2u);
  for (int repeat = 0; repeat < 2; ++repeat) {
    auto results = run(*session, {"x"}, {ramp(1)}, {"y"});
    EXPECT_FLOAT_EQ(results[0].tensor().data<float>()[2], 1.5f * 3 + 4);
  }
  EXPECT_EQ(device->constants->blocks(), 2u) << "values of runs are no constants";
  session.reset();
  EXPECT_EQ(device->constants->blocks(), 0u);
}

TEST(DeviceCopies, TwoProvidersOfOneDeviceHaveMemoryOfTheirOwn) {
  Builder build;
  ValueInfo* x = build.input("x", kShape);
  ValueInfo* m = build.node("Tanh", {x}, "m");
  ValueInfo* t = build.node("Mul", {m, x}, "t");
  build.graph().mark_output(build.node("Add", {t, m}, "y"));
  auto first = fake("First", called({"m", "y"})), second = fake("Second", called({"t"}));
  auto session = session_of(build, {first, second});
  ASSERT_EQ(first->memory->info().device, second->memory->info().device);
  auto expect_right = [&](const Value& input) {
    auto results = run(*session, {"x"}, {input}, {"y"});
    double value = std::tanh(ramp(1).data<float>()[4]);
    EXPECT_NEAR(results[0].tensor().data<float>()[4], value * ramp(1).data<float>()[4] + value, 1e-6);
  };
  expect_right(ramp(1));
  for (const auto& device : {first, second}) {
    expect_right(session->devices()->copied(ramp(1), device->memory->info(), nullptr));
  }
}

TEST(DeviceCopies, MemoryThatACallerDescribesIsOfAnyProviderOfTheDevice) {
  const MemoryInfo& own = OpaqueMemory(0, "One").info();
  const MemoryInfo& others = OpaqueMemory(0, "Other").info();
  MemoryInfo described = own;
  EXPECT_FALSE(same_place(own, others));
  EXPECT_TRUE(same_place(own, described));
  EXPECT_TRUE(same_place(others, interned(described)));
  EXPECT_EQ(&interned(own), &own) << "what is interned keeps its owner";
  described.device.id = 1;
  EXPECT_FALSE(same_place(own, described));
}

TEST(DeviceCopies, NodesBeyondAProvidersMemoryGoToTheNext) {
  Builder build;
  ValueInfo* value = build.input("x", kShape);
  ValueInfo* w = build.graph().add_initializer("w", Tensor(ElementType::kFloat, kShape));
  for (const char* name : {"a", "b", "c", "d"}) value = build.node("Mul", {value, w}, name);
  build.graph().mark_output(value);
  auto device = fake("Fake", all);
  device->free_bytes = 3 * 48;  // the weights once, and two results
  auto session = session_of(build, {device});
  ASSERT_EQ(session->assignments().size(), 4u);
  for (const NodeAssignment& node : session->assignments()) {
    bool fits = node.node_name == "a" || node.node_name == "b";
    EXPECT_EQ(node.provider == "Fake", fits) << node.node_name;
    if (fits) continue;
    ASSERT_FALSE(node.declined.empty());
    EXPECT_NE(node.declined[0].second.find("has 0 bytes left"), std::string::npos) << node.declined[0].second;
  }
}

}  // namespace
}  // namespace ortolan::runtime
