// WordConvEmbedding against its definition in double.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

constexpr int64_t kLength = 6, kFilters = 5, kWindow = 3, kSize = 4, kCharacters = 7;

struct Weights {
  Tensor w, b, c;
};

template <class T>
Weights make_weights() {
  uint32_t seed = test_seed();
  return {random_tensor<T>({kFilters, 1, kWindow, kSize}, seed), random_tensor<T>({kFilters}, seed + 1),
          random_tensor<T>({kCharacters, kSize}, seed + 2)};
}

OpTest node(const std::vector<int32_t>& words, const Weights& in) {
  auto count = static_cast<int64_t>(words.size()) / kLength;
  return OpTest("WordConvEmbedding", 1, "com.microsoft")
      .input<int32_t>({count, kLength}, words)
      .input(in.w)
      .input(in.b)
      .input(in.c);
}

/** `used`: the characters of each word that count. */
std::vector<double> reference(const std::vector<int32_t>& words, const std::vector<int64_t>& used, const Weights& in) {
  auto w = doubles(in.w), b = doubles(in.b), c = doubles(in.c);
  std::vector<double> result;
  for (size_t word = 0; word < used.size(); ++word) {
    for (int64_t f = 0; f < kFilters; ++f) {
      double most = used[word] ? -1 : 0;
      for (int64_t i = 0; i + kWindow <= used[word]; ++i) {
        double sum = b[f];
        for (int64_t k = 0; k < kWindow * kSize; ++k) {
          sum += w[f * kWindow * kSize + k] * c[words[word * kLength + i + k / kSize] * kSize + k % kSize];
        }
        most = std::max(most, std::tanh(sum));
      }
      result.push_back(most);
    }
  }
  return result;
}

TEST(WordConvEmbedding, WordsOfManyLengths) {
  const std::vector<int32_t> words = {1, 2, 3, 4, 5, 6, 3, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 6, 5, 4, 1, 0, 0};
  const std::vector<int64_t> used = {6, 3, 0, 4};
  Weights floats = make_weights<float>();
  EXPECT_TRUE(near(node(words, floats).set("conv_window_size", 3).set("embedding_size", 5).run_tensor(), {4, kFilters},
                   reference(words, used, floats)));
  Weights halves = make_weights<Half>();
  EXPECT_TRUE(near(node(words, halves).run_tensor(), {4, kFilters}, reference(words, used, halves), 2e-3));
  EXPECT_EQ(node({}, floats).run_tensor().shape(), (Shape{0, kFilters}));
}

TEST(WordConvEmbedding, Errors) {
  Weights in = make_weights<float>();
  EXPECT_NE(node({1, 2, 7, 0, 0, 0}, in).error().find("character 7"), std::string::npos);
  EXPECT_NE(node({1, -2, 3, 0, 0, 0}, in).error().find("character -2"), std::string::npos);
  EXPECT_NE(node({1, 2, 3, 0, 0, 0}, in).set("embedding_size", 6).error().find("embedding_size is 6"),
            std::string::npos);
  in.w = random_tensor<float>({kFilters, 1, kLength + 1, kSize}, 1);
  EXPECT_NE(node({1, 2, 3, 0, 0, 0}, in).error().find("does not fit words of 6"), std::string::npos);
  in.w = random_tensor<float>({kFilters, 2, kWindow, kSize}, 1);
  EXPECT_NE(node({1, 2, 3, 0, 0, 0}, in).error().find("does not fit C"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
