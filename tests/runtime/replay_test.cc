// Runs that a provider records and replays: when it is asked to, and when the run must be computed all the same.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fake_provider.h"
#include "model_builder.h"
#include "runtime/providers/devices.h"

namespace ortolan::runtime {
namespace {

/** How often what happened. */
struct Counts {
  int computed = 0;
  int replayed = 0;
};

class Twice final : public OpKernel {
 public:
  explicit Twice(Counts& counts) : counts_(counts) {}
  void compute(KernelContext& context) const override {
    ++counts_.computed;
    const Tensor& from = context.input(0);
    float* to = context.output(0, from.shape()).mutable_data<float>();
    for (int64_t i = 0; i < from.element_count(); ++i) to[i] = 2 * from.data<float>()[i];
  }

 private:
  Counts& counts_;
};

/** Compiles each Neg, as something else, and has a run recorded at its second time. */
class Recorder final : public ExecutionProvider {
 public:
  explicit Recorder(Counts& counts) : counts_(counts) {}
  const std::string& type() const override { return type_; }
  const std::vector<std::pair<std::string, std::string>>& options() const override { return options_; }
  Capability get_capability(const Graph& graph) override {
    Capability capability;
    for (const auto& node : graph.nodes()) {
      if (node->op_type == "Neg") capability.groups.push_back({{node.get()}, true});
    }
    return capability;
  }
  std::vector<CompiledGroup> compile(std::span<const FusedGroup> groups) override {
    std::vector<CompiledGroup> compiled(groups.size());
    for (CompiledGroup& group : compiled) group.kernel = std::make_unique<Twice>(counts_);
    return compiled;
  }
  bool captures_graphs() const override { return true; }
  bool graph_captured(int annotation) const override { return annotation == 0 && counts_.computed >= 2; }
  void replay_graph(int) override { ++counts_.replayed; }

 private:
  std::string type_ = "Recorder";
  std::vector<std::pair<std::string, std::string>> options_;
  Counts& counts_;
};

class RecorderFactory final : public ProviderFactory {
 public:
  explicit RecorderFactory(Counts& counts) : counts_(counts) {}
  const std::string& type() const override { return type_; }
  std::unique_ptr<ExecutionProvider> make(const SessionOptions&, const Logger&) const override {
    return std::make_unique<Recorder>(counts_);
  }

 private:
  std::string type_ = "Recorder";
  Counts& counts_;
};

class Replay : public ::testing::Test {
 protected:
  /** y = op(x), on the recorder where op is Neg; with `more`, z = Tanh(x) beside it, which it leaves to the CPU. */
  void make(bool more = false) {
    Builder build;
    ValueInfo* x = build.input("x", Shape{3});
    build.graph().mark_output(build.node("Neg", {x}, "y"));
    if (more) build.graph().mark_output(build.node("Tanh", {x}, "z"));
    SessionOptions options;
    options.level = RewriteLevel::kNone;
    options.providers.push_back({"Recorder", {}, std::make_shared<RecorderFactory>(counts_)});
    session_ = Session::from_model(environment(), std::move(build.model), options);
  }
  void run(Value& y, RunOptions* options = nullptr) {
    Value x = vector_tensor<float>(std::vector<float>{1, 2, 3});
    const Value* inputs[] = {&x};
    const char *in[] = {"x"}, *out[] = {"y"};
    session_->run(options, in, inputs, out, {&y, 1});
    EXPECT_EQ(y.tensor().data<float>()[2], 6);
  }
  void expect(int computed, int replayed) {
    EXPECT_EQ(counts_.computed, computed);
    EXPECT_EQ(counts_.replayed, replayed);
  }

  Counts counts_;
  std::unique_ptr<Session> session_;
};

TEST_F(Replay, ARunGoesOnUntilItIsRecorded) {
  make();
  Value y;
  run(y);
  expect(2, 0);
  run(y);  // into the value that is there
  expect(2, 1);
}

TEST_F(Replay, NeedsAPlaceForEachOutput) {
  make();
  Value y;
  run(y);
  Value fresh;
  run(fresh);
  expect(3, 0);
}

TEST_F(Replay, IsForbiddenByTheNumberMinusOne) {
  make();
  RunOptions options;
  options.config["gpu_graph_id"] = "-1";
  Value y;
  for (int i = 0; i < 3; ++i) run(y, &options);
  expect(3, 0);
}

TEST_F(Replay, CannotStandInForNodesOfOthers) {
  make(true);
  Value y;
  for (int i = 0; i < 3; ++i) run(y);
  expect(3, 0);
}

/** Doubles on a device while it gives them a shape, which it reads on the CPU. */
class DoublingReshape final : public OpKernel {
 public:
  DoublingReshape(const OpaqueMemory& memory, Counts& counts) : memory_(memory), counts_(counts) {}
  void compute(KernelContext& context) const override {
    ++counts_.computed;
    const auto dims = context.input(1).span<int64_t>();
    const Tensor& from = context.input(0);
    Tensor& to = context.output(0, Shape(dims.begin(), dims.end()));
    auto source = memory_.bytes(from.raw()), target = memory_.bytes(to.raw());
    for (int64_t i = 0; i < from.element_count(); ++i) {
      reinterpret_cast<float*>(target.get())[i] = 2 * reinterpret_cast<float*>(source.get())[i];
    }
  }

 private:
  const OpaqueMemory& memory_;
  Counts& counts_;
};

/** What one of the providers below shares with its test. */
struct Recording {
  OpaqueMemory memory{0, "DeviceRecorder"};
  Counts counts;
  bool beside_shapes = false;
};

/** Takes each Reshape, of which a model has two, and has a run recorded at its second time. */
class DeviceRecorder final : public ExecutionProvider, public DataTransfer {
 public:
  explicit DeviceRecorder(Recording& recording)
      : recording_(recording), memory_(std::shared_ptr<void>(), &recording.memory) {}
  const std::string& type() const override { return type_; }
  const std::vector<std::pair<std::string, std::string>>& options() const override { return options_; }
  Capability get_capability(const Graph& graph) override {
    Capability capability;
    for (const auto& node : graph.nodes()) {
      if (node->op_type == "Reshape") capability.groups.push_back({{node.get()}});
    }
    return capability;
  }
  ChosenKernel make_kernel(const KernelInfo&) const override {
    return {std::make_unique<DoublingReshape>(recording_.memory, recording_.counts)};
  }
  const MemoryInfo& memory() const override { return memory_->info(); }
  bool input_on_cpu(const Node&, size_t i) const override { return i == 1; }
  std::vector<std::shared_ptr<Allocator>> allocators() const override { return {memory_}; }
  const DataTransfer* data_transfer() const override { return this; }
  bool can_copy(const MemoryInfo&, const MemoryInfo&) const override { return true; }
  void copy(const Tensor& from, Tensor& to, Stream*) const override {
    auto bytes = [&](const Tensor& side) {
      void* raw = const_cast<void*>(side.raw());
      return side.memory().on_cpu() ? static_cast<std::byte*>(raw) : memory_->bytes(raw).get();
    };
    std::memcpy(bytes(to), bytes(from), from.byte_count());
  }
  bool captures_graphs() const override { return true; }
  bool records_beside_shapes() const override { return recording_.beside_shapes; }
  bool graph_captured(int annotation) const override { return annotation == 0 && recording_.counts.computed >= 4; }
  void replay_graph(int) override { ++recording_.counts.replayed; }

 private:
  std::string type_ = "DeviceRecorder";
  std::vector<std::pair<std::string, std::string>> options_;
  Recording& recording_;
  std::shared_ptr<OpaqueMemory> memory_;
};

class DeviceRecorderFactory final : public ProviderFactory {
 public:
  explicit DeviceRecorderFactory(Recording& recording) : recording_(recording) {}
  const std::string& type() const override { return type_; }
  std::unique_ptr<ExecutionProvider> make(const SessionOptions&, const Logger&) const override {
    return std::make_unique<DeviceRecorder>(recording_);
  }

 private:
  std::string type_ = "DeviceRecorder";
  Recording& recording_;
};

/** t = 2 x and y = 2 op(t) on the device, t as it is where op is empty; the CPU computes y's shape, and op. */
std::unique_ptr<Session> shapes_on_the_cpu(Recording& recording, const std::string& op = "") {
  Builder build;
  ValueInfo* flat = build.graph().add_initializer("flat", vector_tensor<int64_t>(std::vector<int64_t>{3}));
  ValueInfo* t = build.node("Reshape", {build.input("x", Shape{3}), flat}, "t");
  ValueInfo* shape = build.node("Abs", {build.node("Shape", {t}, "s")}, "shape");
  ValueInfo* data = op.empty() ? t : build.node(op, {t}, "data");
  build.graph().mark_output(build.node("Reshape", {data, shape}, "y"));
  SessionOptions options;
  options.level = RewriteLevel::kNone;
  options.providers.push_back({"DeviceRecorder", {}, std::make_shared<DeviceRecorderFactory>(recording)});
  return Session::from_model(environment(), std::move(build.model), options);
}

/** Four runs, with everything on the device. */
void run_there(const Session& session, Recording& recording) {
  const MemoryInfo& there = recording.memory.info();
  Value x(session.devices()->copied(vector_tensor<float>(std::vector<float>{1, 2, 3}), there, nullptr));
  Value y(session.devices()->make(there, ElementType::kFloat, Shape{3}, nullptr));
  const Value* inputs[] = {&x};
  const char *in[] = {"x"}, *out[] = {"y"};
  for (int i = 0; i < 4; ++i) session.run(nullptr, in, inputs, out, {&y, 1});
  Tensor back = session.devices()->copied(y.tensor(), cpu_allocator()->info(), nullptr);
  EXPECT_EQ(std::abs(back.data<float>()[2]), 12);
}

TEST(ReplayOnDevices, ShapesMayStayWithTheCpuWhereTheProviderSaysSo) {
  for (bool allowed : {false, true}) {
    Recording recording;
    recording.beside_shapes = allowed;
    auto session = shapes_on_the_cpu(recording);
    ASSERT_EQ(session->assignments().size(), 4u);
    run_there(*session, recording);
    EXPECT_EQ(recording.counts.computed, allowed ? 4 : 8);
    EXPECT_EQ(recording.counts.replayed, allowed ? 3 : 0);
  }
}

TEST(ReplayOnDevices, ElementsThatTheCpuComputesAreNoShapes) {
  Recording recording;
  recording.beside_shapes = true;
  auto session = shapes_on_the_cpu(recording, "Neg");
  run_there(*session, recording);
  EXPECT_EQ(recording.counts.replayed, 0);
}

/** Shape reads no element, so nothing is copied for it. */
TEST(ReplayOnDevices, AShapeIsReadWhereTheTensorLies) {
  Recording recording;
  auto session = shapes_on_the_cpu(recording);
  ASSERT_EQ(session->copies().size(), 2u);
  EXPECT_EQ(session->copies()[0].value, "x");
  EXPECT_EQ(session->copies()[0].to, "DeviceRecorder");
  EXPECT_EQ(session->copies()[1].value, "y");
}

}  // namespace
}  // namespace ortolan::runtime
