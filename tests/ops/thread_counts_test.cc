// Sums do not depend on the number of threads: products, convolutions, attention, recurrence, normalisation, reduction.
#include "thread_counts.h"

#include <limits>

namespace ortolan::test {
namespace {

Tensor floats(Shape shape, uint32_t seed = 1) { return random_tensor<float>(std::move(shape), seed); }
template <class T>
Tensor bytes(Shape shape, uint32_t seed = 2) {
  return random_tensor<T>(std::move(shape), seed, std::numeric_limits<T>::min(), std::numeric_limits<T>::max());
}
OpTest microsoft(const char* op) { return OpTest(op, 1, "com.microsoft"); }

TEST(ThreadCounts, Products) {
  for (int64_t m : {1, 3, 7, 25, 49, 130}) {
    const int64_t n = m < 10 ? 700 : 300, k = m < 10 ? 1500 : 77;
    expect_same_on_any_threads(join("MatMul of ", m, " rows"),
                               OpTest("MatMul").input(floats({m, k})).input(floats({k, n})));
  }
  auto stacks = [](Shape a, Shape b) {
    expect_same_on_any_threads(join("MatMul ", a, " ", b), OpTest("MatMul").input(floats(a)).input(floats(b)));
  };
  stacks({6000, 129}, {129, 1});
  stacks({3, 65, 128}, {3, 128, 200});
  stacks({70, 9, 33}, {70, 33, 40});
  stacks({4, 5, 17, 90}, {90, 130});
  expect_same_on_any_threads(
      "MatMul of doubles",
      OpTest("MatMul").input(random_tensor<double>({97, 130}, 1)).input(random_tensor<double>({130, 90}, 2)));
  expect_same_on_any_threads(
      "MatMul of halves",
      OpTest("MatMul").input(random_tensor<Half>({33, 200}, 1)).input(random_tensor<Half>({200, 300}, 2)));
  expect_same_on_any_threads("MatMul of int64", OpTest("MatMul")
                                                    .input(random_tensor<int64_t>({65, 70}, 1, -99, 99))
                                                    .input(random_tensor<int64_t>({70, 90}, 2, -99, 99)));
  for (int64_t rows : {1, 49, 129}) {
    OpTest gemm("Gemm");
    gemm.set("transA", 1).set("transB", 1).set("alpha", 0.5f).set("beta", 2.0f);
    gemm.input(floats({700, rows})).input(floats({301, 700})).input(floats({rows, 301}));
    expect_same_on_any_threads(join("Gemm of ", rows, " rows"), gemm);
  }
  expect_same_on_any_threads("Einsum", OpTest("Einsum", 12)
                                           .set("equation", "bij,bkj,k->bi")
                                           .input(floats({5, 60, 70}))
                                           .input(floats({5, 80, 70}))
                                           .input(floats({80})));
}

TEST(ThreadCounts, ProductsOfBytes) {
  for (int64_t m : {1, 17, 130}) {
    const int64_t n = 1030, k = m == 1 ? 4100 : 700;
    Tensor a = bytes<uint8_t>({m, k}), b = bytes<int8_t>({k, n});
    auto name = [&](const char* op) { return join(op, " of ", m, " rows"); };
    OpTest integers = OpTest("MatMulInteger").input(a).input(b).input<uint8_t>({}, {99}).input(bytes<int8_t>({n}));
    expect_same_on_any_threads(name("MatMulInteger"), integers);
    OpTest linear = OpTest("QLinearMatMul").input(a).input<float>({}, {0.1f}).input<uint8_t>({}, {99}).input(b);
    linear.input<float>({}, {0.01f}).input<int8_t>({}, {3}).input<float>({}, {2}).input<uint8_t>({}, {120});
    expect_same_on_any_threads(name("QLinearMatMul"), linear);
    OpTest dynamic = microsoft("DynamicQuantizeMatMul").input(floats({m, k})).input(b);
    expect_same_on_any_threads(name("DynamicQuantizeMatMul"), dynamic.input(floats({n})));
    OpTest scaled = microsoft("MatMulIntegerToFloat").input(a).input(b).input<float>({}, {0.1f}).input(floats({n}));
    expect_same_on_any_threads(name("MatMulIntegerToFloat"), scaled.input<uint8_t>({}, {99}));
  }
}

TEST(ThreadCounts, ProductsOfNarrowWeights) {
  for (int64_t level : {0, 4}) {
    for (int64_t bits : {2, 4, 8}) {
      for (int64_t m : {1, 3, 70}) {
        const int64_t k = 288, n = m < 10 ? 1000 : 200, block = 32;
        OpTest test = microsoft("MatMulNBits").set("K", k).set("N", n).set("bits", bits).set("block_size", block);
        test.set("accuracy_level", level).input(floats({m, k})).input(bytes<uint8_t>({n, k / block, block * bits / 8}));
        test.input(floats({n, k / block}));
        expect_same_on_any_threads(join("MatMulNBits of ", m, " rows, ", bits, " bits, level ", level), test);
      }
    }
  }
}

struct Layer {
  const char* name;
  Shape x, w;
  int64_t group = 1, stride = 1, dilation = 1, pad = 0;

  std::vector<int64_t> each(int64_t value, int64_t times = 1) const {
    return std::vector<int64_t>(static_cast<size_t>(times) * (x.rank() - 2), value);
  }
  OpTest& geometry(OpTest& test) const {
    return test.set("group", group)
        .ints("strides", each(stride))
        .ints("dilations", each(dilation))
        .ints("pads", each(pad, 2));
  }
};

const Layer kLayers[] = {
    {"1x1", {1, 64, 20, 20}, {130, 64, 1, 1}},
    {"1x1 of odd planes", {2, 133, 7, 7}, {530, 133, 1, 1}},
    {"1x1 in steps", {1, 64, 30, 30}, {70, 64, 1, 1}, 1, 2},
    {"1x1 of groups", {1, 64, 17, 17}, {64, 16, 1, 1}, 4},
    {"3x3", {1, 33, 29, 29}, {70, 33, 3, 3}, 1, 1, 1, 1},
    {"3x3 of many channels", {1, 160, 9, 9}, {130, 160, 3, 3}, 1, 1, 1, 1},
    {"3x3 in steps", {1, 33, 57, 57}, {70, 33, 3, 3}, 1, 2, 1, 1},
    {"3x3 of few channels", {1, 3, 65, 65}, {33, 3, 3, 3}, 1, 1, 1, 1},
    {"3x3 apart", {1, 40, 30, 30}, {40, 20, 3, 3}, 2, 1, 2, 2},
    {"7x7 in steps", {1, 3, 90, 90}, {32, 3, 7, 7}, 1, 2, 1, 3},
    {"5x5 in far steps", {1, 3, 160, 160}, {30, 3, 5, 5}, 1, 5, 1, 2},
    {"depthwise 3x3", {1, 70, 33, 33}, {70, 1, 3, 3}, 70, 1, 1, 1},
    {"depthwise 3x3 in steps", {1, 170, 43, 43}, {170, 1, 3, 3}, 170, 2, 1, 1},
    {"depthwise 5x5", {1, 70, 33, 33}, {70, 1, 5, 5}, 70, 1, 1, 2},
    {"depthwise twice", {1, 40, 33, 33}, {80, 1, 3, 3}, 40, 1, 1, 1},
    {"line", {2, 40, 400}, {50, 40, 5}, 1, 1, 1, 2},
    {"space", {1, 8, 9, 20, 20}, {20, 8, 3, 3, 3}, 1, 1, 1, 1},
};

TEST(ThreadCounts, Convolutions) {
  for (const Layer& layer : kLayers) {
    OpTest test("Conv");
    layer.geometry(test).input(floats(layer.x)).input(floats(layer.w)).input(floats({layer.w[0]}));
    expect_same_on_any_threads(join("Conv ", layer.name), test);
  }
  OpTest doubles("Conv");
  doubles.input(random_tensor<double>({1, 9, 30, 30}, 1)).input(random_tensor<double>({20, 9, 3, 3}, 2));
  expect_same_on_any_threads("Conv of doubles", doubles);
}

TEST(ThreadCounts, ConvolutionsOfBytes) {
  for (const Layer& layer : kLayers) {
    OpTest linear("QLinearConv");
    layer.geometry(linear).input(bytes<uint8_t>(layer.x)).input<float>({}, {0.1f}).input<uint8_t>({}, {120});
    linear.input(bytes<int8_t>(layer.w)).input<float>({}, {0.1f}).input<int8_t>({}, {0});
    expect_same_on_any_threads(join("QLinearConv ", layer.name), linear.input<float>({}, {3}).input<uint8_t>({}, {9}));
    OpTest integers("ConvInteger");
    layer.geometry(integers).input(bytes<uint8_t>(layer.x)).input(bytes<uint8_t>(layer.w));
    expect_same_on_any_threads(join("ConvInteger ", layer.name), integers.input<uint8_t>({}, {120}));
  }
}

TEST(ThreadCounts, TransposedConvolutions) {
  const Layer layers[] = {
      {"4x4 in steps", {1, 40, 20, 20}, {40, 30, 4, 4}, 1, 2, 1, 1},
      {"2x2 in steps", {1, 64, 20, 20}, {64, 40, 2, 2}, 1, 2},
      {"3x3", {1, 40, 20, 20}, {40, 50, 3, 3}, 1, 1, 1, 1},
      {"3x3 of groups", {2, 40, 20, 20}, {40, 20, 3, 3}, 2, 2},
      {"3x3 apart", {1, 40, 20, 20}, {40, 30, 3, 3}, 1, 1, 2},
      {"depthwise", {1, 70, 33, 33}, {70, 1, 3, 3}, 70, 2},
      {"line", {1, 40, 300}, {40, 30, 16}, 1, 8, 1, 4},
      {"of few results", {1, 90, 33, 33}, {90, 2, 5, 5}, 1, 2},
  };
  for (const Layer& layer : layers) {
    OpTest test("ConvTranspose");
    layer.geometry(test).input(floats(layer.x)).input(floats(layer.w));
    expect_same_on_any_threads(join("ConvTranspose ", layer.name), test);
  }
}

TEST(ThreadCounts, OtherWindows) {
  OpTest deform("DeformConv", 19);
  deform.ints("pads", {1, 1, 1, 1})
      .input(floats({1, 16, 30, 30}))
      .input(floats({40, 16, 3, 3}))
      .input(floats({1, 18, 30, 30}));
  expect_same_on_any_threads("DeformConv", deform);
  expect_same_on_any_threads(
      "Col2Im",
      OpTest("Col2Im", 18).input(floats({2, 90, 400})).input<int64_t>({2}, {22, 22}).input<int64_t>({2}, {3, 3}));
  for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
    for (int64_t stride : {1, 2}) {
      OpTest test(op, op == std::string("LpPool") ? 18 : 12);
      test.ints("kernel_shape", {3, 3}).ints("strides", {stride, stride}).ints("pads", {1, 1, 1, 1});
      expect_same_on_any_threads(join(op, " in steps of ", stride), test.input(floats({2, 40, 33, 33})));
    }
  }
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"}) {
    expect_same_on_any_threads(op,
                               OpTest(op, op == std::string("GlobalLpPool") ? 2 : 1).input(floats({2, 130, 33, 33})));
  }
  expect_same_on_any_threads("LRN", OpTest("LRN", 13).set("size", 5).input(floats({2, 30, 33, 33})));
  expect_same_on_any_threads("RoiAlign", OpTest("RoiAlign", 16)
                                             .set("output_height", 7)
                                             .set("output_width", 7)
                                             .input(floats({1, 20, 30, 30}))
                                             .input(random_tensor<float>({40, 4}, 3, 0, 29))
                                             .input<int64_t>({40}, std::vector<int64_t>(40)));
}

TEST(ThreadCounts, Attention) {
  struct Heads {
    int64_t batch, heads, queries, keys, size;
  };
  for (const Heads& h : {Heads{1, 2, 1, 3000, 32}, {2, 3, 65, 65, 32}, {1, 8, 5, 700, 64}, {1, 1, 300, 300, 16}}) {
    const std::string name = join(h.queries, " of ", h.keys);
    for (int causal : {0, 1}) {
      OpTest test("Attention", 23);
      test.set("is_causal", causal).input(floats({h.batch, h.heads, h.queries, h.size}));
      test.input(floats({h.batch, h.heads, h.keys, h.size}, 2)).input(floats({h.batch, h.heads, h.keys, h.size}, 3));
      expect_same_on_any_threads("Attention, " + name, test);
    }
    OpTest multi = microsoft("MultiHeadAttention").set("num_heads", h.heads);
    multi.input(floats({h.batch, h.queries, h.heads * h.size})).input(floats({h.batch, h.keys, h.heads * h.size}, 2));
    expect_same_on_any_threads("MultiHeadAttention, " + name,
                               multi.input(floats({h.batch, h.keys, h.heads * h.size}, 3)));
  }
  OpTest packed = microsoft("Attention").set("num_heads", 4).input(floats({2, 33, 64}));
  expect_same_on_any_threads("Attention of com.microsoft", packed.input(floats({64, 192})).input(floats({192})));
  OpTest linear("LinearAttention", 27);
  linear.set("update_rule", "linear").set("q_num_heads", 4).set("kv_num_heads", 4);
  linear.input(floats({2, 40, 4 * 48})).input(floats({2, 40, 4 * 48})).input(floats({2, 40, 4 * 48}));
  expect_same_on_any_threads("LinearAttention", linear, 2);
}

TEST(ThreadCounts, GroupedAttention) {
  for (int64_t queries : {1, 40}) {
    const int64_t past = queries == 1 ? 900 : 0, size = 32, total = past + queries;
    OpTest test = microsoft("GroupQueryAttention").set("num_heads", 8).set("kv_num_heads", 2);
    test.input(floats({2, queries, 8 * size}))
        .input(floats({2, queries, 2 * size}))
        .input(floats({2, queries, 2 * size}));
    test.input(floats({2, 2, past, size})).input(floats({2, 2, past, size}));
    const auto last = static_cast<int32_t>(total - 1);
    test.input<int32_t>({2}, {last, last}).input<int32_t>({}, {static_cast<int32_t>(total)});
    expect_same_on_any_threads(join("GroupQueryAttention of ", queries), test, 3);
  }
}

TEST(ThreadCounts, Recurrence) {
  struct Cell {
    const char* op;
    int64_t gates;
  };
  for (const Cell& cell : {Cell{"LSTM", 4}, Cell{"GRU", 3}, Cell{"RNN", 1}}) {
    for (int64_t batch : {1, 4, 33}) {
      for (int64_t hidden : {48, 256}) {
        if (batch == 33 && hidden == 256) continue;
        OpTest test(cell.op, 14);
        test.set("hidden_size", hidden).set("direction", "bidirectional").input(floats({6, batch, 70}));
        const int64_t rows = cell.gates * hidden;
        test.input(floats({2, rows, 70}))
            .input(random_tensor<float>({2, rows, hidden}, 3, -0.1, 0.1))
            .input(floats({2, 2 * rows}));
        expect_same_on_any_threads(join(cell.op, " of ", hidden, ", batch of ", batch), test, 2);
      }
    }
  }
}

TEST(ThreadCounts, Normalisation) {
  for (Shape shape : {Shape{130, 257}, Shape{3, 40000}, Shape{5000, 7}}) {
    const int64_t n = shape[1];
    auto name = [&](const char* op) { return join(op, " of ", shape); };
    expect_same_on_any_threads(name("LayerNormalization"),
                               OpTest("LayerNormalization").input(floats(shape)).input(floats({n})));
    expect_same_on_any_threads(name("RMSNormalization"),
                               OpTest("RMSNormalization", 23).input(floats(shape)).input(floats({n})));
    OpTest skip =
        microsoft("SkipLayerNormalization").input(floats({1, shape[0], n})).input(floats({1, shape[0], n}, 2));
    expect_same_on_any_threads(name("SkipLayerNormalization"), skip.input(floats({n})));
    for (const char* op : {"Softmax", "LogSoftmax", "Hardmax"}) {
      expect_same_on_any_threads(name(op), OpTest(op, 13).input(floats(shape)));
    }
    expect_same_on_any_threads(name("LpNormalization"),
                               OpTest("LpNormalization", 1).set("axis", 0).input(floats(shape)));
  }
  for (const char* op : {"Softmax", "LogSoftmax"}) {
    expect_same_on_any_threads(join(op, " of columns"), OpTest(op, 13).set("axis", 1).input(floats({9, 130, 257})));
  }
  Tensor planes = floats({2, 16, 60, 60});
  expect_same_on_any_threads("InstanceNormalization",
                             OpTest("InstanceNormalization").input(planes).input(floats({16})).input(floats({16})));
  expect_same_on_any_threads(
      "GroupNormalization",
      OpTest("GroupNormalization", 21).set("num_groups", 4).input(planes).input(floats({16})).input(floats({16})));
  expect_same_on_any_threads("MeanVarianceNormalization", OpTest("MeanVarianceNormalization", 13).input(planes));
  OpTest batch("BatchNormalization", 15);
  batch.input(planes).input(floats({16})).input(floats({16})).input(floats({16}));
  batch.input(random_tensor<float>({16}, 5, 0.1, 1));
  expect_same_on_any_threads("BatchNormalization", batch);
  expect_same_on_any_threads("BatchNormalization in training", batch.set("training_mode", 1), 3);
}

TEST(ThreadCounts, Reductions) {
  for (const char* op : {"ReduceSum", "ReduceLogSumExp"}) {
    for (Shape shape : {Shape{300, 33, 17}, Shape{20, 31, 600}, Shape{4, 5000, 30}}) {
      for (std::vector<int64_t> axes : std::vector<std::vector<int64_t>>{{1}, {2}, {0, 2}, {1, 2}}) {
        OpTest test(op, 18);
        test.input(floats(shape)).input<int64_t>({static_cast<int64_t>(axes.size())}, axes);
        expect_same_on_any_threads(join(op, " of ", shape, " along ", Shape(axes.begin(), axes.end())), test);
      }
    }
  }
}

}  // namespace
}  // namespace ortolan::test
