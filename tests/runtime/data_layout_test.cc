// Providers that prefer channels last: which operators change their form, what becomes of those that they then leave,
// and that results stay the same.
#include "runtime/session/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "model_builder.h"
#include "ops/channels_last.h"

namespace ortolan::runtime {
namespace {

/** What a provider wants, and what it was given. */
struct Wishes {
  bool channels_last = true;
  std::set<std::string> keeps;    // operators that it wants as they are
  bool fails = false;             // when it is asked which
  std::set<std::string> refuses;  // operators that it takes as they are alone, and only when first asked
  int asked = 0;
  std::vector<std::string> made;  // "domain:operator" of its kernels
};

/** Where an element of data of rank 4 lies. */
struct Place {
  const Shape& shape;
  bool channels_last;
  int64_t dim(size_t axis) const { return shape[channels_last && axis > 0 ? (axis == 1 ? 3 : axis - 1) : axis]; }
  int64_t operator()(int64_t n, int64_t c, int64_t h, int64_t w) const {
    if (channels_last) return ((n * dim(2) + h) * dim(3) + w) * dim(1) + c;
    return ((n * dim(1) + c) * dim(2) + h) * dim(3) + w;
  }
};

/** MaxPool with windows of 2 x 2 side by side, and GlobalAveragePool, in either form. */
class Pool final : public OpKernel {
 public:
  explicit Pool(const Node& node)
      : channels_last_(node.domain == ops::kChannelsLastDomain), mean_(node.op_type == "GlobalAveragePool") {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    const Place from{x.shape(), channels_last_}, to{y.shape(), channels_last_};
    const int64_t height = mean_ ? from.dim(2) : 2, width = mean_ ? from.dim(3) : 2;
    for (int64_t n = 0; n < to.dim(0); ++n) {
      for (int64_t c = 0; c < to.dim(1); ++c) {
        for (int64_t h = 0; h < to.dim(2); ++h) {
          for (int64_t w = 0; w < to.dim(3); ++w) {
            float most = std::numeric_limits<float>::lowest(), sum = 0;
            for (int64_t i = 0; i < height * width; ++i) {
              float value = x.data<float>()[from(n, c, h * height + i / width, w * width + i % width)];
              most = std::max(most, value);
              sum += value;
            }
            y.mutable_data<float>()[to(n, c, h, w)] = mean_ ? sum / float(height * width) : most;
          }
        }
      }
    }
  }

 private:
  const bool channels_last_;
  const bool mean_;
};

class Pools final : public ExecutionProvider {
 public:
  explicit Pools(Wishes& wishes) : wishes_(wishes) {}
  const std::string& type() const override { return type_; }
  const std::vector<std::pair<std::string, std::string>>& options() const override { return options_; }
  bool prefers_channels_last() const override { return wishes_.channels_last; }
  std::optional<bool> converts_to_channels_last(const std::string& domain, const std::string& op) const override {
    EXPECT_EQ(domain, "");
    require(!wishes_.fails, ErrorCode::kEpFail, "it cannot say");
    return wishes_.keeps.contains(op) ? std::optional(false) : std::nullopt;
  }
  Capability get_capability(const Graph& graph) override {
    ++wishes_.asked;
    Capability capability;
    for (const auto& node : graph.nodes()) {
      bool pool = node->op_type == "MaxPool" || node->op_type == "GlobalAveragePool";
      bool wanted = wishes_.asked == 1 || !wishes_.refuses.contains(node->op_type);
      if (pool && wanted) capability.groups.push_back({{node.get()}});
    }
    return capability;
  }
  ChosenKernel make_kernel(const KernelInfo& info) const override {
    wishes_.made.push_back(info.node().domain + ":" + info.node().op_type);
    return {std::make_unique<Pool>(info.node())};
  }

 private:
  std::string type_ = "Pools";
  std::vector<std::pair<std::string, std::string>> options_;
  Wishes& wishes_;
};

class PoolsFactory final : public ProviderFactory {
 public:
  explicit PoolsFactory(Wishes& wishes) : wishes_(wishes) {}
  const std::string& type() const override { return type_; }
  std::unique_ptr<ExecutionProvider> make(const SessionOptions&, const Logger&) const override {
    return std::make_unique<Pools>(wishes_);
  }

 private:
  std::string type_ = "Pools";
  Wishes& wishes_;
};

/** y = GlobalAveragePool(MaxPool(Tanh(MaxPool(x)))) for any number of images; z is what comes of the Tanh. */
std::unique_ptr<Model> model() {
  Builder build;
  Dim images = build.model->context->symbols.named("N");
  ValueInfo* x = build.input("x", SymbolicShape(DimVector{images, Dim(3), Dim(8), Dim(4)}));
  auto pool = [&](ValueInfo* from, const std::string& name) {
    ValueInfo* to = build.node("MaxPool", {from}, name);
    to->producer->set_attribute("kernel_shape", std::vector<int64_t>{2, 2});
    to->producer->set_attribute("strides", std::vector<int64_t>{2, 2});
    return to;
  };
  ValueInfo* t = build.node("Tanh", {pool(x, "p")}, "t");
  build.graph().mark_output(build.node("GlobalAveragePool", {pool(t, "q")}, "y"));
  build.graph().mark_output(build.node("Neg", {t}, "z"));
  return std::move(build.model);
}

std::unique_ptr<Session> session(Wishes* wishes) {
  SessionOptions options;
  options.level = RewriteLevel::kNone;
  if (wishes != nullptr) options.providers.push_back({"Pools", {}, std::make_shared<PoolsFactory>(*wishes)});
  return Session::from_model(environment(), model(), options);
}

std::vector<Value> run(const Session& session, int64_t images) {
  Tensor x(ElementType::kFloat, Shape{images, 3, 8, 4});
  for (int64_t i = 0; i < x.element_count(); ++i) x.mutable_data<float>()[i] = float((i * 37) % 101) / 50 - 1;
  Value input(x);
  const Value* inputs[] = {&input};
  const char *in[] = {"x"}, *out[] = {"y", "z"};
  std::vector<Value> results(2);
  session.run(nullptr, in, inputs, out, results);
  return results;
}

void expect_same_results(const Session& session) {
  auto plain = ortolan::runtime::session(nullptr);
  for (int64_t images : {2, 1, 2, 2, 3}) {
    auto wanted = run(*plain, images), found = run(session, images);
    for (size_t i = 0; i < wanted.size(); ++i) {
      const Tensor &right = wanted[i].tensor(), &made = found[i].tensor();
      ASSERT_EQ(made.shape(), right.shape());
      for (int64_t at = 0; at < right.element_count(); ++at) {
        ASSERT_NEAR(made.data<float>()[at], right.data<float>()[at], 1e-6) << "output " << i << ", element " << at;
      }
    }
  }
}

size_t count(const Session& session, const std::string& op) {
  return static_cast<size_t>(
      std::ranges::count_if(session.assignments(), [&](const auto& node) { return node.op_type == op; }));
}

const std::string kLast = std::string(ops::kChannelsLastDomain) + ":";

TEST(DataLayout, OperatorsAreGivenWithChannelsLast) {
  Wishes wishes;
  auto made = session(&wishes);
  EXPECT_EQ(wishes.asked, 2);
  EXPECT_EQ(wishes.made, (std::vector<std::string>{kLast + "MaxPool", kLast + "MaxPool", kLast + "GlobalAveragePool"}));
  expect_same_results(*made);
  // One before the first, one for each result: none stands between the three.
  EXPECT_EQ(count(*made, "Transpose"), 3u);
}

TEST(DataLayout, NothingChangesUnlessItIsPreferred) {
  Wishes wishes;
  wishes.channels_last = false;
  auto made = session(&wishes);
  EXPECT_EQ(wishes.asked, 1);
  EXPECT_EQ(wishes.made, (std::vector<std::string>{":MaxPool", ":MaxPool", ":GlobalAveragePool"}));
  EXPECT_EQ(count(*made, "Transpose"), 0u);
  expect_same_results(*made);
}

TEST(DataLayout, AnOperatorMayBeLeftAsItIs) {
  Wishes wishes;
  wishes.keeps = {"GlobalAveragePool"};
  auto made = session(&wishes);
  EXPECT_EQ(wishes.made, (std::vector<std::string>{kLast + "MaxPool", kLast + "MaxPool", ":GlobalAveragePool"}));
  expect_same_results(*made);
}

TEST(DataLayout, AProviderThatCannotSayGetsAllAsTheyAre) {
  Wishes wishes;
  wishes.fails = true;
  auto made = session(&wishes);
  EXPECT_EQ(wishes.made, (std::vector<std::string>{":MaxPool", ":MaxPool", ":GlobalAveragePool"}));
  expect_same_results(*made);
}

TEST(DataLayout, WhatTheProviderThenLeavesIsChangedBack) {
  Wishes wishes;
  wishes.refuses = {"MaxPool"};
  auto made = session(&wishes);
  EXPECT_EQ(wishes.made, std::vector<std::string>{kLast + "GlobalAveragePool"});
  for (const NodeAssignment& node : made->assignments()) {
    if (node.op_type != "MaxPool") continue;
    EXPECT_EQ(node.provider, "CPUExecutionProvider");
    EXPECT_EQ(node.domain, "");
  }
  EXPECT_EQ(count(*made, "MaxPool"), 2u);
  expect_same_results(*made);
  wishes = {};
  wishes.refuses = {"MaxPool", "GlobalAveragePool"};
  made = session(&wishes);
  EXPECT_EQ(count(*made, "Transpose"), 0u);
  expect_same_results(*made);
}

TEST(DataLayout, OrdersUndoEachOther) {
  EXPECT_EQ(ops::order_to_channels_last(4), (std::vector<int64_t>{0, 2, 3, 1}));
  EXPECT_EQ(ops::order_to_channels_first(4), (std::vector<int64_t>{0, 3, 1, 2}));
  EXPECT_EQ(ops::order_to_channels_last(3), ops::order_to_channels_first(3));
}

}  // namespace
}  // namespace ortolan::runtime
