// Transpose, Concat, Split, Expand, Tile, Range, DepthToSpace, SpaceToDepth, ReverseSequence.
#include <cmath>

#include "counted_tensors.h"

namespace ortolan::test {
namespace {

template <class T>
void check_transpose(Shape shape, std::vector<int64_t> perm) {
  Tensor input = counted<T>(shape);
  Shape to;
  for (int64_t axis : perm) to.push_back(shape[static_cast<size_t>(axis)]);
  Tensor expected = moved<T>(input, to, [&](const Index& index) {
    Index from(index.size());
    for (size_t i = 0; i < index.size(); ++i) from[static_cast<size_t>(perm[i])] = index[i];
    return from;
  });
  EXPECT_TRUE(same_value(OpTest("Transpose").ints("perm", perm).input(input).run_tensor(), expected)) << join(shape);
}

TEST(Transpose, MovesEveryElementSize) {
  check_transpose<float>({2, 3, 4}, {2, 0, 1});
  check_transpose<float>({37, 41}, {1, 0});
  check_transpose<float>({2, 5, 19, 23}, {0, 2, 3, 1});
  check_transpose<float>({2, 19, 23, 5}, {0, 3, 1, 2});
  check_transpose<double>({17, 3, 18}, {2, 1, 0});
  check_transpose<Half>({33, 21}, {1, 0});
  check_transpose<uint8_t>({40, 50, 3}, {2, 0, 1});
  check_transpose<std::string>({5, 6, 4}, {1, 2, 0});
  check_transpose<float>({3, 0, 4}, {2, 1, 0});
  check_transpose<float>({2, 3, 4, 5, 6}, {4, 1, 3, 0, 2});
  check_transpose<float>({128, 130, 33}, {2, 1, 0});
}

TEST(Transpose, ReversesByDefaultAndChecksPerm) {
  EXPECT_EQ(OpTest("Transpose", 1).input(counted<float>({2, 3, 4})).run_tensor().shape(), (Shape{4, 3, 2}));
  EXPECT_EQ(OpTest("Transpose").input(counted<float>({})).run_tensor().rank(), 0u);
  auto error = [](std::vector<int64_t> perm) {
    return OpTest("Transpose").ints("perm", perm).input(counted<float>({2, 3})).error();
  };
  EXPECT_NE(error({0, 0}).find("axis 0 is given twice"), std::string::npos);
  EXPECT_NE(error({0, 2}).find("axis 2 is outside [-2, 1] for rank 2"), std::string::npos);
  EXPECT_NE(error({0, 1, 2}).find("perm has 3 entries"), std::string::npos);
}

TEST(Concat, JoinsAnyNumberOfInputs) {
  for (size_t count : {65535, 65536, 70000}) {
    OpTest test("Concat", 13);
    test.set("axis", 0);
    Tensor x = counted<float>({2});
    for (size_t i = 0; i < count; ++i) test.input(x);
    Tensor y = test.run_tensor();
    ASSERT_EQ(y.shape(), Shape{static_cast<int64_t>(2 * count)});
    EXPECT_EQ(y.data<float>()[2 * count - 1], x.data<float>()[1]);
  }
}

TEST(Concat, JoinsAlongAnyAxis) {
  for (int axis : {0, 1, -1}) {
    Shape shape{2, 3, 4};
    Tensor a = counted<int32_t>(shape), b = counted<int32_t>(shape);
    auto at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
    Shape to = shape;
    to[at] *= 2;
    Tensor expected = moved<int32_t>(a, to, [&](Index index) {
      index[at] %= shape[at];
      return index;
    });
    EXPECT_TRUE(same_value(OpTest("Concat", 13).set("axis", axis).input(a).input(b).run_tensor(), expected)) << axis;
  }
  EXPECT_EQ(OpTest("Concat", 1).input(counted<float>({2, 3})).input(counted<float>({2, 1})).run_tensor().shape(),
            (Shape{2, 4}));
  Tensor words = OpTest("Concat", 13)
                     .set("axis", 0)
                     .input<std::string>({1}, {"a"})
                     .input<std::string>({0}, {})
                     .input<std::string>({2}, {"b", "c"})
                     .run_tensor();
  EXPECT_TRUE(equal<std::string>(words, {3}, {"a", "b", "c"}));
  std::string text =
      OpTest("Concat", 13).set("axis", 0).input(counted<float>({2, 3})).input(counted<float>({2, 4})).error();
  EXPECT_NE(text.find("only dimension 0 may differ"), std::string::npos) << text;
  EXPECT_NE(OpTest("Concat", 13)
                .set("axis", 2)
                .input(counted<float>({2, 3}))
                .error()
                .find("axis 2 is outside [-2, 1] for rank 2"),
            std::string::npos);
}

TEST(Split, CutsAsEachOpsetSays) {
  Tensor input = counted<float>({2, 7});
  auto shapes = [](const std::vector<Value>& values) {
    std::string text;
    for (const Value& value : values) text += join(value.tensor().shape());
    return text;
  };
  EXPECT_EQ(shapes(OpTest("Split", 2).set("axis", 1).ints("split", {3, 0, 4}).input(input).run(3)), "[2,3][2,0][2,4]");
  EXPECT_EQ(shapes(OpTest("Split", 13).set("axis", -1).input(input).input(int64s({1, 6})).run(2)), "[2,1][2,6]");
  EXPECT_EQ(shapes(OpTest("Split", 18).set("axis", 1).set("num_outputs", 3).input(input).run(3)), "[2,3][2,3][2,1]");
  auto parts = OpTest("Split", 13).set("axis", 1).input(input).input(int64s({2, 5})).run(2);
  EXPECT_TRUE(near(parts[1].tensor(), {2, 5}, {2, 3, 4, 5, 6, 9, 10, 11, 12, 13}));
  EXPECT_NE(OpTest("Split", 13).set("axis", 1).input(input).error(2).find("dimension 7 does not split"),
            std::string::npos);
  EXPECT_NE(OpTest("Split", 13)
                .set("axis", 1)
                .input(input)
                .input(int64s({2, 6}))
                .error(2)
                .find("the lengths in split add up to 8, but the dimension to split is"),
            std::string::npos);
  EXPECT_NE(OpTest("Split", 13)
                .set("axis", 1)
                .input(input)
                .input(int64s({-2, 9}))
                .error(2)
                .find("split holds the negative length -2"),
            std::string::npos);
}

TEST(Expand, BroadcastsBothWays) {
  Tensor input = counted<int32_t>({3, 1});
  Tensor result = OpTest("Expand", 8).input(input).input(int64s({2, 1, 4})).run_tensor();
  EXPECT_TRUE(same_value(result, moved<int32_t>(input, {2, 3, 4}, [](const Index& i) { return Index{i[1], 0}; })));
  EXPECT_EQ(OpTest("Expand").input(counted<float>({})).input(int64s({2, 0})).run_tensor().shape(), (Shape{2, 0}));
  EXPECT_EQ(OpTest("Expand").input(counted<std::string>({2})).input(int64s({})).run_tensor().shape(), Shape{2});
  EXPECT_NE(OpTest("Expand")
                .input(input)
                .input(int64s({2, 4}))
                .error()
                .find("shapes [3,1] and [2,4]: dimensions 3 and 2 differ and neither"),
            std::string::npos);
  EXPECT_NE(
      OpTest("Expand").input(input).input(int64s({-1})).error().find("dimension -1 of the wanted shape is negative"),
      std::string::npos);
  EXPECT_NE(OpTest("Expand")
                .input(input)
                .input(int64s({3, INT64_MAX}))
                .error()
                .find("the product 3 * 9223372036854775807 overflows"),
            std::string::npos);
}

TEST(Tile, RepeatsEachDimension) {
  Tensor input = counted<float>({2, 3});
  Tensor expected = moved<float>(input, {4, 9}, [](const Index& i) { return Index{i[0] % 2, i[1] % 3}; });
  EXPECT_TRUE(same_value(OpTest("Tile", 6).input(input).input(int64s({2, 3})).run_tensor(), expected));
  EXPECT_EQ(OpTest("Tile", 13).input(input).input(int64s({0, 3})).run_tensor().shape(), (Shape{0, 9}));
  Tensor nothing = OpTest("Tile", 13).input(counted<float>({0, 2})).input(int64s({int64_t{1} << 33, 3})).run_tensor();
  EXPECT_EQ(nothing.shape(), (Shape{0, 6}));
  Tensor one_axis = OpTest("Tile", 1).input(input).input<float>({}, {2}).input<float>({}, {1}).run_tensor();
  EXPECT_TRUE(same_value(one_axis, moved<float>(input, {2, 6}, [](const Index& i) { return Index{i[0], i[1] % 3}; })));
  EXPECT_NE(
      OpTest("Tile").input(input).input(int64s({2})).error().find("repeats has 1 entries for an input of shape [2,3]"),
      std::string::npos);
  EXPECT_NE(
      OpTest("Tile").input(counted<float>({})).input<int64_t>({2, 1}, {2, 1}).error().find("repeats has 2 entries"),
      std::string::npos);
  EXPECT_NE(OpTest("Tile").input(input).input(int64s({-1, 1})).error().find("repeats hold -1"), std::string::npos);
  EXPECT_NE(OpTest("Tile")
                .input(input)
                .input(int64s({INT64_MAX, INT64_MAX}))
                .error()
                .find("attributes and inputs do not determine output 0: its type would"),
            std::string::npos);
}

TEST(Range, CountsUpAndDown) {
  auto range = [](auto a, auto b, auto c) {
    using T = decltype(a);
    return OpTest("Range", 11).input(scalar<T>(a)).input(scalar<T>(b)).input(scalar<T>(c));
  };
  EXPECT_TRUE(equal<int32_t>(range(10, 3, -3).run_tensor(), {3}, {10, 7, 4}));
  EXPECT_TRUE(near(range(0.f, 1.f, 0.25f).run_tensor(), {4}, {0, 0.25, 0.5, 0.75}));
  EXPECT_EQ(range(5, 1, 1).run_tensor().shape(), Shape{0});
  EXPECT_NE(range(0, 1, 0).error().find("delta is 0"), std::string::npos);
  EXPECT_NE(range(INT64_MIN, INT64_MAX, int64_t{1}).error().find("the range has too many elements"), std::string::npos);
  EXPECT_NE(range(0.f, INFINITY, 1.f).error().find("the range has too many elements"), std::string::npos);
}

TEST(DepthToSpace, IsUndoneBySpaceToDepth) {
  Tensor input = counted<float>({2, 8, 3, 2});
  Tensor wide = OpTest("DepthToSpace", 1).set("blocksize", 2).input(input).run_tensor();
  Tensor expected = moved<float>(input, {2, 2, 6, 4}, [](const Index& i) {
    return Index{i[0], (i[2] % 2 * 2 + i[3] % 2) * 2 + i[1], i[2] / 2, i[3] / 2};
  });
  EXPECT_TRUE(same_value(wide, expected));
  EXPECT_TRUE(same_value(OpTest("SpaceToDepth", 13).set("blocksize", 2).input(wide).run_tensor(), input));
  Tensor columns = OpTest("DepthToSpace", 11).set("blocksize", 2).set("mode", "CRD").input(input).run_tensor();
  EXPECT_TRUE(same_value(columns, moved<float>(input, {2, 2, 6, 4}, [](const Index& i) {
                           return Index{i[0], i[1] * 4 + i[2] % 2 * 2 + i[3] % 2, i[2] / 2, i[3] / 2};
                         })));
  EXPECT_NE(OpTest("DepthToSpace")
                .set("blocksize", 3)
                .input(input)
                .error()
                .find("the number of channels 8 is not a multiple of 9"),
            std::string::npos);
  EXPECT_NE(OpTest("SpaceToDepth").set("blocksize", 0).input(input).error().find("blocksize is 0"), std::string::npos);
}

TEST(ReverseSequence, ReversesTheFirstSteps) {
  Tensor input = counted<float>({4, 2, 3});
  Tensor result = OpTest("ReverseSequence", 10).input(input).input(int64s({3, 0})).run_tensor();
  EXPECT_TRUE(same_value(result, moved<float>(input, {4, 2, 3}, [](Index i) {
                           if (i[1] == 0 && i[0] < 3) i[0] = 2 - i[0];
                           return i;
                         })));
  EXPECT_NE(OpTest("ReverseSequence", 10)
                .input(input)
                .input(int64s({5, 0}))
                .error()
                .find("sequence length 5 is outside [0, 4]"),
            std::string::npos);
  EXPECT_NE(OpTest("ReverseSequence", 10)
                .set("batch_axis", 0)
                .input(input)
                .input(int64s({1, 1}))
                .error()
                .find("batch_axis 0 and time_axis 0 must be 0 and 1 or 1 and 0"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
