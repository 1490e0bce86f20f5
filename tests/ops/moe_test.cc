// MoE and QMoE against experts computed one token at a time in double.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "op_test.h"

namespace ortolan::test {
namespace {

enum class Weights { kSoftmax, kSoftmaxOfTop, kGiven, kSparseMixer };

struct MoeCase {
  int64_t tokens, hidden, inter, experts, top;
  std::string activation = "silu";
  int64_t fusion = 0;
  bool normalize = false, bias = true, fc3 = false, legacy = false, sparse = false, stacked = false;
  float alpha = 1, beta = 0, limit = 0;  // limit 0: none
  Weights weights = Weights::kSoftmax;
};

/** Random tensors, of which layers and results are taken as [expert][result][input]. */
struct Layer {
  std::vector<double> values, bias;
  int64_t rows = 0, columns = 0;
  std::vector<double> apply(int64_t expert, const std::vector<double>& x) const {
    std::vector<double> y;
    for (int64_t r = 0; r < rows; ++r) {
      double sum = bias.empty() ? 0 : bias[expert * rows + r];
      for (int64_t c = 0; c < columns; ++c) sum += values[(expert * rows + r) * columns + c] * x[c];
      y.push_back(sum);
    }
    return y;
  }
};

double activated(const std::string& name, double x) {
  if (name == "relu") return std::max(x, 0.0);
  if (name == "gelu") return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  if (name == "silu") return x / (1 + std::exp(-x));
  return x;
}

std::vector<double> inner_values(const MoeCase& c, const std::vector<double>& fc1, const std::vector<double>& fc3) {
  std::vector<double> y;
  for (int64_t i = 0; i < c.inter; ++i) {
    if (c.activation != "swiglu") {
      y.push_back(activated(c.activation, fc1[i]) * (c.fc3 ? fc3[i] : 1));
      continue;
    }
    double gate = c.fusion == 1 ? fc1[2 * i] : fc1[i];
    double linear = c.fusion == 0 ? fc3[i] : c.fusion == 1 ? fc1[2 * i + 1] : fc1[c.inter + i];
    if (c.limit > 0) {
      gate = std::min<double>(gate, c.limit);
      linear = std::clamp<double>(linear, -c.limit, c.limit);
    }
    y.push_back(gate / (1 + std::exp(-c.alpha * gate)) * (linear + c.beta));
  }
  return y;
}

/** Expert and weight, best first. */
std::vector<std::pair<int64_t, double>> routes(const MoeCase& c, const double* logits, const double* given) {
  std::vector<int64_t> order(c.experts);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return logits[a] > logits[b]; });
  std::vector<std::pair<int64_t, double>> result;
  double total = 0;
  for (int64_t j = 0; j < c.top; ++j) {
    double sum = 0;
    for (int64_t e = 0; e < c.experts; ++e) {
      bool earlier = std::find(order.begin(), order.begin() + j, e) < order.begin() + j;
      double best = logits[order[j]];
      bool far = (best - logits[e]) / std::max(std::abs(logits[e]), best) > 0.02;
      bool chosen = std::find(order.begin(), order.begin() + c.top, e) < order.begin() + c.top;
      if (c.weights == Weights::kSparseMixer && (earlier || far)) continue;
      if (c.weights == Weights::kSoftmaxOfTop && !chosen) continue;
      sum += std::exp(logits[e] - best);
    }
    double weight = c.weights == Weights::kGiven ? given[order[j]] : 1 / sum;
    result.push_back({order[j], weight});
    total += weight;
  }
  for (auto& [expert, weight] : result) weight /= c.normalize ? total : 1;
  return result;
}

std::vector<double> reference(const MoeCase& c, const std::vector<double>& x, const std::vector<double>& logits,
                              const std::vector<double>& given, const Layer (&layers)[3]) {
  std::vector<double> y(x.size());
  for (int64_t t = 0; t < c.tokens; ++t) {
    std::vector<double> row(x.begin() + t * c.hidden, x.begin() + (t + 1) * c.hidden);
    for (auto [expert, weight] : routes(c, &logits[t * c.experts], given.empty() ? nullptr : &given[t * c.experts])) {
      auto third = c.fc3 ? layers[2].apply(expert, row) : row;
      auto result = layers[1].apply(expert, inner_values(c, layers[0].apply(expert, row), third));
      for (int64_t i = 0; i < c.hidden; ++i) y[t * c.hidden + i] += weight * result[i];
    }
  }
  return y;
}

struct MoeNode {
  MoeCase c;
  Tensor x, router, given, weights[3], scales[3], zeros[3], bias[3];
  int bits = 0;
  int64_t block = 0, level = 0;
  bool with_zeros = false;

  int64_t parts() const { return c.activation == "swiglu" && c.fusion > 0 ? 2 : 1; }
  std::pair<int64_t, int64_t> shape(int layer) const {
    if (layer == 1) return {c.hidden, c.inter};
    return {layer == 0 ? c.inter * parts() : c.inter, c.hidden};
  }

  explicit MoeNode(const MoeCase& from, uint32_t seed) : c(from) {
    Shape rows = c.stacked ? Shape{1, c.tokens, c.hidden} : Shape{c.tokens, c.hidden};
    x = random_tensor<float>(rows, seed), router = random_tensor<float>({c.tokens, c.experts}, seed + 1, 0.5, 1);
    given = random_tensor<float>({c.tokens, c.experts}, seed + 2, 0.1, 1);
    for (int i = 0; i < 3; ++i) {
      auto [results, inputs] = shape(i);
      Shape stored{c.experts, c.legacy ? inputs : results, c.legacy ? results : inputs};
      weights[i] = random_tensor<float>(stored, seed + 3 + i);
      bias[i] = random_tensor<float>({c.experts, results}, seed + 6 + i);
    }
  }
  /** Makes it a QMoE. */
  void quantize(int to_bits, int64_t to_block, bool zero_points, uint32_t seed) {
    bits = to_bits, block = to_block, with_zeros = zero_points;
    for (int i = 0; i < 3; ++i) {
      auto [results, inputs] = shape(i);
      int64_t per_byte = 8 / bits, blocks = block ? (inputs + block - 1) / block : 1;
      weights[i] = random_tensor<uint8_t>({c.experts, results, inputs / per_byte}, seed + i, 0, 256);
      Shape scale_shape = block ? Shape{c.experts, results, blocks} : Shape{c.experts, results};
      scales[i] = random_tensor<float>(scale_shape, seed + 3 + i, 0.5 / (1 << bits), 2.0 / (1 << bits));
      scale_shape[scale_shape.rank() - 1] = (scale_shape.back() + per_byte - 1) / per_byte;
      zeros[i] = random_tensor<uint8_t>(scale_shape, seed + 6 + i, 0, 256);
    }
  }

  static int at(const Tensor& tensor, int64_t row, int64_t i, int bits) {
    int64_t per_byte = 8 / bits;
    const uint8_t* bytes = tensor.data<uint8_t>() + row * tensor.shape().back();
    return bytes[i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
  }
  double element(int layer, int64_t expert, int64_t row, int64_t column) const {
    auto [results, inputs] = shape(layer);
    if (bits == 0) {
      return c.legacy ? weights[layer].data<float>()[(expert * inputs + column) * results + row]
                      : weights[layer].data<float>()[(expert * results + row) * inputs + column];
    }
    int64_t blocks = block ? (inputs + block - 1) / block : 1, line = expert * results + row;
    int64_t b = block ? column / block : 0;
    double zero = 1 << (bits - 1);
    if (with_zeros) zero = block ? at(zeros[layer], line, b, bits) : at(zeros[layer], expert, row, bits);
    return (at(weights[layer], line, column, bits) - zero) * scales[layer].data<float>()[line * blocks + b];
  }
  Layer layer(int i) const {
    Layer result;
    std::tie(result.rows, result.columns) = shape(i);
    for (int64_t e = 0; e < c.experts; ++e) {
      for (int64_t r = 0; r < result.rows; ++r) {
        for (int64_t k = 0; k < result.columns; ++k) result.values.push_back(element(i, e, r, k));
      }
    }
    if (c.bias) result.bias = doubles(bias[i]);
    return result;
  }

  OpTest test() const {
    OpTest test(bits ? "QMoE" : "MoE", 1, "com.microsoft");
    test.set("k", c.top).set("activation_type", c.activation.c_str()).set("swiglu_fusion", c.fusion);
    test.set("normalize_routing_weights", int64_t{c.normalize}).set("use_sparse_mixer", int64_t{c.sparse});
    test.set("activation_alpha", c.alpha).set("activation_beta", c.beta);
    if (c.limit > 0) test.set("swiglu_limit", c.limit);
    if (bits) test.set("expert_weight_bits", bits).set("block_size", block).set("accuracy_level", level);
    test.input(x).input(router);
    for (int i = 0; i < 3; ++i) {
      bool there = i < 2 || c.fc3;
      there ? test.input(weights[i]) : test.no_input();
      if (bits) there ? test.input(scales[i]) : test.no_input();
      there&& c.bias ? test.input(bias[i]) : test.no_input();
    }
    if (!bits) return test;
    for (int i = 0; i < 3; ++i) with_zeros && (i < 2 || c.fc3) ? test.input(zeros[i]) : test.no_input();
    if (c.weights == Weights::kGiven) test.input(given);
    return test;
  }
  void check(double tolerance) const {
    Layer layers[3] = {layer(0), layer(1), layer(2)};
    auto weights = c.weights == Weights::kGiven ? doubles(given) : std::vector<double>();
    EXPECT_TRUE(
        near(test().run_tensor(), x.shape(), reference(c, doubles(x), doubles(router), weights, layers), tolerance))
        << c.activation << " fusion " << c.fusion << " bits " << bits << " block " << block;
  }
};

TEST(MoE, ActivationsAndRouting) {
  uint32_t seed = test_seed();
  for (const char* activation : {"relu", "gelu", "silu", "identity"}) {
    for (bool normalize : {false, true}) {
      MoeCase c{7, 12, 10, 5, 2, activation, 0, normalize};
      c.bias = normalize;
      MoeNode(c, seed).check(1e-4);
      c.fc3 = true;
      MoeNode(c, seed + 20).check(1e-4);
    }
  }
  for (int64_t tokens : {0, 1, 40}) MoeNode({tokens, 12, 10, 16, 3}, seed).check(1e-4);
  MoeNode({3, 12, 10, 1, 1}, seed).check(1e-4);
}

TEST(MoE, SwiGlu) {
  for (int64_t fusion : {0, 1, 2}) {
    MoeCase c{5, 12, 10, 4, 2, "swiglu", fusion};
    c.fc3 = fusion == 0, c.alpha = 1.702f, c.beta = 1, c.limit = 0.75f;
    MoeNode(c, 3).check(1e-4);
    c.limit = 0, c.beta = 0;
    MoeNode(c, 4).check(1e-4);
  }
}

TEST(MoE, OlderLayoutStacksAndSparseMixer) {
  MoeCase c{5, 12, 10, 4, 2};
  c.legacy = true, c.stacked = true;
  MoeNode(c, 5).check(1e-4);
  c.legacy = false, c.sparse = true, c.weights = Weights::kSparseMixer;
  MoeNode(c, 6).check(1e-4);
}

TEST(MoE, Half) {
  MoeNode node({4, 12, 10, 3, 2}, 7);
  auto narrow = [](Tensor& tensor) {
    Tensor result(ElementType::kFloat16, tensor.shape());
    for (int64_t i = 0; i < tensor.element_count(); ++i) {
      result.mutable_data<Half>()[i] = Half(tensor.data<float>()[i]);
      tensor.mutable_data<float>()[i] = static_cast<float>(result.data<Half>()[i]);
    }
    return result;
  };
  MoeNode half = node;
  half.x = narrow(node.x), half.router = narrow(node.router);
  for (int i = 0; i < 3; ++i) half.weights[i] = narrow(node.weights[i]), half.bias[i] = narrow(node.bias[i]);
  EXPECT_TRUE(near(half.test().run_tensor(), {4, 12}, doubles(node.test().run_tensor()), 2e-3));
}

TEST(MoE, Errors) {
  auto error = [](auto change) {
    MoeNode node({3, 12, 10, 4, 2}, 1);
    change(node);
    return node.test().error();
  };
  auto says = [&](auto change, const char* text) {
    std::string found = error(change);
    EXPECT_NE(found.find(text), std::string::npos) << found;
  };
  EXPECT_EQ(error([](MoeNode&) {}), "");
  says([](MoeNode& n) { n.c.top = 5; }, "k is 5, but there are 4 experts");
  says([](MoeNode& n) { n.c.top = 0; }, "k is 0");
  says([](MoeNode& n) { n.c.top = INT64_MAX; }, "experts");
  says([](MoeNode& n) { n.c.activation = "tanh"; }, "activation_type is 'tanh'");
  says([](MoeNode& n) { n.c.activation = "swiglu"; }, "swiglu");
  says([](MoeNode& n) { n.c.top = 1, n.c.sparse = true; }, "use_sparse_mixer needs 2");
  says([](MoeNode& n) { n.router = random_tensor<float>({3, 5}, 1); }, "router_probs has shape [3,5]");
  says([](MoeNode& n) { n.router = random_tensor<float>({2, 4}, 1); }, "router_probs has shape [2,4]");
  says([](MoeNode& n) { n.x = random_tensor<float>({3, 11}, 1); }, "need rows of 12");
  says([](MoeNode& n) { n.weights[0] = random_tensor<float>({4, 11, 12}, 1); }, "do not fit together");
  says([](MoeNode& n) { n.weights[1] = random_tensor<float>({3, 12, 10}, 1); }, "do not fit together");
  says([](MoeNode& n) { n.bias[1] = random_tensor<float>({4, 10}, 1); }, "the bias of fc2");
  auto no_experts = [](MoeNode& n) {
    n.c.experts = 0;
    n = MoeNode(n.c, 1);
  };
  says(no_experts, "there are 0 experts");
}

TEST(QMoE, BitsAndBlocks) {
  uint32_t seed = test_seed();
  for (int bits : {2, 4, 8}) {
    for (int64_t block : {0, 16, 32}) {
      for (bool zeros : {false, true}) {
        MoeCase c{block ? 5 : 1, 48, 40, 4, 2, zeros ? "swiglu" : "relu", zeros ? 1 : 0};
        c.weights = Weights::kSoftmaxOfTop, c.bias = block != 16, c.limit = 2;
        MoeNode node(c, seed);
        node.quantize(bits, block, zeros, seed + 50);
        node.check(1e-4);
      }
    }
  }
}

TEST(QMoE, RouterWeightsAndThirdLayer) {
  for (bool normalize : {false, true}) {
    MoeCase c{6, 32, 16, 5, 3, "silu", 0, normalize};
    c.weights = Weights::kGiven, c.fc3 = true;
    MoeNode node(c, 1);
    node.quantize(4, 16, true, 2);
    node.check(1e-4);
    node.level = 4;
    node.check(0.2);
  }
}

TEST(QMoE, Errors) {
  auto error = [](int64_t block, auto change) {
    MoeNode node({3, 32, 16, 4, 2}, 1);
    node.quantize(4, 16, true, 2);
    node.block = block;
    change(node);
    return node.test().error();
  };
  auto says = [&](int64_t block, auto change, const char* text) {
    std::string found = error(block, change);
    EXPECT_NE(found.find(text), std::string::npos) << found;
  };
  EXPECT_EQ(error(16, [](MoeNode&) {}), "");
  says(
      24, [](MoeNode&) {}, "block_size is 24");
  says(
      -16, [](MoeNode&) {}, "block_size is -16");
  says(
      32, [](MoeNode&) {}, "the scales of fc1");
  says(
      16, [](MoeNode& n) { n.bits = 3; }, "expert_weight_bits is 3");
  says(
      16, [](MoeNode& n) { n.c.top = 5; }, "k is 5, but there are 4 experts");
  says(
      16,
      [](MoeNode& n) {
        n.zeros[1] = random_tensor<uint8_t>({4, 32, 2}, 1);
      },
      "the zero points of fc2");
  says(
      16,
      [](MoeNode& n) {
        n.weights[1] = random_tensor<uint8_t>({4, 32, 7}, 1);
      },
      "fc1");
  says(
      16,
      [](MoeNode& n) {
        n.x = random_tensor<float>({3, 31}, 1);
      },
      "need rows of 32");
}

}  // namespace
}  // namespace ortolan::test
