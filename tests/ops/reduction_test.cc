// Reductions, ArgMax and ArgMin, cumulative sums, Softmax and its kin, LpNormalization.
#include <algorithm>
#include <cmath>
#include <map>

#include "op_test.h"

namespace ortolan::test {
namespace {

using Slice = std::vector<double>;

double sum(const Slice& x) {
  double total = 0;
  for (double v : x) total += v;
  return total;
}
double sum_of(const Slice& x, double (*f)(double)) {
  double total = 0;
  for (double v : x) total += f(v);
  return total;
}
double square(double v) { return v * v; }

struct ReductionCase {
  const char* op;
  double (*reference)(const Slice&);
};

const ReductionCase kReductions[] = {
    {"ReduceSum", sum},
    {"ReduceMean", [](const Slice& x) { return sum(x) / static_cast<double>(x.size()); }},
    {"ReduceMax", [](const Slice& x) { return x.empty() ? -INFINITY : *std::max_element(x.begin(), x.end()); }},
    {"ReduceMin", [](const Slice& x) { return x.empty() ? INFINITY : *std::min_element(x.begin(), x.end()); }},
    {"ReduceProd",
     [](const Slice& x) {
       double product = 1;
       for (double v : x) product *= v;
       return product;
     }},
    {"ReduceL1", [](const Slice& x) { return sum_of(x, [](double v) { return std::fabs(v); }); }},
    {"ReduceL2", [](const Slice& x) { return std::sqrt(sum_of(x, square)); }},
    {"ReduceLogSum", [](const Slice& x) { return std::log(sum(x)); }},
    {"ReduceLogSumExp", [](const Slice& x) { return std::log(sum_of(x, [](double v) { return std::exp(v); })); }},
    {"ReduceSumSquare", [](const Slice& x) { return sum_of(x, square); }},
};

/** The elements that fall together when `axes` are reduced, by the flat index of the kept dimensions. */
std::vector<Slice> slices(const Tensor& x, const std::vector<int64_t>& axes) {
  const Shape& shape = x.shape();
  auto reduced = [&](size_t d) {
    auto rank = static_cast<int64_t>(shape.rank());
    return axes.empty() || std::any_of(axes.begin(), axes.end(),
                                       [&](int64_t axis) { return (axis + rank) % rank == static_cast<int64_t>(d); });
  };
  int64_t kept = 1;
  for (size_t d = 0; d < shape.rank(); ++d) kept *= reduced(d) ? 1 : shape[d];
  std::vector<Slice> result(static_cast<size_t>(kept));
  auto values = doubles(x);
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), index = 0, pitch = 1;
    for (size_t d = shape.rank(); d-- > 0;) {
      if (!reduced(d)) {
        index += rest % shape[d] * pitch;
        pitch *= shape[d];
      }
      rest /= shape[d];
    }
    result[static_cast<size_t>(index)].push_back(values[i]);
  }
  return result;
}

Shape reduced_shape(const Shape& shape, const std::vector<int64_t>& axes, bool keep) {
  std::vector<bool> gone(shape.rank(), axes.empty());
  for (int64_t axis : axes)
    gone[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.rank()) : axis)] = true;
  Shape result;
  for (size_t d = 0; d < shape.rank(); ++d) {
    if (!gone[d]) result.push_back(shape[d]);
    if (gone[d] && keep) result.push_back(1);
  }
  return result;
}

struct AxesCase {
  Shape shape;
  std::vector<int64_t> axes;
};

const AxesCase kAxes[] = {
    {{3, 4, 5}, {1}}, {{3, 4, 5}, {-1}}, {{3, 4, 5}, {0, 2}},    {{2, 3, 2, 3, 2}, {-2, 1}},
    {{7, 33}, {}},    {{2, 0, 3}, {1}},  {{0, 3}, {1}},          {{1, 5, 1}, {0}},
    {{40, 300}, {0}}, {{4, 1, 6}, {1}},  {{2, 3, 4, 5}, {3, 1}}, {{2, 2, 2, 2, 2}, {0, 2, 4}},
};

template <class T>
void check(const ReductionCase& item, const AxesCase& axes, bool keep, int opset, double tolerance) {
  SCOPED_TRACE(join(item.op, "-", opset, " of ", name_of(kTypeOf<T>), axes.shape, " keep ", keep));
  Tensor x = random_tensor<T>(axes.shape, test_seed(), 0.5, 1.5);
  OpTest test(item.op, opset);
  test.input(x).set("keepdims", keep ? 1 : 0);
  if (opset < 13) {
    if (!axes.axes.empty()) test.ints("axes", axes.axes);
  } else {
    test.input(tensor_of<int64_t>({static_cast<int64_t>(axes.axes.size())}, axes.axes));
  }
  std::vector<double> expected;
  for (const Slice& slice : slices(x, axes.axes)) expected.push_back(item.reference(slice));
  EXPECT_TRUE(near(test.run_tensor(), reduced_shape(axes.shape, axes.axes, keep), expected, tolerance));
}

TEST(Reduction, FollowsItsDefinition) {
  for (const ReductionCase& item : kReductions) {
    for (const AxesCase& axes : kAxes) {
      check<float>(item, axes, true, 18, 2e-5);
      check<float>(item, axes, false, 11, 2e-5);
      check<double>(item, axes, false, 18, 1e-12);
    }
    check<Half>(item, kAxes[0], true, 18, 2e-3);
    check<BFloat16>(item, kAxes[2], false, 11, 2e-2);
  }
}

TEST(Reduction, Integers) {
  Tensor x = tensor_of<int32_t>({2, 3}, {-1, 2, 3, 4, -5, 7});
  auto run = [&](const char* op) { return OpTest(op, 11).ints("axes", {1}).set("keepdims", 0).input(x).run_tensor(); };
  EXPECT_TRUE(equal<int32_t>(run("ReduceSum"), {2}, {4, 6}));
  EXPECT_TRUE(equal<int32_t>(run("ReduceMean"), {2}, {1, 2}));
  EXPECT_TRUE(equal<int32_t>(run("ReduceL1"), {2}, {6, 16}));
  EXPECT_TRUE(equal<int32_t>(run("ReduceL2"), {2}, {3, 9}));
  EXPECT_TRUE(equal<int32_t>(run("ReduceMin"), {2}, {-1, -5}));
  Tensor bools = tensor_of<bool>({2, 2}, {true, false, false, false});
  Tensor any = OpTest("ReduceMax", 20).input(bools).input<int64_t>({1}, {1}).set("keepdims", 0).run_tensor();
  EXPECT_TRUE(equal<bool>(any, {2}, {true, false}));
  Tensor empty = OpTest("ReduceMax", 20).input<int8_t>({0}, {}).set("keepdims", 0).run_tensor();
  EXPECT_TRUE(equal<int8_t>(empty, {}, {-128}));
}

TEST(Reduction, EmptyAxesMayMeanNone) {
  Tensor x = tensor_of<float>({2}, {-3, 4});
  auto none = [&](const char* op) { return OpTest(op, 18).set("noop_with_empty_axes", 1).input(x).run_tensor(); };
  EXPECT_TRUE(near(none("ReduceSum"), {2}, {-3, 4}));
  EXPECT_TRUE(near(none("ReduceSumSquare"), {2}, {9, 16}));
  EXPECT_TRUE(near(OpTest("ReduceSum", 18).input(x).run_tensor(), {1}, {1}));
  EXPECT_TRUE(near(OpTest("ReduceSum", 18).input<float>({}, {5}).run_tensor(), {}, {5}));
  std::string text = OpTest("ReduceSum", 11).ints("axes", {2}).input(x).error();
  EXPECT_NE(text.find("outside [-1, 0]"), std::string::npos) << text;
}

TEST(Reduction, LogSumExpOfExtremes) {
  Tensor x = tensor_of<float>({3, 2}, {1000, 1000, -INFINITY, -INFINITY, INFINITY, 0});
  Tensor y = OpTest("ReduceLogSumExp", 13).ints("axes", {1}).set("keepdims", 0).input(x).run_tensor();
  EXPECT_TRUE(near(y, {3}, {1000 + std::log(2.0), -INFINITY, INFINITY}));
}

TEST(ArgReduction, FindsTheFirstOrLast) {
  Tensor x = tensor_of<float>({2, 3}, {1, 5, 5, -2, NAN, -2});
  auto run = [&](const char* op, int last) {
    return OpTest(op, 13).set("axis", -1).set("keepdims", 0).set("select_last_index", last).input(x).run_tensor();
  };
  EXPECT_TRUE(equal<int64_t>(run("ArgMax", 0), {2}, {1, 0}));
  EXPECT_TRUE(equal<int64_t>(run("ArgMax", 1), {2}, {2, 2}));
  EXPECT_TRUE(equal<int64_t>(run("ArgMin", 0), {2}, {0, 0}));
  EXPECT_TRUE(equal<int64_t>(OpTest("ArgMax", 1).input(x).run_tensor(), {1, 3}, {0, 0, 0}));
  Tensor ints = OpTest("ArgMin", 13).input<uint8_t>({3, 1}, {4, 2, 9}).run_tensor();
  EXPECT_TRUE(equal<int64_t>(ints, {1, 1}, {1}));
  Tensor half = OpTest("ArgMax", 13).input<Half>({2}, {Half(1), Half(2)}).set("keepdims", 0).run_tensor();
  EXPECT_TRUE(equal<int64_t>(half, {}, {1}));
  std::string text = OpTest("ArgMax", 13).set("axis", 1).input<float>({2, 0}, {}).error();
  EXPECT_NE(text.find("is empty, so it has no largest element"), std::string::npos) << text;
}

TEST(Cumulative, RunsBothWays) {
  Tensor x = tensor_of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  auto run = [&](const char* op, int64_t axis, int exclusive, int reverse) {
    return OpTest(op, 26)
        .set("exclusive", exclusive)
        .set("reverse", reverse)
        .input(x)
        .input(tensor_of<int64_t>({}, {axis}))
        .run_tensor();
  };
  EXPECT_TRUE(equal<int32_t>(run("CumSum", 1, 0, 0), {2, 3}, {1, 3, 6, 4, 9, 15}));
  EXPECT_TRUE(equal<int32_t>(run("CumSum", 0, 0, 0), {2, 3}, {1, 2, 3, 5, 7, 9}));
  EXPECT_TRUE(equal<int32_t>(run("CumSum", -1, 1, 0), {2, 3}, {0, 1, 3, 0, 4, 9}));
  EXPECT_TRUE(equal<int32_t>(run("CumSum", 1, 1, 1), {2, 3}, {5, 3, 0, 11, 6, 0}));
  EXPECT_TRUE(equal<int32_t>(run("CumProd", 1, 0, 1), {2, 3}, {6, 6, 3, 120, 30, 6}));
  Tensor half = OpTest("CumSum", 14).input<Half>({2}, {Half(1), Half(2)}).input<int32_t>({1}, {0}).run_tensor();
  EXPECT_TRUE(near(half, {2}, {1, 3}));
  EXPECT_NE(OpTest("CumSum", 14).input(x).input<int64_t>({}, {2}).error().find("axis 2 is outside [-2, 1] for rank 2"),
            std::string::npos);
  EXPECT_EQ(OpTest("CumSum", 14).input<float>({0}, {}).input<int64_t>({}, {0}).run_tensor().element_count(), 0);
}

/** f of every slice along `axis`, in place. */
template <class F>
std::vector<double> along(const Tensor& x, size_t axis, F&& f) {
  auto values = doubles(x);
  int64_t inner = x.shape().count_from(axis + 1), size = x.shape()[axis];
  for (int64_t o = 0; o < x.shape().count_to(axis); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Slice slice;
      for (int64_t a = 0; a < size; ++a) slice.push_back(values[static_cast<size_t>((o * size + a) * inner + i)]);
      f(slice);
      for (int64_t a = 0; a < size; ++a) {
        values[static_cast<size_t>((o * size + a) * inner + i)] = slice[static_cast<size_t>(a)];
      }
    }
  }
  return values;
}

void softmax(Slice& x) {
  double total = 0;
  for (double& v : x) total += v = std::exp(v);
  for (double& v : x) v /= total;
}
void log_softmax(Slice& x) {
  softmax(x);
  for (double& v : x) v = std::log(v);
}
void hardmax(Slice& x) {
  size_t best = static_cast<size_t>(std::max_element(x.begin(), x.end()) - x.begin());
  for (size_t i = 0; i < x.size(); ++i) x[i] = i == best;
}

template <class T>
void check_softmax(const char* op, void (*reference)(Slice&), Shape shape, int64_t axis, double tolerance) {
  SCOPED_TRACE(join(op, " of ", name_of(kTypeOf<T>), shape, " along ", axis));
  Tensor x = random_tensor<T>(shape, test_seed(), -4, 4);
  Tensor y = OpTest(op, 13).set("axis", axis).input(x).run_tensor();
  size_t at = checked_axis(axis, shape.rank());
  EXPECT_TRUE(near(y, shape, along(x, at, reference), tolerance));
  Tensor old = OpTest(op, 11).set("axis", axis).input(x).run_tensor();
  Tensor rows = x.reshaped({shape.count_to(at), shape.count_from(at)});
  EXPECT_TRUE(near(old, shape, along(rows, 1, reference), tolerance));
}

TEST(Softmax, AlongAnyAxis) {
  std::map<const char*, void (*)(Slice&)> operators{
      {"Softmax", softmax}, {"LogSoftmax", log_softmax}, {"Hardmax", hardmax}};
  for (auto [op, reference] : operators) {
    for (int64_t axis : {0, 1, 2, -1, -2}) {
      check_softmax<float>(op, reference, {3, 17, 5}, axis, 2e-6);
      check_softmax<double>(op, reference, {3, 17, 5}, axis, 1e-13);
    }
    check_softmax<Half>(op, reference, {2, 9}, -1, 4e-3);
    check_softmax<BFloat16>(op, reference, {2, 9}, 1, 3e-2);
    check_softmax<float>(op, reference, {2, 1000}, 1, 5e-6);
    EXPECT_EQ(OpTest(op, 13).input<float>({0, 4}, {}).run_tensor().shape(), (Shape{0, 4}));
    EXPECT_TRUE(
        near(OpTest(op, 13).input<float>({}, {3}).run_tensor(), {}, {op == std::string("LogSoftmax") ? 0.0 : 1}));
    std::string text = OpTest(op, 13).set("axis", 4).input<float>({1, 1, 1}, {0}).error();
    EXPECT_NE(text.find("axis 4 is outside [-3, 2]"), std::string::npos) << text;
  }
}

TEST(LpNormalization, SquaresNeedNoRoom) {
  for (float size : {1e30f, 1e-30f}) {
    Tensor y = OpTest("LpNormalization", 1).input<float>({1, 2}, {3 * size, -4 * size}).run_tensor();
    EXPECT_TRUE(near(y, {1, 2}, {0.6, -0.8})) << size;
  }
}

TEST(LpNormalization, DividesByTheNorm) {
  for (int64_t p : {1, 2}) {
    auto reference = [&](Slice& x) {
      double norm = 0;
      for (double v : x) norm += p == 1 ? std::fabs(v) : v * v;
      if (p == 2) norm = std::sqrt(norm);
      for (double& v : x) v = norm == 0 ? 0 : v / norm;
    };
    Tensor x = random_tensor<float>({3, 4, 5}, test_seed());
    std::fill_n(x.mutable_data<float>(), 5, 0.0f);
    for (int64_t axis : {-1, 1}) {
      Tensor y = OpTest("LpNormalization", 1).set("p", p).set("axis", axis).input(x).run_tensor();
      EXPECT_TRUE(near(y, x.shape(), along(x, checked_axis(axis, 3), reference), 1e-6));
    }
  }
  EXPECT_NE(OpTest("LpNormalization", 22).set("p", 3).input<float>({1}, {1}).error().find("set it to 1 or 2"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
