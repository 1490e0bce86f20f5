// The memory of runs: what is counted, what is said beyond the bound, and what a session keeps between runs.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "../thrown_text.h"
#include "model_builder.h"
#include "tensor/arena.h"

namespace ortolan::runtime {
namespace {

constexpr size_t kMegabyte = size_t{1} << 20;

Tensor ints(std::vector<int64_t> values) { return vector_tensor<int64_t>(std::span<const int64_t>(values)); }

/** A model of one float or text input "x" whose nodes a test adds; its output is "y". */
struct Bounded : Builder {
  explicit Bounded(SymbolicShape shape, ElementType type = ElementType::kFloat)
      : x(input("x", std::move(shape), type)) {
    model->context->opsets[""] = 20;
  }
  static ValueInfo* make(Graph& graph, const std::string& op, std::vector<ValueInfo*> inputs,
                         const std::string& output) {
    ValueInfo* value = node_in(graph, op, std::move(inputs), output);
    value->producer->opset = 20;
    return value;
  }
  ValueInfo* make(const std::string& op, std::vector<ValueInfo*> inputs, const std::string& output) {
    return make(graph(), op, std::move(inputs), output);
  }
  ValueInfo* constant(const std::string& name, Tensor value) { return graph().add_initializer(name, std::move(value)); }
  void give(ValueInfo* value) { graph().mark_output(value); }

  /** "y" is what a loop of that many trips makes of `states`, or collects. The body is given its graph and states, and
      gives the new ones, and what is collected. */
  void loop(int64_t trips, std::vector<ValueInfo*> states,
            const std::function<std::vector<ValueInfo*>(Graph&, std::vector<ValueInfo*>)>& fill,
            bool collects = false) {
    auto body = std::make_shared<Graph>(model->context, &graph());
    auto formal = [&](const std::string& name, TypeInfo type) {
      ValueInfo* value = body->add_value(name, std::move(type));
      value->is_input = true;
      body->inputs.push_back(value);
      return value;
    };
    formal("i", TypeInfo::of_tensor(ElementType::kInt64, Shape{}));
    ValueInfo* go_on = formal("go_on", TypeInfo::of_tensor(ElementType::kBool, Shape{}));
    std::vector<ValueInfo*> inner;
    for (size_t i = 0; i < states.size(); ++i) inner.push_back(formal("state" + std::to_string(i), {}));
    body->mark_output(make(*body, "Identity", {go_on}, "still"));
    for (ValueInfo* value : fill(*body, inner)) body->mark_output(value);
    std::vector<ValueInfo*> inputs{constant("trips", scalar(trips)), nullptr}, outputs;
    inputs.insert(inputs.end(), states.begin(), states.end());
    for (size_t i = 0; i < states.size(); ++i) outputs.push_back(graph().add_value("last" + std::to_string(i)));
    if (collects) outputs.push_back(graph().add_value("collected"));
    Node* node = graph().add_node("growing", "Loop", "", inputs, outputs);
    node->opset = 20;
    node->set_attribute("body", body);
    give(make("Identity", {outputs.back()}, "y"));
  }

  std::unique_ptr<Session> session(size_t bytes, SessionOptions options = {},
                                   std::shared_ptr<Environment> in = environment()) {
    if (bytes != 0) options.config["ortolan.max_run_bytes"] = std::to_string(bytes);
    options.intra_op_threads = 2;
    return Session::from_model(std::move(in), std::move(model), options);
  }

  ValueInfo* x;
};

Value run(const Session& session, const Value& x, RunOptions* options = nullptr) {
  const Value* values[] = {&x};
  const char *in[] = {"x"}, *out[] = {"y"};
  Value result;
  session.run(options, in, values, out, std::span(&result, 1));
  return result;
}

/** What a run that needs too much says; empty where it goes through. */
std::string refusal(const Session& session, const Value& x) {
  try {
    run(session, x);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kFail);
    return error.text();
  }
  return "";
}

void expect_refused(const Session& session, const Value& x, const std::string& node, size_t limit) {
  const std::string text = refusal(session, x);
  for (const std::string& part : {"node '" + node + "'", std::string(" bytes are needed beside the "),
                                  "more than the " + std::to_string(limit) + " that it may",
                                  std::string("raise the session entry 'ortolan.max_run_bytes'")}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
  }
}

Tensor ones(Shape shape) {
  Tensor tensor(ElementType::kFloat, std::move(shape));
  std::ranges::fill(tensor.mutable_span<float>(), 1.0f);
  return tensor;
}

Tensor text(std::string content) {
  Tensor tensor(ElementType::kString, Shape{1});
  *tensor.mutable_data<std::string>() = std::move(content);
  return tensor;
}

/** y = max(cos(x expanded to `count`)): the planned block holds a value of that many floats. */
Bounded expanded(int64_t count) {
  Bounded build(Shape{1});
  ValueInfo* large = build.make("Expand", {build.x, build.constant("shape", ints({count}))}, "large");
  ValueInfo* wave = build.make("CumSum", {large, build.constant("axis", scalar<int64_t>(0))}, "wave");
  build.give(build.make("ReduceMax", {wave}, "y"));
  return build;
}

constexpr int64_t kLarge = 130'000'000;  // 520 MB

TEST(RunBytes, BoundThePlannedBlock) {
  auto session = expanded(kLarge).session(64 * kMegabyte);
  expect_refused(*session, ones({1}), "large", 64 * kMegabyte);
  expect_refused(*session, ones({1}), "large", 64 * kMegabyte);
}

TEST(RunBytes, AreAtMostAShareOfTheMachinesMemory) {
  auto session = expanded(int64_t{1} << 46).session(0);
  const std::string text = refusal(*session, ones({1}));
  EXPECT_TRUE(text.find("allowed for one tensor") != std::string::npos || text.find("that it may") != std::string::npos)
      << text;
}

std::shared_ptr<Environment> with_arena(std::shared_ptr<Arena> arena) {
  auto shared = environment();
  shared->register_allocator(std::move(arena));
  return shared;
}

SessionOptions shared_allocators() {
  SessionOptions options;
  options.config["session.use_env_allocators"] = "1";
  return options;
}

TEST(ArenaLimit, GovernsThePlannedBlock) {
  auto arena = std::make_shared<Arena>(ArenaOptions{.limit = 64 * kMegabyte});
  auto session = expanded(kLarge).session(0, shared_allocators(), with_arena(arena));
  const std::string text = refusal(*session, ones({1}));
  EXPECT_NE(text.find("more than the 67108864 that it may"), std::string::npos) << text;
  EXPECT_NE(text.find("raise 'max_mem' of the environment's allocator"), std::string::npos) << text;
  EXPECT_EQ(arena->stats().in_use, 0);
}

TEST(ArenaLimit, LeavesRoomForWhatFits) {
  auto arena = std::make_shared<Arena>(ArenaOptions{.limit = 64 * kMegabyte});
  auto session = expanded(1'000'000).session(0, shared_allocators(), with_arena(arena));
  EXPECT_EQ(*run(*session, ones({1})).tensor().data<float>(), 1e6f);
  EXPECT_GE(arena->stats().in_use, 4'000'000) << "the planned block is the allocator's";
}

TEST(RunBytes, AreFreeAgainAfterAFailure) {
  Bounded build(SymbolicShape(DimVector{Dim()}), ElementType::kInt64);
  build.give(build.make("ConstantOfShape", {build.x}, "y"));
  auto session = build.session(8 * kMegabyte);
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_NE(refusal(*session, ints({2'500'000})).find("that it may"), std::string::npos);
    EXPECT_EQ(run(*session, ints({500'000})).tensor().element_count(), 500'000);
  }
}

TEST(RunBytes, CountValuesMadeDuringTheRun) {
  Bounded build(SymbolicShape(DimVector{Dim()}), ElementType::kInt64);
  std::vector<ValueInfo*> parts;
  for (int i = 0; i < 8; ++i)
    parts.push_back(build.make("RandomNormalLike",
                               {build.make("ConstantOfShape", {build.x}, "zeros" + std::to_string(i))},
                               "part" + std::to_string(i)));
  build.give(build.make("Sum", parts, "y"));
  auto session = build.session(16 * kMegabyte);
  const std::string text = refusal(*session, ints({kMegabyte}));
  EXPECT_NE(text.find("node '"), std::string::npos) << text;
  EXPECT_NE(text.find("4194432 bytes are needed"), std::string::npos) << text;
}

TEST(RunBytes, BoundALoopThatInsertsIntoASequence) {
  Bounded build(Shape{4});
  build.loop(INT64_MAX, {build.make("SequenceConstruct", {build.x}, "start")}, [&](Graph& body, auto states) {
    return std::vector<ValueInfo*>{Bounded::make(body, "SequenceInsert", {states[0], build.x}, "longer")};
  });
  expect_refused(*build.session(kMegabyte / 8), ones({4}), "longer", kMegabyte / 8);
}

TEST(RunBytes, BoundALoopThatMakesNewItems) {
  Bounded build(Shape{4});
  build.loop(INT64_MAX, {build.make("SequenceConstruct", {build.x}, "start")}, [&](Graph& body, auto states) {
    ValueInfo* item = Bounded::make(body, "Neg", {build.x}, "item");
    return std::vector<ValueInfo*>{Bounded::make(body, "SequenceInsert", {states[0], item}, "longer")};
  });
  EXPECT_NE(refusal(*build.session(kMegabyte / 8), ones({4})).find("node 'growing' (Loop)"), std::string::npos);
}

TEST(RunBytes, BoundWhatALoopCollects) {
  Bounded build(Shape{256});
  build.loop(
      INT64_MAX, {build.x},
      [](Graph& body, auto states) {
        return std::vector<ValueInfo*>{Bounded::make(body, "Identity", {states[0]}, "same"),
                                       Bounded::make(body, "Neg", {states[0]}, "slice")};
      },
      /*collects=*/true);
  expect_refused(*build.session(kMegabyte), ones({256}), "growing", kMegabyte);
}

TEST(RunBytes, CountStringsByWhatTheyHold) {
  Bounded build(Shape{1}, ElementType::kString);
  build.loop(60, {build.x}, [](Graph& body, auto states) {
    return std::vector<ValueInfo*>{Bounded::make(body, "StringConcat", {states[0], states[0]}, "twice")};
  });
  expect_refused(*build.session(kMegabyte), text("ab"), "twice", kMegabyte);
}

TEST(RunBytes, GoOnWithStringsThatFit) {
  Bounded build(Shape{1}, ElementType::kString);
  build.loop(15, {build.x}, [](Graph& body, auto states) {
    return std::vector<ValueInfo*>{Bounded::make(body, "StringConcat", {states[0], states[0]}, "twice")};
  });
  auto session = build.session(kMegabyte);
  for (int repeat = 0; repeat < 40; ++repeat) {
    EXPECT_EQ(run(*session, text("ab")).tensor().data<std::string>()->size(), 65536u);
  }
}

/** A model with one node that copies the text x a thousand times. */
using Multiply = std::function<ValueInfo*(Bounded&)>;

std::vector<std::pair<std::string, Multiply>> multipliers() {
  auto zeros = [](Bounded& build) { return build.constant("zeros", ints(std::vector<int64_t>(1000, 0))); };
  return {
      {"Expand",
       [](Bounded& b) {
         return b.make("Expand", {b.x, b.constant("shape", ints({1000}))}, "many");
       }},
      {"Tile",
       [](Bounded& b) {
         return b.make("Tile", {b.x, b.constant("repeats", ints({1000}))}, "many");
       }},
      {"Gather",
       [=](Bounded& b) {
         return b.make("Gather", {b.x, zeros(b)}, "many");
       }},
      {"GatherND",
       [](Bounded& b) {
         return b.make("GatherND", {b.x, b.constant("zeros", ints(std::vector<int64_t>(1000, 0)).reshaped({1000, 1}))},
                       "many");
       }},
      {"Concat",
       [](Bounded& b) {
         ValueInfo* many = b.make("Concat", std::vector<ValueInfo*>(1000, b.x), "many");
         many->producer->set_attribute("axis", int64_t{0});
         return many;
       }},
      {"Pad",
       [](Bounded& b) {
         ValueInfo* many = b.make("Pad", {b.x, b.constant("pads", ints({0, 999}))}, "many");
         many->producer->set_attribute("mode", std::string("edge"));
         return many;
       }},
      {"Where",
       [](Bounded& b) {
         return b.make("Where", {b.constant("c", Tensor(ElementType::kBool, Shape{1000})), b.x, b.x}, "many");
       }},
      {"StringConcat",
       [](Bounded& b) {
         return b.make("StringConcat", {b.x, b.constant("none", Tensor(ElementType::kString, Shape{1000}))}, "many");
       }},
  };
}

TEST(RunBytes, StopANodeThatMultipliesStrings) {
  for (const auto& [op, multiply] : multipliers()) {
    SCOPED_TRACE(op);
    Bounded build(Shape{1}, ElementType::kString);
    build.give(build.make("Identity", {multiply(build)}, "y"));
    auto session = build.session(kMegabyte);
    expect_refused(*session, text(std::string(10'000, 'a')), "many", kMegabyte);
    EXPECT_GE(run(*session, text(std::string(100, 'a'))).tensor().element_count(), 1000);
  }
}

TEST(RunBytes, CountScratchOfKernels) {
  auto model = [] {
    Bounded build(Shape{1, 256, 64, 64});
    ValueInfo* y = build.make("Conv", {build.x, build.constant("w", ones({8, 256, 3, 3}))}, "convolved");
    build.give(build.make("ReduceMax", {y}, "y"));
    return build;
  };
  const Tensor x = ones({1, 256, 64, 64});
  const size_t planned = 8 * 62 * 62 * 4;
  EXPECT_EQ(*run(*model().session(256 * kMegabyte), x).tensor().data<float>(), 256.0f * 9);
  expect_refused(*model().session(planned + 4096), x, "convolved", planned + 4096);
}

TEST(RunBytes, CountScratchOfTheContext) {
  auto model = [] {
    Bounded build(Shape{100'000});
    ValueInfo* hot = build.make(
        "OneHot", {build.x, build.constant("depth", scalar<int64_t>(1)), build.constant("values", ones({2}))}, "hot");
    build.give(build.make("ReduceMax", {hot}, "y"));
    return build;
  };
  const Tensor x = ones({100'000});
  EXPECT_EQ(*run(*model().session(2 * kMegabyte), x).tensor().data<float>(), 1.0f);
  expect_refused(*model().session(kMegabyte), x, "hot", kMegabyte);
}

TEST(RunBytes, AreEachRunsOwn) {
  auto session = expanded(kMegabyte).session(12 * kMegabyte);  // one needs more than half of it
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int repeat = 0; repeat < 20; ++repeat) ASSERT_EQ(refusal(*session, ones({1})), "");
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(RunBytes, OfOutputsAreTheCallersAfterTheRun) {
  Bounded build(SymbolicShape(DimVector{Dim()}), ElementType::kInt64);
  build.give(build.make("ConstantOfShape", {build.x}, "y"));
  auto session = build.session(6 * kMegabyte);
  std::vector<Value> kept;
  for (int repeat = 0; repeat < 5; ++repeat) kept.push_back(run(*session, ints({kMegabyte})));
  session.reset();
  EXPECT_EQ(kept.back().tensor().element_count(), static_cast<int64_t>(kMegabyte));
}

TEST(RunBytes, HoldInParallelMode) {
  SessionOptions options;
  options.mode = ExecutionMode::kParallel;
  options.inter_op_threads = 2;
  auto session = expanded(kLarge).session(64 * kMegabyte, options);
  expect_refused(*session, ones({1}), "large", 64 * kMegabyte);
}

TEST(RunBytes, MustBeANumber) {
  SessionOptions options;
  options.config["ortolan.max_run_bytes"] = "much";
  EXPECT_EQ(test::error_of([&] { expanded(1).session(0, options); }),
            "session entry 'ortolan.max_run_bytes' is 'much'; it must be a positive number");
}

int64_t held(const Session& session) { return session.allocator(cpu_allocator()->info())->stats().in_use; }

TEST(PooledFrames, AreDroppedByShrinkage) {
  auto session = expanded(kMegabyte).session(0);
  run(*session, ones({1}));
  EXPECT_GE(held(*session), static_cast<int64_t>(4 * kMegabyte));
  RunOptions options;
  options.config["memory.enable_memory_arena_shrinkage"] = "cpu:0";
  run(*session, ones({1}), &options);
  EXPECT_EQ(held(*session), 0);
  EXPECT_EQ(*run(*session, ones({1})).tensor().data<float>(), static_cast<float>(kMegabyte));
}

TEST(PooledFrames, AreBoundedByBytes) {
  Bounded build(SymbolicShape(DimVector{Dim()}));
  ValueInfo* wave = build.make("CumSum", {build.x, build.constant("axis", scalar<int64_t>(0))}, "wave");
  build.give(build.make("ReduceMax", {build.make("Cos", {wave}, "cos")}, "y"));
  auto session = build.session(32 * kMegabyte);
  for (int64_t extra = 0; extra < 6; ++extra) {
    for (int repeat = 0; repeat < 3; ++repeat) run(*session, ones({static_cast<int64_t>(kMegabyte) / 2 + extra}));
  }
  EXPECT_GE(held(*session), static_cast<int64_t>(2 * kMegabyte));
  EXPECT_LE(held(*session), static_cast<int64_t>(8 * kMegabyte + 4096));
}

}  // namespace
}  // namespace ortolan::runtime
