// The gates of recent language models against their definitions in double.
#include <cmath>
#include <limits>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

template <class T>
double tolerance() {
  return std::is_same_v<T, float> ? 1e-5 : std::is_same_v<T, Half> ? 2e-3 : 2e-2;
}

template <class T>
void check_add_and_norm() {
  uint32_t seed = test_seed();
  Tensor x = random_tensor<T>({2, 3, 6}, seed), y = random_tensor<T>({2, 3, 6}, seed + 1),
         gate = random_tensor<T>({2, 3, 1}, seed + 2);
  auto a = doubles(x), b = doubles(y), g = doubles(gate);
  std::vector<double> expected;
  for (size_t i = 0; i < a.size(); ++i) expected.push_back(a[i] + b[i] * g[i / 6]);
  EXPECT_TRUE(near(node("GatedAdd").input(x).input(y).input(gate).run_tensor(), {2, 3, 6}, expected, tolerance<T>()));
  Tensor scale = random_tensor<T>({3}, seed + 3);
  auto s = doubles(scale);
  expected.clear();
  for (size_t i = 0; i < a.size(); ++i) {
    double squares = 0;
    for (size_t k = i / 3 * 3; k < i / 3 * 3 + 3; ++k) squares += a[k] * a[k] / 3;
    expected.push_back(a[i] / std::sqrt(squares + 1e-3) * s[i % 3] * b[i] * sigmoid(b[i]));
  }
  Tensor norm = node("GatedRMSNorm").input(x).input(scale).input(y).set("epsilon", 1e-3f).run_tensor();
  EXPECT_TRUE(near(norm, {2, 3, 6}, expected, tolerance<T>()));
}

template <class T>
void check_attention_gate() {
  uint32_t seed = test_seed();
  Tensor a = random_tensor<T>({2, 3, 5}, seed, -4, 4), b = random_tensor<T>({2, 3, 5}, seed + 1);
  Tensor bias = random_tensor<float>({5}, seed + 2), scale = random_tensor<float>({5}, seed + 3, -1, 0);
  auto v = doubles(a), w = doubles(b), o = doubles(bias), s = doubles(scale);
  std::vector<double> decay, beta;
  for (size_t i = 0; i < v.size(); ++i) {
    decay.push_back(s[i % 5] * std::log1p(std::exp(v[i] + o[i % 5])));
    beta.push_back(sigmoid(w[i]));
  }
  auto results = node("LinearAttentionGate").input(a).input(bias).input(scale).input(b).run(2);
  EXPECT_TRUE(near(results[0].tensor(), {2, 3, 5}, decay, tolerance<T>()));
  EXPECT_TRUE(near(results[1].tensor(), {2, 3, 5}, beta, tolerance<T>()));
}

template <class T>
void check_engram_gate() {
  uint32_t seed = test_seed();
  constexpr int kCopies = 2, kSize = 7;
  Tensor key = random_tensor<T>({1, 3, kCopies, kSize}, seed),
         query = random_tensor<T>({1, 3, kCopies, kSize}, seed + 1);
  Tensor value = random_tensor<T>({1, 3, kSize}, seed + 2), ks = random_tensor<T>({kCopies, kSize}, seed + 3);
  Tensor qs = random_tensor<T>({kCopies, kSize}, seed + 4);
  auto k = doubles(key), q = doubles(query), v = doubles(value), a = doubles(ks), b = doubles(qs);
  std::vector<double> expected;
  for (int r = 0; r < 3 * kCopies; ++r) {
    double keys = 0, queries = 0, dot = 0;
    for (int i = 0; i < kSize; ++i) {
      keys += k[r * kSize + i] * k[r * kSize + i] / kSize;
      queries += q[r * kSize + i] * q[r * kSize + i] / kSize;
    }
    for (int i = 0; i < kSize; ++i) {
      double left = k[r * kSize + i] / std::sqrt(keys + 1e-5) * a[r % kCopies * kSize + i];
      dot +=
          left * q[r * kSize + i] / std::sqrt(queries + 1e-5) * b[r % kCopies * kSize + i] / std::sqrt(double(kSize));
    }
    double gate = sigmoid(std::copysign(std::sqrt(std::max(std::fabs(dot), 1e-6)), dot));
    for (int i = 0; i < kSize; ++i) expected.push_back(gate * v[r / kCopies * kSize + i]);
  }
  Tensor y = node("EngramGate").input(key).input(query).input(value).input(ks).input(qs).run_tensor();
  EXPECT_TRUE(near(y, {1, 3, kCopies, kSize}, expected, tolerance<T>()));
}

TEST(Gates, EveryType) {
  auto all = []<class T>(T) {
    check_add_and_norm<T>();
    check_attention_gate<T>();
    check_engram_gate<T>();
  };
  all(float{});
  all(Half{});
  all(BFloat16{});
}

TEST(Gates, EmptyAndErrors) {
  auto floats = [](Shape shape) { return random_tensor<float>(std::move(shape), 1); };
  EXPECT_EQ(node("GatedAdd").input(floats({0, 3})).input(floats({0, 3})).input(floats({0, 1})).run_tensor().shape(),
            (Shape{0, 3}));
  EXPECT_EQ(node("GatedRMSNorm").input(floats({2, 0})).input(floats({4})).input(floats({2, 0})).run_tensor().shape(),
            (Shape{2, 0}));
  EXPECT_NE(
      node("GatedAdd").input(floats({2, 3})).input(floats({2, 3})).input(floats({2, 3})).error().find("gate has shape"),
      std::string::npos);
  EXPECT_NE(node("GatedAdd")
                .input(floats({}))
                .input(floats({}))
                .input(floats({}))
                .error()
                .find("input 0 has rank 0 (shape []), but it must be 1 or more"),
            std::string::npos);
  for (int64_t size : {0, 4}) {
    EXPECT_NE(node("GatedRMSNorm")
                  .input(floats({2, 6}))
                  .input(floats({size}))
                  .input(floats({2, 6}))
                  .error()
                  .find("do not split"),
              std::string::npos);
  }
  EXPECT_NE(node("LinearAttentionGate")
                .input(floats({1, 1, 2}))
                .input(floats({3}))
                .input(floats({2}))
                .error()
                .find("dt_bias has shape"),
            std::string::npos);
  EXPECT_NE(node("LinearAttentionGate")
                .input(floats({1, 1, 2}))
                .input(floats({2}))
                .input(floats({2}))
                .error(2)
                .find("needs input b"),
            std::string::npos);
  EXPECT_NE(node("EngramGate")
                .input(floats({1, 1, 2, 3}))
                .input(floats({1, 1, 2, 3}))
                .input(floats({1, 2, 3}))
                .input(floats({2, 3}))
                .input(floats({2, 3}))
                .error()
                .find("value has shape"),
            std::string::npos);
}

/** The definition, with the history in front. */
template <class T>
std::vector<T> hashes(const std::vector<T>& ids, const std::vector<T>& factors, const std::vector<T>& sizes,
                      size_t most) {
  using Word = std::make_unsigned_t<T>;
  size_t heads = sizes.size() / (most - 1);
  std::vector<T> result;
  for (size_t t = most - 1; t < ids.size(); ++t) {
    for (size_t n = 2; n <= most; ++n) {
      Word mixed = 0;
      for (size_t k = 0; k < n; ++k) mixed ^= Word(Word(ids[t - k]) * Word(factors[k]));
      for (size_t h = 0; h < heads; ++h) {
        T size = sizes[(n - 2) * heads + h], rest = T(T(mixed) % size);
        result.push_back(rest < 0 ? T(rest + size) : rest);
      }
    }
  }
  return result;
}

OpTest mapping() {
  return node("NGramHashMapping").set("max_ngram_size", 3).set("n_head_per_ngram", 2).set("pad_id", 9);
}

template <class T>
void check_hashes() {
  std::vector<T> factors = {std::numeric_limits<T>::max(), T(-77773), 12345677}, sizes = {7, 101, 1, 499};
  auto run = [&](OpTest test, std::vector<T> ids) {
    Shape shape{1, static_cast<int64_t>(ids.size())};
    return test.input(tensor_of<T>(shape, ids)).input(tensor_of<T>({3}, factors)).input(tensor_of<T>({4}, sizes));
  };
  auto all = run(mapping(), {5, 600, -7, 8}).run(2);
  EXPECT_TRUE(equal<T>(all[0].tensor(), {1, 4, 4}, hashes<T>({9, 9, 5, 600, -7, 8}, factors, sizes, 3)));
  EXPECT_TRUE(equal<T>(all[1].tensor(), {1, 2}, {-7, 8}));
  auto next = run(mapping(), {6}).input(tensor_of<T>({1, 2}, {-7, 8})).run(2);
  EXPECT_TRUE(equal<T>(next[0].tensor(), {1, 1, 4}, hashes<T>({-7, 8, 6}, factors, sizes, 3)));
  EXPECT_TRUE(equal<T>(next[1].tensor(), {1, 2}, {8, 6}));
}

TEST(NGramHashMapping, BothTypesInChunks) {
  check_hashes<int32_t>();
  check_hashes<int64_t>();
}

TEST(NGramHashMapping, Errors) {
  auto text = [](OpTest test, int64_t factors, int32_t size) {
    return test.input<int32_t>({1, 1}, {1})
        .input(random_tensor<int32_t>({factors}, 1, 1, 9))
        .input<int32_t>({4}, {1, size, 1, 1})
        .error();
  };
  EXPECT_NE(text(mapping(), 3, 0).find("vocab_sizes holds 0"), std::string::npos);
  EXPECT_NE(text(mapping(), 3, INT32_MIN).find("vocab_sizes holds"), std::string::npos);
  EXPECT_NE(text(mapping(), 2, 1).find("multipliers has shape"), std::string::npos);
  EXPECT_NE(text(mapping().set("max_ngram_size", int64_t{1}), 3, 1).find("at least 2 and 1"), std::string::npos);
  EXPECT_NE(
      text(mapping().set("max_ngram_size", INT64_MAX), 3, 1).find("the product 9223372036854775806 * 2 overflows"),
      std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
