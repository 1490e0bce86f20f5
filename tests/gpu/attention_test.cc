// Attention operators and RotaryEmbedding against double.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>

#include "gpu/single_node.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

/** [batch, heads, rows, size] in double. */
struct Heads {
  int64_t batch, heads, rows, size;
  std::vector<double> values;

  Heads(int64_t batch, int64_t heads, int64_t rows, int64_t size)
      : batch(batch), heads(heads), rows(rows), size(size), values(static_cast<size_t>(batch * heads * rows * size)) {}
  double& at(int64_t b, int64_t h, int64_t r, int64_t e) { return values[((b * heads + h) * rows + r) * size + e]; }
  double at(int64_t b, int64_t h, int64_t r, int64_t e) const {
    return values[((b * heads + h) * rows + r) * size + e];
  }

  static Heads random(int64_t batch, int64_t heads, int64_t rows, int64_t size, unsigned seed) {
    Heads x(batch, heads, rows, size);
    std::vector<float> drawn = random_floats({static_cast<int64_t>(x.values.size())}, seed).floats();
    x.values.assign(drawn.begin(), drawn.end());
    return x;
  }
  Tensor by_head(ElementType type = ElementType::kFloat) const {
    return floats({batch, heads, rows, size}, {values.begin(), values.end()}, type);
  }
  Tensor by_position(ElementType type = ElementType::kFloat) const {
    std::vector<float> result;
    for_each_by_position(
        [&](int64_t b, int64_t h, int64_t r, int64_t e) { result.push_back(static_cast<float>(at(b, h, r, e))); });
    return floats({batch, rows, heads * size}, result, type);
  }
  void for_each_by_position(const std::function<void(int64_t, int64_t, int64_t, int64_t)>& body) const {
    for (int64_t b = 0; b < batch; b++)
      for (int64_t r = 0; r < rows; r++)
        for (int64_t h = 0; h < heads; h++)
          for (int64_t e = 0; e < size; e++) body(b, h, r, e);
  }
  /** These rows, then those of `next`, of each head. */
  Heads then(const Heads& next) const {
    Heads all(batch, heads, rows + next.rows, size);
    all.for_each_by_position([&](int64_t b, int64_t h, int64_t r, int64_t e) {
      all.at(b, h, r, e) = r < rows ? at(b, h, r, e) : next.at(b, h, r - rows, e);
    });
    return all;
  }
};

/** What is added to the score of a query and a key; -infinity hides the key. */
using Rule = std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)>;
const Rule kAll = [](int64_t, int64_t, int64_t, int64_t) { return 0.0; };

struct Terms {
  double scale, softcap = 0;
};

Heads attention(const Heads& q, const Heads& k, const Heads& v, Terms terms, const Rule& rule) {
  Heads y(q.batch, q.heads, q.rows, v.size);
  for (int64_t n = 0; n < q.batch * q.heads * q.rows; n++) {
    int64_t i = n % q.rows, h = n / q.rows % q.heads, b = n / (q.rows * q.heads), source = h / (q.heads / k.heads);
    double total = 0;
    for (int64_t j = 0; j < k.rows; j++) {
      double s = 0;
      for (int64_t e = 0; e < q.size; e++) s += q.at(b, h, i, e) * k.at(b, source, j, e) * terms.scale;
      if (terms.softcap != 0) s = terms.softcap * std::tanh(s / terms.softcap);
      double weight = std::exp(s + rule(b, h, i, j));
      total += weight;
      for (int64_t e = 0; e < v.size; e++) y.at(b, h, i, e) += weight * v.at(b, source, j, e);
    }
    for (int64_t e = 0; e < v.size && total > 0; e++) y.at(b, h, i, e) /= total;
  }
  return y;
}

Rule causal(int64_t first, int64_t window = 1 << 20) {
  return
      [=](int64_t, int64_t, int64_t i, int64_t j) { return j <= first + i && j > first + i - window ? 0 : -INFINITY; };
}

double root(int64_t size) { return 1 / std::sqrt(static_cast<double>(size)); }

class AttentionOperators : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
  void expect_result(const Tensor& actual, const Tensor& wanted) { expect_near(actual, wanted, 1e-4f, 1e-5f); }
};

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

struct Angles {
  Tensor cosine, sine;
  int64_t pairs;
  Angles(int64_t length, int64_t pairs, ElementType type = ElementType::kFloat) : pairs(pairs) {
    std::vector<float> c, s;
    for (int64_t i = 0; i < length * pairs; i++) {
      c.push_back(std::cos(0.1f * static_cast<float>(i)));
      s.push_back(std::sin(0.1f * static_cast<float>(i)));
    }
    cosine = floats({length, pairs}, c, type), sine = floats({length, pairs}, s, type);
  }
  /** x with rows turned by their positions. */
  Heads turn(const Heads& x, bool interleaved, const std::function<int64_t(int64_t b, int64_t r)>& position) const {
    Heads y = x;
    std::vector<float> c = cosine.floats(), s = sine.floats();
    x.for_each_by_position([&](int64_t b, int64_t h, int64_t r, int64_t e) {
      if (e >= pairs) return;
      int64_t i = interleaved ? 2 * e : e, j = interleaved ? 2 * e + 1 : e + pairs, at = position(b, r) * pairs + e;
      y.at(b, h, r, i) = x.at(b, h, r, i) * c[at] - x.at(b, h, r, j) * s[at];
      y.at(b, h, r, j) = x.at(b, h, r, i) * s[at] + x.at(b, h, r, j) * c[at];
    });
    return y;
  }
};

TEST_P(AttentionOperators, RotaryEmbeddings) {
  Heads x = Heads::random(2, 3, 4, 10, 24);
  std::vector<int64_t> ids = {3, 1, 0, 2, 5, 5, 4, 9};
  for (int64_t pairs : {5, 3}) {
    Angles angles(10, pairs);
    for (int64_t interleaved : {0, 1}) {
      TestNode node{"RotaryEmbedding", {{"interleaved", interleaved}, {"num_heads", int64_t{3}}}};
      if (pairs == 3) node.attributes["rotary_embedding_dim"] = int64_t{6};
      Heads wanted = angles.turn(x, interleaved != 0, [&](int64_t b, int64_t r) { return ids[b * 4 + r]; });
      std::vector<NodeInput> inputs = {{x.by_head()}, {angles.cosine}, {angles.sine}, {integers({2, 4}, ids)}};
      expect_near(run_node(device(), node, inputs)[0], wanted.by_head(), 1e-5f, 1e-5f);
      node.domain = "com.microsoft", node.since_version = 1;
      inputs = {{x.by_position()}, {integers({1}, {2})}, {angles.cosine}, {angles.sine}};
      Heads shifted = angles.turn(x, interleaved != 0, [](int64_t, int64_t r) { return r + 2; });
      expect_near(run_node(device(), node, inputs)[0], shifted.by_position(), 1e-5f, 1e-5f);
    }
  }
}

TEST_P(AttentionOperators, RotaryEmbeddingWithARowForEachToken) {
  Heads x = Heads::random(2, 1, 3, 4, 25);
  Angles angles(6, 2);
  Tensor cosine = angles.cosine, sine = angles.sine;
  cosine.shape = sine.shape = {2, 3, 2};
  Heads wanted = angles.turn(x, false, [](int64_t b, int64_t r) { return b * 3 + r; });
  expect_near(run_node(device(), {"RotaryEmbedding"}, {{x.by_head()}, {cosine}, {sine}})[0], wanted.by_head(), 1e-5f,
              1e-5f);
}

TEST_P(AttentionOperators, APositionOutsideEndsTheRun) {
  Heads x = Heads::random(1, 1, 1, 4, 26);
  Angles angles(6, 2);
  try {
    run_node(device(), {"RotaryEmbedding"}, {{x.by_head()}, {angles.cosine}, {angles.sine}, {integers({1, 1}, {6})}});
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "node 'n' (RotaryEmbedding): a length of a sequence is outside of the cache, or a "
                 "position of the 6 rows of cos_cache");
  }
}

/** GroupQueryAttention with 4 heads over 2 of keys, of 16 elements. */
class Grouped {
 public:
  Grouped(int64_t queries, std::vector<int64_t> past, int64_t capacity)
      : q_(Heads::random(2, 4, queries, 16, 27)),
        k_(Heads::random(2, 2, queries, 16, 28)),
        v_(Heads::random(2, 2, queries, 16, 29)),
        past_k_(Heads::random(2, 2, capacity, 16, 30)),
        past_v_(Heads::random(2, 2, capacity, 16, 31)),
        past_(std::move(past)),
        total_(std::max(past_[0], past_[1]) + queries) {}

  std::vector<NodeInput> inputs(bool packed, const Angles* angles) const {
    std::vector<int64_t> lengths = {past_[0] + q_.rows - 1, past_[1] + q_.rows - 1};
    std::vector<NodeInput> inputs = {{q_.by_position()}, {k_.by_position()}, {v_.by_position()}, missing(), missing()};
    if (packed) inputs[0] = {packed_rows()}, inputs[1] = missing(), inputs[2] = missing();
    if (past_k_.rows > 0) inputs[3] = {past_k_.by_head()}, inputs[4] = {past_v_.by_head()};
    inputs.push_back({integers({2}, lengths, ElementType::kInt32)});
    inputs.push_back({integers({}, {total_}, ElementType::kInt32)});
    if (angles != nullptr) {
      inputs.push_back({angles->cosine});
      inputs.push_back({angles->sine});
    }
    return inputs;
  }

  void turn(const Angles& angles, bool interleaved) {
    auto position = [&](int64_t b, int64_t r) { return past_[b] + r; };
    q_ = angles.turn(q_, interleaved, position);
    k_ = angles.turn(k_, interleaved, position);
  }
  Heads present(bool values) const {
    const Heads &past = values ? past_v_ : past_k_, &fresh = values ? v_ : k_;
    Heads all(2, 2, std::max(total_, past.rows), 16);
    all.for_each_by_position([&](int64_t b, int64_t h, int64_t r, int64_t e) {
      int64_t n = r - past_[b];
      all.at(b, h, r, e) = n < 0 ? past.at(b, h, r, e) : n < fresh.rows ? fresh.at(b, h, n, e) : 0;
    });
    return all;
  }
  Heads result(int64_t window = 1 << 20) const {
    return attention(q_, present(false), present(true), {root(16)}, [&](int64_t b, int64_t, int64_t i, int64_t j) {
      int64_t place = past_[b] + i;
      return j <= place && j > place - window ? 0 : -INFINITY;
    });
  }

 private:
  Tensor packed_rows() const {
    std::vector<float> rows;
    for (int64_t n = 0; n < 2 * q_.rows; n++) {
      for (const Heads* part : {&q_, &k_, &v_})
        for (int64_t e = 0; e < part->heads * 16; e++)
          rows.push_back(static_cast<float>(part->at(n / q_.rows, e / 16, n % q_.rows, e % 16)));
    }
    return floats({2, q_.rows, 8 * 16}, rows);
  }

  Heads q_, k_, v_, past_k_, past_v_;
  std::vector<int64_t> past_;
  int64_t total_;
};

TestNode grouped(std::map<std::string, Attribute, std::less<>> attributes = {}) {
  attributes["num_heads"] = int64_t{4};
  attributes["kv_num_heads"] = int64_t{2};
  return {"GroupQueryAttention", attributes, 1, "com.microsoft"};
}

TEST_P(AttentionOperators, GroupedFirstRunAndSteps) {
  struct Case {
    int64_t queries;
    std::vector<int64_t> past;
    int64_t capacity;
  };
  for (const Case& c :
       std::vector<Case>{{5, {0, 0}, 0}, {5, {0, 0}, 8}, {1, {7, 7}, 7}, {1, {70, 64}, 100}, {3, {4, 2}, 4}}) {
    SCOPED_TRACE(testing::Message() << c.queries << " queries, room " << c.capacity);
    for (bool packed : {false, true}) {
      Grouped test(c.queries, c.past, c.capacity);
      auto actual = run_node(device(), grouped(), test.inputs(packed, nullptr), 3);
      expect_result(actual[0], test.result().by_position());
      expect_near(actual[1], test.present(false).by_head(), 0, 0);
      expect_near(actual[2], test.present(true).by_head(), 0, 0);
    }
  }
}

TEST_P(AttentionOperators, GroupedWithRotaryEmbeddingAndWindow) {
  Angles angles(100, 8), few(100, 4);
  for (const Angles* a : {&angles, &few}) {
    for (int64_t interleaved : {0, 1}) {
      Grouped test(2, {9, 5}, 20);
      std::vector<NodeInput> inputs = test.inputs(true, a);
      test.turn(*a, interleaved != 0);
      TestNode node = grouped({{"do_rotary", int64_t{1}}, {"rotary_interleaved", interleaved}});
      auto actual = run_node(device(), node, inputs, 3);
      expect_result(actual[0], test.result().by_position());
      expect_near(actual[1], test.present(false).by_head(), 1e-5f, 1e-5f);
      node.attributes["local_window_size"] = int64_t{3};
      expect_result(run_node(device(), node, inputs, 3)[0], test.result(3).by_position());
    }
  }
}

TEST_P(AttentionOperators, GroupedLengthsOutsideEndTheRun) {
  Grouped test(1, {3, 3}, 4);
  std::vector<NodeInput> inputs = test.inputs(false, nullptr);
  inputs[5] = {integers({2}, {3, 9}, ElementType::kInt32)};
  EXPECT_TRUE(ortolan::test::throws<Error>("a length of a sequence is outside of the cache",
                                           [&] { run_node(device(), grouped(), inputs, 3); }));
  EXPECT_EQ(refusal_of(device(), grouped({{"smooth_softmax", int64_t{1}}}), inputs),
            "smooth_softmax is set; the plain softmax is taken");
  inputs[5] = {integers({2}, {3, 3}, ElementType::kUint8)};
  EXPECT_NE(refusal_of(device(), grouped(), inputs, 3), "") << "lengths are int32";
}

INSTANTIATE_TEST_SUITE_P(Devices, AttentionOperators, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
