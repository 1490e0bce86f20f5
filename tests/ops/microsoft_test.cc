// Operators of com.microsoft against their definitions in double.
#include <cmath>
#include <functional>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

TEST(FusedProducts, ActivationAndResidual) {
  Tensor conv = node("FusedConv")
                    .input<float>({1, 1, 3}, {1, -2, 3})
                    .input<float>({1, 1, 1}, {2})
                    .input<float>({1}, {1})
                    .input<float>({1, 1, 3}, {-10, 1, 1})
                    .set("activation", "Relu")
                    .run_tensor();
  EXPECT_TRUE(near(conv, {1, 1, 3}, {0, 0, 8}));
  Tensor clipped = node("FusedConv")
                       .input<float>({1, 1, 3}, {1, -2, 3})
                       .input<float>({1, 1, 1}, {2})
                       .set("activation", "Clip")
                       .attribute("activation_params", std::vector<float>{0, 5})
                       .run_tensor();
  EXPECT_TRUE(near(clipped, {1, 1, 3}, {2, 0, 5}));
  Tensor gemm = node("FusedGemm")
                    .input<float>({1, 2}, {1, 2})
                    .input<float>({2, 2}, {1, -1, 1, -1})
                    .input<float>({2}, {1, 1})
                    .set("activation", "LeakyRelu")
                    .set("activation_alpha", 0.5f)
                    .run_tensor();
  EXPECT_TRUE(near(gemm, {1, 2}, {4, -1}));
  EXPECT_NE(node("FusedConv")
                .input<float>({1, 1, 1}, {1})
                .input<float>({1, 1, 1}, {2})
                .set("activation", "Nothing")
                .error()
                .find("'Nothing'"),
            std::string::npos);
}

TEST(FusedMatMul, TransposesStacks) {
  Tensor a = random_tensor<float>({2, 4, 3}, 1), b = random_tensor<float>({2, 5, 4}, 2);
  auto x = doubles(a), w = doubles(b);
  std::vector<double> expected;
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 5; ++j) {
        double sum = 0;
        for (int p = 0; p < 4; ++p) sum += x[(s * 4 + p) * 3 + i] * w[(s * 5 + j) * 4 + p];
        expected.push_back(sum / 8);
      }
    }
  }
  Tensor y = node("FusedMatMul").input(a).input(b).set("transA", 1).set("transB", 1).set("alpha", 0.125f).run_tensor();
  EXPECT_TRUE(near(y, {2, 3, 5}, expected));
}

/** Element i of a tensor of `shape`, as counted in dimensions `order` of it. */
std::vector<double> permuted(const Tensor& x, std::vector<int> order) {
  auto v = doubles(x);
  std::vector<int64_t> strides(order.size()), sizes;
  for (size_t i = 0; i < order.size(); ++i) strides[i] = x.shape().count_from(static_cast<size_t>(order[i]) + 1);
  for (int d : order) sizes.push_back(x.shape()[static_cast<size_t>(d)]);
  std::vector<double> result;
  for (size_t i = 0; i < v.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), offset = 0;
    for (size_t d = order.size(); d-- > 0; rest /= sizes[d]) offset += rest % sizes[d] * strides[d];
    result.push_back(v[static_cast<size_t>(offset)]);
  }
  return result;
}

TEST(FusedMatMul, TransposesBatches) {
  constexpr int kStack = 6, kM = 4, kN = 5, kK = 3;  // a stack of 2 x 3
  for (int form = 0; form < 16; ++form) {
    bool batch_a = form & 1, trans_a = form & 2, batch_b = form & 4, trans_b = form & 8;
    int64_t ar = trans_a ? kK : kM, ac = trans_a ? kM : kK, br = trans_b ? kN : kK, bc = trans_b ? kK : kN;
    Tensor a = random_tensor<float>(batch_a ? Shape{ar, 2, 3, ac} : Shape{2, 3, ar, ac}, 1);
    Tensor b = random_tensor<float>(batch_b ? Shape{br, 2, 3, bc} : Shape{2, 3, br, bc}, 2);
    int m = batch_a ? 0 : 2, k = batch_b ? 0 : 2;
    auto x = permuted(a, {batch_a ? 1 : 0, batch_a ? 2 : 1, trans_a ? 3 : m, trans_a ? m : 3});
    auto w = permuted(b, {batch_b ? 1 : 0, batch_b ? 2 : 1, trans_b ? 3 : k, trans_b ? k : 3});
    std::vector<double> expected;
    for (int s = 0; s < kStack; ++s) {
      for (int i = 0; i < kM; ++i) {
        for (int j = 0; j < kN; ++j) {
          double sum = 0;
          for (int p = 0; p < kK; ++p) sum += x[(s * kM + i) * kK + p] * w[(s * kK + p) * kN + j];
          expected.push_back(sum);
        }
      }
    }
    for (const char* op : {"FusedMatMul", "TransposeMatMul"}) {
      OpTest test = node(op).input(a).input(b);
      test.set("transBatchA", batch_a).set("transA", trans_a).set("transBatchB", batch_b).set("transB", trans_b);
      EXPECT_TRUE(near(test.run_tensor(), {2, 3, kM, kN}, expected)) << form;
    }
  }
  Tensor stack = random_tensor<float>({2, 3, 4}, 5), one = random_tensor<float>({4, 5}, 6);
  auto x = permuted(stack, {1, 0, 2}), w = doubles(one);
  std::vector<double> sums(30);
  for (int i = 0; i < 120; ++i) sums[i / 4 / 5 * 5 + i / 4 % 5] += x[i / 20 * 4 + i % 4] * w[i % 4 * 5 + i / 4 % 5];
  EXPECT_TRUE(near(node("FusedMatMul").input(stack).input(one).set("transBatchA", 1).run_tensor(), {3, 2, 5}, sums));
  Tensor line = random_tensor<float>({4}, 3), matrix = random_tensor<float>({4, 2}, 4);
  OpTest vector = node("FusedMatMul").input(line).input(matrix).set("transA", 1).set("transBatchA", 1);
  auto v = doubles(line), m = doubles(matrix);
  std::vector<double> expected(2);
  for (int i = 0; i < 8; ++i) expected[i % 2] += v[i / 2] * m[i];
  EXPECT_TRUE(near(vector.run_tensor(), {2}, expected));
  EXPECT_NE(node("FusedMatMul").input(line).input(random_tensor<float>({2, 4}, 1)).error().find("do not fit"),
            std::string::npos);
}

TEST(FusedMatMul, WithActivation) {
  Tensor y = node("FusedMatMulActivation")
                 .input<float>({1, 2}, {1, 2})
                 .input<float>({2, 2}, {1, -1, 1, -1})
                 .set("activation", "LeakyRelu")
                 .set("activation_alpha", 0.5f)
                 .run_tensor();
  EXPECT_TRUE(near(y, {1, 2}, {3, -1.5}));
}

TEST(Gelu, EveryKind) {
  Tensor x = random_tensor<float>({3, 5}, 1, -4, 4), bias = random_tensor<float>({5}, 2);
  auto v = doubles(x), b = doubles(bias);
  std::vector<double> exact, biased, fast, quick;
  for (size_t i = 0; i < v.size(); ++i) {
    double s = v[i] + b[i % 5];
    exact.push_back(v[i] / 2 * (1 + std::erf(v[i] / std::sqrt(2.0))));
    biased.push_back(s / 2 * (1 + std::erf(s / std::sqrt(2.0))));
    fast.push_back(s / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (s + 0.044715 * s * s * s))));
    quick.push_back(v[i] / (1 + std::exp(-1.5 * v[i])));
  }
  EXPECT_TRUE(near(node("Gelu").input(x).run_tensor(), {3, 5}, exact));
  EXPECT_TRUE(near(node("BiasGelu").input(x).input(bias).run_tensor(), {3, 5}, biased));
  EXPECT_TRUE(near(node("FastGelu").input(x).input(bias).run_tensor(), {3, 5}, fast));
  EXPECT_TRUE(near(node("QuickGelu").input(x).set("alpha", 1.5f).run_tensor(), {3, 5}, quick));
  EXPECT_NE(node("BiasGelu").input(x).input(random_tensor<float>({4}, 1)).error().find("the bias"), std::string::npos);
}

/** Rows of `columns` values brought to mean 0 and variance 1, then scaled and shifted. */
std::vector<double> layer_norm(const std::vector<double>& x, const std::vector<double>& scale,
                               const std::vector<double>& bias) {
  size_t columns = scale.size();
  std::vector<double> y;
  for (size_t row = 0; row < x.size(); row += columns) {
    double mean = 0, variance = 0;
    for (size_t i = 0; i < columns; ++i) mean += x[row + i] / static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i)
      variance += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(columns);
    for (size_t i = 0; i < columns; ++i) {
      y.push_back((x[row + i] - mean) / std::sqrt(variance + 1e-12) * scale[i] + (bias.empty() ? 0 : bias[i]));
    }
  }
  return y;
}

TEST(SkipLayerNormalization, SumsFirst) {
  Tensor x = random_tensor<float>({2, 3, 8}, 1), skip = random_tensor<float>({3, 8}, 2);
  Tensor scale = random_tensor<float>({8}, 3), beta = random_tensor<float>({8}, 4), bias = random_tensor<float>({8}, 5);
  auto results = node("SkipLayerNormalization").input(x).input(skip).input(scale).input(beta).input(bias).run(4);
  auto v = doubles(x), s = doubles(skip), extra = doubles(bias);
  for (size_t i = 0; i < v.size(); ++i) v[i] += s[i % 24] + extra[i % 8];
  EXPECT_TRUE(near(results[0].tensor(), {2, 3, 8}, layer_norm(v, doubles(scale), doubles(beta)), 2e-5));
  EXPECT_TRUE(near(results[3].tensor(), {2, 3, 8}, v));
  std::string text =
      node("SkipLayerNormalization").input(x).input(random_tensor<float>({2, 8}, 2)).input(scale).error();
  EXPECT_NE(text.find("skip has shape"), std::string::npos) << text;
}

TEST(EmbedLayerNormalization, LooksUpAndCounts) {
  Tensor words = random_tensor<float>({5, 4}, 1), places = random_tensor<float>({6, 4}, 2),
         parts = random_tensor<float>({2, 4}, 3);
  Tensor scale = random_tensor<float>({4}, 4), beta = random_tensor<float>({4}, 5);
  auto build = [&](std::vector<int32_t> ids) {
    return node("EmbedLayerNormalization")
        .input<int32_t>({2, 2}, ids)
        .input<int32_t>({2, 2}, {0, 1, 1, 0})
        .input(words)
        .input(places)
        .input(parts)
        .input(scale)
        .input(beta)
        .input<int32_t>({2, 2}, {1, 1, 1, 0});
  };
  auto results = build({4, 0, 2, 2}).run(2);
  const int id[] = {4, 0, 2, 2}, part[] = {0, 1, 1, 0};
  auto w = doubles(words), p = doubles(places), g = doubles(parts);
  std::vector<double> sums;
  for (int r = 0; r < 4; ++r) {
    for (int i = 0; i < 4; ++i) sums.push_back(w[id[r] * 4 + i] + p[r % 2 * 4 + i] + g[part[r] * 4 + i]);
  }
  EXPECT_TRUE(near(results[0].tensor(), {2, 2, 4}, layer_norm(sums, doubles(scale), doubles(beta)), 2e-5));
  EXPECT_TRUE(equal<int32_t>(results[1].tensor(), {2}, {2, 1}));
  EXPECT_NE(build({5, 0, 0, 0}).error(2).find("index 5"), std::string::npos);
  EXPECT_NE(build({0, -1, 0, 0}).error(2).find("index -1"), std::string::npos);
}

struct AttentionCase {
  bool causal, past;
  std::optional<Tensor> mask;
  std::function<bool(int b, int i, int j)> seen;
};

constexpr int kBatch = 2, kSequence = 3, kHeads = 2, kHead = 4, kHidden = kHeads * kHead, kPast = 2;

TEST(Attention, MasksPastAndHeads) {
  auto all = [](int, int, int) { return true; };
  const AttentionCase cases[] = {
      {false, false, std::nullopt, all},
      {true, true, std::nullopt, all},
      {false, false, tensor_of<int32_t>({2}, {2, 3}), [](int b, int, int j) { return j < 2 + b; }},
      {true, true, tensor_of<int32_t>({2, 5}, {1, 0, 1, 1, 1, 1, 1, 1, 0, 1}),
       [](int b, int, int j) { return !(b == 0 ? j == 1 : j == 3); }},
  };
  Tensor x = random_tensor<float>({kBatch, kSequence, 5}, 1), w = random_tensor<float>({5, 3 * kHidden}, 2);
  Tensor bias = random_tensor<float>({3 * kHidden}, 3),
         past = random_tensor<float>({2, kBatch, kHeads, kPast, kHead}, 4);
  auto xs = doubles(x), ws = doubles(w), bs = doubles(bias), ps = doubles(past);
  auto projected = [&](int b, int t, int column) {
    double sum = bs[column];
    for (int i = 0; i < 5; ++i) sum += xs[(b * kSequence + t) * 5 + i] * ws[i * 3 * kHidden + column];
    return sum;
  };
  for (const AttentionCase& c : cases) {
    int before = c.past ? kPast : 0, total = before + kSequence;
    auto stored = [&](int part, int b, int h, int j, int i) {
      if (j < before) return ps[(((part * kBatch + b) * kHeads + h) * kPast + j) * kHead + i];
      return projected(b, j - before, (1 + part) * kHidden + h * kHead + i);
    };
    std::vector<double> expected, present;
    for (int b = 0; b < kBatch; ++b) {
      for (int t = 0; t < kSequence; ++t) {
        for (int h = 0; h < kHeads; ++h) {
          std::vector<double> weight;
          double sum = 0;
          for (int j = 0; j < total; ++j) {
            double score = 0;
            for (int i = 0; i < kHead; ++i) score += projected(b, t, h * kHead + i) * stored(0, b, h, j, i) / 2;
            bool seen = c.seen(b, t, j) && (!c.causal || j <= before + t);
            weight.push_back(seen ? std::exp(score) : 0);
            sum += weight.back();
          }
          for (int i = 0; i < kHead; ++i) {
            double value = 0;
            for (int j = 0; j < total; ++j) value += weight[j] / sum * stored(1, b, h, j, i);
            expected.push_back(value);
          }
        }
      }
    }
    for (int row = 0; row < 2 * kBatch * kHeads; ++row) {
      for (int j = 0; j < total * kHead; ++j) {
        present.push_back(stored(row / (kBatch * kHeads), row / kHeads % kBatch, row % kHeads, j / kHead, j % kHead));
      }
    }
    OpTest test =
        node("Attention").set("num_heads", kHeads).set("unidirectional", c.causal).input(x).input(w).input(bias);
    c.mask ? test.input(*c.mask) : test.no_input();
    if (c.past) test.input(past);
    auto results = test.run(2);
    EXPECT_TRUE(near(results[0].tensor(), {kBatch, kSequence, kHidden}, expected, 2e-5)) << &c - cases;
    EXPECT_TRUE(near(results[1].tensor(), {2, kBatch, kHeads, total, kHead}, present, 2e-5)) << &c - cases;
    EXPECT_TRUE(near(test.run_tensor(), {kBatch, kSequence, kHidden}, expected, 2e-5)) << &c - cases;
  }
}

TEST(Attention, Errors) {
  auto run = [](int64_t heads, Shape weights, Shape mask) {
    return node("Attention")
        .set("num_heads", heads)
        .input(random_tensor<float>({1, 2, 4}, 1))
        .input(random_tensor<float>(weights, 2))
        .no_input()
        .input(random_tensor<int32_t>(mask, 3, 0, 1))
        .error();
  };
  EXPECT_NE(run(0, {4, 12}, {1}).find("num_heads is 0"), std::string::npos);
  EXPECT_NE(run(3, {4, 12}, {1}).find("multiple of num_heads"), std::string::npos);
  EXPECT_NE(run(2, {5, 12}, {1}).find("does not fit"), std::string::npos);
  EXPECT_NE(run(2, {4, 12}, {1, 7}).find("mask_index has shape"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
