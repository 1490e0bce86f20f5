// Transpose, Concat, Split, Slice, Expand, Tile, Range, Pad, CenterCropPad, DepthToSpace, SpaceToDepth,
// ReverseSequence.
#include <numeric>

#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

Tensor int64s(const std::vector<int64_t>& values) {
  return tensor_of<int64_t>(Shape{static_cast<int64_t>(values.size())}, values);
}

/** 0, 1, 2, … in that type. */
template <class T>
Tensor counted(Shape shape) {
  Tensor tensor(kTypeOf<T>, shape);
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    if constexpr (std::is_same_v<T, std::string>) {
      tensor.mutable_data<T>()[i] = std::to_string(i);
    } else if constexpr (std::is_constructible_v<T, float>) {
      tensor.mutable_data<T>()[i] = T(static_cast<float>(i));
    }
  }
  return tensor;
}

/** output[index] = input[from(index)] for all positions. */
template <class T, class From>
Tensor moved(const Tensor& input, Shape shape, From&& from) {
  Tensor result(kTypeOf<T>, shape);
  for_each_index(shape, [&](const Index& index) {
    result.mutable_data<T>()[flat(shape, index)] = input.data<T>()[flat(input.shape(), from(index))];
  });
  return result;
}

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

struct SliceCase {
  std::vector<int64_t> starts, ends, axes, steps;
};

TEST(Slice, FollowsNumpy) {
  Shape shape{5, 6, 4};
  Tensor input = counted<float>(shape);
  const SliceCase cases[] = {
      {{1, 0}, {4, 3}, {0, 1}, {1, 1}},
      {{-1}, {INT64_MIN}, {1}, {-2}},
      {{0}, {INT64_MAX}, {-1}, {3}},
      {{10}, {-10}, {0}, {-1}},
      {{3}, {1}, {0}, {1}},
      {{-3, 5}, {-1, 0}, {0, 1}, {1, -3}},
      {{INT64_MIN}, {INT64_MAX}, {2}, {2}},
      {{4}, {0}, {0}, {INT64_MIN}},
  };
  for (const SliceCase& c : cases) {
    std::vector<std::vector<int64_t>> taken;
    for (int64_t dim : shape) {
      taken.emplace_back(static_cast<size_t>(dim));
      std::iota(taken.back().begin(), taken.back().end(), 0);
    }
    for (size_t i = 0; i < c.axes.size(); ++i) {
      auto axis = static_cast<size_t>(c.axes[i] < 0 ? c.axes[i] + 3 : c.axes[i]);
      int64_t dim = shape[axis], step = c.steps[i];
      auto place = [&](int64_t p) { return p < 0 ? p + dim : p; };
      taken[axis].clear();
      for (int64_t at = 0; at < dim; ++at) {
        int64_t p = step > 0 ? at : dim - 1 - at;
        int64_t start = step > 0 ? std::max<int64_t>(place(c.starts[i]), 0) : std::min(place(c.starts[i]), dim - 1);
        bool reached = step > 0 ? p >= start && p < place(c.ends[i]) : p <= start && p > place(c.ends[i]);
        bool on_step = step == INT64_MIN ? p == start : (p - start) % step == 0;
        if (reached && on_step) taken[axis].push_back(p);
      }
    }
    Shape to{static_cast<int64_t>(taken[0].size()), static_cast<int64_t>(taken[1].size()),
             static_cast<int64_t>(taken[2].size())};
    Tensor expected = moved<float>(input, to, [&](Index index) {
      for (size_t i = 0; i < 3; ++i) index[i] = taken[i][static_cast<size_t>(index[i])];
      return index;
    });
    OpTest test("Slice", 13);
    test.input(input).input(int64s(c.starts)).input(int64s(c.ends)).input(int64s(c.axes)).input(int64s(c.steps));
    EXPECT_TRUE(same_value(test.run_tensor(), expected)) << c.starts[0];
  }
}

TEST(Slice, BackwardsFromBeforeTheFirstElementTakesIt) {
  auto run = [](int64_t dim, int64_t start) {
    OpTest test("Slice", 13);
    test.input(counted<float>({dim})).input(int64s({start})).input(int64s({INT64_MIN})).input(int64s({0}));
    return test.input(int64s({-1})).run_tensor();
  };
  EXPECT_TRUE(same_value(run(3, -9), counted<float>({1})));
  EXPECT_EQ(run(0, -9).shape(), Shape{0});
  EXPECT_EQ(run(0, 4).shape(), Shape{0});
}

TEST(Slice, AttributesInputsAndErrors) {
  Tensor input = counted<float>({5, 6});
  EXPECT_EQ(OpTest("Slice", 1).ints("starts", {1}).ints("ends", {1000}).input(input).run_tensor().shape(),
            (Shape{4, 6}));
  EXPECT_EQ(OpTest("Slice", 10).input(input).input(int64s({1, 2})).input(int64s({3, 3})).run_tensor().shape(),
            (Shape{2, 1}));
  auto error = [&](std::vector<int64_t> axes, std::vector<int64_t> steps) {
    return OpTest("Slice", 13)
        .input(input)
        .input(int64s({0}))
        .input(int64s({1}))
        .input(int64s(axes))
        .input(int64s(steps))
        .error();
  };
  EXPECT_NE(error({0}, {0}).find("steps must not be 0"), std::string::npos);
  EXPECT_NE(error({2}, {1}).find("axis 2 is outside [-2, 1] for rank 2"), std::string::npos);
  EXPECT_NE(error({0, 1}, {1}).find("starts has 1 entries, but starts or axes has 2"), std::string::npos);
}

// Whether the shape is inferred from constants or from what a run feeds.
TEST(Slice, EmptyListsOfAxesAndStepsAreAsGoodAsNone) {
  const Value input(counted<float>({5, 6, 4})), none(int64s({}));
  for (Way way : {Way::kConstants, Way::kKnownShapes, Way::kUnknownShapes}) {
    auto slice = [&](std::vector<int64_t> starts, std::vector<int64_t> ends, std::optional<Value> axes,
                     std::vector<Attribute> attributes) {
      NodeCase node{"Slice", "", 13, {input, Value(int64s(starts)), Value(int64s(ends)), axes, none}, attributes};
      return run_node(node, way, 1, SessionOptions())[0].tensor().shape();
    };
    EXPECT_EQ(slice({3}, {1}, none, {}), (Shape{0, 6, 4}));
    EXPECT_EQ(slice({3}, {5}, none, {}), (Shape{2, 6, 4}));
    EXPECT_EQ(slice({3, 1}, {5, 4}, std::nullopt, {{"axes", std::vector<int64_t>{}}}), (Shape{2, 3, 4}));
  }
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
