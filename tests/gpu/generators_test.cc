// Range, ConstantOfShape, EyeLike, OneHot and Trilu.
#include <cmath>

#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

class Generators : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
};

TEST_P(Generators, RangeOfFloats) {
  std::vector<float> wanted;
  for (int i = 0; i < 70; i++) wanted.push_back(2.0f - 0.25f * static_cast<float>(i));
  expect_near(run({"Range"}, {{floats({}, {2})}, {floats({}, {-15.4f})}, {floats({}, {-0.25f})}}),
              floats({70}, wanted));
  EXPECT_EQ(run({"Range"}, {{floats({}, {2})}, {floats({}, {1})}, {floats({}, {1})}}).shape, (Shape{0}));
}

TEST_P(Generators, RangeOfIntegers) {
  for (ElementType type : {ElementType::kInt32, ElementType::kInt64}) {
    std::vector<int64_t> wanted;
    int64_t step = type == ElementType::kInt64 ? -(int64_t{3} << 31) : -300, count = 5000;
    for (int64_t i = 0; i < count; i++) wanted.push_back(10 + i * step);
    auto number = [&](int64_t value) { return NodeInput{integers({}, {value}, type)}; };
    expect_same(run({"Range"}, {number(10), number(10 + count * step), number(step)}), integers({count}, wanted, type));
    EXPECT_EQ(error_of([&] {
                run({"Range"}, {number(1), number(2), number(0)});
              }).substr(0, 25),
              "node 'n' (Range): delta i");
  }
}

TEST_P(Generators, ConstantOfShape) {
  Tensor shape = integers({2}, {70, 71});
  for (ElementType type : kTypesBySize) {
    Tensor value = numbered({1}, type);
    expect_same(run({"ConstantOfShape", {{"value", value.host()}}}, {{shape}}),
                moved(value, {70, 71}, [](const Coordinates&) { return Coordinates{0}; }));
  }
  expect_same(run({"ConstantOfShape"}, {{shape}}), floats({70, 71}, std::vector<float>(70 * 71)));
  EXPECT_EQ(run({"ConstantOfShape"}, {{integers({2}, {0, 3})}}).shape, (Shape{0, 3}));
}

TEST_P(Generators, EyeLike) {
  for (ElementType type : {ElementType::kFloat, ElementType::kFloat16, ElementType::kInt64, ElementType::kBool}) {
    for (int64_t k : {int64_t{0}, int64_t{-2}, int64_t{3}, INT64_MIN}) {
      std::vector<int64_t> wanted;
      for (int64_t i = 0; i < 5 * 17; i++) wanted.push_back(i % 17 - i / 17 == k);
      Tensor eye = run({"EyeLike", {{"k", k}, {"dtype", static_cast<int64_t>(type)}}},
                       {{numbered({5, 17}, ElementType::kInt32)}});
      EXPECT_EQ(eye.type, type);
      EXPECT_EQ(eye.integers(), wanted);
    }
  }
  EXPECT_EQ(run({"EyeLike"}, {{numbered({0, 2}, ElementType::kFloat)}}).shape, (Shape{0, 2}));
  EXPECT_EQ(error_of([&] { run({"EyeLike"}, {{numbered({2}, ElementType::kFloat)}}); }),
            "node 'n' (EyeLike): the input has 1 axes; it must have 2");
}

TEST_P(Generators, OneHot) {
  for (ElementType type : kTypesBySize) {
    Tensor values = numbered({2}, type);
    const std::vector<int64_t> at = {0, 4, -1, -5, 5, -6};
    Tensor wanted = moved(values, {2, 5, 3}, [&](const Coordinates& c) {
      int64_t index = at[c[0] * 3 + c[2]];
      return Coordinates{index == c[1] || index == c[1] - 5 ? 1 : 0};
    });
    NodeInput depth{integers({1}, {5})};
    TestNode node{"OneHot", {{"axis", int64_t{1}}}};
    expect_same(run(node, {{integers({2, 3}, at)}, depth, {values}}), wanted);
    expect_same(run(node, {{integers({2, 3}, at, ElementType::kInt32)}, depth, {values}}), wanted);
    expect_same(run(node, {{floats({2, 3}, {0.5f, 4, -1, -5.5f, 5, NAN})}, depth, {values}}), wanted);
  }
  Tensor values = numbered({2}, ElementType::kFloat);
  EXPECT_EQ(run({"OneHot"}, {{integers({0}, {})}, {integers({}, {3})}, {values}}).shape, (Shape{0, 3}));
  expect_same(run({"OneHot"}, {{integers({}, {int64_t{1} << 32})}, constant(floats({}, {2})), {values}}),
              moved(values, {2}, [](const Coordinates&) { return Coordinates{0}; }));
  EXPECT_EQ(error_of([&] {
              run({"OneHot"}, {{integers({}, {1})}, {integers({}, {-1})}, {values}});
            }),
            "node 'n' (OneHot): the depth is -1; it must not be negative");
}

TEST_P(Generators, Trilu) {
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({2, 5, 7}, type);
    for (int64_t k : {int64_t{0}, int64_t{2}, int64_t{-3}, INT64_MAX, INT64_MIN}) {
      for (int64_t upper : {0, 1}) {
        expect_same(run({"Trilu", {{"upper", upper}}}, {{x}, {integers({}, {k})}}),
                    moved(x, x.shape, [&](const Coordinates& c) {
                      bool keeps = upper != 0 ? c[2] - c[1] >= k : c[2] - c[1] <= k;
                      return keeps ? c : Coordinates{};
                    }));
      }
    }
  }
  EXPECT_EQ(run({"Trilu"}, {{floats({0, 3}, {})}}).shape, (Shape{0, 3}));
  EXPECT_EQ(error_of([&] { run({"Trilu"}, {{floats({1}, {3})}}); }),
            "node 'n' (Trilu): the input has 1 axes; it must have 2 or more");
}

INSTANTIATE_TEST_SUITE_P(Devices, Generators, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
