// Random tensors by their statistics, and that seeds repeat them; Dropout.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct Moments {
  double mean, deviation;
};

Moments moments(const Tensor& x) {
  double sum = 0, squares = 0;
  auto values = doubles(x);
  for (double v : values) sum += v, squares += v * v;
  auto n = static_cast<double>(values.size());
  return {sum / n, std::sqrt(squares / n - sum / n * (sum / n))};
}

TEST(Random, NormalAndUniformHaveTheirMoments) {
  Tensor normal =
      OpTest("RandomNormal").ints("shape", {100, 100}).set("mean", 3.0f).set("scale", 2.0f).once().run_tensor();
  EXPECT_EQ(normal.shape(), (Shape{100, 100}));
  EXPECT_NEAR(moments(normal).mean, 3, 0.2);
  EXPECT_NEAR(moments(normal).deviation, 2, 0.2);
  Tensor x = random_tensor<float>({100, 100}, 1);
  Tensor uniform =
      OpTest("RandomUniformLike").set("low", -1.0f).set("high", 5.0f).set("dtype", 11).input(x).once().run_tensor();
  EXPECT_EQ(uniform.type(), ElementType::kDouble);
  EXPECT_NEAR(moments(uniform).mean, 2, 0.2);
  EXPECT_NEAR(moments(uniform).deviation, 6 / std::sqrt(12.0), 0.2);
  for (double v : doubles(uniform)) EXPECT_TRUE(v >= -1 && v < 5);
  EXPECT_EQ(OpTest("RandomNormalLike").input<float>({0, 2}, {}).once().run_tensor().shape(), (Shape{0, 2}));
}

/** The largest distance between the shares of `values` up to a place and those that the normal distribution has. */
double distance_from_normal(std::vector<double> values) {
  std::ranges::sort(values);
  double largest = 0, n = static_cast<double>(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    double share = 0.5 * std::erfc(-values[i] / std::sqrt(2.0));
    largest = std::max({largest, share - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - share});
  }
  return largest;
}

TEST(Random, NormalsAreNormalAndIndependent) {
  constexpr int64_t kCount = 100003;
  Tensor x = OpTest("RandomNormal").ints("shape", {kCount}).set("seed", 5.0f).set("dtype", 11).once().run_tensor();
  auto values = doubles(x);
  EXPECT_LT(distance_from_normal(values), 2 / std::sqrt(double(kCount)));  // more by chance: once in 1500 seeds
  // The two numbers of a pair lie 256 apart in blocks of 512; the odd one may know nothing of the other.
  for (size_t apart : {1u, 2u, 256u, 512u}) {
    double products = 0, of_squares = 0;
    for (size_t i = 0; i + apart < values.size(); ++i) {
      products += values[i] * values[i + apart];
      of_squares += (values[i] * values[i] - 1) * (values[i + apart] * values[i + apart] - 1);
    }
    EXPECT_LT(std::abs(products), 5 * std::sqrt(double(kCount))) << apart;
    EXPECT_LT(std::abs(of_squares), 10 * std::sqrt(double(kCount))) << apart;
  }
}

TEST(Random, SeedsRepeat) {
  auto draw = [](float seed) {
    return OpTest("RandomUniform").ints("shape", {20}).set("seed", seed).once().run_tensor();
  };
  EXPECT_TRUE(same_value(draw(3), draw(3)));
  EXPECT_FALSE(same_value(draw(3), draw(4)));
  auto free_draw = [] { return OpTest("RandomUniform").ints("shape", {20}).once().run_tensor(); };
  EXPECT_FALSE(same_value(free_draw(), free_draw()));
  EXPECT_NE(OpTest("RandomUniform").ints("shape", {-2}).error().find("must not be negative"), std::string::npos);
}

TEST(Random, BernoulliAndMultinomialFollowProbabilities) {
  Tensor p(ElementType::kFloat, {20000});
  std::fill_n(p.mutable_data<float>(), 20000, 0.25f);
  Tensor bits = OpTest("Bernoulli", 15).set("dtype", 6).input(p).once().run_tensor();
  EXPECT_EQ(bits.type(), ElementType::kInt32);
  EXPECT_NEAR(moments(bits).mean, 0.25, 0.03);
  Tensor logits = tensor_of<float>({2, 3}, {std::log(0.2f), std::log(0.8f), -INFINITY, -INFINITY, -INFINITY, 100});
  Tensor drawn = OpTest("Multinomial").set("sample_size", 5000).input(logits).once().run_tensor();
  EXPECT_EQ(drawn.shape(), (Shape{2, 5000}));
  auto values = doubles(drawn);
  double ones = 0;
  for (size_t i = 0; i < 5000; ++i) {
    EXPECT_LT(values[i], 2);
    EXPECT_EQ(values[5000 + i], 2);
    ones += values[i];
  }
  EXPECT_NEAR(ones / 5000, 0.8, 0.05);
  EXPECT_NE(
      OpTest("Multinomial").input<float>({2, 0}, {}).error().find("input of shape [2,0] gives no classes to draw from"),
      std::string::npos);
}

TEST(Dropout, PassesThroughInInference) {
  Tensor x = random_tensor<float>({3, 4}, test_seed());
  for (int opset : {1, 6, 7, 10, 12, 13, 22}) {
    auto y = OpTest("Dropout", opset).input(x).run(2);
    EXPECT_TRUE(same_value(y[0], x)) << opset;
    EXPECT_EQ(y[1].tensor().type(), opset < 10 ? ElementType::kFloat : ElementType::kBool);
    EXPECT_EQ(doubles(y[1].tensor()), std::vector<double>(12, 1)) << opset;
  }
}

TEST(Dropout, ScalesWhatItKeepsInTraining) {
  Tensor x(ElementType::kFloat, {10000});
  std::fill_n(x.mutable_data<float>(), 10000, 3.0f);
  Tensor yes = tensor_of<bool>({}, {true});
  auto y = OpTest("Dropout", 13).set("seed", 7).input(x).input<float>({}, {0.4f}).input(yes).once().run(2);
  auto values = doubles(y[0].tensor()), mask = doubles(y[1].tensor());
  double kept = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(values[i], mask[i] * 3 / 0.6, 1e-5);
    kept += mask[i];
  }
  EXPECT_NEAR(kept / 10000, 0.6, 0.05);
  Tensor same = OpTest("Dropout", 13).input(x).input<float>({}, {0}).input(yes).run_tensor();
  EXPECT_TRUE(same_value(same, x));
  std::string text = OpTest("Dropout", 13).input(x).input<float>({}, {1}).input(yes).error();
  EXPECT_NE(text.find("ratio is 1; it must be in [0, 1)"), std::string::npos) << text;
}

TEST(Dropout, ScalesFloat8InTraining) {
  Tensor x = tensor_of<Float8E4M3FN>({64}, std::vector<Float8E4M3FN>(64, Float8E4M3FN(3)));
  Tensor yes = tensor_of<bool>({}, {true});
  auto y = OpTest("Dropout", 22).set("seed", 7).input(x).input<float>({}, {0.5f}).input(yes).once().run(2);
  std::span<const Float8E4M3FN> values = y[0].tensor().span<Float8E4M3FN>();
  auto mask = doubles(y[1].tensor());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(static_cast<float>(values[i]), mask[i] * 6) << i;
}

}  // namespace
}  // namespace ortolan::test
