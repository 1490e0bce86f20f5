// Reductions against double, over many choices of axes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "gpu/single_node.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

const char* const kFloatOperators[] = {"ReduceSum", "ReduceMean",      "ReduceMax", "ReduceMin",    "ReduceProd",
                                       "ReduceL1",  "ReduceSumSquare", "ReduceL2",  "ReduceLogSum", "ReduceLogSumExp"};

double reduce(const std::string& op, const std::vector<double>& x) {
  double sum = 0, product = 1, most = -INFINITY, least = INFINITY, magnitudes = 0, squares = 0, powers = 0;
  for (double v : x) {
    sum += v, product *= v, magnitudes += std::fabs(v), squares += v * v, powers += std::exp(v);
    most = std::max(most, v), least = std::min(least, v);
  }
  if (op == "ReduceSum") return sum;
  if (op == "ReduceMean") return sum / static_cast<double>(x.size());
  if (op == "ReduceMax") return most;
  if (op == "ReduceMin") return least;
  if (op == "ReduceProd") return product;
  if (op == "ReduceL1") return magnitudes;
  if (op == "ReduceSumSquare") return squares;
  if (op == "ReduceL2") return std::sqrt(squares);
  return std::log(op == "ReduceLogSum" ? sum : powers);
}

/** The axes are not negative. */
std::vector<double> reference(const std::string& op, const Shape& shape, const std::vector<double>& x,
                              const std::vector<int64_t>& axes) {
  std::vector<std::vector<double>> members;
  for (size_t i = 0; i < x.size(); i++) {
    size_t rest = i, out = 0, stride = 1;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
      if (std::count(axes.begin(), axes.end(), static_cast<int64_t>(axis)) > 0) continue;
      out += rest % shape[axis] * stride;
      stride *= shape[axis];
    }
    if (members.size() <= out) members.resize(out + 1);
    members[out].push_back(x[i]);
  }
  std::vector<double> y;
  for (const std::vector<double>& member : members) y.push_back(reduce(op, member));
  return y;
}

Shape kept_shape(Shape shape, const std::vector<int64_t>& axes) {
  for (int64_t axis : axes) shape[axis] = 1;
  return shape;
}

TestNode node_of(const std::string& op, std::vector<int64_t> axes, int64_t keeps = 1) {
  return {op, {{"axes", std::move(axes)}, {"keepdims", keeps}}, 11};
}

class Reductions : public testing::TestWithParam<NamedDevice> {
 protected:
  void check(const std::string& op, const Tensor& x, const std::vector<int64_t>& axes, float relative = 2e-5f) {
    SCOPED_TRACE(op + " of " + testing::PrintToString(x.shape) + " over " + testing::PrintToString(axes));
    std::vector<float> values = x.floats();
    std::vector<double> wanted = reference(op, x.shape, {values.begin(), values.end()}, axes);
    Tensor actual = run_node(*GetParam().device, node_of(op, axes), {{x}})[0];
    expect_near(actual, floats(kept_shape(x.shape, axes), {wanted.begin(), wanted.end()}, x.type), relative, 1e-5f);
  }
  void check_integers(const std::string& op, const Tensor& x, const std::vector<int64_t>& axes) {
    SCOPED_TRACE(op);
    std::vector<int64_t> values = x.integers();
    std::vector<double> wanted = reference(op, x.shape, {values.begin(), values.end()}, axes);
    Tensor actual = run_node(*GetParam().device, node_of(op, axes), {{x}})[0];
    EXPECT_EQ(actual.type, x.type);
    EXPECT_EQ(actual.integers(), std::vector<int64_t>(wanted.begin(), wanted.end()));
  }
};

TEST_P(Reductions, EveryOperatorOverAxesInsideAndOutside) {
  Tensor x = random_floats({3, 4, 5}, 1, 0.5f, 1.5f);
  for (const char* op : kFloatOperators) {
    for (const std::vector<int64_t>& axes : std::vector<std::vector<int64_t>>{{0}, {1}, {2}, {0, 2}, {1, 2}, {0, 1, 2}})
      check(op, x, axes);
  }
}

TEST_P(Reductions, RowsAndColumnsOfManySizes) {
  for (int64_t size : {1, 15, 16, 17, 63, 64, 65, 2000}) {
    check("ReduceSum", random_floats({2, size}, 2), {1});
    check("ReduceMean", random_floats({3, size}, 3), {0});
    check("ReduceMax", random_floats({40, size}, 4), {0});
    check("ReduceL2", random_floats({2, 3, size}, 5), {1});
  }
}

TEST_P(Reductions, AxesThatDoNotMerge) {
  Tensor x = random_floats({2, 3, 2, 1, 3, 2, 2, 2}, 6);
  check("ReduceSum", x, {0, 2, 4, 6});
  check("ReduceMin", x, {1, 3, 5, 7});
  check("ReduceLogSumExp", x, {1, 4, 7});
}

TEST_P(Reductions, Float16) {
  std::vector<float> values = random_floats({4, 33}, 7, 0.5f, 1.0f).floats();
  Tensor x = floats({4, 33}, values, ElementType::kFloat16);
  for (const char* op : {"ReduceMean", "ReduceMax", "ReduceL2", "ReduceLogSumExp"}) {
    check(op, x, {1}, 1e-3f);
    check(op, x, {0}, 1e-3f);
  }
}

TEST_P(Reductions, Integers) {
  std::vector<int64_t> values(3 * 70);
  for (size_t i = 0; i < values.size(); i++) values[i] = static_cast<int64_t>(i * 7919 % 41) - 20;
  for (ElementType type : {ElementType::kInt32, ElementType::kInt64}) {
    for (const char* op : {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare"}) {
      check_integers(op, integers({3, 70}, values, type), {1});
      check_integers(op, integers({3, 70}, values, type), {0});
    }
    check_integers("ReduceProd", integers({2, 3}, {-2, 3, 4, 5, -6, 7}, type), {1});
  }
  Tensor large = integers({2}, {int64_t{1} << 40, -(int64_t{1} << 50)});
  check_integers("ReduceSum", large, {0});
  check_integers("ReduceMin", large, {0});
}

TEST_P(Reductions, SetsOfNothing) {
  const float wanted[] = {0, NAN, -INFINITY, INFINITY, 1, 0, 0, 0, -INFINITY, -INFINITY};
  for (size_t i = 0; i < std::size(kFloatOperators); i++) {
    SCOPED_TRACE(kFloatOperators[i]);
    Tensor actual = run_node(*GetParam().device, node_of(kFloatOperators[i], {1}), {{floats({2, 0}, {})}})[0];
    expect_near(actual, floats({2, 1}, {wanted[i], wanted[i]}));
  }
  EXPECT_EQ(run_node(*GetParam().device, node_of("ReduceSum", {0}), {{floats({2, 0}, {})}})[0].shape, (Shape{1, 0}));
  Tensor none = integers({1, 0}, {});
  EXPECT_EQ(run_node(*GetParam().device, node_of("ReduceMax", {1}), {{none}})[0].integers()[0],
            std::numeric_limits<int64_t>::min());
}

TEST_P(Reductions, AxesAsAnInput) {
  Tensor x = random_floats({2, 3, 4}, 8);
  Device& device = *GetParam().device;
  Tensor axes = integers({1}, {-2});
  Tensor actual = run_node(device, {"ReduceSum", {{"keepdims", int64_t{0}}}}, {{x}, constant(axes)})[0];
  std::vector<float> values = x.floats();
  std::vector<double> wanted = reference("ReduceSum", x.shape, {values.begin(), values.end()}, {1});
  expect_near(actual, floats({2, 4}, {wanted.begin(), wanted.end()}));
  expect_near(run_node(device, {"ReduceSum", {{"keepdims", int64_t{0}}}}, {{x}, {axes}})[0], actual);
}

TEST_P(Reductions, NoAxesAreAllOrNone) {
  Tensor x = floats({2, 2}, {1, -2, 3, 4});
  Device& device = *GetParam().device;
  Tensor none = integers({0}, {});
  expect_near(run_node(device, {"ReduceL1"}, {{x}, constant(none)})[0], floats({1, 1}, {10}));
  expect_near(run_node(device, {"ReduceL1", {{"noop_with_empty_axes", int64_t{1}}}}, {{x}, constant(none)})[0],
              floats({2, 2}, {1, 2, 3, 4}));
  expect_near(run_node(device, {"ReduceSum", {}, 1}, {{floats({}, {3})}})[0], floats({}, {3}));
}

TEST_P(Reductions, InfinityAndNan) {
  Device& device = *GetParam().device;
  Tensor x = floats({3, 2}, {INFINITY, 1, -INFINITY, -INFINITY, NAN, 2});
  expect_near(run_node(device, node_of("ReduceLogSumExp", {1}), {{x}})[0], floats({3, 1}, {INFINITY, -INFINITY, NAN}));
  expect_near(run_node(device, node_of("ReduceMax", {1}), {{x}})[0], floats({3, 1}, {INFINITY, -INFINITY, NAN}));
}

TEST_P(Reductions, Refusals) {
  Device& device = *GetParam().device;
  EXPECT_EQ(refusal_of(device, node_of("ReduceL2", {0}), {{integers({2}, {1, 2})}}),
            "input 0 is int64; supported: float, float16");
  EXPECT_EQ(refusal_of(device, node_of("ReduceSum", {0}), {{floats({1, 1, 1, 1, 1, 1, 1, 1, 1}, {1})}}),
            "the input's rank is 9; at most 8 is taken");
  EXPECT_TRUE(ortolan::test::throws<Error>("axis 3 is outside of rank 1", [&] {
    run_node(device, node_of("ReduceSum", {3}), {{floats({2}, {1, 2})}});
  }));
}

INSTANTIATE_TEST_SUITE_P(Devices, Reductions, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
