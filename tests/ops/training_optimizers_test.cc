// Adagrad, Adam, Momentum, and the experimental operators of opsets 1 to 9.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

constexpr char kTraining[] = "ai.onnx.preview.training";

/** Values, gradients and states for two tensors of a step. */
struct Step {
  std::vector<Tensor> tensors;
  OpTest test(const char* op, int64_t updates) const {
    OpTest test(op, 1, kTraining);
    test.input<float>({}, {0.1f}).input<int64_t>({}, {updates});
    for (const Tensor& tensor : tensors) test.input(tensor);
    return test;
  }
};

Step make_step(size_t groups) {
  Step step;
  for (uint32_t i = 0; i < 2 * groups; ++i) {
    step.tensors.push_back(random_tensor<float>(i % 2 ? Shape{3} : Shape{2, 2}, test_seed() + i, 0.5, 2));
  }
  return step;
}

TEST(TrainingOptimizers, Adagrad) {
  Step step = make_step(3);
  auto y = step.test("Adagrad", 2).set("decay_factor", 0.5f).set("norm_coefficient", 0.25f).run(4);
  for (size_t t = 0; t < 2; ++t) {
    auto x = doubles(step.tensors[t]), g = doubles(step.tensors[2 + t]), h = doubles(step.tensors[4 + t]);
    for (size_t i = 0; i < x.size(); ++i) {
      double gradient = 0.25 * x[i] + g[i];
      h[i] += gradient * gradient;
      x[i] -= 0.1 / (1 + 2 * 0.5) * gradient / (std::sqrt(h[i]) + 1e-6);
    }
    EXPECT_TRUE(near(y[t].tensor(), step.tensors[t].shape(), x, 1e-6));
    EXPECT_TRUE(near(y[2 + t].tensor(), step.tensors[t].shape(), h, 1e-6));
  }
}

TEST(TrainingOptimizers, Adam) {
  for (int64_t updates : {0, 3}) {
    Step step = make_step(4);
    auto y =
        step.test("Adam", updates).set("alpha", 0.75f).set("beta", 0.5f).set("norm_coefficient_post", 0.25f).run(6);
    double rate = updates ? 0.1 * std::sqrt(1 - std::pow(0.5, 3)) / (1 - std::pow(0.75, 3)) : 0.1;
    for (size_t t = 0; t < 2; ++t) {
      auto x = doubles(step.tensors[t]), g = doubles(step.tensors[2 + t]);
      auto v = doubles(step.tensors[4 + t]), h = doubles(step.tensors[6 + t]);
      for (size_t i = 0; i < x.size(); ++i) {
        v[i] = 0.75 * v[i] + 0.25 * g[i];
        h[i] = 0.5 * h[i] + 0.5 * g[i] * g[i];
        x[i] = 0.75 * (x[i] - rate * v[i] / (std::sqrt(h[i]) + 1e-6));
      }
      EXPECT_TRUE(near(y[t].tensor(), step.tensors[t].shape(), x, 1e-5));
      EXPECT_TRUE(near(y[2 + t].tensor(), step.tensors[t].shape(), v, 1e-6));
      EXPECT_TRUE(near(y[4 + t].tensor(), step.tensors[t].shape(), h, 1e-6));
    }
  }
}

TEST(TrainingOptimizers, Momentum) {
  for (const char* mode : {"standard", "nesterov"}) {
    for (int64_t updates : {0, 1}) {
      Step step = make_step(3);
      auto test = step.test("Momentum", updates).set("alpha", 0.5f).set("beta", 0.25f).set("mode", mode);
      auto y = test.set("norm_coefficient", 0.0f).run(4);
      auto x = doubles(step.tensors[1]), g = doubles(step.tensors[3]), v = doubles(step.tensors[5]);
      for (size_t i = 0; i < x.size(); ++i) {
        v[i] = 0.5 * v[i] + (updates ? 0.25 : 1) * g[i];
        x[i] -= 0.1 * (mode == std::string("nesterov") ? g[i] + 0.5 * v[i] : v[i]);
      }
      EXPECT_TRUE(near(y[1].tensor(), {3}, x, 1e-6));
      EXPECT_TRUE(near(y[3].tensor(), {3}, v, 1e-6));
    }
  }
  Step step = make_step(3);
  step.tensors.pop_back();
  std::string text = step.test("Adagrad", 0).error(4);
  EXPECT_NE(text.find("the node has 7 inputs and 4 outputs"), std::string::npos) << text;
}

TEST(Experimental, ScaledFunctions) {
  Tensor x = tensor_of<float>({3}, {-1, 0, 2});
  auto run = [&](const char* op) { return OpTest(op, 1).set("alpha", 2.0f).set("beta", 0.5f).input(x).run_tensor(); };
  EXPECT_TRUE(near(run("Affine"), {3}, {-1.5, 0.5, 4.5}));
  EXPECT_TRUE(near(run("ScaledTanh"), {3}, {2 * std::tanh(-0.5), 0, 2 * std::tanh(1.0)}));
  EXPECT_TRUE(near(run("ParametricSoftplus"), {3},
                   {2 * std::log1p(std::exp(-0.5)), 2 * std::log(2.0), 2 * std::log1p(std::exp(1.0))}));
  EXPECT_TRUE(near(OpTest("Scale", 7).set("scale", 3.0f).input(x).run_tensor(), {3}, {-3, 0, 6}));
  EXPECT_NE(OpTest("Affine", 11).input(x).error().find("Affine"), std::string::npos);
}

TEST(Experimental, Images) {
  Tensor image = tensor_of<float>({1, 2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7});
  Tensor scaled = OpTest("ImageScaler", 1)
                      .set("scale", 2.0f)
                      .attribute("bias", std::vector<float>{1, -1})
                      .input(image)
                      .run_tensor();
  EXPECT_TRUE(near(scaled, {1, 2, 2, 2}, {1, 3, 5, 7, 7, 9, 11, 13}));
  Tensor right = OpTest("Crop", 1).ints("border", {1, 0, 0, 0}).input(image).run_tensor();
  EXPECT_TRUE(near(right, {1, 2, 2, 1}, {1, 3, 5, 7}));
  Tensor window = OpTest("Crop", 1).ints("border", {0, 1, 0, 0}).ints("scale", {1, 2}).input(image).run_tensor();
  EXPECT_TRUE(near(window, {1, 2, 1, 2}, {2, 3, 6, 7}));
  EXPECT_NE(OpTest("Crop", 1).ints("border", {2, 0, 1, 0}).input(image).error().find("wider than the image"),
            std::string::npos);
  Tensor filled =
      OpTest("GivenTensorFill", 1).ints("shape", {2, 1}).attribute("values", std::vector<float>{5, 6}).run_tensor();
  EXPECT_TRUE(near(filled, {2, 1}, {5, 6}));
}

}  // namespace
}  // namespace ortolan::test
