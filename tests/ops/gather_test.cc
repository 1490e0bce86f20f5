// Gather, GatherElements, GatherND, Scatter, ScatterElements, ScatterND.
#include "nd_index.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

Tensor counted(Shape shape) {
  Tensor tensor(ElementType::kFloat, shape);
  for (int64_t i = 0; i < tensor.element_count(); ++i) tensor.mutable_data<float>()[i] = static_cast<float>(i);
  return tensor;
}

/** Random indices in [-dim, dim). */
Tensor indices_of(Shape shape, int64_t dim, uint32_t seed) {
  return random_tensor<int64_t>(shape, seed, -static_cast<double>(dim), static_cast<double>(dim) - 0.001);
}

int64_t normal(int64_t index, int64_t dim) { return index < 0 ? index + dim : index; }

TEST(Gather, PicksAlongEveryAxis) {
  Shape shape{4, 5, 3};
  Tensor data = counted(shape);
  for (size_t axis = 0; axis < 3; ++axis) {
    Tensor picks = indices_of({2, 2}, shape[axis], test_seed());
    Shape to(shape.begin(), shape.begin() + axis);
    to.append(picks.shape().begin(), picks.shape().end());
    to.append(shape.begin() + axis + 1, shape.end());
    std::vector<double> expected;
    for_each_index(to, [&](const Index& index) {
      Index from(index.begin(), index.begin() + static_cast<int64_t>(axis));
      Index pick{index[axis], index[axis + 1]};
      from.push_back(normal(picks.data<int64_t>()[flat(picks.shape(), pick)], shape[axis]));
      from.insert(from.end(), index.begin() + static_cast<int64_t>(axis) + 2, index.end());
      expected.push_back(data.data<float>()[flat(shape, from)]);
    });
    for (int64_t given : {static_cast<int64_t>(axis), static_cast<int64_t>(axis) - 3}) {
      EXPECT_TRUE(near(OpTest("Gather").set("axis", given).input(data).input(picks).run_tensor(), to, expected));
    }
  }
}

TEST(Gather, EdgesAndErrors) {
  EXPECT_EQ(OpTest("Gather", 1).input(counted({3, 2})).input<int32_t>({}, {-1}).run_tensor().shape(), Shape{2});
  EXPECT_EQ(OpTest("Gather").input(counted({3, 2})).input<int64_t>({0}, {}).run_tensor().shape(), (Shape{0, 2}));
  EXPECT_TRUE(equal<std::string>(
      OpTest("Gather").input<std::string>({2}, {"a", "b"}).input<int64_t>({1}, {1}).run_tensor(), {1}, {"b"}));
  auto error = [](Shape shape, int64_t index) {
    return OpTest("Gather").input(counted(shape)).input<int64_t>({1}, {index}).error();
  };
  EXPECT_NE(error({3}, 3).find("index 3 at position 0 is outside [-3, 2]"), std::string::npos) << error({3}, 3);
  EXPECT_NE(error({3}, -4).find("index -4 at position 0 is outside [-3, 2]"), std::string::npos);
  EXPECT_NE(error({3}, INT64_MIN).find("index -9223372036854775808 at position 0 is outside [-3, 2]"),
            std::string::npos);
  EXPECT_NE(error({3}, INT64_MAX).find("index 9223372036854775807 at position 0 is outside [-3, 2]"),
            std::string::npos);
  EXPECT_NE(error({0, 2}, 0).find("index 0 at position 0 is outside [0, -1]"), std::string::npos);
  EXPECT_NE(error({}, 0).find("input 0 has rank 0 (shape []), but it must be 1 to 64"), std::string::npos);
}

TEST(GatherElements, PicksSingleElements) {
  Shape shape{3, 4, 2};
  Tensor data = counted(shape);
  for (size_t axis = 0; axis < 3; ++axis) {
    Shape to{2, 3, 2};
    Tensor picks = indices_of(to, shape[axis], test_seed() + 1);
    std::vector<double> expected;
    for_each_index(to, [&](Index index) {
      index[axis] = normal(picks.data<int64_t>()[flat(to, index)], shape[axis]);
      expected.push_back(data.data<float>()[flat(shape, index)]);
    });
    EXPECT_TRUE(
        near(OpTest("GatherElements", 13).set("axis", static_cast<int64_t>(axis)).input(data).input(picks).run_tensor(),
             to, expected));
  }
  EXPECT_NE(OpTest("GatherElements")
                .input(counted({2}))
                .input<int64_t>({1}, {2})
                .error()
                .find("index 2 at position 0 is outside [-2, 1]"),
            std::string::npos);
  EXPECT_NE(OpTest("GatherElements")
                .set("axis", 1)
                .input(counted({2, 2}))
                .input<int64_t>({3, 1}, {0, 0, 0})
                .error()
                .find("dimension 0 of indices [3,1] is larger than that of data [2,2]"),
            std::string::npos);
}

TEST(GatherNd, TuplesAndBatches) {
  Tensor data = counted({2, 3, 4});
  EXPECT_TRUE(near(OpTest("GatherND", 11).input(data).input<int64_t>({2, 2}, {0, -1, 1, 0}).run_tensor(), {2, 4},
                   {8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_TRUE(near(OpTest("GatherND", 12).set("batch_dims", 1).input(data).input<int64_t>({2, 1}, {1, 2}).run_tensor(),
                   {2, 4}, {4, 5, 6, 7, 20, 21, 22, 23}));
  EXPECT_TRUE(near(OpTest("GatherND", 13).input(data).input<int64_t>({3}, {1, 2, 3}).run_tensor(), {}, {23}));
  EXPECT_NE(OpTest("GatherND", 13)
                .input(data)
                .input<int64_t>({1, 4}, {0, 0, 0, 0})
                .error()
                .find("index tuples have 4 entries for data of shape [2,3,4] with"),
            std::string::npos);
  EXPECT_NE(OpTest("GatherND", 13)
                .input(data)
                .input<int64_t>({1, 2}, {0, 3})
                .error()
                .find("index 3 at position 0 is outside [-3, 2]"),
            std::string::npos);
  EXPECT_NE(OpTest("GatherND", 13)
                .set("batch_dims", 2)
                .input(data)
                .input<int64_t>({2, 1}, {0, 0})
                .error()
                .find("batch_dims 2 must not be negative and must be below the ranks"),
            std::string::npos);
}

double combined(const std::string& reduction, double a, double b) {
  if (reduction == "add") return a + b;
  if (reduction == "mul") return a * b;
  if (reduction == "max") return std::max(a, b);
  return reduction == "min" ? std::min(a, b) : b;
}

TEST(ScatterElements, EveryReduction) {
  Shape shape{3, 4};
  Tensor data = random_tensor<float>(shape, test_seed());
  for (std::string reduction : {"none", "add", "mul", "max", "min"}) {
    for (size_t axis = 0; axis < 2; ++axis) {
      Shape places{2, 3};
      // Without a reduction places must differ, so they count along the axis.
      Tensor picks = reduction == "none"
                         ? tensor_of<int64_t>(places, axis == 0 ? std::vector<int64_t>{2, 1, 0, 0, -1, 1}
                                                                : std::vector<int64_t>{0, -1, 1, 3, 2, 0})
                         : indices_of(places, shape[axis], test_seed() + 2);
      Tensor updates = random_tensor<float>(places, test_seed() + 3);
      std::vector<double> expected = doubles(data);
      for_each_index(places, [&](const Index& index) {
        Index to = index;
        to[axis] = normal(picks.data<int64_t>()[flat(places, index)], shape[axis]);
        double& place = expected[static_cast<size_t>(flat(shape, to))];
        place = combined(reduction, place, updates.data<float>()[flat(places, index)]);
      });
      OpTest test("ScatterElements", 18);
      test.set("axis", static_cast<int64_t>(axis))
          .set("reduction", reduction.c_str())
          .input(data)
          .input(picks)
          .input(updates);
      EXPECT_TRUE(near(test.run_tensor(), shape, expected)) << reduction;
    }
  }
}

template <class T>
void expect_extremes() {
  std::vector<T> data, updates;
  std::vector<int64_t> places;
  std::vector<double> largest, smallest;
  const double values[] = {-INFINITY, -2.5, -0.0, 0.0, 1e-3, 3, INFINITY, NAN};
  for (double a : values) {
    for (double b : values) {
      places.push_back(static_cast<int64_t>(data.size()));
      data.push_back(T(static_cast<float>(a)));
      updates.push_back(T(static_cast<float>(b)));
      bool nan = std::isnan(a) || std::isnan(b);
      largest.push_back(nan ? NAN : std::max(a, b));
      smallest.push_back(nan ? NAN : std::min(a, b));
    }
  }
  auto n = static_cast<int64_t>(data.size());
  for (bool max : {true, false}) {
    OpTest test("ScatterElements", 18);
    test.set("reduction", max ? "max" : "min");
    test.input(tensor_of<T>({n}, data)).input(tensor_of<int64_t>({n}, places)).input(tensor_of<T>({n}, updates));
    EXPECT_TRUE(near(test.run_tensor(), {n}, max ? largest : smallest, 1e-2)) << name_of(kTypeOf<T>);
  }
}

TEST(ScatterElements, ExtremesOfEachFloatType) {
  expect_extremes<float>();
  expect_extremes<double>();
  expect_extremes<Half>();
  expect_extremes<BFloat16>();
}

TEST(ScatterElements, TypesAndErrors) {
  Tensor old =
      OpTest("Scatter", 9).input<float>({3}, {1, 2, 3}).input<int32_t>({1}, {-1}).input<float>({1}, {9}).run_tensor();
  EXPECT_TRUE(near(old, {3}, {1, 2, 9}));
  Tensor halves = OpTest("ScatterElements", 18)
                      .set("reduction", "add")
                      .input<Half>({2}, {Half(1), Half(2)})
                      .input<int64_t>({1}, {1})
                      .input<Half>({1}, {Half(3)})
                      .run_tensor();
  EXPECT_TRUE(near(halves, {2}, {1, 5}));
  Tensor wrapped = OpTest("ScatterElements", 16)
                       .set("reduction", "add")
                       .input<int64_t>({1}, {INT64_MAX})
                       .input<int64_t>({1}, {0})
                       .input<int64_t>({1}, {1})
                       .run_tensor();
  EXPECT_TRUE(equal<int64_t>(wrapped, {1}, {INT64_MIN}));
  auto error = [](Shape places, std::vector<int64_t> picks, std::vector<float> updates, Shape shape) {
    return OpTest("ScatterElements")
        .input<float>({2}, {1, 2})
        .input<int64_t>(places, picks)
        .input<float>(shape, updates)
        .error();
  };
  EXPECT_NE(error({1}, {2}, {1}, {1}).find("index 2 at position 0 is outside [-2, 1]"), std::string::npos);
  EXPECT_NE(error({2}, {0, 1}, {1}, {1}).find("indices have shape [2] and updates [1]"), std::string::npos);
  EXPECT_NE(error({1, 1}, {0}, {1}, {1, 1}).find("input 1 has rank 2 (shape [1,1]), but it must be 1"),
            std::string::npos);
}

TEST(ScatterNd, ComplexNumbersAddAndMultiplyButHaveNoOrder) {
  using Complex = std::complex<float>;
  auto test = [](const char* reduction) {
    OpTest test("ScatterND", 18);
    test.set("reduction", reduction).input<Complex>({2}, {{1, 2}, {3, 4}}).input<int64_t>({2, 1}, {1, 1});
    return test.input<Complex>({2}, {{0, 1}, {2, 0}});
  };
  EXPECT_TRUE(equal<Complex>(test("add").run_tensor(), {2}, {{1, 2}, {5, 5}}));
  EXPECT_TRUE(equal<Complex>(test("mul").run_tensor(), {2}, {{1, 2}, {-8, 6}}));
  EXPECT_NE(test("max").error().find("complex numbers have no order"), std::string::npos);
}

void expect_scattered_rows(const std::string& reduction, int64_t width) {
  Tensor data = random_tensor<float>({3, width}, test_seed());
  Tensor updates = random_tensor<float>({2, width}, test_seed() + 3);
  std::vector<double> expected = doubles(data);
  const int64_t rows[] = {2, 0};
  for (int64_t i = 0; i < 2 * width; ++i) {
    double& place = expected[static_cast<size_t>(rows[i / width] * width + i % width)];
    place = combined(reduction, place, updates.data<float>()[i]);
  }
  OpTest test("ScatterND", 18);
  test.set("reduction", reduction.c_str()).input(data).input<int64_t>({2, 1}, {-1, 0}).input(updates);
  EXPECT_TRUE(near(test.run_tensor(), {3, width}, expected)) << reduction;
}

TEST(ScatterNd, EveryReduction) {
  Tensor data = random_tensor<float>({3, 4}, test_seed());
  for (std::string reduction : {"none", "add", "mul", "max", "min"}) {
    for (int64_t width : {4, 15, 16, 77}) expect_scattered_rows(reduction, width);
  }
  EXPECT_NE(OpTest("ScatterND")
                .input(data)
                .input<int64_t>({1, 1}, {3})
                .input<float>({1, 4}, {0, 0, 0, 0})
                .error()
                .find("index 3 at position 0 is outside [-3, 2]"),
            std::string::npos);
  EXPECT_NE(OpTest("ScatterND")
                .input(data)
                .input<int64_t>({1, 3}, {0, 0, 0})
                .input<float>({1}, {0})
                .error()
                .find("index tuples have 3 entries for data of shape [3,4]"),
            std::string::npos);
  EXPECT_NE(OpTest("ScatterND")
                .input(data)
                .input<int64_t>({}, {0})
                .input<float>({}, {0})
                .error()
                .find("input 1 has rank 0 (shape []), but it must be 1 to 64"),
            std::string::npos);
  EXPECT_NE(OpTest("ScatterND")
                .input(data)
                .input<int64_t>({1, 1}, {0})
                .input<float>({1, 3}, {0, 0, 0})
                .error()
                .find("updates have shape [1,3]"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
