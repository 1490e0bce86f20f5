// Pad, CenterCropPad.
#include "counted_tensors.h"

namespace ortolan::test {
namespace {

/** numpy.pad's position for each mode; -1 for the constant. */
int64_t padded_from(int64_t at, int64_t size, const std::string& mode) {
  while (at < 0 || at >= size) {
    if (mode == "constant") return -1;
    if (mode == "edge") return at < 0 ? 0 : size - 1;
    if (mode == "wrap") at += at < 0 ? size : -size;
    if (mode == "reflect") at = size == 1 ? 0 : at < 0 ? -at : 2 * (size - 1) - at;
  }
  return at;
}

TEST(Pad, AllModes) {
  Shape shape{2, 3, 4};
  std::vector<int64_t> pads = {0, 2, 1, 0, 1, 5};
  for (std::string mode : {"constant", "reflect", "edge", "wrap"}) {
    for (int64_t begin : {int64_t{1}, int64_t{-2}}) {
      pads[2] = begin;
      Tensor input = counted<float>(shape);
      Shape to{2, 6, 9 + begin};
      Tensor expected(ElementType::kFloat, to);
      for_each_index(to, [&](const Index& index) {
        Index from(3);
        bool inside = true;
        for (size_t i = 0; i < 3; ++i) {
          from[i] = padded_from(index[i] - pads[i], shape[i], mode);
          inside = inside && from[i] >= 0;
        }
        expected.mutable_data<float>()[flat(to, index)] = inside ? input.data<float>()[flat(shape, from)] : 9.5f;
      });
      OpTest test("Pad", 19);
      test.set("mode", mode.c_str()).input(input).input(int64s(pads)).input<float>({}, {9.5f});
      EXPECT_TRUE(same_value(test.run_tensor(), expected)) << mode << begin;
    }
  }
}

TEST(Pad, OldOpsetsAxesTypesAndErrors) {
  EXPECT_TRUE(near(OpTest("Pad", 1).ints("paddings", {1, 0}).set("value", 3.f).input<float>({1}, {7}).run_tensor(), {2},
                   {3, 7}));
  EXPECT_TRUE(near(OpTest("Pad", 2).ints("pads", {0, 1}).input<float>({1}, {7}).run_tensor(), {2}, {7, 0}));
  EXPECT_TRUE(
      equal<int32_t>(OpTest("Pad", 2).ints("pads", {0, 1}).set("value", 1e20f).input<int32_t>({1}, {7}).run_tensor(),
                     {2}, {7, INT32_MAX}));
  Tensor words = OpTest("Pad", 13).input<std::string>({1}, {"a"}).input(int64s({1, 1})).run_tensor();
  EXPECT_TRUE(equal<std::string>(words, {3}, {"", "a", ""}));
  Tensor listed =
      OpTest("Pad", 18).input(counted<float>({2, 2})).input(int64s({1, 0})).no_input().input(int64s({-1})).run_tensor();
  EXPECT_TRUE(near(listed, {2, 3}, {0, 0, 1, 0, 2, 3}));
  EXPECT_TRUE(near(OpTest("Pad", 13).input(counted<float>({0})).input(int64s({1, 1})).run_tensor(), {2}, {0, 0}));
  EXPECT_NE(OpTest("Pad", 13)
                .set("mode", "edge")
                .input(counted<float>({0}))
                .input(int64s({1, 1}))
                .error()
                .find("dimension 0 of the input is 0, so there is nothing to pad with"),
            std::string::npos);
  EXPECT_NE(
      OpTest("Pad", 13).input(counted<float>({2})).input(int64s({1})).error().find("pads has 1 entries for 1 axes"),
      std::string::npos);
  EXPECT_NE(OpTest("Pad", 13)
                .input(counted<float>({2}))
                .input(int64s({-2, -1}))
                .error()
                .find("pads -2 and -1 remove more than dimension 0 of the input of"),
            std::string::npos);
  EXPECT_NE(OpTest("Pad", 13)
                .input(counted<float>({2}))
                .input(int64s({INT64_MIN, INT64_MAX}))
                .error()
                .find("the pad -9223372036854775808 is out of range"),
            std::string::npos);
  EXPECT_NE(OpTest("Pad", 13)
                .set("mode", "round")
                .input(counted<float>({2}))
                .input(int64s({1, 1}))
                .error()
                .find("mode 'round' is unknown"),
            std::string::npos);
}

TEST(CenterCropPad, CutsAndPads) {
  Tensor result =
      OpTest("CenterCropPad", 18).ints("axes", {1, 0}).input(counted<float>({2, 5})).input(int64s({2, 3})).run_tensor();
  EXPECT_TRUE(near(result, {3, 2}, {1, 2, 6, 7, 0, 0}));
  EXPECT_NE(OpTest("CenterCropPad", 18)
                .input(counted<float>({2, 5}))
                .input(int64s({-1, 1}))
                .error()
                .find("the wanted size -1 is negative"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
