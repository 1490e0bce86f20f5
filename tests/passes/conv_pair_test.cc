// A depthwise Conv and the 1x1 Conv before it become one node where their values between are large, and only there.
#include "pass_test.h"

namespace ortolan::test {
namespace {

constexpr int64_t kWide = 24, kSide = 90;  // 780 KB between

/** What differs from a pair that is joined. */
struct Case {
  std::vector<Attribute> first, second;
  Shape first_weights{kWide, 4, 1, 1}, second_weights{kWide, 1, 3, 3};
  Dim side = kSide;
  bool between_is_output = false, read_twice = false, weights_are_input = false;
};

std::vector<Attribute> with_group(std::vector<Attribute> attributes, int64_t group) {
  attributes.push_back({"group", group});
  return attributes;
}

void build_case(TestGraph& g, const Case& c) {
  ValueInfo* x = g.input("x", {Dim(), c.first_weights[1], c.side, c.side});
  ValueInfo* w = g.random("w", c.first_weights);
  if (c.weights_are_input) w = g.input("w_in", {c.first_weights[0], c.first_weights[1], 1, 1});
  ValueInfo* between = g.node("Conv", {x, w, g.random("b", {c.first_weights[0]})}, "between", c.first);
  if (c.between_is_output) g.output(between);
  ValueInfo* y =
      g.node("Conv", {between, g.random("v", c.second_weights), g.random("a", {c.second_weights[0]})}, "y", c.second);
  if (c.read_twice) y = g.node("Concat", {between, y}, "both", {{"axis", int64_t{1}}});
  g.output(y);
}

const std::vector<Attribute> kPads = {{"pads", std::vector<int64_t>{1, 1, 1, 1}}};

int pairs_of(const Case& c) {
  auto build = [&](TestGraph& g) { build_case(g, c); };
  PassTest test(build);
  test.expect_same_results();
  return test.after(99)["ortolan.PointwiseDepthwiseConv"];
}

TEST(ConvPair, JoinsWithAnyActivationsAndWindows) {
  for (const char* first : {"", "Relu", "Sigmoid", "HardSwish"}) {
    for (const char* second : {"", "Tanh"}) {
      auto build = [&](TestGraph& g) {
        ValueInfo* x = g.input("x", {Dim(), 4, kSide, kSide + 3});
        ValueInfo* y = g.node("Conv", {x, g.random("w", {kWide, 4, 1, 1})}, "between");
        if (*first) y = g.node(first, {y}, "first");
        const std::vector<Attribute> attributes = {
            {"group", kWide}, {"strides", std::vector<int64_t>{2, 2}}, {"auto_pad", std::string("SAME_UPPER")}};
        y = g.node("Conv", {y, g.random("v", {kWide, 1, 5, 5}), g.random("a", {kWide})}, "conv", attributes);
        if (*second) y = g.node(second, {y}, "second");
        g.output(y);
      };
      PassTest test(build);
      EXPECT_EQ(test.after(99), (Counts{{"ortolan.PointwiseDepthwiseConv", 1}})) << first << " " << second;
      test.expect_same_results();
    }
  }
}

TEST(ConvPair, TakesAnotherConvolutionsResult) {
  auto build = [](TestGraph& g) {
    ValueInfo* y = g.input("x", {Dim(), 4, kSide, kSide});
    for (int i = 0; i < 2; ++i) {
      const std::string n = std::to_string(i);
      y = g.node("Conv", {y, g.random("w" + n, {kWide, 4, 1, 1}), g.random("b" + n, {kWide})}, "wide" + n);
      y = g.node("Clip", {y, g.scalar("low" + n, 0), g.scalar("high" + n, 6)}, "clip" + n);
      y = g.node("Conv", {y, g.random("v" + n, {kWide, 1, 3, 3})}, "conv" + n, with_group(kPads, kWide));
      y = g.node("Conv", {y, g.random("u" + n, {4, kWide, 1, 1})}, "narrow" + n);
    }
    g.output(y);
  };
  PassTest test(build);
  EXPECT_EQ(test.after(99), (Counts{{"ortolan.PointwiseDepthwiseConv", 2}, {"Conv", 2}}));
  test.expect_same_results();
}

TEST(ConvPair, JoinsWhereSizesAreUnknown) {
  Case c{{}, with_group(kPads, kWide)};
  c.side = Dim();
  EXPECT_EQ(pairs_of(c), 1);
}

TEST(ConvPair, LeavesWhatItCouldNotCompute) {
  const std::vector<Attribute> second = with_group(kPads, kWide);
  EXPECT_EQ(pairs_of({{}, second}), 1);
  Case small{{}, second}, output{{}, second}, twice{{}, second}, input{{}, second};
  small.side = 9, output.between_is_output = true, twice.read_twice = true, input.weights_are_input = true;
  for (const Case& c : {small, output, twice, input}) EXPECT_EQ(pairs_of(c), 0);
  const Case steps{{{"strides", std::vector<int64_t>{2, 2}}}, second};
  const Case padded{{{"pads", std::vector<int64_t>{0, 1, 1, 0}}}, second};
  const Case window{kPads, second, {kWide, 4, 3, 3}};
  const Case dense{{}, kPads, {kWide, 4, 1, 1}, {8, kWide, 3, 3}};
  const Case several{{}, second, {kWide, 4, 1, 1}, {2 * kWide, 1, 3, 3}};  // results a channel
  for (const Case& c : {steps, padded, window, dense, several}) EXPECT_EQ(pairs_of(c), 0);
}

TEST(ConvPair, LeavesAnAddend) {
  auto build = [](TestGraph& g) {
    ValueInfo* x = g.input("x", {2, kWide, kSide, kSide});
    ValueInfo* y = g.node("Conv", {x, g.random("w", {kWide, kWide, 1, 1})}, "between");
    y = g.node("Add", {y, x}, "first_sum");
    y = g.node("Conv", {y, g.random("v", {kWide, 1, 3, 3})}, "conv", with_group(kPads, kWide));
    g.output(g.node("Add", {x, y}, "sum"));
  };
  PassTest test(build);
  EXPECT_EQ(test.after(99), (Counts{{"ortolan.Conv", 2}}));
  test.expect_same_results();
}

}  // namespace
}  // namespace ortolan::test
