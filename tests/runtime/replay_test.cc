// Runs that a provider records and replays: when it is asked to, and when the run must be computed all the same.
#include "runtime/session.h"

#include <gtest/gtest.h>

#include "model_builder.h"

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

}  // namespace
}  // namespace ortolan::runtime
