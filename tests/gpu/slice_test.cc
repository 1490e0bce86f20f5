// Slice, Split, Concat, Expand and Tile.
#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

Tensor list(std::vector<int64_t> values, ElementType type = ElementType::kInt64) {
  auto count = static_cast<int64_t>(values.size());
  return integers({count}, std::move(values), type);
}

class Slice : public testing::TestWithParam<NamedDevice> {
 protected:
  std::vector<Tensor> run(const TestNode& node, const std::vector<NodeInput>& inputs, size_t outputs = 1) {
    return run_node(*GetParam().device, node, inputs, outputs);
  }
};

TEST_P(Slice, StepsInBothDirections) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({7, 20}, type);
    expect_same(run({"Slice"}, {{x}, {list({5, -1})}, {list({1, INT64_MIN})}, {list({0, -1})}, {list({-2, -3})}})[0],
                moved(x, {2, 7}, [](const Coordinates& c) {
                  return Coordinates{5 - 2 * c[0], 19 - 3 * c[1]};
                }));
    expect_same(run({"Slice"}, {{x}, {list({4})}, {list({INT64_MAX})}, {list({1})}})[0],
                moved(x, {7, 16}, [](const Coordinates& c) {
                  return Coordinates{c[0], 4 + c[1]};
                }));
    expect_same(run({"Slice"}, {{x}, {list({1, -17}, ElementType::kInt32)}, {list({100, 14}, ElementType::kInt32)}})[0],
                moved(x, {6, 11}, [](const Coordinates& c) {
                  return Coordinates{1 + c[0], 3 + c[1]};
                }));
  }
}

TEST_P(Slice, ByAttributesBeforeOpset10) {
  Tensor x = numbered({4, 6}, ElementType::kFloat16);
  TestNode node{
      "Slice",
      {{"starts", std::vector<int64_t>{-3}}, {"ends", std::vector<int64_t>{-1}}, {"axes", std::vector<int64_t>{1}}},
      1};
  expect_same(run(node, {{x}})[0], moved(x, {4, 2}, [](const Coordinates& c) { return Coordinates{c[0], 3 + c[1]}; }));
}

TEST_P(Slice, NothingIsLeft) {
  Tensor x = numbered({3, 4}, ElementType::kFloat);
  EXPECT_EQ(run({"Slice"}, {{x}, {list({3})}, {list({1})}})[0].shape, (Shape{0, 4}));
  EXPECT_EQ(run({"Slice"}, {{numbered({0, 4}, ElementType::kFloat)}, {list({0})}, {list({1})}})[0].shape,
            (Shape{0, 4}));
}

TEST_P(Slice, AnAxisStandsOnce) {
  Tensor x = numbered({3, 4}, ElementType::kFloat);
  EXPECT_EQ(error_of([&] {
              run({"Slice"}, {{x}, {list({1, 1})}, {list({3, 3})}, {list({0, -2})}});
            }),
            "node 'n' (Slice): axis 0 stands twice in axes");
}

TEST_P(Slice, AllIsAView) {
  Tensor x = numbered({3, 4}, ElementType::kFloat);
  expect_same(run({"Slice"}, {{x}, {list({0})}, {list({9})}, {list({1})}})[0], x);
}

TEST_P(Slice, AStepOfZero) {
  Tensor x = numbered({3}, ElementType::kFloat);
  EXPECT_EQ(error_of([&] {
              run({"Slice"}, {{x}, {list({0})}, {list({1})}, {list({0})}, {list({0})}});
            }),
            "node 'n' (Slice): the step along axis 0 is 0");
}

TEST_P(Slice, SplitBySizesAndByCount) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({3, 7, 5}, type);
    auto part = [&](int64_t start, int64_t size) {
      return moved(x, {3, size, 5}, [&](const Coordinates& c) { return Coordinates{c[0], start + c[1], c[2]}; });
    };
    TestNode node{"Split", {{"axis", int64_t{-2}}}};
    std::vector<Tensor> parts = run(node, {{x}, {list({2, 0, 5})}}, 3);
    expect_same(parts[0], part(0, 2));
    expect_same(parts[1], part(2, 0));
    expect_same(parts[2], part(2, 5));
    parts = run(node, {{x}}, 3);
    expect_same(parts[1], part(3, 3));
    expect_same(parts[2], part(6, 1));
  }
}

TEST_P(Slice, SplitBeforeOpset18IsEven) {
  Tensor x = numbered({6}, ElementType::kInt32);
  expect_same(run({"Split", {}, 2}, {{x}}, 2)[1],
              moved(x, {3}, [](const Coordinates& c) { return Coordinates{3 + c[0]}; }));
  expect_same(run({"Split", {{"split", std::vector<int64_t>{1, 5}}}, 11}, {{x}}, 2)[1],
              moved(x, {5}, [](const Coordinates& c) { return Coordinates{1 + c[0]}; }));
  EXPECT_EQ(error_of([&] {
              run({"Split", {}, 13}, {{x}}, 4);
            }),
            "node 'n' (Split): a dimension of 6 does not divide into 4 equal parts");
}

TEST_P(Slice, Concat) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({3, 9, 4}, type);
    auto part = [&](int64_t start, int64_t size) {
      return NodeInput{moved(x, {3, size, 4}, [&](const Coordinates& c) {
        return Coordinates{c[0], start + c[1], c[2]};
      })};
    };
    expect_same(run({"Concat", {{"axis", int64_t{-2}}}}, {part(0, 2), part(2, 1), part(3, 0), part(3, 6)})[0], x);
    expect_same(run({"Concat", {}, 1}, {part(0, 9)})[0], x);
  }
  Tensor x = numbered({2, 6}, ElementType::kBool);
  auto columns = [&](int64_t start, int64_t size) {
    return moved(x, {2, size}, [&](const Coordinates& c) { return Coordinates{c[0], start + c[1]}; });
  };
  expect_same(run({"Concat", {{"axis", int64_t{1}}}}, {{columns(0, 5)}, constant(columns(5, 1))})[0], x);
}

TEST_P(Slice, ConcatOfOtherShapes) {
  Tensor a = numbered({2, 3}, ElementType::kFloat), b = numbered({3, 3}, ElementType::kFloat);
  EXPECT_EQ(error_of([&] {
              run({"Concat", {{"axis", int64_t{1}}}}, {{a}, {b}});
            }),
            "node 'n' (Concat): input 1 differs from input 0 beside axis 1");
}

TEST_P(Slice, Expand) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({3, 1, 5}, type);
    expect_same(run({"Expand"}, {{x}, {list({2, 1, 4, 1})}})[0], moved(x, {2, 3, 4, 5}, [](const Coordinates& c) {
                  return Coordinates{c[1], 0, c[3]};
                }));
    expect_same(run({"Expand"}, {{x}, {list({5})}})[0], x);
  }
  Tensor scalar = numbered({}, ElementType::kFloat);
  expect_same(run({"Expand"}, {{scalar}, {list({70})}})[0],
              moved(scalar, {70}, [](const Coordinates&) { return Coordinates{}; }));
  EXPECT_EQ(run({"Expand"}, {{scalar}, {list({0, 2})}})[0].shape, (Shape{0, 2}));
  EXPECT_EQ(error_of([&] {
              run({"Expand"}, {{numbered({3}, ElementType::kFloat)}, {list({2})}});
            }),
            "node 'n' (Expand): dimensions 3 and 2 do not broadcast");
}

TEST_P(Slice, Tile) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({2, 3}, type);
    expect_same(run({"Tile"}, {{x}, {list({3, 2})}})[0], moved(x, {6, 6}, [](const Coordinates& c) {
                  return Coordinates{c[0] % 2, c[1] % 3};
                }));
    expect_same(run({"Tile", {}, 6}, {{x}, {list({1, 1})}})[0], x);
  }
  Tensor deep = numbered({2, 3, 2, 2}, ElementType::kInt16);
  expect_same(run({"Tile"}, {{deep}, {list({2, 2, 3, 2})}})[0], moved(deep, {4, 6, 6, 4}, [](const Coordinates& c) {
                return Coordinates{c[0] % 2, c[1] % 3, c[2] % 2, c[3] % 2};
              }));
  EXPECT_EQ(run({"Tile"}, {{deep}, {list({2, 0, 3, 2})}})[0].shape, (Shape{4, 0, 6, 4}));
  EXPECT_EQ(error_of([&] { run({"Tile"}, {{deep}, {list({2})}}); }), "node 'n' (Tile): there are 1 repeats for 4 axes");
}

INSTANTIATE_TEST_SUITE_P(Devices, Slice, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
