// RotaryEmbedding and GroupQueryAttention against double.
#include "gpu/attention_fixture.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

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

}  // namespace
}  // namespace ortolan::gpu::test
