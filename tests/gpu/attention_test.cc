// Attention and MultiHeadAttention against double.
#include <array>

#include "gpu/attention_fixture.h"

namespace ortolan::gpu::test {
namespace {

TEST_P(AttentionOperators, OnnxOfManySizes) {
  for (auto [queries, keys, size, value_size] : std::vector<std::array<int64_t, 4>>{
           {1, 1, 1, 1}, {3, 5, 8, 8}, {2, 63, 16, 16}, {1, 64, 32, 48}, {2, 65, 16, 32}, {5, 130, 6, 70}}) {
    SCOPED_TRACE(keys);
    Heads q = Heads::random(2, 4, queries, size, 1), k = Heads::random(2, 2, keys, size, 2);
    Heads v = Heads::random(2, 2, keys, value_size, 3);
    Heads wanted = attention(q, k, v, {root(size)}, kAll);
    expect_result(run_node(device(), {"Attention"}, {{q.by_head()}, {k.by_head()}, {v.by_head()}})[0],
                  wanted.by_head());
    TestNode rows{"Attention", {{"q_num_heads", int64_t{4}}, {"kv_num_heads", int64_t{2}}}, 23};
    expect_result(run_node(device(), rows, {{q.by_position()}, {k.by_position()}, {v.by_position()}})[0],
                  wanted.by_position());
  }
}

TEST_P(AttentionOperators, OnnxCausalWithCapWindowsAndPast) {
  Heads q = Heads::random(2, 2, 3, 16, 4), k = Heads::random(2, 2, 3, 16, 5), v = Heads::random(2, 2, 3, 16, 6);
  Heads past_k = Heads::random(2, 2, 70, 16, 7), past_v = Heads::random(2, 2, 70, 16, 8);
  Heads all_k = past_k.then(k), all_v = past_v.then(v);
  TestNode node{"Attention", {{"is_causal", int64_t{1}}, {"softcap", 2.0f}, {"scale", 0.5f}}, 25};
  std::vector<NodeInput> inputs = {{q.by_head()}, {k.by_head()},      {v.by_head()},
                                   missing(),     {past_k.by_head()}, {past_v.by_head()}};
  auto actual = run_node(device(), node, inputs, 3);
  expect_result(actual[0], attention(q, all_k, all_v, {0.5, 2}, causal(70)).by_head());
  expect_near(actual[1], all_k.by_head(), 0, 0);
  expect_near(actual[2], all_v.by_head(), 0, 0);
  node.attributes["left_window_size"] = int64_t{4};
  expect_result(run_node(device(), node, inputs)[0], attention(q, all_k, all_v, {0.5, 2}, causal(70, 5)).by_head());
}

TEST_P(AttentionOperators, OnnxMasksAndLengths) {
  Heads q = Heads::random(2, 2, 3, 16, 9), k = Heads::random(2, 2, 4, 16, 10), v = Heads::random(2, 2, 4, 16, 11);
  std::vector<NodeInput> inputs = {{q.by_head()}, {k.by_head()}, {v.by_head()}};
  Tensor added = random_floats({2, 1, 3, 4}, 12);
  std::vector<float> a = added.floats();
  Rule adds = [&](int64_t b, int64_t, int64_t i, int64_t j) { return a[(b * 3 + i) * 4 + j]; };
  inputs.push_back({added});
  expect_result(run_node(device(), {"Attention"}, inputs)[0], attention(q, k, v, {root(16)}, adds).by_head());
  inputs[3] = {integers({3, 4}, {1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1}, ElementType::kBool)};
  std::vector<int64_t> seen = inputs[3].tensor.integers();
  Rule sees = [&](int64_t, int64_t, int64_t i, int64_t j) { return seen[i * 4 + j] != 0 ? 0 : -INFINITY; };
  expect_result(run_node(device(), {"Attention"}, inputs)[0], attention(q, k, v, {root(16)}, sees).by_head());
  inputs[3] = {integers({3, 2}, {1, 0, 1, 1, 0, 1}, ElementType::kBool)};
  seen = inputs[3].tensor.integers();
  Rule narrow = [&](int64_t, int64_t, int64_t i, int64_t j) { return j < 2 && seen[i * 2 + j] != 0 ? 0 : -INFINITY; };
  expect_result(run_node(device(), {"Attention"}, inputs)[0], attention(q, k, v, {root(16)}, narrow).by_head());
  inputs[3] = missing();
  for (size_t i = 4; i < 6; i++) inputs.push_back(missing());
  inputs.push_back({integers({2}, {4, 3})});
  Rule lengths = [&](int64_t b, int64_t, int64_t, int64_t j) { return j < (b == 0 ? 4 : 3) ? 0 : -INFINITY; };
  expect_result(run_node(device(), {"Attention"}, inputs)[0], attention(q, k, v, {root(16)}, lengths).by_head());
}

TEST_P(AttentionOperators, OnnxInFloat16) {
  Heads q = Heads::random(1, 2, 2, 16, 13), k = Heads::random(1, 2, 9, 16, 14);
  constexpr ElementType kHalf = ElementType::kFloat16;
  Tensor actual = run_node(device(), {"Attention"}, {{q.by_head(kHalf)}, {k.by_head(kHalf)}, {k.by_head(kHalf)}})[0];
  expect_near(actual, attention(q, k, k, {root(16)}, kAll).by_head(kHalf), 5e-3f, 5e-3f);
}

TEST_P(AttentionOperators, OnnxRefusals) {
  Tensor q = Heads::random(1, 1, 1, 4, 1).by_head();
  EXPECT_EQ(refusal_of(device(), {"Attention", {{"softmax_precision", int64_t{11}}}}, {{q}, {q}, {q}}),
            "softmax_precision is double; float is taken");
  try {
    run_node(device(), {"Attention"}, {{q}, {q}, {Heads::random(1, 1, 2, 4, 1).by_head()}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "node 'n' (Attention): Q, K and V do not fit together in batch, heads, sequence or head size");
  }
}

TestNode multi_head(std::map<std::string, Attribute, std::less<>> attributes = {}) {
  attributes["num_heads"] = int64_t{2};
  return {"MultiHeadAttention", attributes, 1, "com.microsoft"};
}

TEST_P(AttentionOperators, MultiHeadWithBiasMasksAndPast) {
  Heads q = Heads::random(2, 2, 3, 16, 15), k = Heads::random(2, 2, 3, 16, 16), v = Heads::random(2, 2, 3, 16, 17);
  Heads past_k = Heads::random(2, 2, 2, 16, 18), past_v = Heads::random(2, 2, 2, 16, 19);
  Tensor bias = random_floats({96}, 20);
  std::vector<NodeInput> inputs = {{q.by_position()}, {k.by_position()}, {v.by_position()},  {bias},
                                   missing(),         missing(),         {past_k.by_head()}, {past_v.by_head()}};
  std::vector<float> added = bias.floats();
  for (auto [part, first] : {std::pair{&q, 0}, std::pair{&k, 32}, std::pair{&v, 64}}) {
    part->for_each_by_position([&, part = part, first = first](int64_t b, int64_t h, int64_t r, int64_t e) {
      part->at(b, h, r, e) += added[first + h * 16 + e];
    });
  }
  Heads all_k = past_k.then(k), all_v = past_v.then(v);
  auto actual = run_node(device(), multi_head({{"unidirectional", int64_t{1}}}), inputs, 3);
  expect_result(actual[0], attention(q, all_k, all_v, {root(16)}, causal(2)).by_position());
  expect_near(actual[1], all_k.by_head());
  expect_near(actual[2], all_v.by_head());
  for (const Shape& shape : {Shape{2, 5}, Shape{2, 3}, Shape{2}, Shape{4}, Shape{2, 1}, Shape{2, 3, 5}}) {
    SCOPED_TRACE(testing::PrintToString(shape));
    std::vector<int64_t> m(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < m.size(); i++) m[i] = shape.size() == 1 ? static_cast<int64_t>(4 - i) : (i * 5 % 3) != 0;
    inputs[4] = {integers(shape, m, ElementType::kInt32)};
    Rule masks = [&](int64_t b, int64_t, int64_t i, int64_t j) {
      bool kept = shape == Shape{2}      ? j < m[b]
                  : shape == Shape{4}    ? j < m[b] && j >= m[2 + b]
                  : shape == Shape{2, 1} ? m[b] > 0
                  : shape == Shape{2, 5} ? m[b * 5 + j] > 0
                  : shape == Shape{2, 3} ? j < 2 || m[b * 3 + j - 2] > 0
                                         : m[(b * 3 + i) * 5 + j] > 0;
      return kept ? 0.0 : -3.0;
    };
    Tensor y = run_node(device(), multi_head({{"mask_filter_value", -3.0f}}), inputs)[0];
    expect_result(y, attention(q, all_k, all_v, {root(16)}, masks).by_position());
  }
}

TEST_P(AttentionOperators, MultiHeadPackedOrByHead) {
  Heads q = Heads::random(1, 2, 3, 16, 21), k = Heads::random(1, 2, 3, 16, 22), v = Heads::random(1, 2, 3, 16, 23);
  Tensor wanted = attention(q, k, v, {root(16)}, kAll).by_position();
  std::vector<float> all, pair;
  for (int64_t row = 0; row < 6; row++) {
    for (const Heads* part : {&q, &k, &v}) {
      for (int64_t e = 0; e < 16; e++) {
        all.push_back(static_cast<float>(part->at(0, row % 2, row / 2, e)));
        if (part != &q) pair.push_back(all.back());
      }
    }
  }
  expect_result(run_node(device(), multi_head(), {{floats({1, 3, 2, 3, 16}, all)}})[0], wanted);
  expect_result(run_node(device(), multi_head(), {{q.by_position()}, {floats({1, 3, 2, 2, 16}, pair)}})[0], wanted);
  expect_result(run_node(device(), multi_head(), {{q.by_position()}, {k.by_head()}, {v.by_head()}})[0], wanted);
  EXPECT_EQ(refusal_of(device(), {"MultiHeadAttention", {}, 1, "com.microsoft"}, {{q.by_position()}}),
            "num_heads is not positive");
}

INSTANTIATE_TEST_SUITE_P(Devices, AttentionOperators, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
