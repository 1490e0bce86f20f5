// Pad in all modes.
#include <algorithm>

#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

Tensor list(std::vector<int64_t> values, ElementType type = ElementType::kInt64) {
  auto count = static_cast<int64_t>(values.size());
  return integers({count}, std::move(values), type);
}

/** The place that stands at `at`: walked to from there, as the modes are described. */
int64_t walked(int64_t at, int64_t size, const std::string& mode) {
  if (mode == "edge") return std::clamp<int64_t>(at, 0, size - 1);
  while (at < 0 || at >= size) {
    if (mode == "constant") return -1;
    if (mode == "wrap") at += at < 0 ? size : -size;
    if (mode == "reflect") at = size == 1 ? 0 : at < 0 ? -at : 2 * (size - 1) - at;
  }
  return at;
}

class Pad : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
  void check(const Tensor& x, const std::vector<int64_t>& pads, const std::string& mode) {
    size_t rank = x.shape.size();
    Shape shape = x.shape;
    for (size_t i = 0; i < rank; i++) shape[i] += pads[i] + pads[i + rank];
    Tensor wanted = moved(x, shape, [&](Coordinates c) {
      for (size_t i = 0; i < rank; i++) {
        c[i] = walked(c[i] - pads[i], x.shape[i], mode);
        if (c[i] < 0) return Coordinates{};
      }
      return c;
    });
    expect_same(run({"Pad", {{"mode", mode}}}, {{x}, {list(pads)}}), wanted);
  }
};

TEST_P(Pad, AllModesAndTypes) {
  for (std::string mode : {"constant", "edge", "reflect", "wrap"}) {
    for (ElementType type : kTypesBySize) {
      check(numbered({2, 3, 5}, type), {1, 0, 2, 0, 2, 1}, mode);
      check(numbered({4, 5}, type), {-1, 2, 2, -2}, mode);
    }
    check(numbered({3, 70}, ElementType::kFloat), {7, 0, 1, 0}, mode);
    check(numbered({1}, ElementType::kFloat), {3, 4}, mode);
    check(numbered({2, 3, 2, 3}, ElementType::kFloat), {0, 0, 1, 1, 0, 0, 1, 1}, mode);
  }
}

TEST_P(Pad, WithAValueAlongSomeAxes) {
  Tensor x = floats({2, 2}, {1, 2, 3, 4});
  Tensor wanted = floats({2, 4}, {9, 1, 2, 9, 9, 3, 4, 9});
  expect_same(run({"Pad"}, {{x}, {list({1, 1})}, {floats({}, {9})}, {list({-1}, ElementType::kInt32)}}), wanted);
  expect_same(run({"Pad", {{"value", 9.0f}, {"pads", std::vector<int64_t>{0, 1, 0, 1}}}, 2}, {{x}}), wanted);
  expect_same(run({"Pad", {{"value", 9.0f}, {"paddings", std::vector<int64_t>{0, 1, 0, 1}}}, 1}, {{x}}), wanted);
  Tensor half = floats({1}, {1}, ElementType::kFloat16);
  expect_same(run({"Pad"}, {{half}, {list({1, 1})}, constant(floats({}, {-2}, ElementType::kFloat16))}),
              floats({3}, {-2, 1, -2}, ElementType::kFloat16));
  expect_same(run({"Pad"}, {{integers({1}, {5})}, {list({0, 1})}, {integers({}, {-(int64_t{1} << 40)})}}),
              integers({2}, {5, -(int64_t{1} << 40)}));
}

TEST_P(Pad, NothingAndAll) {
  expect_same(run({"Pad"}, {{floats({0, 2}, {})}, {list({1, 0, 0, 0})}, {floats({}, {7})}}), floats({1, 2}, {7, 7}));
  Tensor x = numbered({2, 3}, ElementType::kFloat);
  expect_same(run({"Pad"}, {{x}, {list({0, 0, 0, 0})}}), x);
  EXPECT_EQ(run({"Pad"}, {{x}, {list({-2, 0, 0, 0})}}).shape, (Shape{0, 3}));
  expect_same(run({"Pad"}, {{floats({}, {3})}, {list({})}}), floats({}, {3}));
}

TEST_P(Pad, Errors) {
  Tensor x = floats({0, 2}, {});
  EXPECT_EQ(error_of([&] {
              run({"Pad", {{"mode", "edge"}}}, {{x}, {list({1, 0, 0, 0})}});
            }),
            "node 'n' (Pad): axis 0 is empty, so there is nothing to pad with; use mode constant");
  EXPECT_EQ(error_of([&] { run({"Pad"}, {{x}, {list({1, 0})}}); }), "node 'n' (Pad): there are 2 pads for 2 axes");
  EXPECT_EQ(error_of([&] {
              run({"Pad"}, {{x}, {list({0, -2, 0, -1})}});
            }),
            "node 'n' (Pad): the pads remove more than axis 1 of size 2");
}

INSTANTIATE_TEST_SUITE_P(Devices, Pad, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
