// Rewriting as a whole: the work it does on large graphs, and saved models.
#include <cstdio>
#include <filesystem>

#include "pass_test.h"

namespace ortolan::test {
namespace {

constexpr int kLarge = 40000;

/** A long graph with something for each pass. */
void build_large(TestGraph& g) {
  ValueInfo* x = g.input("x", {4, 4});
  ValueInfo* one = g.scalar("one", 1);
  ValueInfo* weights = g.random("w", {4, 4});
  for (int i = 0; i < kLarge / 8; ++i) {
    auto name = [&](const char* stem) { return join(stem, i); };
    ValueInfo* same = g.node("Mul", {x, one}, name("mul"));
    ValueInfo* there = g.node("Transpose", {same}, name("there"));
    ValueInfo* back = g.node("Transpose", {there}, name("back"));
    ValueInfo* product = g.node("MatMul", {back, weights}, name("product"));
    ValueInfo* folded = g.node("Exp", {weights}, name("folded"));
    ValueInfo* sum = g.node("Add", {product, folded}, name("sum"));
    ValueInfo* active = g.node("Relu", {sum}, name("relu"));
    x = g.node("Sigmoid", {active}, name("sigmoid"));
  }
  g.output(x);
}

TEST(Rewrite, DoesLittleWorkOnLargeGraphs) {
  auto build = [](TestGraph& g) { build_large(g); };
  PassTest test(build);
  auto model = test.model();
  Work work = rewrite_as_session(*model, 99);
  EXPECT_LE(work.evaluations, kLarge / 8 + 1);
  EXPECT_LE(work.resolutions, kLarge / 2);
  EXPECT_LE(work.inferences, 5);
  EXPECT_EQ(count_nodes(*model->graph), (Counts{{"ortolan.Gemm", kLarge / 8}, {"Sigmoid", kLarge / 8}}));
}

TEST(Rewrite, SavedModelsRunAgain) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {1, 4, 6, 6});
    ValueInfo* y =
        g.node("Conv", {x, g.random("w", {4, 4, 3, 3})}, "conv", {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
    y = g.node("Mul", {y, g.random("m", {4, 1, 1})}, "mul");
    y = g.node("Relu", {g.node("Add", {y, x}, "sum")}, "relu");
    g.output(g.node("Mul", {y, g.node("Sigmoid", {y}, "s")}, "y"));
  };
  auto environment = std::make_shared<Environment>(Logger(stderr_sink(), "test", Severity::kWarning));
  PassTest test(build);
  Value x(random_tensor<float>({1, 4, 6, 6}, 1, -3, 3));
  Value expected = test.run(RewriteLevel::kNone)[0];
  for (RewriteLevel level : {RewriteLevel::kBasic, RewriteLevel::kAll}) {
    SessionOptions options;
    options.level = level;
    options.optimized_model_path = join("passes_test_", static_cast<int>(level), ".onnx");
    Session::from_model(environment, test.model(), options);
    std::string path = std::exchange(options.optimized_model_path, "");
    auto session = Session::from_file(environment, path, options);
    std::filesystem::remove(path);
    const char *input = "x", *output = "y";
    const Value* feed = &x;
    Value result;
    session->run(nullptr, {&input, 1}, {&feed, 1}, {&output, 1}, {&result, 1});
    EXPECT_TRUE(near(result.tensor(), {1, 4, 6, 6}, doubles(expected.tensor())));
  }
}

TEST(Rewrite, BasicLevelLeavesPlainOnnx) {
  auto build = [](TestGraph& g) { build_large(g); };
  PassTest test(build);
  auto model = test.model();
  rewrite_as_session(*model, 1);
  ASSERT_FALSE(model->graph->nodes().empty());
  for (const auto& node : model->graph->nodes()) EXPECT_EQ(node->domain, "");
  EXPECT_EQ(model->context->opsets.count("ortolan"), 0u);
}

}  // namespace
}  // namespace ortolan::test
