// MatMulNBits, MatMulBnb4 and MatMulFpQ4 against sums in double over elements taken one by one.
#include <cmath>
#include <cstring>
#include <numeric>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

Tensor random_bytes(Shape shape, uint32_t seed) { return random_tensor<uint8_t>(std::move(shape), seed, 0, 256); }

int element(const Tensor& tensor, int64_t row, int64_t row_bytes, int64_t i, int bits) {
  int64_t per_byte = 8 / bits;
  return tensor.data<uint8_t>()[row * row_bytes + i / per_byte] >> (i % per_byte * bits) & ((1 << bits) - 1);
}

enum class Zeros { kNone, kPacked, kFloats };

struct NBitsCase {
  int bits;
  int64_t m, n, k, block;
  Zeros zeros = Zeros::kNone;
  bool groups = false, bias = false, flat = false;
  int level = 0;
};

struct NBitsNode {
  NBitsCase c;
  Tensor data, scales, zeros, groups, bias;

  NBitsNode(const NBitsCase& from, uint32_t seed) : c(from) {
    int64_t blocks = (c.k + c.block - 1) / c.block, zero_bytes = (blocks * c.bits + 7) / 8;
    data = random_bytes({c.n, blocks, c.block * c.bits / 8}, seed);
    scales = random_tensor<float>(c.flat ? Shape{c.n * blocks} : Shape{c.n, blocks}, seed + 1, 0.01, 0.1);
    if (c.zeros == Zeros::kPacked) {
      zeros = random_bytes(c.flat ? Shape{c.n * zero_bytes} : Shape{c.n, zero_bytes}, seed + 2);
    } else {
      zeros = random_tensor<float>({c.n, blocks}, seed + 2, 0, 1 << c.bits);
    }
    groups = random_tensor<int32_t>({c.k}, seed + 3, 0, static_cast<double>(blocks));
    bias = random_tensor<float>({c.n}, seed + 4);
  }
  OpTest test(const Tensor& a) const {
    OpTest test = node("MatMulNBits");
    test.set("K", c.k).set("N", c.n).set("bits", c.bits).set("block_size", c.block).set("accuracy_level", c.level);
    test.input(a).input(data).input(scales);
    c.zeros != Zeros::kNone ? test.input(zeros) : test.no_input();
    c.groups ? test.input(groups) : test.no_input();
    if (c.bias) test.input(bias);
    return test;
  }
  std::vector<double> reference(const std::vector<double>& a) const {
    int64_t blocks = (c.k + c.block - 1) / c.block, zero_bytes = (blocks * c.bits + 7) / 8;
    auto s = doubles(scales), z = doubles(zeros), extra = doubles(bias);
    std::vector<double> y;
    for (int64_t i = 0; i < c.m; ++i) {
      for (int64_t j = 0; j < c.n; ++j) {
        double sum = c.bias ? extra[j] : 0;
        for (int64_t k = 0; k < c.k; ++k) {
          int64_t b = c.groups ? groups.data<int32_t>()[k] : k / c.block;
          double zero = 1 << (c.bits - 1);
          if (c.zeros == Zeros::kPacked) zero = element(zeros, j, zero_bytes, b, c.bits);
          if (c.zeros == Zeros::kFloats) zero = z[j * blocks + b];
          sum +=
              a[i * c.k + k] * s[j * blocks + b] * (element(data, j, blocks * c.block * c.bits / 8, k, c.bits) - zero);
        }
        y.push_back(sum);
      }
    }
    return y;
  }
};

TEST(MatMulNBits, AllForms) {
  std::mt19937 random(test_seed());
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  for (int i = 0; i < 80; ++i) {
    NBitsCase c{2 << pick(0, 2), pick(0, 1) ? 1 : pick(0, 12), pick(1, 70), pick(1, 400), int64_t{16} << pick(0, 4)};
    c.zeros = static_cast<Zeros>(pick(0, 2));
    c.groups = pick(0, 3) == 0, c.bias = pick(0, 1) != 0, c.flat = pick(0, 1) != 0;
    NBitsNode built(c, static_cast<uint32_t>(random()));
    Tensor a = random_tensor<float>({c.m, c.k}, static_cast<uint32_t>(random()));
    double size = (1 << c.bits) * std::sqrt(static_cast<double>(c.k));
    EXPECT_TRUE(near(built.test(a).run_tensor(), {c.m, c.n}, built.reference(doubles(a)), 1e-6 * size))
        << c.bits << " bits " << c.m << "x" << c.n << "x" << c.k << " block " << c.block;
  }
}

TEST(MatMulNBits, StacksAndVectors) {
  NBitsNode built({4, 6, 10, 48, 32}, 1);
  Tensor stack = random_tensor<float>({2, 3, 48}, 2), line = random_tensor<float>({48}, 3);
  EXPECT_TRUE(near(built.test(stack).run_tensor(), {2, 3, 10}, built.reference(doubles(stack)), 1e-5));
  built.c.m = 1;
  EXPECT_TRUE(near(built.test(line).run_tensor(), {10}, built.reference(doubles(line)), 1e-5));
}

TEST(MatMulNBits, Level4IsCloseEnough) {
  for (int bits : {2, 4, 8}) {
    for (int64_t m : {1, 9}) {
      NBitsCase c{bits, m, 37, 200, 32, Zeros::kPacked, false, true};
      c.level = 4;
      NBitsNode built(c, 7);
      Tensor a = random_tensor<float>({m, 200}, 8);
      EXPECT_TRUE(near(built.test(a).run_tensor(), {m, 37}, built.reference(doubles(a)), 0.01 * (1 << bits))) << bits;
    }
  }
}

template <class T>
class MatMulNBitsHalf : public testing::Test {};
using HalfTypes = testing::Types<Half, BFloat16>;
TYPED_TEST_SUITE(MatMulNBitsHalf, HalfTypes);

TYPED_TEST(MatMulNBitsHalf, RoundsOnce) {
  NBitsNode built({4, 2, 20, 64, 32, Zeros::kNone, false, true}, 3);
  Tensor a = random_tensor<TypeParam>({2, 64}, 4);
  built.scales = random_tensor<TypeParam>({20, 2}, 5, 0.01, 0.1), built.bias = random_tensor<TypeParam>({20}, 6);
  double tolerance = std::is_same_v<TypeParam, Half> ? 1e-3 : 1e-2;
  EXPECT_TRUE(near(built.test(a).run_tensor(), {2, 20}, built.reference(doubles(a)), tolerance));
}

TEST(MatMulNBits, Errors) {
  Tensor a = random_tensor<float>({1, 64}, 1);
  auto error = [&](auto change) {
    NBitsNode built({4, 1, 6, 64, 32}, 1);
    change(built);
    return built.test(a).error();
  };
  EXPECT_NE(error([](NBitsNode& n) { n.data = random_bytes({6, 2, 15}, 1); }).find("need [6,2,16]"), std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) {
              n.scales = random_tensor<float>({6, 3}, 1);
            }).find("scales has shape [6,3]"),
            std::string::npos);
  auto bad_zeros = [](NBitsNode& n) { n.c.zeros = Zeros::kPacked, n.zeros = random_bytes({6, 2}, 1); };
  EXPECT_NE(error(bad_zeros).find("zero_points has shape"), std::string::npos);
  for (int32_t group : {2, -1, INT32_MIN, INT32_MAX}) {
    auto bad_group = [&](NBitsNode& n) { n.c.groups = true, n.groups.mutable_data<int32_t>()[63] = group; };
    EXPECT_NE(error(bad_group).find(" g_idx[63] is "), std::string::npos) << error(bad_group);
  }
  auto short_groups = [](NBitsNode& n) { n.c.groups = true, n.groups = random_tensor<int32_t>({63}, 1, 0, 1); };
  EXPECT_NE(error(short_groups).find("g_idx has shape"), std::string::npos);
  auto short_bias = [](NBitsNode& n) { n.c.bias = true, n.bias = random_tensor<float>({5}, 1); };
  EXPECT_NE(error(short_bias).find("the bias has shape"), std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) { n.c.bits = 3; }).find("bits is 3"), std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) { n.c.block = 24; }).find("block_size is 24"), std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) { n.c.block = 0; }).find("block_size is 0"), std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) { n.c.n = -6; }).find("N is -6"), std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) { n.c.n = INT64_MAX; }).find("K is 64 and N is 9223372036854775807"),
            std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) { n.c.block = int64_t{1} << 62; }).find("K is 64 and N is 6"), std::string::npos);
  EXPECT_NE(error([](NBitsNode& n) { n.c.k = 65; }).find("last dimension must be K"), std::string::npos);
}

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& columns, int64_t k) {
  std::vector<double> y;
  for (size_t row = 0; row < a.size(); row += k) {
    for (size_t column = 0; column < columns.size(); column += k) {
      y.push_back(std::inner_product(a.begin() + row, a.begin() + row + k, columns.begin() + column, 0.0));
    }
  }
  return y;
}

double bnb4_value(int q, bool nf4) {
  constexpr double kFp4[8] = {0, 1.0 / 192, 2.0 / 3, 1, 1.0 / 3, 1.0 / 2, 1.0 / 6, 1.0 / 4};
  constexpr double kNf4[16] = {-1,      -0.69619, -0.52507, -0.39492, -0.28444, -0.18477, -0.09105, 0,
                               0.07958, 0.16093,  0.24611,  0.33792,  0.44071,  0.56262,  0.72296,  1};
  if (nf4) return kNf4[q];
  return q < 8 ? kFp4[q] : -kFp4[q - 8];
}

struct Bnb4Case {
  int64_t m, n, k, block;
  bool nf4;
};

TEST(MatMulBnb4, BothFormatsInAndAcrossRows) {
  for (const Bnb4Case& c : {Bnb4Case{1, 20, 64, 32, true},
                            {5, 33, 96, 16, false},
                            {1, 7, 15, 16, true},
                            {3, 9, 40, 64, false},
                            {0, 3, 16, 16, true}}) {
    int64_t count = c.n * c.k;
    Tensor data = random_bytes({(count + 1) / 2}, 1);
    Tensor scales = random_tensor<float>({(count + c.block - 1) / c.block}, 2, 0.5, 1);
    Tensor a = random_tensor<float>({c.m, c.k}, 3);
    std::vector<double> columns;
    for (int64_t i = 0; i < count; ++i) {
      int q = data.data<uint8_t>()[i / 2] >> (i % 2 ? 0 : 4) & 15;
      columns.push_back(bnb4_value(q, c.nf4) * scales.data<float>()[i / c.block]);
    }
    OpTest test = node("MatMulBnb4");
    test.set("K", c.k).set("N", c.n).set("block_size", c.block).set("quant_type", int64_t{c.nf4});
    test.input(a).input(data).input(scales);
    EXPECT_TRUE(near(test.run_tensor(), {c.m, c.n}, product(doubles(a), columns, c.k), 1e-4)) << c.n << "x" << c.k;
  }
}

TEST(MatMulBnb4, Errors) {
  auto error = [](int64_t block, int64_t kind, int64_t bytes, int64_t scales) {
    OpTest test = node("MatMulBnb4");
    test.set("K", 32).set("N", 4).set("block_size", block).set("quant_type", kind);
    return test.input(random_tensor<float>({1, 32}, 1))
        .input(random_bytes({bytes}, 2))
        .input(random_tensor<float>({scales}, 3))
        .error();
  };
  EXPECT_EQ(error(16, 0, 64, 8), "");
  EXPECT_NE(error(16, 0, 63, 8).find("need 64 bytes"), std::string::npos);
  EXPECT_NE(error(16, 0, 64, 7).find("need 8 values"), std::string::npos);
  EXPECT_NE(error(0, 0, 64, 8).find("block_size 0"), std::string::npos);
  EXPECT_NE(error(16, 2, 64, 8).find("quant_type is 2"), std::string::npos);
}

TEST(MatMulFpQ4, BothKinds) {
  for (int64_t zeros : {0, 1}) {
    int64_t k = 70, n = 9, blocks = 3, size = 20 + zeros;
    Tensor blob = random_bytes({n * blocks * size}, 4), scales = random_tensor<float>({n * blocks}, 5, 0.01, 0.1);
    std::vector<double> columns;
    for (int64_t i = 0; i < n * blocks; ++i) {
      uint8_t* b = blob.mutable_data<uint8_t>() + i * size;
      std::memcpy(b, &scales.data<float>()[i], 4);
      if (zeros) b[4] &= 15;
      for (int64_t j = 0; j < 32 && i % blocks * 32 + j < k; ++j) {
        int q = b[4 + zeros + j % 16] >> (j < 16 ? 0 : 4) & 15;
        columns.push_back((q - (zeros ? b[4] : 8)) * static_cast<double>(scales.data<float>()[i]));
      }
    }
    Tensor a = random_tensor<float>({2, k}, 6);
    OpTest test = node("MatMulFpQ4");
    test.set("blk_quant_type", zeros).input(a).input(blob).input<int64_t>({2}, {k, n});
    EXPECT_TRUE(near(test.run_tensor(), {2, n}, product(doubles(a), columns, k), 1e-5));
  }
  auto error = [](int64_t k, int64_t n, int64_t bytes) {
    OpTest test = node("MatMulFpQ4");
    test.input(random_tensor<float>({1, 32}, 1)).input(random_bytes({bytes}, 2));
    return test.input<int64_t>({2}, {k, n}).error();
  };
  EXPECT_NE(error(32, 2, 41).find("needs 42 bytes"), std::string::npos);
  EXPECT_NE(error(-32, 2, 42).find("two positive dimensions"), std::string::npos);
  EXPECT_NE(error(32, INT64_MAX, 42).find("the product 9223372036854775807 * 21 overflows"), std::string::npos);
  EXPECT_NE(error(64, 1, 42).find("last dimension must be K"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
