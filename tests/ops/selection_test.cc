// OneHot, NonZero, Compress, Unique, TopK.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

#include "op_test.h"

namespace ortolan::test {
namespace {

TEST(OneHot, MarksOnePlace) {
  auto one_hot = [](int axis) {
    return OpTest("OneHot", 11)
        .set("axis", axis)
        .input<int64_t>({3}, {1, -1, 5})
        .input<float>({}, {3})
        .input<int32_t>({2}, {7, 9});
  };
  EXPECT_TRUE(equal<int32_t>(one_hot(-1).run_tensor(), {3, 3}, {7, 9, 7, 7, 7, 9, 7, 7, 7}));
  EXPECT_TRUE(equal<int32_t>(one_hot(0).run_tensor(), {3, 3}, {7, 7, 7, 9, 7, 7, 7, 9, 7}));
  Tensor scalar_case =
      OpTest("OneHot", 9).input<float>({}, {1.9f}).input<int64_t>({1}, {2}).input<float>({2}, {0, 1}).run_tensor();
  EXPECT_TRUE(near(scalar_case, {2}, {0, 1}));
  Tensor nan_case =
      OpTest("OneHot").input<float>({1}, {NAN}).input<int64_t>({}, {2}).input<float>({2}, {0, 1}).run_tensor();
  EXPECT_TRUE(near(nan_case, {1, 2}, {0, 0}));
  EXPECT_NE(OpTest("OneHot")
                .input<int64_t>({1}, {0})
                .input<int64_t>({}, {-1})
                .input<float>({2}, {0, 1})
                .error()
                .find("depth is -1"),
            std::string::npos);
  EXPECT_NE(OpTest("OneHot").input<int64_t>({1}, {0}).input<int64_t>({}, {2}).input<float>({1}, {0}).error().find(
                "values has shape [1]"),
            std::string::npos);
  EXPECT_NE(one_hot(2).error().find("axis 2 is outside [-2, 1] for rank 2"), std::string::npos);
}

TEST(NonZero, GivesPositions) {
  EXPECT_TRUE(
      equal<int64_t>(OpTest("NonZero").input<float>({2, 2}, {0, 1, NAN, 0}).run_tensor(), {2, 2}, {0, 1, 1, 0}));
  EXPECT_TRUE(equal<int64_t>(OpTest("NonZero").input<bool>({}, {true}).run_tensor(), {0, 1}, {}));
  EXPECT_EQ(OpTest("NonZero", 9).input<int64_t>({0, 3}, {}).run_tensor().shape(), (Shape{2, 0}));
}

TEST(Compress, KeepsWhatIsTrue) {
  OpTest rows("Compress", 11);
  rows.set("axis", -2).input<float>({3, 2}, {1, 2, 3, 4, 5, 6}).input<bool>({2}, {false, true});
  EXPECT_TRUE(near(rows.run_tensor(), {1, 2}, {3, 4}));
  EXPECT_TRUE(near(OpTest("Compress", 9)
                       .input<float>({2, 2}, {1, 2, 3, 4})
                       .input<bool>({6}, {true, false, false, true, true, true})
                       .run_tensor(),
                   {2}, {1, 4}));
  EXPECT_EQ(OpTest("Compress").input<float>({0}, {}).input<bool>({1}, {true}).run_tensor().shape(), Shape{0});
  EXPECT_NE(OpTest("Compress")
                .set("axis", 1)
                .input<float>({1}, {1})
                .input<bool>({1}, {true})
                .error()
                .find("axis 1 is outside [-1, 0] for rank 1"),
            std::string::npos);
}

TEST(Unique, SortedOrByFirstPlace) {
  auto parts = OpTest("Unique", 11).input<float>({6}, {2, 1, 1, NAN, 4, NAN}).run(4);
  EXPECT_TRUE(near(parts[0].tensor(), {4}, {1, 2, 4, NAN}));
  EXPECT_TRUE(equal<int64_t>(parts[1].tensor(), {4}, {1, 0, 4, 3}));
  EXPECT_TRUE(equal<int64_t>(parts[2].tensor(), {6}, {1, 0, 0, 3, 2, 3}));
  EXPECT_TRUE(equal<int64_t>(parts[3].tensor(), {4}, {2, 1, 1, 2}));
  auto unsorted = OpTest("Unique", 11).set("sorted", 0).input<std::string>({4}, {"b", "a", "b", "c"}).run(4);
  EXPECT_TRUE(equal<std::string>(unsorted[0].tensor(), {3}, {"b", "a", "c"}));
  EXPECT_TRUE(equal<int64_t>(unsorted[2].tensor(), {4}, {0, 1, 0, 2}));
  auto columns = OpTest("Unique", 11).set("axis", -1).input<int8_t>({2, 3}, {1, 0, 1, 2, 3, 2}).run(2);
  EXPECT_TRUE(equal<int8_t>(columns[0].tensor(), {2, 2}, {0, 1, 3, 2}));
  EXPECT_EQ(OpTest("Unique", 11).input<float>({0}, {}).run_tensor().shape(), Shape{0});
  EXPECT_NE(
      OpTest("Unique", 11).set("axis", 1).input<float>({1}, {1}).error().find("axis 1 is outside [-1, 0] for rank 1"),
      std::string::npos);
}

/** Positions of the k best of a line, best first, lower positions first among equals. */
std::vector<int64_t> best_places(const std::vector<double>& line, size_t k, bool largest) {
  std::vector<int64_t> places(line.size());
  std::iota(places.begin(), places.end(), 0);
  std::stable_sort(places.begin(), places.end(), [&](int64_t a, int64_t b) {
    double x = line[static_cast<size_t>(a)], y = line[static_cast<size_t>(b)];
    return largest ? x > y : x < y;
  });
  places.resize(k);
  return places;
}

TEST(TopK, FindsTheBestOfEachLine) {
  for (int64_t k : {0, 1, 5, 63, 100, 200}) {
    for (bool largest : {true, false}) {
      Tensor input = random_tensor<int32_t>({3, 200, 2}, test_seed(), 0, 50);
      auto parts =
          OpTest("TopK", 11).set("axis", 1).set("largest", largest).input(input).input<int64_t>({1}, {k}).run(2);
      ASSERT_EQ(parts[0].tensor().shape(), (Shape{3, k, 2}));
      for (int64_t line = 0; line < 6; ++line) {
        std::vector<double> values;
        for (int64_t i = 0; i < 200; ++i) values.push_back(input.data<int32_t>()[(line / 2 * 200 + i) * 2 + line % 2]);
        auto places = best_places(values, static_cast<size_t>(k), largest);
        for (int64_t i = 0; i < k; ++i) {
          int64_t at = (line / 2 * k + i) * 2 + line % 2;
          EXPECT_EQ(parts[1].tensor().data<int64_t>()[at], places[static_cast<size_t>(i)]);
          EXPECT_EQ(parts[0].tensor().data<int32_t>()[at], values[static_cast<size_t>(places[static_cast<size_t>(i)])]);
        }
      }
    }
  }
}

/** A random value of a type, often one of its extremes, and often one that others have too. */
template <class T>
T drawn_extreme(std::mt19937& random) {
  using Limits = std::numeric_limits<std::conditional_t<std::is_integral_v<T>, T, float>>;
  const int kind = static_cast<int>(random() % 8);
  if constexpr (std::is_integral_v<T>) {
    if (kind == 0) return Limits::min();
    if (kind == 1) return Limits::max();
    if (kind == 2) return static_cast<T>(Limits::max() - T(random() % 3));
    if (kind == 3) return static_cast<T>(Limits::min() + T(random() % 3));
    return static_cast<T>(random() % 40);
  } else {
    const float special[] = {NAN, -NAN, INFINITY, -INFINITY, 0.f, -0.f};
    return T(kind < 6 ? special[kind] : static_cast<float>(static_cast<int>(random() % 40) - 20) / 8);
  }
}

/** The best `k` of each line of 150, with all of whose elements the order of equal ones is checked. */
template <class T>
void expect_many_best(int64_t k, bool largest, uint32_t seed) {
  const int64_t length = 150, inner = 3;
  std::mt19937 random(seed);
  Tensor x(kTypeOf<T>, Shape{2, length, inner});
  for (T& value : x.mutable_span<T>()) value = drawn_extreme<T>(random);
  auto parts = OpTest("TopK", 11).set("axis", 1).set("largest", largest).input(x).input<int64_t>({1}, {k}).run(2);
  const T *all = x.data<T>(), *values = parts[0].tensor().data<T>();
  using Compared = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;
  for (int64_t line = 0; line < 2 * inner; ++line) {
    auto element = [&](int64_t i) { return Compared(all[(line / inner * length + i) * inner + line % inner]); };
    std::vector<int64_t> places(static_cast<size_t>(length));
    std::iota(places.begin(), places.end(), 0);
    std::ranges::stable_sort(places, [&](int64_t a, int64_t b) {
      const Compared low = element(largest ? b : a), high = element(largest ? a : b);  // NaN is above all numbers
      return high != high ? low == low : low < high;
    });
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = (line / inner * k + i) * inner + line % inner, place = places[static_cast<size_t>(i)];
      ASSERT_EQ(parts[1].tensor().data<int64_t>()[at], place)
          << i << " of " << k << ", line " << line << ", seed " << seed;
      const Compared got(values[at]), want = element(place);
      ASSERT_TRUE(got == want || (got != got && want != want)) << i << " of " << k << ", line " << line;
    }
  }
}

TEST(TopK, TheBestOfAnyType) {
  uint32_t seed = test_seed();
  auto expect_all = [&]<class... T>(std::tuple<T...>, int64_t k, bool largest) {
    (expect_many_best<T>(k, largest, ++seed), ...);
  };
  for (int64_t k : {20, 65, 149, 150}) {  // some kept sorted, some chosen, all
    for (bool largest : {true, false}) {
      expect_all(std::tuple<float, double, Half, BFloat16, int8_t, uint8_t, int16_t, uint16_t, int32_t, uint32_t,
                            int64_t, uint64_t>(),
                 k, largest);
    }
  }
}

/** The best of each line along `axis`, NaN above all numbers. */
template <class T>
void expect_best(const Shape& shape, size_t axis, bool largest, uint32_t seed) {
  Tensor x = random_tensor<T>(shape, seed, 0, 20);
  if constexpr (!std::is_integral_v<T>) {
    std::mt19937 random(seed);
    for (T& value : x.mutable_span<T>()) value = random() % 40 == 0 ? T(NAN) : T(std::round(float(value)));
  }
  auto parts =
      OpTest("TopK", 11).set("axis", int64_t(axis)).set("largest", largest).input(x).input<int64_t>({1}, {1}).run(2);
  auto all = doubles(x), values = doubles(parts[0].tensor());
  const int64_t length = shape[axis], inner = shape.count_from(axis + 1);
  for (int64_t line = 0; line < x.element_count() / length; ++line) {
    const int64_t first = line / inner * length * inner + line % inner;
    auto rank = [&](int64_t i) {
      double value = all[static_cast<size_t>(first + i * inner)];
      return std::isnan(value) ? INFINITY : value;
    };
    int64_t best = 0;
    for (int64_t i = 1; i < length; ++i) best = (largest ? rank(i) > rank(best) : rank(i) < rank(best)) ? i : best;
    ASSERT_EQ(parts[1].tensor().data<int64_t>()[line], best) << line << " of " << join(shape) << " seed " << seed;
    ASSERT_EQ(std::isnan(values[static_cast<size_t>(line)]) ? INFINITY : values[static_cast<size_t>(line)], rank(best));
  }
}

TEST(TopK, TheOneBestOfAnyLine) {
  uint32_t seed = test_seed();
  for (const Shape& shape :
       {Shape{37, 10}, Shape{600, 3}, Shape{256, 24}, Shape{5, 300}, Shape{3, 40, 35}, Shape{2, 7, 3}, Shape{1, 1}}) {
    for (size_t axis = 0; axis < shape.rank(); ++axis) {
      for (bool largest : {true, false}) {
        expect_best<float>(shape, axis, largest, ++seed);
        expect_best<double>(shape, axis, largest, ++seed);
        expect_best<Half>(shape, axis, largest, ++seed);
        expect_best<int8_t>(shape, axis, largest, ++seed);
        expect_best<int16_t>(shape, axis, largest, ++seed);
        expect_best<int64_t>(shape, axis, largest, ++seed);
      }
    }
  }
}

TEST(TopK, AFewOfLongLines) {
  for (int64_t k : {2, 7, 40}) {
    for (bool largest : {true, false}) {
      Tensor x = random_tensor<float>({2, 5003}, test_seed() + static_cast<uint32_t>(k));
      if (k == 7) x.mutable_data<float>()[4000] = NAN, x.mutable_data<float>()[5002] = largest ? 2.0f : -2.0f;
      auto parts = OpTest("TopK", 11).set("largest", largest).input(x).input<int64_t>({1}, {k}).run(2);
      for (int64_t line = 0; line < 2; ++line) {
        std::vector<double> values(x.data<float>() + line * 5003, x.data<float>() + (line + 1) * 5003);
        for (double& value : values) value = std::isnan(value) ? INFINITY : value;
        auto places = best_places(values, static_cast<size_t>(k), largest);
        const auto* found = parts[1].tensor().data<int64_t>() + line * k;
        EXPECT_EQ(std::vector<int64_t>(found, found + k), places) << k << " seed " << test_seed();
      }
    }
  }
}

TEST(TopK, OpsetsTypesAndErrors) {
  EXPECT_TRUE(near(OpTest("TopK", 1).set("k", 2).input<float>({3}, {1, 3, 2}).run(2)[0].tensor(), {2}, {3, 2}));
  EXPECT_TRUE(near(OpTest("TopK", 10).input<double>({3}, {1, NAN, 2}).input<int64_t>({1}, {2}).run(2)[0].tensor(), {2},
                   {NAN, 2}));
  Tensor halves = OpTest("TopK", 11).input<Half>({2}, {Half(1), Half(2)}).input<int64_t>({1}, {1}).run(2)[0].tensor();
  EXPECT_TRUE(near(halves, {1}, {2}));
  auto error = [](int64_t k) { return OpTest("TopK").input<float>({2}, {1, 2}).input<int64_t>({1}, {k}).error(2); };
  EXPECT_NE(error(3).find("K is 3, but the axis has only 2 elements"), std::string::npos) << error(3);
  EXPECT_NE(error(-1).find("K is -1"), std::string::npos);
  EXPECT_NE(OpTest("TopK").input<float>({}, {1}).input<int64_t>({1}, {1}).error(2).find(
                "axis -1 is outside [0, -1] for rank 0"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
