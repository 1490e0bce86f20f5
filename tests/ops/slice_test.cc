// Slice.
#include <algorithm>
#include <numeric>
#include <optional>

#include "counted_tensors.h"

namespace ortolan::test {
namespace {

struct SliceCase {
  std::vector<int64_t> starts, ends, axes, steps;
};

TEST(Slice, FollowsNumpy) {
  Shape shape{5, 6, 4};
  Tensor input = counted<float>(shape);
  const SliceCase cases[] = {
      {{1, 0}, {4, 3}, {0, 1}, {1, 1}},
      {{-1}, {INT64_MIN}, {1}, {-2}},
      {{0}, {INT64_MAX}, {-1}, {3}},
      {{10}, {-10}, {0}, {-1}},
      {{3}, {1}, {0}, {1}},
      {{-3, 5}, {-1, 0}, {0, 1}, {1, -3}},
      {{INT64_MIN}, {INT64_MAX}, {2}, {2}},
      {{4}, {0}, {0}, {INT64_MIN}},
  };
  for (const SliceCase& c : cases) {
    std::vector<std::vector<int64_t>> taken;
    for (int64_t dim : shape) {
      taken.emplace_back(static_cast<size_t>(dim));
      std::iota(taken.back().begin(), taken.back().end(), 0);
    }
    for (size_t i = 0; i < c.axes.size(); ++i) {
      auto axis = static_cast<size_t>(c.axes[i] < 0 ? c.axes[i] + 3 : c.axes[i]);
      int64_t dim = shape[axis], step = c.steps[i];
      auto place = [&](int64_t p) { return p < 0 ? p + dim : p; };
      taken[axis].clear();
      for (int64_t at = 0; at < dim; ++at) {
        int64_t p = step > 0 ? at : dim - 1 - at;
        int64_t start = step > 0 ? std::max<int64_t>(place(c.starts[i]), 0) : std::min(place(c.starts[i]), dim - 1);
        bool reached = step > 0 ? p >= start && p < place(c.ends[i]) : p <= start && p > place(c.ends[i]);
        bool on_step = step == INT64_MIN ? p == start : (p - start) % step == 0;
        if (reached && on_step) taken[axis].push_back(p);
      }
    }
    Shape to{static_cast<int64_t>(taken[0].size()), static_cast<int64_t>(taken[1].size()),
             static_cast<int64_t>(taken[2].size())};
    Tensor expected = moved<float>(input, to, [&](Index index) {
      for (size_t i = 0; i < 3; ++i) index[i] = taken[i][static_cast<size_t>(index[i])];
      return index;
    });
    OpTest test("Slice", 13);
    test.input(input).input(int64s(c.starts)).input(int64s(c.ends)).input(int64s(c.axes)).input(int64s(c.steps));
    EXPECT_TRUE(same_value(test.run_tensor(), expected)) << c.starts[0];
  }
}

TEST(Slice, BackwardsFromBeforeTheFirstElementTakesIt) {
  auto run = [](int64_t dim, int64_t start) {
    OpTest test("Slice", 13);
    test.input(counted<float>({dim})).input(int64s({start})).input(int64s({INT64_MIN})).input(int64s({0}));
    return test.input(int64s({-1})).run_tensor();
  };
  EXPECT_TRUE(same_value(run(3, -9), counted<float>({1})));
  EXPECT_EQ(run(0, -9).shape(), Shape{0});
  EXPECT_EQ(run(0, 4).shape(), Shape{0});
}

TEST(Slice, AttributesInputsAndErrors) {
  Tensor input = counted<float>({5, 6});
  EXPECT_EQ(OpTest("Slice", 1).ints("starts", {1}).ints("ends", {1000}).input(input).run_tensor().shape(),
            (Shape{4, 6}));
  EXPECT_EQ(OpTest("Slice", 10).input(input).input(int64s({1, 2})).input(int64s({3, 3})).run_tensor().shape(),
            (Shape{2, 1}));
  auto error = [&](std::vector<int64_t> axes, std::vector<int64_t> steps) {
    return OpTest("Slice", 13)
        .input(input)
        .input(int64s({0}))
        .input(int64s({1}))
        .input(int64s(axes))
        .input(int64s(steps))
        .error();
  };
  EXPECT_NE(error({0}, {0}).find("steps must not be 0"), std::string::npos);
  EXPECT_NE(error({2}, {1}).find("axis 2 is outside [-2, 1] for rank 2"), std::string::npos);
  EXPECT_NE(error({0, 1}, {1}).find("starts has 1 entries, but starts or axes has 2"), std::string::npos);
}

// Whether the shape is inferred from constants or from what a run feeds.
TEST(Slice, EmptyListsOfAxesAndStepsAreAsGoodAsNone) {
  const Value input(counted<float>({5, 6, 4})), none(int64s({}));
  for (Way way : {Way::kConstants, Way::kKnownShapes, Way::kUnknownShapes}) {
    auto slice = [&](std::vector<int64_t> starts, std::vector<int64_t> ends, std::optional<Value> axes,
                     std::vector<Attribute> attributes) {
      NodeCase node{"Slice", "", 13, {input, Value(int64s(starts)), Value(int64s(ends)), axes, none}, attributes};
      return run_node(node, way, 1, SessionOptions())[0].tensor().shape();
    };
    EXPECT_EQ(slice({3}, {1}, none, {}), (Shape{0, 6, 4}));
    EXPECT_EQ(slice({3}, {5}, none, {}), (Shape{2, 6, 4}));
    EXPECT_EQ(slice({3, 1}, {5, 4}, std::nullopt, {{"axes", std::vector<int64_t>{}}}), (Shape{2, 3, 4}));
  }
}

}  // namespace
}  // namespace ortolan::test
