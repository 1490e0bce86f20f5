// Cast and CastLike between every pair of types, and numbers as text.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

Tensor cast(const Tensor& x, ElementType to, int opset = 23) {
  return OpTest("Cast", opset).set("to", static_cast<int64_t>(to)).input(x).run_tensor();
}

/** Small whole numbers, which all types but bool hold exactly. */
template <class T>
Tensor small_numbers() {
  Tensor x(kTypeOf<T>, {5});
  for (int i = 0; i < 5; ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      x.mutable_data<T>()[i] = std::to_string(i);
    } else if constexpr (std::is_arithmetic_v<T>) {
      x.mutable_data<T>()[i] = static_cast<T>(i);
    } else {
      x.mutable_data<T>()[i] = T(static_cast<float>(i));
    }
  }
  return x;
}

constexpr TypeSet kWholeTypes = kNumericTypes | kFloat8Types | ElementType::kString;

TEST(Cast, ConvertsBetweenAllPairs) {
  for (int from = 1; from < kElementTypeCount; ++from) {
    for (int to = 1; to < kElementTypeCount; ++to) {
      auto a = static_cast<ElementType>(from), b = static_cast<ElementType>(to);
      if (!kWholeTypes.contains(a) || !kWholeTypes.contains(b)) continue;
      SCOPED_TRACE(join(name_of(a), " to ", name_of(b)));
      dispatch<kWholeTypes>(a, [&]<class A>(TypeTag<A>) {
        Tensor y = cast(small_numbers<A>(), b);
        EXPECT_EQ(y.type(), b);
        Tensor back = cast(y, ElementType::kInt32);
        EXPECT_TRUE(equal<int32_t>(back, {5}, {0, 1, 2, 3, 4}));
      });
    }
  }
}

TEST(Cast, PackedTypes) {
  Tensor x = tensor_of<int32_t>({7}, {-8, -1, 0, 1, 7, 3, -2});
  EXPECT_TRUE(same_value(cast(cast(x, ElementType::kInt4), ElementType::kInt32), x));
  Tensor small = tensor_of<int32_t>({5}, {-2, -1, 0, 1, -2});
  EXPECT_TRUE(same_value(cast(cast(small, ElementType::kInt2, 25), ElementType::kInt32, 25), small));
  Tensor f4 = cast(tensor_of<float>({5}, {0.5f, -6, 100, 1.25f, 0.2f}), ElementType::kFloat4E2M1);
  EXPECT_TRUE(near(cast(f4, ElementType::kFloat), {5}, {0.5, -6, 6, 1, 0}));
}

TEST(Cast, FloatsToIntegers) {
  Tensor x = tensor_of<float>({6}, {-1.9f, 1.9f, 3e9f, -3e9f, NAN, 200});
  EXPECT_TRUE(equal<int32_t>(cast(x, ElementType::kInt32), {6}, {-1, 1, INT32_MIN, INT32_MIN, INT32_MIN, 200}));
  EXPECT_TRUE(equal<int64_t>(cast(x, ElementType::kInt64), {6}, {-1, 1, 3000000000, -3000000000, INT64_MIN, 200}));
  EXPECT_TRUE(equal<uint8_t>(cast(tensor_of<float>({3}, {-1, 255.5f, 256}), ElementType::kUInt8), {3}, {255, 255, 0}));
  Tensor wide = tensor_of<double>({2}, {1.8e19, -1});
  EXPECT_TRUE(equal<uint64_t>(cast(wide, ElementType::kUInt64), {2}, {18000000000000000000u, UINT64_MAX}));
  EXPECT_TRUE(equal<bool>(cast(x, ElementType::kBool), {6}, {true, true, true, true, true, true}));
  EXPECT_TRUE(equal<bool>(cast(tensor_of<double>({2}, {0, -0.0}), ElementType::kBool), {2}, {false, false}));
}

TEST(Cast, RoundsOnce) {
  double just_above_half = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);  // float would round it to the tie
  EXPECT_TRUE(near(cast(tensor_of<double>({1}, {just_above_half}), ElementType::kFloat16), {1}, {1 + 0x1p-10}, 0));
  double bfloat = 1 + std::ldexp(1.0, -8) + std::ldexp(1.0, -40);
  EXPECT_TRUE(near(cast(tensor_of<double>({1}, {bfloat}), ElementType::kBFloat16), {1}, {1 + 0x1p-7}, 0));
}

TEST(Cast, SaturatesNarrowFloatsUnlessTold) {
  Tensor x = tensor_of<float>({3}, {1e6f, INFINITY, NAN});
  auto codes = [&](int saturate) {
    Tensor y = OpTest("Cast", 19).set("to", 20 - 1).set("saturate", saturate).input(x).run_tensor();
    return cast(y, ElementType::kFloat);
  };
  EXPECT_TRUE(near(codes(1), {3}, {57344, 57344, NAN}));
  EXPECT_TRUE(near(codes(0), {3}, {INFINITY, INFINITY, NAN}));
}

TEST(Cast, WritesNumbersAsText) {
  Tensor x = tensor_of<float>({9}, {0.1f, 1, -0.0f, 1e16f, 1e-5f, 123456.79f, NAN, -INFINITY, 1e10f});
  std::vector<std::string> text{"0.1", "1.0", "-0.0", "1e+16", "1e-05", "123456.79", "nan", "-inf", "10000000000.0"};
  EXPECT_TRUE(equal<std::string>(cast(x, ElementType::kString), {9}, text));
  EXPECT_TRUE(equal<std::string>(cast(tensor_of<Half>({1}, {Half(0.1f)}), ElementType::kString), {1}, {"0.1"}));
  Tensor large = tensor_of<uint64_t>({1}, {UINT64_MAX});
  EXPECT_TRUE(equal<std::string>(cast(large, ElementType::kString), {1}, {"18446744073709551615"}));
  for (uint32_t seed = 0; seed < 4; ++seed) {
    Tensor numbers = random_tensor<double>({200}, test_seed() + seed, -1e6, 1e6);
    EXPECT_TRUE(same_value(cast(cast(numbers, ElementType::kString), ElementType::kDouble), numbers));
  }
}

TEST(Cast, ReadsNumbersFromText) {
  Tensor text = tensor_of<std::string>({6}, {"1.5", " -2e3", "+7", "INF", "NaN", "1e-400"});
  EXPECT_TRUE(near(cast(text, ElementType::kFloat), {6}, {1.5, -2000, 7, INFINITY, NAN, 0}));
  Tensor whole = tensor_of<std::string>({3}, {"9223372036854775807", "-3", "4.0"});
  EXPECT_TRUE(equal<int64_t>(cast(whole, ElementType::kInt64), {3}, {INT64_MAX, -3, 4}));
  for (const char* bad : {"", "abc", "1x", "--1", "1e999999999999"}) {
    Tensor x = tensor_of<std::string>({1}, {bad});
    OpTest test("Cast", 13);
    std::string error = test.set("to", 7).input(x).error();
    EXPECT_NE(error.find("is not a number of the wanted range"), std::string::npos) << bad << ": " << error;
  }
}

TEST(Cast, ReadsItsAttributes) {
  Tensor x = tensor_of<float>({2}, {1.5f, 2});
  EXPECT_TRUE(equal<int32_t>(OpTest("Cast", 1).set("to", "INT32").input(x).run_tensor(), {2}, {1, 2}));
  EXPECT_NE(OpTest("Cast", 13).set("to", 99).input(x).error().find("attribute to is 99"), std::string::npos);
  Tensor like = OpTest("CastLike", 15).input(x).input<int8_t>({}, {0}).run_tensor();
  EXPECT_TRUE(equal<int8_t>(like, {2}, {1, 2}));
  EXPECT_EQ(cast(tensor_of<float>({0, 3}, {}), ElementType::kInt8).shape(), (Shape{0, 3}));
  EXPECT_TRUE(equal<int8_t>(cast(tensor_of<float>({}, {3}), ElementType::kInt8), {}, {3}));
}

}  // namespace
}  // namespace ortolan::test
