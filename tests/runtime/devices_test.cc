// Sessions with providers on devices: only they touch device memory, and values are copied where they must be.
#include <cmath>
#include <random>
#include <set>
#include <thread>

#include "devices_fixture.h"
#include "runtime/providers/devices.h"
#include "runtime/session/io_binding.h"

namespace ortolan::runtime {
namespace {

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

}  // namespace
}  // namespace ortolan::runtime
