// Gather, GatherElements and GatherND, and what becomes of indices that are outside.
#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

class Gather : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
};

TEST_P(Gather, AnyAxisAndType) {
  for (ElementType type : kTypesBySize) {
    for (ElementType index : {ElementType::kInt32, ElementType::kInt64}) {
      Tensor x = numbered({3, 5, 4}, type), indices = integers({2, 2}, {4, -5, 0, -1}, index);
      const int64_t at[] = {4, 0, 0, 4};
      Tensor wanted = moved(x, {3, 2, 2, 4}, [&](const Coordinates& c) {
        return Coordinates{c[0], at[c[1] * 2 + c[2]], c[3]};
      });
      expect_same(run({"Gather", {{"axis", int64_t{-2}}}}, {{x}, {indices}}), wanted);
      expect_same(run({"Gather", {{"axis", int64_t{1}}}, 1}, {{x}, constant(indices)}), wanted);
    }
  }
}

TEST_P(Gather, ManyRows) {
  Tensor x = numbered({300, 67}, ElementType::kFloat);
  std::vector<int64_t> at;
  for (int64_t i = 0; i < 200; i++) at.push_back(i * 7 % 300);
  Tensor wanted = moved(x, {200, 67}, [&](const Coordinates& c) { return Coordinates{at[c[0]], c[1]}; });
  expect_same(run({"Gather"}, {{x}, {integers({200}, at)}}), wanted);
}

TEST_P(Gather, OneKnownIndexIsASlice) {
  Tensor x = numbered({3, 5}, ElementType::kFloat16);
  expect_same(run({"Gather", {{"axis", int64_t{1}}}}, {{x}, constant(integers({}, {-2}))}),
              moved(x, {3}, [](const Coordinates& c) {
                return Coordinates{c[0], 3};
              }));
}

TEST_P(Gather, Nothing) {
  Tensor x = numbered({3, 0}, ElementType::kFloat);
  EXPECT_EQ(run({"Gather"}, {{x}, {integers({2}, {0, 1})}}).shape, (Shape{2, 0}));
  EXPECT_EQ(run({"Gather"}, {{x}, {integers({0}, {})}}).shape, (Shape{0, 0}));
  EXPECT_EQ(error_of([&] {
              run({"Gather", {{"axis", int64_t{1}}}}, {{x}, {integers({1}, {0})}});
            }),
            "node 'n' (Gather): axis 1 is empty: no index is inside");
}

TEST_P(Gather, AnIndexOutsideIsAnErrorOfTheRun) {
  Tensor x = numbered({3, 4}, ElementType::kFloat);
  const std::string text = "node 'n' (Gather): an index is outside of axis 0 of size 3";
  for (int64_t bad : {int64_t{3}, int64_t{-4}, int64_t{1} << 32, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(error_of([&] { run({"Gather"}, {{x}, {integers({2}, {0, bad})}}); }), text) << bad;
  }
  EXPECT_EQ(error_of([&] { run({"Gather"}, {{x}, {integers({1}, {INT32_MIN}, ElementType::kInt32)}}); }), text);
}

TEST_P(Gather, AKnownIndexOutsideIsAnErrorAtOnce) {
  Tensor x = numbered({3, 4}, ElementType::kFloat);
  EXPECT_EQ(error_of([&] {
              run({"Gather"}, {{x}, constant(integers({2}, {0, 3}))});
            }),
            "node 'n' (Gather): index 3 is outside of axis 0 of size 3");
}

TEST_P(Gather, ElementsAlongAnAxis) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({3, 5, 4}, type);
    const int64_t at[] = {4, -5, 0, -1, 2, 1, 3, 3};  // [2, 2, 2]
    for (ElementType index : {ElementType::kInt32, ElementType::kInt64}) {
      Tensor indices = integers({2, 2, 2}, {std::begin(at), std::end(at)}, index);
      expect_same(run({"GatherElements", {{"axis", int64_t{-2}}}}, {{x}, {indices}}),
                  moved(x, {2, 2, 2}, [&](const Coordinates& c) {
                    return Coordinates{c[0], (at[c[0] * 4 + c[1] * 2 + c[2]] + 5) % 5, c[2]};
                  }));
    }
  }
  Tensor x = numbered({3}, ElementType::kFloat);
  EXPECT_EQ(run({"GatherElements"}, {{x}, {integers({0}, {})}}).shape, (Shape{0}));
  EXPECT_EQ(error_of([&] {
              run({"GatherElements"}, {{x}, {integers({1}, {3})}});
            }),
            "node 'n' (GatherElements): an index is outside of axis 0 of size 3");
  EXPECT_EQ(error_of([&] {
              run({"GatherElements"}, {{x}, {integers({1, 1}, {0})}});
            }),
            "node 'n' (GatherElements): the indices must have the data's rank and be no larger beside axis 0");
}

TEST_P(Gather, SlicesByTuples) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({3, 4, 5}, type);
    expect_same(run({"GatherND"}, {{x}, {integers({2, 2}, {2, 0, -3, -1})}}),
                moved(x, {2, 5}, [](const Coordinates& c) {
                  return c[0] == 0 ? Coordinates{2, 0, c[1]} : Coordinates{0, 3, c[1]};
                }));
    expect_same(run({"GatherND", {}, 11}, {{x}, {integers({3}, {1, 2, 3})}}), moved(x, {}, [](const Coordinates&) {
                  return Coordinates{1, 2, 3};
                }));
  }
  Tensor x = numbered({3, 4, 5}, ElementType::kFloat);
  EXPECT_EQ(error_of([&] {
              run({"GatherND"}, {{x}, {integers({1, 2}, {0, 4})}});
            }),
            "node 'n' (GatherND): an index is outside of its axis");
  EXPECT_EQ(error_of([&] {
              run({"GatherND"}, {{x}, {integers({1, 4}, {0, 0, 0, 0})}});
            }),
            "node 'n' (GatherND): tuples of 4 indices are for more axes than there are");
}

TEST_P(Gather, SlicesByTuplesInBatches) {
  Tensor x = numbered({2, 3, 4, 5}, ElementType::kFloat16);
  const int64_t at[] = {0, 1, 2, -1, 1, 0, 2, 0, 2, 1, 0, 3, 1, 2, -3, -4};  // [2, 2, 2, 2]
  expect_same(run({"GatherND", {{"batch_dims", int64_t{1}}}}, {{x}, {integers({2, 2, 2, 2}, {at, at + 16})}}),
              moved(x, {2, 2, 2, 5}, [&](const Coordinates& c) {
                const int64_t* pair = at + (c[0] * 4 + c[1] * 2 + c[2]) * 2;
                return Coordinates{c[0], (pair[0] + 3) % 3, (pair[1] + 4) % 4, c[3]};
              }));
}

INSTANTIATE_TEST_SUITE_P(Devices, Gather, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
