// Transpose, SpaceToDepth and DepthToSpace.
#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

class Transpose : public testing::TestWithParam<NamedDevice> {
 protected:
  void check(const Shape& shape, const std::vector<int64_t>& perm, ElementType type) {
    Tensor x = numbered(shape, type);
    Shape wanted;
    for (int64_t axis : perm) wanted.push_back(shape[axis]);
    expect_same(run_node(*GetParam().device, {"Transpose", {{"perm", perm}}}, {{x}})[0],
                moved(x, wanted, [&](const Coordinates& c) {
                  Coordinates at(c.size());
                  for (size_t i = 0; i < c.size(); i++) at[perm[i]] = c[i];
                  return at;
                }));
  }
};

TEST_P(Transpose, MatricesAroundTheSizeOfATile) {
  for (ElementType type : kTypesBySize) {
    for (int64_t rows : {1, 15, 16, 33}) {
      for (int64_t cols : {1, 16, 17, 31}) check({rows, cols}, {1, 0}, type);
    }
  }
}

TEST_P(Transpose, ManyAxes) {
  for (ElementType type : kTypesBySize) {
    check({2, 3, 4, 5}, {0, 2, 3, 1}, type);
    check({2, 3, 4, 5}, {0, 2, 1, 3}, type);
    check({3, 4, 18}, {2, 0, 1}, type);
    check({2, 3, 2, 3, 2, 3}, {5, 3, 1, 4, 2, 0}, type);
    check({2, 1, 2, 3, 2, 2, 3, 2}, {7, 5, 3, 1, 6, 4, 2, 0}, type);
  }
}

TEST_P(Transpose, WithoutPermAxesAreReversed) {
  Tensor x = numbered({2, 3, 4}, ElementType::kInt32);
  expect_same(run_node(*GetParam().device, {"Transpose", {}, 1}, {{x}})[0],
              moved(x, {4, 3, 2}, [](const Coordinates& c) {
                return Coordinates{c[2], c[1], c[0]};
              }));
}

TEST_P(Transpose, NothingAndScalars) {
  check({0, 3}, {1, 0}, ElementType::kFloat);
  check({}, {}, ElementType::kFloat);
  check({1, 5, 1}, {2, 1, 0}, ElementType::kBool);
}

TEST_P(Transpose, APermThatNamesAnAxisTwice) {
  Tensor x = numbered({2, 2}, ElementType::kFloat);
  EXPECT_EQ(error_of([&] {
              run_node(*GetParam().device, {"Transpose", {{"perm", std::vector<int64_t>{1, 1}}}}, {{x}});
            }),
            "node 'n' (Transpose): perm must name each of 2 axes once");
}

TEST_P(Transpose, SpaceToDepth) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({2, 3, 4, 6}, type);
    expect_same(run_node(*GetParam().device, {"SpaceToDepth", {{"blocksize", int64_t{2}}}}, {{x}})[0],
                moved(x, {2, 12, 2, 3}, [](const Coordinates& c) {
                  int64_t block = c[1] / 3;
                  return Coordinates{c[0], c[1] % 3, c[2] * 2 + block / 2, c[3] * 2 + block % 2};
                }));
  }
}

TEST_P(Transpose, DepthToSpaceInBothOrders) {
  Tensor x = numbered({2, 12, 3, 2}, ElementType::kFloat);
  expect_same(run_node(*GetParam().device, {"DepthToSpace", {{"blocksize", int64_t{2}}}, 1}, {{x}})[0],
              moved(x, {2, 3, 6, 4}, [](const Coordinates& c) {
                return Coordinates{c[0], (c[2] % 2 * 2 + c[3] % 2) * 3 + c[1], c[2] / 2, c[3] / 2};
              }));
  expect_same(run_node(*GetParam().device, {"DepthToSpace", {{"blocksize", int64_t{2}}, {"mode", "CRD"}}}, {{x}})[0],
              moved(x, {2, 3, 6, 4}, [](const Coordinates& c) {
                return Coordinates{c[0], c[1] * 4 + c[2] % 2 * 2 + c[3] % 2, c[2] / 2, c[3] / 2};
              }));
  EXPECT_EQ(error_of([&] {
              run_node(*GetParam().device, {"DepthToSpace", {{"blocksize", int64_t{5}}}}, {{x}});
            }),
            "node 'n' (DepthToSpace): channels of 12 do not divide by 25");
}

INSTANTIATE_TEST_SUITE_P(Devices, Transpose, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
