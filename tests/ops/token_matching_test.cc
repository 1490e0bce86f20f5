// NGramRepeatBlock and BifurcationDetector.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest block(int64_t size, Shape ids_shape, std::vector<int64_t> ids, Tensor scores) {
  OpTest test("NGramRepeatBlock", 1, "com.microsoft");
  test.input<int64_t>(std::move(ids_shape), ids).input(std::move(scores)).set("ngram_size", size);
  return test;
}

TEST(NGramRepeatBlock, BlocksWhatWouldRepeat) {
  uint32_t seed = test_seed();
  std::mt19937 random(seed);
  for (int64_t size : {1, 2, 3, 9}) {
    constexpr int64_t kRows = 5, kLength = 8, kWords = 4;
    std::vector<int64_t> ids(kRows * kLength);
    for (int64_t& id : ids) id = random() % kWords;
    Tensor scores = random_tensor<float>({kRows, kWords}, seed);
    std::vector<double> expected = doubles(scores);
    for (int64_t row = 0; row < kRows; ++row) {
      const int64_t* tokens = ids.data() + row * kLength;
      for (int64_t i = 0; i + size <= kLength; ++i) {
        bool same = true;
        for (int64_t j = 0; j < size - 1; ++j) same &= tokens[i + j] == tokens[kLength - size + 1 + j];
        if (same) expected[row * kWords + tokens[i + size - 1]] = -INFINITY;
      }
    }
    auto actual = doubles(block(size, {kRows, kLength}, ids, scores).run_tensor());
    EXPECT_EQ(actual, expected) << size;
  }
  Tensor half = block(1, {1, 1}, {1}, random_tensor<base::Half>({1, 2}, 1)).run_tensor();
  EXPECT_EQ(doubles(half)[1], -INFINITY);
}

TEST(NGramRepeatBlock, RefusesWhatCannotBe) {
  Tensor scores = random_tensor<float>({1, 3}, 1);
  EXPECT_NE(block(1, {1, 2}, {0, 3}, scores).error().find("input_ids holds 3, which is no token"), std::string::npos);
  EXPECT_NE(block(1, {1, 2}, {INT64_MIN, 0}, scores)
                .error()
                .find("input_ids holds -9223372036854775808, which is no token of the"),
            std::string::npos);
  EXPECT_NE(block(0, {1, 2}, {0, 1}, scores).error().find("ngram_size is 0"), std::string::npos);
  EXPECT_NE(block(1, {2, 1}, {0, 1}, scores).error().find("input_ids has shape [2,1], but scores has shape [1,3]"),
            std::string::npos);
  EXPECT_NE(block(1, {2}, {0, 1}, scores).error().find("input 0 has rank 1 (shape [2]), but it must be 2"),
            std::string::npos);
  EXPECT_EQ(block(INT64_MAX, {1, 2}, {0, 1}, scores).error(), "");
  EXPECT_EQ(block(1, {0, 2}, {}, Tensor(ElementType::kFloat, {0, 3})).run_tensor().shape(), (Shape{0, 3}));
  EXPECT_EQ(block(1, {1, 0}, {}, scores).error(), "");
}

OpTest detector(std::vector<int64_t> source, std::vector<int64_t> current, int64_t match) {
  OpTest test("BifurcationDetector", 1, "com.microsoft");
  test.input<int64_t>({std::ssize(source)}, source).input<int64_t>({std::ssize(current)}, current);
  test.input<int64_t>({}, {match});
  return test;
}

void expect_detected(const std::vector<Value>& results, std::vector<int64_t> tokens, int64_t match) {
  EXPECT_TRUE(equal<int64_t>(results[0].tensor(), {std::ssize(tokens)}, tokens));
  EXPECT_TRUE(equal<int64_t>(results[1].tensor(), {}, {match}));
}

TEST(BifurcationDetector, JoinsAndMatches) {
  expect_detected(detector({2, 3, 4, 5}, {9, 4}, 0).run(2), {9, 4}, 3);     // once
  expect_detected(detector({2, 4, 4, 5}, {9, 4}, 0).run(2), {9, 4}, -1);    // more than once
  expect_detected(detector({7, 4, 8, 4, 5}, {8, 4}, 0).run(2), {8, 4}, 4);  // only the longer suffix once
  expect_detected(detector({2, 3}, {9}, 0).run(2), {9}, -1);                // nowhere
  expect_detected(detector({2, 3, 4}, {4}, 0).run(2), {4}, 3);              // at the end
  expect_detected(detector({2, 3, 4, 5}, {1}, 1).input<int64_t>({4}, {3, 4, 9, 9}).run(2), {1, 3, 4, 9}, -1);
  expect_detected(detector({2, 3, 4, 5}, {1}, 1).input<int64_t>({4}, {3, 4, 5, 2}).run(2), {1, 3, 4, 5, 2}, 1);
  expect_detected(detector({}, {}, 0).run(2), {}, -1);
}

TEST(BifurcationDetector, RefusesWhatCannotBe) {
  auto error = [](int64_t match, std::vector<int64_t> predicted) {
    return detector({2, 3}, {1}, match).input<int64_t>({std::ssize(predicted)}, predicted).error(2);
  };
  EXPECT_NE(error(3, {}).find("prev_suffix_match_idx is 3; the source has 2 tokens"), std::string::npos);
  EXPECT_NE(error(-1, {1, 2, 3, 4}).find("prev_suffix_match_idx is -1"), std::string::npos);
  EXPECT_NE(error(INT64_MIN, {}).find("prev_suffix_match_idx is -9223372036854775808"), std::string::npos);
  EXPECT_NE(error(1, {1}).find("pred_tokens has 1 tokens"), std::string::npos);
  EXPECT_NE(error(2, {}).find("pred_tokens has 0 tokens"), std::string::npos);
  EXPECT_NE(detector({2}, {1}, 0).set("min_ngram_size", 0).error(2).find("min_ngram_size is 0 and max_ngram_size 3"),
            std::string::npos);
  EXPECT_NE(detector({2}, {1}, 0).set("min_ngram_size", 4).error(2).find("min_ngram_size is 4 and max_ngram_size 3"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
