// Elementwise nodes in the launches of what they read: the same results as node by node, in fewer launches.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/sketch.h"

namespace ortolan::gpu::test {
namespace {

TEST(Fusion, ChainOfElementwiseNodesIsOneLaunch) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({2, 3, 17}, 1)), row = s.input(numbers({17}, 2)), channel = s.input(numbers({3, 1}, 3));
    int y = s.node("Mul", {x, row});
    y = s.node("Add", {channel, y});
    y = s.node("Tanh", {y});
    y = s.node("Sub", {s.constant(floats({}, {2})), y});
    EXPECT_EQ(s.run({y}), 1u);
  });
}

TEST(Fusion, LongChainsAreCut) {
  on_all_devices([](Sketch& s) {
    int y = s.input(numbers({5, 7}, 1));
    for (int i = 0; i < 8; i++) y = s.node("Sin", {y});
    EXPECT_EQ(s.run({y}), 2u);
  });
}

TEST(Fusion, FourOperandsFitAndFiveAreCut) {
  on_all_devices([](Sketch& s) {
    int y = s.input(numbers({19}, 1));
    for (unsigned i = 0; i < 3; i++) y = s.node("Add", {y, s.input(numbers({19}, i + 2))});
    EXPECT_EQ(s.run({y}), 1u);
    y = s.node("Mul", {s.input(numbers({19}, 9)), y});
    EXPECT_EQ(s.run({y}), 2u);
  });
}

TEST(Fusion, AValueOfTwoReadersIsStored) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({33}, 1));
    int e = s.node("Exp", {x}), a = s.node("Neg", {e}), b = s.node("Sqrt", {e});
    EXPECT_EQ(s.run({a, b}), 3u);
  });
}

TEST(Fusion, AValueThatIsAnOutputTooIsStored) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({4, 4}, 1));
    int e = s.node("Exp", {x}), y = s.node("Neg", {e});
    EXPECT_EQ(s.run({e, y}), 2u);
  });
}

TEST(Fusion, ValueIsUsedAgain) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({3, 21}, 1));
    int y = s.node("Div", {x, s.constant(floats({}, {1.41421356f}))});
    y = s.node("Erf", {y});
    y = s.node("Add", {y, s.constant(floats({1}, {1}))});
    y = s.node("Mul", {x, y});
    y = s.node("Mul", {y, s.constant(floats({}, {0.5f}))});
    EXPECT_EQ(s.run({y}), 1u);
  });
}

TEST(Fusion, ABroadcastThatGrowsBeginsAChainOfItsOwn) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({3, 1}, 1)), wide = s.input(numbers({3, 5}, 2));
    int y = s.node("Add", {s.node("Exp", {x}), wide});
    EXPECT_EQ(s.run({y}), 2u);
    int product = s.node("MatMul", {s.input(numbers({2, 3, 4}, 3)), s.input(numbers({4, 1}, 4))});
    y = s.node("Mul", {product, s.input(numbers({2, 3, 6}, 5))});
    EXPECT_EQ(s.run({y}), s.run({product}) + 1);
  });
}

TEST(Fusion, IntegersWrapBetweenSteps) {
  on_all_devices([](Sketch& s) {
    for (ElementType type : {ElementType::kInt8, ElementType::kUint16, ElementType::kInt32, ElementType::kInt64}) {
      int x = s.input(integers({4}, {100, 3, 77, 127}, type)), y = s.node("Add", {x, x});
      y = s.node("Mul", {y, s.input(integers({4}, {3, 100, 2, 2}, type))});
      int truth = s.node("Greater", {y, s.input(integers({4}, {1, 2, 100, 4}, type))});
      EXPECT_EQ(s.run({truth}), 1u);
      s.run({s.node("Where", {truth, x, s.constant(integers({}, {9}, type))})});
    }
  });
}

TEST(Fusion, TypesInTheMiddle) {
  on_all_devices([](Sketch& s) {
    TestNode to_float{"Cast", {{"to", int64_t{1}}}}, to_int{"Cast", {{"to", int64_t{6}}}};
    int x = s.input(numbers({2, 9}, 1)), truth = s.node("Less", {x, s.input(numbers({9}, 2))});
    int y = s.node("Mul", {s.node(to_float, {s.node("Not", {truth})}), x});
    EXPECT_EQ(s.run({y}), 1u);
    int whole = s.node(to_int, {s.node("Mul", {x, s.constant(floats({}, {10}))})});
    EXPECT_EQ(s.run({s.node("Neg", {whole})}), 2u);
    EXPECT_EQ(s.run({s.node("Exp", {s.node(to_float, {whole})})}), 2u);
  });
}

TEST(Fusion, Float16IsRoundedAtTheEndAlone) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({3, 11}, 1, ElementType::kFloat16)), b = s.input(numbers({11}, 2, ElementType::kFloat16));
    int y = s.node("Tanh", {s.node("Mul", {s.node("Add", {x, b}), x})});
    EXPECT_EQ(s.run({y}, 2e-3f, 2e-3f), 1u);
    int large = s.constant(floats({1}, {60000}, ElementType::kFloat16));
    y = s.node("Div", {s.node("Add", {s.node("Add", {s.node("Abs", {x}), large}), large}), large});
    Tensor two = floats({3, 11}, std::vector<float>(33, 2), ElementType::kFloat16);
    expect_near(s.run_unchecked(y), two);
  });
}

TEST(Fusion, ProductsTakeSumsClipsAndSteps) {
  on_all_devices([](Sketch& s) {
    for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
      bool half = type == ElementType::kFloat16;
      float near = half ? 1e-2f : 1e-5f;
      int a = s.input(numbers({2, 3, 9}, 1, type)), b = s.constant(numbers({9, 35}, 2, type));
      int bias = s.constant(numbers({35}, 3, type)), residual = s.input(numbers({2, 3, 35}, 4, type));
      int biased = s.node("Add", {bias, s.node("MatMul", {a, b})});
      EXPECT_EQ(s.run({s.node("Relu", {biased})}, near, near), 1u);
      EXPECT_EQ(s.run({s.node({"Gelu", {}, kNewest, "com.microsoft"}, {biased})}, near, near), 1u);
      EXPECT_EQ(s.run({s.node("Add", {biased, residual})}, near, near), 1u);
      EXPECT_EQ(s.run({s.node("Relu", {s.node("Add", {residual, biased})})}, near, near), 1u);
      int gated = s.node({"QuickGelu", {{"alpha", 1.0f}}, kNewest, "com.microsoft"}, {biased});
      EXPECT_EQ(s.run({s.node("Sub", {residual, gated})}, near, near), 1u);
    }
  });
}

/** What a step of a product gives for a number, in double. */
double gate_of(const std::string& op, double x) {
  if (op == "Tanh") return std::tanh(x);
  if (op == "Erf") return std::erf(x);
  if (op == "Sigmoid") return 1 / (1 + std::exp(-x));
  if (op == "QuickGelu") return x / (1 + std::exp(-1.5 * x));
  if (op == "Gelu") return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(Fusion, StepsOfWholeVectorsAreThoseOfNumbers) {
  std::vector<float> column = {0, -0.0f, 1e-20f, -1e-3f, 50, -50, 4, -4, 9.02f, -9.02f, NAN, 3e38f, -3e38f};
  for (float x = -12; x < 12; x += 0.37f) column.push_back(x);
  auto rows = static_cast<int64_t>(column.size()), columns = int64_t{97};
  on_all_devices([&](Sketch& s) {
    int a = s.input(floats({rows, 1}, column)), one = s.constant(floats({1, columns}, std::vector<float>(columns, 1)));
    for (const char* op : {"Tanh", "Erf", "Sigmoid", "QuickGelu", "Gelu", "FastGelu"}) {
      SCOPED_TRACE(op);
      std::string domain = std::string(op).find("Gelu") == std::string::npos ? "" : "com.microsoft";
      TestNode step{op, {}, kNewest, domain};
      if (std::string(op) == "QuickGelu") step.attributes["alpha"] = 1.5f;
      std::vector<float> wanted;
      for (float x : column) wanted.insert(wanted.end(), columns, static_cast<float>(gate_of(op, x)));
      int y = s.node(step, {s.node("MatMul", {a, one})});
      EXPECT_EQ(s.run({y}), 1u);
      expect_near(s.run_unchecked(y), floats({rows, columns}, wanted), 2e-6f, 2e-6f);
    }
  });
}

TEST(Fusion, ProductsTakeAddendsOfEachKind) {
  on_all_devices([](Sketch& s) {
    int a = s.input(numbers({2, 3, 5, 7}, 1)), b = s.input(numbers({3, 7, 18}, 2));
    int product = s.node("MatMul", {a, b});
    for (const Shape& shape : {Shape{18}, Shape{5, 1}, Shape{5, 18}, Shape{3, 5, 1}, Shape{3, 5, 18}, Shape{1, 1, 1}}) {
      SCOPED_TRACE(shape.size());
      EXPECT_EQ(s.run({s.node("Add", {product, s.input(numbers(shape, 3))})}), 1u);
      EXPECT_EQ(s.run({s.node("Mul", {s.input(numbers(shape, 4)), product})}), 1u);
    }
    EXPECT_EQ(s.run({s.node("Add", {product, s.input(numbers({3, 1, 1}, 5))})}), 2u);
    EXPECT_EQ(s.run({s.node("Add", {product, s.input(numbers({2, 1, 5, 18}, 6))})}), 2u);
  });
}

TEST(Fusion, ProductsLeaveWhatTheyCannotDo) {
  on_all_devices([](Sketch& s) {
    int y = s.node("MatMul", {s.input(numbers({4, 6}, 1)), s.constant(numbers({6, 5}, 2))});
    EXPECT_EQ(s.run({s.node("Greater", {y, s.input(numbers({5}, 3))})}), 2u);
    int sum = s.node("Add", {s.node("Add", {y, s.input(numbers({5}, 4))}), s.input(numbers({4, 5}, 5))});
    EXPECT_EQ(s.run({sum}), 1u);
    EXPECT_EQ(s.run({s.node("Add", {sum, s.input(numbers({4, 5}, 6))})}), 2u);
    int steps = y;
    for (int i = 0; i < 5; i++) steps = s.node("Sin", {steps});
    EXPECT_EQ(s.run({steps}), 2u);
  });
}

TEST(Fusion, StacksOfThreeAxesTakeSteps) {
  on_all_devices([](Sketch& s) {
    int a = s.input(numbers({2, 2, 1, 3, 4}, 1)), b = s.input(numbers({2, 1, 2, 4, 5}, 2));
    int product = s.node("MatMul", {a, b});
    int y = s.node("Add", {product, s.input(numbers({5}, 3))});
    y = s.node("Tanh", {s.node("Add", {y, s.input(numbers({2, 2, 2, 3, 5}, 4))})});
    EXPECT_EQ(s.run({y}), s.run({product}));
  });
}

TEST(Fusion, GemmThroughAView) {
  on_all_devices([](Sketch& s) {
    int a = s.input(numbers({6, 4}, 1)), b = s.constant(numbers({4, 10}, 2)), c = s.constant(numbers({10}, 3));
    int y = s.node("Reshape", {s.node("Gemm", {a, b, c}), s.constant(integers({3}, {2, 3, 10}))});
    int shape = s.node("Shape", {y});
    int sum = s.node("Add", {s.input(numbers({2, 3, 10}, 4)), y});
    EXPECT_EQ(s.run({sum}), 1u);
    EXPECT_EQ(s.run({s.node("Reshape", {sum, shape})}), 1u);
    EXPECT_EQ(s.run({s.node("Tanh", {sum}), y}), 2u);
  });
}

TEST(Fusion, ConvolutionsTakeSumsClipsAndSteps) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({2, 6, 9, 7}, 1)), residual = s.input(numbers({2, 8, 9, 7}, 2));
    TestNode conv{"Conv", {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}}, groups = conv;
    groups.attributes["group"] = int64_t{2};
    int y = s.node(conv, {x, s.constant(numbers({8, 6, 3, 3}, 3)), s.constant(numbers({8}, 4))});
    size_t alone = s.run({y});
    EXPECT_EQ(s.run({s.node("Relu", {s.node("Add", {y, residual})})}), alone);
    EXPECT_EQ(s.run({s.node("Relu", {s.node("Add", {residual, y})})}), alone);
    int gated = s.node({"QuickGelu", {{"alpha", 1.0f}}, kNewest, "com.microsoft"}, {y});
    EXPECT_EQ(s.run({s.node("Add", {gated, residual})}), alone);
    y = s.node(groups, {x, s.constant(numbers({8, 3, 3, 3}, 5))});
    alone = s.run({y});
    y = s.node("Tanh", {s.node("Mul", {y, s.input(numbers({8, 1, 1}, 6))})});
    EXPECT_EQ(s.run({y}), alone);
  });
}

TEST(Fusion, BothOperandsAreConvolutions) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({1, 4, 5, 5}, 1));
    int a = s.node("Conv", {x, s.constant(numbers({3, 4, 1, 1}, 2))});
    int b = s.node("Conv", {x, s.constant(numbers({3, 4, 1, 1}, 3))});
    EXPECT_EQ(s.run({s.node("Relu", {s.node("Add", {a, b})})}), s.run({a, b}));
  });
}

TEST(Fusion, ConvolutionsByTilesTakeSumsClipsAndSteps) {
  on_all_devices([](Sketch& s) {
    for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
      float near = type == ElementType::kFloat16 ? 2e-2f : 1e-4f;
      int x = s.input(numbers({2, 17, 13, 14}, 1, type)), residual = s.input(numbers({2, 18, 13, 14}, 2, type));
      TestNode conv{"Conv", {{"pads", std::vector<int64_t>{1, 1, 1, 1}}}};
      int y = s.node(conv, {x, s.constant(numbers({18, 17, 3, 3}, 3, type)), s.constant(numbers({18}, 4, type))});
      size_t alone = s.run({y}, near, near);
      int gated = s.node("Mul", {s.node("Sigmoid", {y}), y});
      EXPECT_EQ(s.run({s.node("Relu", {s.node("Add", {residual, y})})}, near, near), alone);
      EXPECT_EQ(s.run({s.node("Add", {gated, residual})}, near, near), alone);
      int plain = s.node(conv, {x, s.constant(numbers({18, 17, 3, 3}, 5, type))});
      int scaled = s.node("Mul", {s.node("Tanh", {plain}), s.constant(numbers({18, 1, 1}, 6, type))});
      EXPECT_EQ(s.run({s.node("Sub", {scaled, residual})}, near, near), alone);
    }
  });
}

TEST(Fusion, ConvolutionsOfOneChannelAGroupTakeClipsAndSteps) {
  on_all_devices([](Sketch& s) {
    for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
      float near = type == ElementType::kFloat16 ? 1e-2f : 1e-5f;
      TestNode conv{"Conv", {{"group", int64_t{4}}}};
      int x = s.input(numbers({1, 4, 6, 20}, 1, type));
      int y = s.node(conv, {x, s.constant(numbers({4, 1, 3, 3}, 2, type)), s.constant(numbers({4}, 3, type))});
      size_t alone = s.run({y}, near, near);
      int low = s.constant(floats({}, {-1}, type)), high = s.constant(floats({}, {1.5f}, type));
      int clipped = s.node("Clip", {y, low, high});
      EXPECT_EQ(s.run({clipped}, near, near), alone);
      EXPECT_EQ(s.run({s.node("HardSwish", {y})}, near, near), alone);
      EXPECT_EQ(s.run({s.node("Mul", {s.node("Tanh", {clipped}), clipped})}, near, near), alone + 1);
      s.run({s.node("Add", {clipped, s.input(numbers({1, 4, 4, 18}, 4, type))})}, near, near);
      int plain = s.node(conv, {x, s.constant(numbers({4, 1, 3, 3}, 5, type))});
      int scaled = s.node("Mul", {s.node("Tanh", {plain}), s.constant(numbers({4, 1, 1}, 6, type))});
      EXPECT_EQ(s.run({scaled}, near, near), alone);
    }
  });
}

TEST(Fusion, SwishAndGelusSpelledOut) {
  on_all_devices([](Sketch& s) {
    int a = s.input(numbers({3, 6}, 1)), b = s.constant(numbers({6, 21}, 2)), x = s.node("MatMul", {a, b});
    auto number = [&](float value) { return s.constant(floats({}, {value})); };
    EXPECT_EQ(s.run({s.node("Mul", {s.node("Sigmoid", {x}), x})}), 1u);
    int erf = s.node("Erf", {s.node("Div", {x, number(1.41421356f)})});
    int gate = s.node("Add", {number(1), erf});
    EXPECT_EQ(s.run({s.node("Mul", {s.node("Mul", {x, gate}), number(0.5f)})}), 1u);
    EXPECT_EQ(s.run({s.node("Mul", {s.node("Mul", {number(0.5f), x}), gate})}), 1u);
    int cubic = s.node("Mul", {number(0.044715f), s.node("Pow", {x, number(3)})});
    int inner = s.node("Mul", {s.node("Add", {x, cubic}), number(0.79788456f)});
    gate = s.node("Add", {s.node("Tanh", {inner}), number(1)});
    int y = s.node("Mul", {s.node("Mul", {x, number(0.5f)}), gate});
    EXPECT_EQ(s.run({y}), 1u);
    EXPECT_GT(s.run({y, gate}), 1u);
  });
}

TEST(Fusion, LayerNormalizationSpelledOut) {
  on_all_devices([](Sketch& s) {
    TestNode last{"ReduceMean", {{"axes", std::vector<int64_t>{-1}}}, 13};
    TestNode first{"ReduceMean", {{"axes", std::vector<int64_t>{0}}}, 13};
    int x = s.input(numbers({4, 3, 19}, 1)), scale = s.constant(numbers({19}, 2)), bias = s.constant(numbers({19}, 3));
    auto normalized = [&](const TestNode& mean, int weights) {
      int d = s.node("Sub", {x, s.node(mean, {x})});
      int variance = s.node(mean, {s.node("Pow", {d, s.constant(floats({}, {2}))})});
      int root = s.node("Sqrt", {s.node("Add", {variance, s.constant(floats({}, {1e-5f}))})});
      return s.node("Add", {s.node("Mul", {s.node("Div", {d, root}), weights}), bias});
    };
    EXPECT_EQ(s.run({normalized(last, scale)}), 1u);
    EXPECT_GT(s.run({normalized(first, scale)}), 1u);
    EXPECT_GT(s.run({normalized(last, s.input(numbers({19}, 4)))}), 1u);
  });
}

TEST(Fusion, ZeroSize) {
  on_all_devices([](Sketch& s) {
    int x = s.input(numbers({0, 3}, 1)), y = s.node("Relu", {s.node("Add", {x, s.input(numbers({3}, 2))})});
    EXPECT_EQ(s.run({y}), 0u);
    int product = s.node("MatMul", {x, s.input(numbers({3, 4}, 3))});
    EXPECT_EQ(s.run({s.node("Relu", {product})}), 0u);
    int empty = s.node("MatMul", {s.input(numbers({2, 0}, 4)), s.input(numbers({0, 4}, 5))});
    y = s.node("Exp", {s.node("Add", {empty, s.input(numbers({4}, 6))})});
    s.run({y});
  });
}

TEST(Fusion, ErrorsNameTheNodeThatIsWrong) {
  on_all_devices([](Sketch& s) {
    int product = s.node("MatMul", {s.input(numbers({2, 3}, 1)), s.input(numbers({3, 4}, 2))});
    int wrong = s.unchecked("wrong", "Add", {product, s.input(numbers({3}, 3))});
    try {
      s.run_unchecked(wrong);
      ADD_FAILURE() << "it runs";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), "node 'wrong' (Add): the shape [3] does not broadcast to [2, 4]");
    }
  });
}

}  // namespace
}  // namespace ortolan::gpu::test
