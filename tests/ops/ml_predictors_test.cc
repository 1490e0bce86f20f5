// Linear models, support vector machines and tree ensembles of ai.onnx.ml.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;
using Strings = std::vector<std::string>;

OpTest ml(const char* op, int opset = 3) { return OpTest(op, opset, "ai.onnx.ml"); }

TEST(Linear, RegressesAndClassifies) {
  OpTest regressor = ml("LinearRegressor");
  regressor.attribute("coefficients", Floats{1, 2, -1, 0}).attribute("intercepts", Floats{10, 20}).set("targets", 2);
  EXPECT_TRUE(near(OpTest(regressor).input<float>({2, 2}, {1, 1, 2, 3}).run_tensor(), {2, 2}, {13, 19, 18, 18}));
  EXPECT_NE(OpTest(regressor).input<float>({1, 3}, {1, 1, 1}).error().find("the input of shape [1,3] has 3 features"),
            std::string::npos);
  OpTest classes = ml("LinearClassifier");
  classes.attribute("coefficients", Floats{1, 0, 0, 1, -1, -1})
      .attribute("intercepts", Floats{0, 0, 0})
      .attribute("classlabels_strings", Strings{"x", "y", "n"})
      .set("post_transform", "SOFTMAX");
  auto results = classes.input<int64_t>({2, 2}, {2, 1, -3, -1}).run(2);
  EXPECT_TRUE(equal<std::string>(results[0].tensor(), {2}, {"x", "n"}));
  double e2 = std::exp(2), e1 = std::exp(1), e3 = std::exp(-3), sum = e2 + e1 + e3;
  EXPECT_NEAR(doubles(results[1].tensor())[0], e2 / sum, 1e-5);
  OpTest binary = ml("LinearClassifier");
  binary.attribute("coefficients", Floats{1})
      .attribute("intercepts", Floats{0.5f})
      .attribute("classlabels_ints", Ints{7, 9})
      .set("post_transform", "LOGISTIC");
  results = binary.input<float>({2, 1}, {1, -2}).run(2);
  EXPECT_TRUE(equal<int64_t>(results[0].tensor(), {2}, {9, 7}));
  EXPECT_NEAR(doubles(results[1].tensor())[1], 1 / (1 + std::exp(-1.5)), 1e-6);
  EXPECT_NEAR(doubles(results[1].tensor())[0], 1 / (1 + std::exp(1.5)), 1e-6);
}

TEST(Svm, RegressesWithEachKernel) {
  struct Case {
    const char* kernel;
    double (*like)(double, double);
  };
  const Case cases[] = {
      {"LINEAR", [](double a, double b) { return a * b; }},
      {"POLY", [](double a, double b) { return std::pow(0.5 * a * b + 1, 3); }},
      {"RBF", [](double a, double b) { return std::exp(-0.5 * (a - b) * (a - b)); }},
      {"SIGMOID", [](double a, double b) { return std::tanh(0.5 * a * b + 1); }},
  };
  for (const Case& c : cases) {
    OpTest test = ml("SVMRegressor");
    test.set("kernel_type", c.kernel)
        .attribute("kernel_params", Floats{0.5f, 1, 3})
        .attribute("support_vectors", Floats{1, 2})
        .attribute("coefficients", Floats{0.25f, -1})
        .attribute("rho", Floats{0.75f})
        .set("n_supports", 2);
    double x = 1.5, expected = 0.25 * c.like(x, 1) - c.like(x, 2) + 0.75;
    EXPECT_TRUE(near(OpTest(test).input<float>({1, 1}, {1.5f}).run_tensor(), {1, 1}, {expected})) << c.kernel;
    Tensor one_class = OpTest(test).set("one_class", 1).input<float>({1, 1}, {1.5f}).run_tensor();
    EXPECT_TRUE(near(one_class, {1, 1}, {expected > 0 ? 1. : -1.})) << c.kernel;
  }
}

TEST(Svm, ClassifiesByVotes) {
  OpTest test = ml("SVMClassifier");
  test.attribute("support_vectors", Floats{-1, 1})
      .attribute("coefficients", Floats{1, -1})
      .attribute("rho", Floats{0})
      .ints("vectors_per_class", {1, 1})
      .attribute("classlabels_ints", Ints{4, 6});
  auto results = OpTest(test).input<float>({2, 1}, {-3, 2}).run(2);
  EXPECT_TRUE(equal<int64_t>(results[0].tensor(), {2}, {4, 6}));
  auto likely =
      OpTest(test).attribute("prob_a", Floats{-1}).attribute("prob_b", Floats{0}).input<float>({1, 1}, {-3}).run(2);
  double p = 1 / (1 + std::exp(-6.0));
  EXPECT_NEAR(doubles(likely[1].tensor())[0], p, 0.01);
  // The votes decide, also where the probabilities say otherwise.
  auto unlikely =
      OpTest(test).attribute("prob_a", Floats{1}).attribute("prob_b", Floats{0}).input<float>({1, 1}, {-3}).run(2);
  EXPECT_TRUE(equal<int64_t>(unlikely[0].tensor(), {1}, {4}));
  EXPECT_NEAR(doubles(unlikely[1].tensor())[0], 1 - p, 0.01);
  EXPECT_NE(OpTest(test)
                .ints("vectors_per_class", {1, 2})
                .input<float>({1, 1}, {1})
                .error(2)
                .find("support_vectors has 2 entries for 3 vectors"),
            std::string::npos);
  EXPECT_NE(OpTest(test)
                .attribute("rho", Floats{})
                .input<float>({1, 1}, {1})
                .error(2)
                .find("rho, prob_a and prob_b have 0, 0 and 0 entries"),
            std::string::npos);
  EXPECT_NE(OpTest(test)
                .ints("vectors_per_class", {-1, 3})
                .input<float>({1, 1}, {1})
                .error(2)
                .find("vectors_per_class holds -1"),
            std::string::npos);
}

TEST(Svm, LinearPairsAgainstDoubles) {
  constexpr int64_t kFeatures = 5, kRows = 70;
  const Ints per_class = {3, 0, 4, 2};
  const size_t classes = 4, count = 9;
  auto floats = [](int64_t n, uint32_t seed) {
    Tensor values = random_tensor<float>({n}, seed);
    return Floats(values.data<float>(), values.data<float>() + n);
  };
  Floats vectors = floats(9 * kFeatures, 1), coefficients = floats(9 * 3, 2), rho = floats(6, 3);
  Tensor x = random_tensor<float>({kRows, kFeatures}, test_seed(), -10, 10);
  std::vector<double> expected, likes(count);
  for (int64_t row = 0; row < kRows; ++row) {
    for (size_t v = 0; v < count; ++v) {
      likes[v] = 0;
      for (size_t f = 0; f < kFeatures; ++f) {
        likes[v] += double(vectors[v * kFeatures + f]) * double(x.data<float>()[row * kFeatures + int64_t(f)]);
      }
    }
    auto sum = [&](size_t of_class, size_t line) {
      size_t first = 0;
      for (size_t c = 0; c < of_class; ++c) first += static_cast<size_t>(per_class[c]);
      double total = 0;
      for (size_t v = first; v < first + static_cast<size_t>(per_class[of_class]); ++v) {
        total += likes[v] * double(coefficients[line * count + v]);
      }
      return total;
    };
    for (size_t i = 0, pair = 0; i < classes; ++i) {
      for (size_t j = i + 1; j < classes; ++j) expected.push_back(sum(i, j - 1) + sum(j, i) + double(rho[pair++]));
    }
  }
  OpTest test = ml("SVMClassifier");
  test.attribute("support_vectors", vectors).attribute("coefficients", coefficients).attribute("rho", rho);
  test.ints("vectors_per_class", per_class).attribute("classlabels_ints", Ints{0, 1, 2, 3}).input(x);
  EXPECT_TRUE(near(test.run(2)[1].tensor(), {kRows, 6}, expected));
}

/** Two trees: one splits x0 at 1 and then x1 at 0, the other x1 at 5. */
struct Trees {
  Ints tree = {0, 0, 0, 0, 0, 1, 1, 1}, id = {0, 1, 2, 3, 4, 0, 1, 2}, feature = {0, 1, 0, 0, 0, 1, 0, 0};
  Ints yes = {1, 2, 0, 0, 0, 1, 0, 0}, no = {4, 3, 0, 0, 0, 2, 0, 0};
  Strings mode = {"BRANCH_LEQ", "BRANCH_LEQ", "LEAF", "LEAF", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"};
  Floats value = {1, 0, 0, 0, 0, 5, 0, 0};

  OpTest& apply(OpTest& test) const {
    return test.ints("nodes_treeids", tree)
        .ints("nodes_nodeids", id)
        .ints("nodes_featureids", feature)
        .ints("nodes_truenodeids", yes)
        .ints("nodes_falsenodeids", no)
        .attribute("nodes_modes", mode)
        .attribute("nodes_values", value);
  }
  OpTest regressor() const {
    OpTest test = ml("TreeEnsembleRegressor");
    apply(test)
        .ints("target_treeids", {0, 0, 0, 1, 1})
        .ints("target_nodeids", {2, 3, 4, 1, 2})
        .ints("target_ids", {0, 0, 0, 0, 0});
    return test.attribute("target_weights", Floats{1, 2, 4, 10, 20}).set("n_targets", 1);
  }
};

double expected_sum(double x0, double x1) { return (x0 <= 1 ? (x1 <= 0 ? 1 : 2) : 4) + (x1 <= 5 ? 10 : 20); }

TEST(TreeEnsemble, RegressesEveryAggregate) {
  Tensor rows = random_tensor<float>({300, 2}, test_seed(), -2, 8);
  std::vector<double> sums;
  for (int64_t i = 0; i < 300; ++i)
    sums.push_back(expected_sum(rows.data<float>()[2 * i], rows.data<float>()[2 * i + 1]));
  EXPECT_TRUE(near(Trees().regressor().input(rows).run_tensor(), {300, 1}, sums));
  auto one = [](const char* aggregate) {
    return doubles(Trees()
                       .regressor()
                       .set("aggregate_function", aggregate)
                       .attribute("base_values", Floats{100})
                       .input<double>({1, 2}, {0, 6})
                       .run_tensor())[0];
  };
  EXPECT_EQ(one("SUM"), 122);
  EXPECT_EQ(one("AVERAGE"), 111);
  EXPECT_EQ(one("MIN"), 102);
  EXPECT_EQ(one("MAX"), 120);
  EXPECT_EQ(doubles(Trees().regressor().input<float>({1, 2}, {NAN, NAN}).run_tensor())[0], 24);
  EXPECT_EQ(doubles(Trees()
                        .regressor()
                        .ints("nodes_missing_value_tracks_true", {1, 0, 0, 0, 0, 1, 0, 0})
                        .input<float>({1, 2}, {NAN, NAN})
                        .run_tensor())[0],
            12);
}

TEST(TreeEnsemble, RefusesBrokenTrees) {
  Tensor row = tensor_of<float>({1, 2}, {0, 0});
  auto error = [&](auto&& change) {
    Trees trees;
    change(trees);
    return trees.regressor().input(row).error();
  };
  EXPECT_EQ(error([](Trees&) {}), "");
  std::string cycle = error([](Trees& t) { t.yes[1] = 1; });
  EXPECT_NE(cycle.find("reached twice"), std::string::npos) << cycle;
  EXPECT_NE(error([](Trees& t) { t.yes[1] = 0; }).find("node 0 of the ensemble is not reached from its tree's root"),
            std::string::npos);
  EXPECT_NE(error([](Trees& t) { t.no[0] = 99; }).find("tree 0 has no node 99, but a child or a weight names it"),
            std::string::npos);
  EXPECT_NE(error([](Trees& t) { t.feature[0] = -1; }).find("node 0 tests feature -1"), std::string::npos);
  EXPECT_NE(
      error([](Trees& t) { t.feature[0] = 2; }).find("the input of shape [1,2] has 2 features, but the trees test"),
      std::string::npos);
  EXPECT_NE(
      error([](Trees& t) { t.mode[0] = "BRANCH_MAYBE"; }).find("nodes_modes holds 'BRANCH_MAYBE', which is unknown"),
      std::string::npos);
  EXPECT_NE(error([](Trees& t) { t.value.pop_back(); }).find("attribute 'nodes_values' has 7 entries, but there are 8"),
            std::string::npos);
  EXPECT_NE(error([](Trees& t) { t.id[1] = 2; }).find("node 2 of tree 0 is listed twice"), std::string::npos);
  EXPECT_NE(Trees()
                .regressor()
                .ints("target_ids", {0, 0, 0, 0, 1})
                .input(row)
                .error()
                .find("a leaf weight counts for target 1, which is outside [0, 0]"),
            std::string::npos);
  EXPECT_NE(Trees()
                .regressor()
                .ints("target_nodeids", {2, 3, 4, 1, 9})
                .input(row)
                .error()
                .find("tree 1 has no node 9, but a child or a weight names it"),
            std::string::npos);
  EXPECT_NE(Trees().regressor().set("n_targets", -1).input(row).error().find("the ensemble has -1 targets"),
            std::string::npos);
}

TEST(TreeEnsemble, ClassifiesTwoWays) {
  OpTest many = ml("TreeEnsembleClassifier");
  Trees()
      .apply(many)
      .ints("class_treeids", {0, 0, 0, 1, 1})
      .ints("class_nodeids", {2, 3, 4, 1, 2})
      .ints("class_ids", {0, 1, 2, 1, 2})
      .attribute("class_weights", Floats{1, 1, 1, 0.5f, 0.5f})
      .attribute("classlabels_strings", Strings{"a", "b", "c"});
  auto results = many.input<float>({2, 2}, {0, -1, 9, 9}).run(2);
  EXPECT_TRUE(equal<std::string>(results[0].tensor(), {2}, {"a", "c"}));
  EXPECT_TRUE(near(results[1].tensor(), {2, 3}, {1, 0.5, 0, 0, 0, 1.5}));
  OpTest two = ml("TreeEnsembleClassifier");
  Trees()
      .apply(two)
      .ints("class_treeids", {0, 0, 0, 1, 1})
      .ints("class_nodeids", {2, 3, 4, 1, 2})
      .ints("class_ids", {0, 0, 0, 0, 0})
      .attribute("class_weights", Floats{1, -2, -3, 0.5f, 0.5f})
      .ints("classlabels_int64s", {0, 1})
      .set("post_transform", "LOGISTIC");
  results = two.input<float>({2, 2}, {0, -1, 9, 9}).run(2);
  EXPECT_TRUE(equal<int64_t>(results[0].tensor(), {2}, {1, 0}));
  EXPECT_NEAR(doubles(results[1].tensor())[1], 1 / (1 + std::exp(-1.5)), 1e-6);
}

TEST(TreeEnsemble, NewestFormWithMembers) {
  OpTest test = ml("TreeEnsemble", 5);
  test.ints("tree_roots", {0})
      .ints("nodes_featureids", {0, 0})
      .ints("nodes_truenodeids", {0, 1})
      .ints("nodes_falsenodeids", {1, 2})
      .ints("nodes_trueleafs", {1, 1})
      .ints("nodes_falseleafs", {0, 1});
  test.attribute("nodes_modes", tensor_of<uint8_t>({2}, {0, 6}))
      .attribute("nodes_splits", tensor_of<float>({2}, {1, NAN}))
      .attribute("membership_values", tensor_of<float>({3}, {7, 5, NAN}));
  test.ints("leaf_targetids", {0, 1, 0})
      .attribute("leaf_weights", tensor_of<float>({3}, {10, 20, 30}))
      .set("n_targets", 2);
  EXPECT_TRUE(near(test.input<float>({3, 1}, {1, 5, 6}).run_tensor(), {3, 2}, {10, 0, 0, 20, 30, 0}));
}

}  // namespace
}  // namespace ortolan::test
