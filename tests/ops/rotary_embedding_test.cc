// RotaryEmbedding of both domains against their definition in double.
#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

struct Case {
  int64_t batch, sequence, heads, head, turned;
  bool interleaved, heads_first;
  Shape shape() const {
    return heads_first ? Shape{batch, heads, sequence, head} : Shape{batch, sequence, heads * head};
  }
  int64_t pairs() const { return turned / 2; }
};

/** Row of the caches for a token. */
using RowOf = std::vector<int64_t>;

std::vector<double> expected(const Case& c, const Tensor& x, const Tensor& cosine, const Tensor& sine,
                             const RowOf& rows) {
  std::vector<double> y = doubles(x), in = y, co = doubles(cosine), si = doubles(sine);
  for_each_index({c.batch, c.sequence, c.heads, c.pairs()}, [&](const Index& at) {
    int64_t token = at[0] * c.sequence + at[1], cache = rows[token] * c.pairs() + at[3];
    int64_t head =
        c.heads_first ? ((at[0] * c.heads + at[2]) * c.sequence + at[1]) * c.head : (token * c.heads + at[2]) * c.head;
    int64_t i = head + (c.interleaved ? 2 * at[3] : at[3]), j = c.interleaved ? i + 1 : i + c.pairs();
    y[i] = in[i] * co[cache] - in[j] * si[cache];
    y[j] = in[j] * co[cache] + in[i] * si[cache];
  });
  return y;
}

const Case kCases[] = {
    {2, 3, 2, 8, 8, false, false},  {2, 3, 2, 8, 8, true, true},     {1, 1, 4, 80, 80, false, true},
    {2, 2, 3, 40, 16, true, false}, {1, 5, 2, 10, 6, false, false},  {0, 3, 2, 8, 8, false, false},
    {2, 0, 2, 8, 8, true, true},    {3, 17, 4, 64, 64, true, false},
};

template <class T>
void standard_cases(double tolerance) {
  uint32_t seed = test_seed();
  for (const Case& c : kCases) {
    Tensor x = random_tensor<T>(c.shape(), seed++);
    Shape own{c.batch, c.sequence, c.pairs()};
    Tensor cosine = random_tensor<T>(own, seed++), sine = random_tensor<T>(own, seed++);
    RowOf rows;
    for (int64_t i = 0; i < c.batch * c.sequence; ++i) rows.push_back(i);
    OpTest test("RotaryEmbedding", 23);
    test.input(x).input(cosine).input(sine).set("interleaved", int64_t{c.interleaved}).set("num_heads", c.heads);
    if (c.turned != c.head) test.set("rotary_embedding_dim", c.turned);
    EXPECT_TRUE(near(test.run_tensor(), c.shape(), expected(c, x, cosine, sine, rows), tolerance))
        << c.head << " of " << c.turned;
  }
}

TEST(RotaryEmbedding, CachesOfTheTokens) {
  standard_cases<float>(1e-6);
  standard_cases<Half>(2e-3);
  standard_cases<BFloat16>(2e-2);
}

TEST(RotaryEmbedding, PositionsNameRows) {
  uint32_t seed = test_seed();
  for (const Case& c : kCases) {
    Tensor x = random_tensor<float>(c.shape(), seed++);
    Tensor cosine = random_tensor<float>({9, c.pairs()}, seed++), sine = random_tensor<float>({9, c.pairs()}, seed++);
    RowOf rows;
    for (int64_t i = 0; i < c.batch * c.sequence; ++i) rows.push_back((i * 5 + 2) % 9);
    OpTest test("RotaryEmbedding", 23);
    test.input(x).input(cosine).input(sine).input<int64_t>({c.batch, c.sequence}, rows);
    test.set("interleaved", int64_t{c.interleaved}).set("num_heads", c.heads).set("rotary_embedding_dim", c.turned);
    EXPECT_TRUE(near(test.run_tensor(), c.shape(), expected(c, x, cosine, sine, rows), 1e-6))
        << c.head << " of " << c.turned;
    OpTest other("RotaryEmbedding", 1, "com.microsoft");
    other.input(x).input<int64_t>({c.batch, c.sequence}, rows).input(cosine).input(sine);
    other.set("interleaved", int64_t{c.interleaved}).set("num_heads", c.heads).set("rotary_embedding_dim", c.turned);
    EXPECT_TRUE(near(other.run_tensor(), c.shape(), expected(c, x, cosine, sine, rows), 1e-6))
        << c.head << " of " << c.turned;
  }
}

TEST(RotaryEmbedding, OnePositionIsAnOffset) {
  uint32_t seed = test_seed();
  Case c{2, 3, 2, 8, 8, false, false};
  RowOf rows{2, 3, 4, 2, 3, 4};
  for (bool heads_given : {false, true}) {
    auto run = [&]<class T>(T, double tolerance) {
      Tensor x = random_tensor<T>(c.shape(), seed++);
      Tensor cosine = random_tensor<T>({6, 4}, seed++), sine = random_tensor<T>({6, 4}, seed++);
      OpTest test("RotaryEmbedding", 1, "com.microsoft");
      test.input(x).input<int64_t>({1}, {2}).input(cosine).input(sine).set("scale", 2.0f).set("is_packed_batching", 1);
      if (heads_given) test.set("num_heads", 2);
      EXPECT_TRUE(near(test.run_tensor(), c.shape(), expected(c, x, cosine, sine, rows), tolerance));
    };
    run(float{}, 1e-6);
    run(double{}, 1e-13);
    run(Half{}, 2e-3);
    run(BFloat16{}, 2e-2);
  }
}

OpTest bad(const Shape& x, const Shape& ids, const std::vector<int64_t>& positions, const Shape& cache) {
  OpTest test("RotaryEmbedding", 23);
  test.input(random_tensor<float>(x, 1)).input(random_tensor<float>(cache, 2)).input(random_tensor<float>(cache, 3));
  return test.input<int64_t>(ids, positions);
}

TEST(RotaryEmbedding, RefusesWhatDoesNotFit) {
  auto error = [](OpTest test) { return test.set("num_heads", 2).error(); };
  EXPECT_NE(error(bad({1, 2, 8}, {1, 2}, {0, 5}, {5, 2})).find("position 5 lies outside the 5 rows"),
            std::string::npos);
  EXPECT_NE(error(bad({1, 2, 8}, {1, 2}, {INT64_MIN, 0}, {5, 2})).find("position -9223372036854775808"),
            std::string::npos);
  EXPECT_NE(error(bad({1, 2, 8}, {1, 1}, {0}, {5, 2})).find("position_ids has shape [1,1]"), std::string::npos);
  EXPECT_NE(error(bad({1, 2, 8}, {1, 2}, {0, 0}, {5, 3})).find("has 4"), std::string::npos);
  EXPECT_NE(error(bad({1, 2, 7}, {1, 2}, {0, 0}, {5, 2})).find("do not split into 2 heads"), std::string::npos);
  EXPECT_NE(bad({1, 2, 8}, {1, 2}, {0, 0}, {5, 2}).error().find("needs attribute num_heads"), std::string::npos);
  EXPECT_NE(error(bad({1, 2, 8}, {1, 2}, {0, 0}, {5, 2}).set("rotary_embedding_dim", -2)).find("is -2"),
            std::string::npos);
  EXPECT_NE(error(bad({1, 2, 8}, {1, 2}, {0, 0}, {0, 2})).find("position 0 lies outside the 0 rows"),
            std::string::npos);
}

TEST(RotaryEmbedding, OffsetsMustFit) {
  for (int64_t first : {int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{5}}) {
    OpTest test("RotaryEmbedding", 1, "com.microsoft");
    test.input(random_tensor<float>({1, 2, 8}, 1)).input<int64_t>({1}, {first});
    test.input(random_tensor<float>({6, 4}, 2)).input(random_tensor<float>({6, 4}, 2));
    EXPECT_NE(test.error().find("position"), std::string::npos) << first;
  }
}

}  // namespace
}  // namespace ortolan::test
