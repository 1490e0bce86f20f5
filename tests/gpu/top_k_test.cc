// TopK of all types, both ways, with NaN and ties.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

class TopK : public testing::TestWithParam<NamedDevice> {
 protected:
  /** Over the middle axis of [outer, size, inner]. */
  void check(const Tensor& x, int64_t k, bool largest) {
    TestNode node{"TopK", {{"axis", int64_t{-2}}, {"largest", int64_t{largest}}}};
    std::vector<Tensor> results = run_node(*GetParam().device, node, {{x}, {integers({1}, {k})}}, 2);
    int64_t size = x.shape[1], inner = x.shape[2];
    std::vector<int64_t> order = orders(x, largest);
    Shape shape = {x.shape[0], k, inner};
    auto place = [&](const Coordinates& c) { return order[(c[0] * inner + c[2]) * size + c[1]]; };
    expect_same(results[0], moved(x, shape, [&](const Coordinates& c) { return Coordinates{c[0], place(c), c[2]}; }));
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < element_count(shape); i++) indices.push_back(place(coordinates_of(shape, i)));
    EXPECT_EQ(results[1].type, ElementType::kInt64);
    EXPECT_EQ(results[1].integers(), indices);
  }

 private:
  /** The places of each line's elements in the order that TopK gives. */
  static std::vector<int64_t> orders(const Tensor& x, bool largest) {
    bool whole = x.type == ElementType::kInt64 || x.type == ElementType::kInt32;
    std::vector<int64_t> integers = whole ? x.integers() : std::vector<int64_t>(), result;
    std::vector<float> floats = whole ? std::vector<float>() : x.floats();
    int64_t size = x.shape[1], inner = x.shape[2];
    for (int64_t line = 0; line < x.shape[0] * inner; line++) {
      auto at = [&](int64_t n) { return static_cast<size_t>((line / inner * size + n) * inner + line % inner); };
      auto greater = [&](int64_t a, int64_t b) {
        if (whole) return integers[at(a)] > integers[at(b)];
        if (std::isnan(floats[at(a)])) return !std::isnan(floats[at(b)]);
        return floats[at(a)] > floats[at(b)];
      };
      std::vector<int64_t> order(static_cast<size_t>(size));
      std::iota(order.begin(), order.end(), 0);
      std::stable_sort(order.begin(), order.end(),
                       [&](int64_t a, int64_t b) { return largest ? greater(a, b) : greater(b, a); });
      result.insert(result.end(), order.begin(), order.end());
    }
    return result;
  }
};

TEST_P(TopK, FloatsWithTiesAndNaN) {
  std::mt19937 random(3);
  for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
    for (int64_t size : {1, 7, 65, 130}) {
      std::vector<float> values;
      for (int64_t i = 0; i < 2 * size * 3; i++) values.push_back(static_cast<float>(random() % 21) - 10.0f);
      if (size > 1) values[4] = NAN, values[5] = -INFINITY, values[9] = INFINITY, values[12] = NAN, values[13] = -0.0f;
      Tensor x = floats({2, size, 3}, values, type);
      for (bool largest : {true, false}) {
        check(x, 1, largest);
        check(x, size / 2, largest);
        check(x, size, largest);
      }
    }
  }
}

TEST_P(TopK, Integers) {
  std::mt19937_64 random(4);
  for (ElementType type : {ElementType::kInt32, ElementType::kInt64, ElementType::kUint8, ElementType::kInt8}) {
    std::vector<int64_t> values;
    for (int i = 0; i < 130; i++) values.push_back(static_cast<int64_t>(random()));
    values[5] = INT64_MIN, values[6] = INT64_MAX, values[8] = values[9] = -1, values[10] = (int64_t{1} << 32) - 1;
    Tensor x = integers({2, 65, 1}, values, type);
    for (bool largest : {true, false}) check(x, 20, largest);
  }
}

TEST_P(TopK, OldOpsetsAndNothing) {
  Tensor x = floats({2, 3}, {1, 3, 2, 6, 4, 5});
  std::vector<Tensor> results = run_node(*GetParam().device, {"TopK", {{"k", int64_t{2}}}, 1}, {{x}}, 2);
  expect_same(results[0], floats({2, 2}, {3, 2, 6, 5}));
  expect_same(results[1], integers({2, 2}, {1, 2, 0, 2}));
  EXPECT_EQ(run_node(*GetParam().device, {"TopK"}, {{x}, {integers({1}, {0})}}, 2)[1].shape, (Shape{2, 0}));
  EXPECT_EQ(error_of([&] {
              run_node(*GetParam().device, {"TopK"}, {{x}, {integers({1}, {4})}}, 2);
            }),
            "node 'n' (TopK): K is 4, but the axis has 3 elements");
}

INSTANTIATE_TEST_SUITE_P(Devices, TopK, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
