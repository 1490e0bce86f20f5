// Batches in parts: which nodes run once for each part, and that results are those of the whole, bit for bit.
#include "runtime/execution/batch_parts.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <map>
#include <nlohmann/json.hpp>

#include "model_builder.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {
namespace {

constexpr int64_t kChannels = 8, kWide = 128, kSide = 96;  // 4.7 MB an item

Tensor waves(const Shape& shape, float step) {
  Tensor tensor(ElementType::kFloat, shape);
  float* values = tensor.mutable_data<float>();
  for (int64_t i = 0; i < tensor.element_count(); ++i) values[i] = static_cast<float>(i * 37 % 101) * step - 1;
  return tensor;
}

/** Adds nodes behind the narrow result of two convolutions, and gives the model's output. */
using Tail = std::function<ValueInfo*(Builder&, ValueInfo* x, ValueInfo* narrow)>;

/** y = tail(x, narrow(relu(wide(x)))) of x[N, 8, 96, 96]. */
std::unique_ptr<Model> convolutions(const Tail& tail) {
  Builder build;
  Graph& graph = build.graph();
  ValueInfo* x =
      build.input("x", DimVector{build.model->context->symbols.named("N"), Dim(kChannels), Dim(kSide), Dim(kSide)});
  ValueInfo* out = graph.add_initializer("w", waves(Shape{kWide, kChannels, 1, 1}, 0.01f));
  ValueInfo* wide = build.node("Relu", {build.node("Conv", {x, out}, "wide")}, "relu");
  ValueInfo* in = graph.add_initializer("v", waves(Shape{kChannels, kWide, 1, 1}, 0.015f));
  graph.mark_output(tail(build, x, build.node("Conv", {wide, in}, "narrow")));
  return std::move(build.model);
}

ValueInfo* mean_of_sum(Builder& build, ValueInfo* x, ValueInfo* narrow) {
  ValueInfo* sum = build.node("Add", {narrow, x}, "sum");
  return build.node("Flatten", {build.node("GlobalAveragePool", {sum}, "mean")}, "y");
}

/** Runs of one session after the other, by `threads`, and how often each node was computed in them. */
class Runs {
 public:
  Runs(std::unique_ptr<Model> model, std::string output, int threads = 1) : output_(std::move(output)) {
    SessionOptions options;
    options.profile = true;
    options.intra_op_threads = threads;
    options.profile_prefix = join(::testing::TempDir(), "batch_parts_test_", getpid());
    session_ = Session::from_model(environment(), std::move(model), options);
  }

  Tensor run(const Tensor& x, Value result = {}) {
    Value value(x);
    const Value* values[] = {&value};
    const char *in[] = {"x"}, *out[] = {output_.c_str()};
    session_->run(nullptr, in, values, out, std::span(&result, 1));
    return result.tensor();
  }

  std::map<std::string, int> calls() {
    const std::string path = session_->end_profiling();
    std::map<std::string, int> calls;
    for (const auto& event : nlohmann::json::parse(std::ifstream(path))) {
      const std::string name = event["name"];
      if (event["cat"] == "Node") ++calls[name.substr(0, name.rfind("_kernel_time"))];
    }
    std::filesystem::remove(path);
    return calls;
  }

 private:
  std::string output_;
  std::unique_ptr<Session> session_;
};

void expect_same_bits(const Tensor& a, const Tensor& b, const char* what) {
  ASSERT_EQ(join(a.shape()), join(b.shape())) << what;
  EXPECT_EQ(std::memcmp(a.raw(), b.raw(), a.byte_count()), 0) << what;
}

Tensor item(const Tensor& batch, int64_t i) {
  Shape shape = batch.shape();
  shape[0] = 1;
  Tensor result(batch.type(), shape);
  const auto* from = static_cast<const char*>(batch.raw());
  std::memcpy(result.mutable_raw(), from + static_cast<size_t>(i) * result.byte_count(), result.byte_count());
  return result;
}

TEST(BatchParts, ResultsAreThoseOfTheWholeBatchAndOfEachItem) {
  for (int threads : {1, 3}) {
    for (int64_t batch : {7, 8}) {
      Runs runs(convolutions(mean_of_sum), "y", threads);
      const Tensor x = waves(Shape{batch, kChannels, kSide, kSide}, 0.02f);
      const Tensor whole = runs.run(x);  // without a plan
      expect_same_bits(runs.run(x), whole, "second run");
      expect_same_bits(runs.run(x), whole, "third run");
      Tensor other = waves(x.shape(), 0.03f), bound(ElementType::kFloat, whole.shape());
      runs.run(other);
      runs.run(x, Value(bound));
      expect_same_bits(bound, whole, "bound output");
      for (int64_t i = 0; i < batch; ++i) {
        expect_same_bits(runs.run(item(x, i)), item(whole, i), "item");
      }
    }
  }
}

TEST(BatchParts, ValuesOnTheBorderAndOutputsAreWhole) {
  Runs runs(convolutions([](Builder& build, ValueInfo* x, ValueInfo* narrow) {
              ValueInfo* sum = build.node("Add", {narrow, x}, "y");  // the model's output, from parts
              return sum;
            }),
            "y");
  const Tensor x = waves(Shape{8, kChannels, kSide, kSide}, 0.02f), whole = runs.run(x);
  expect_same_bits(runs.run(x), whole, "second run");
  Tensor bound(ElementType::kFloat, whole.shape());
  runs.run(x, Value(bound));
  expect_same_bits(bound, whole, "bound output");
}

/** How often "wide" is computed in one run of a batch of eight that has been planned. */
int parts_of(const Tail& tail, const std::string& output = "y") {
  Runs runs(convolutions(tail), output);
  const Tensor x = waves(Shape{8, kChannels, kSide, kSide}, 0.02f), whole = runs.run(x);
  expect_same_bits(runs.run(x), whole, "second run");
  auto calls = runs.calls();
  for (const auto& [name, count] : calls) {
    if (name == "y") {
      EXPECT_EQ(count, 2) << "what follows the parts is computed once a run";
    }
  }
  return calls.at("wide") - 1;  // the first run has no plan
}

TEST(BatchParts, StepsRunOnceForEachPart) { EXPECT_GT(parts_of(mean_of_sum), 1); }

TEST(BatchParts, ThePartsEndWhereItemsMeet) {
  EXPECT_GT(parts_of([](Builder& build, ValueInfo*, ValueInfo* narrow) {
              ValueInfo* joined = build.node("Concat", {narrow, narrow}, "joined");
              joined->producer->set_attribute("axis", AttributeValue(int64_t{0}));
              return build.node("GlobalAveragePool", {joined}, "y");
            }),
            1)
      << "Concat along the batch comes after the parts";
  EXPECT_GT(parts_of([](Builder& build, ValueInfo*, ValueInfo* narrow) {
              return build.node("ReduceMean", {narrow}, "y");  // over the batch too
            }),
            1);
}

TEST(BatchParts, SeveralCallersAtOnce) {
  Runs runs(convolutions(mean_of_sum), "y");
  const Tensor x = waves(Shape{8, kChannels, kSide, kSide}, 0.02f), whole = runs.run(x);
  std::vector<std::future<Tensor>> results;
  for (int i = 0; i < 4; ++i) results.push_back(std::async(std::launch::async, [&] { return runs.run(x); }));
  for (auto& result : results) expect_same_bits(result.get(), whole, "one of four");
}

TEST(BatchParts, SmallBatchesAreComputedAtOnce) {
  Runs runs(convolutions(mean_of_sum), "y");
  const Tensor x = waves(Shape{1, kChannels, kSide, kSide}, 0.02f);
  for (int i = 0; i < 3; ++i) runs.run(x);
  EXPECT_EQ(runs.calls().at("wide"), 3);
}

}  // namespace
}  // namespace ortolan::runtime
