// Results do not depend on the number of threads where it decides how work is cut: rows of planes, parts of long rows
// and columns, blocks of experts, parts of forests, copies.
#include <numeric>

#include "thread_counts.h"

namespace ortolan::test {
namespace {

Tensor floats(Shape shape, uint32_t seed = 1) { return random_tensor<float>(std::move(shape), seed); }

TEST(ThreadCounts, RowsOfFewPlanes) {
  for (int64_t stride : {1, 2}) {
    for (int64_t size : {3, 5}) {
      for (int64_t top : {int64_t{0}, size / 2, size - 1}) {
        OpTest test("Conv");
        test.set("group", 3).ints("strides", {stride, stride}).ints("pads", {top, size / 2, size / 2, size / 2});
        test.input(floats({1, 3, 401, 290})).input(floats({3, 1, size, size})).input(floats({3}));
        expect_same_on_any_threads(join("depthwise ", size, " in steps of ", stride, ", padded by ", top), test);
      }
    }
  }
}

TEST(ThreadCounts, RowsOfFewTransposedPlanes) {
  for (int64_t stride : {1, 2, 5}) {
    OpTest test("ConvTranspose");
    test.ints("strides", {stride, stride}).ints("pads", {1, 1, 0, 1}).input(floats({1, 3, 90, 80}));
    test.input(floats({3, 2, 3, 4})).input(floats({2}));
    expect_same_on_any_threads(join("transposed in steps of ", stride), test);
  }
}

TEST(ThreadCounts, LongRows) {
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceMean"}) {
    for (Shape shape : {Shape{1, 300001}, Shape{3, 65536}, Shape{2, 150001}}) {
      OpTest test(op, 18);
      test.input(random_tensor<float>(shape, 1, 0.999, 1.001)).input<int64_t>({1}, {1});
      expect_same_on_any_threads(join(op, " of ", shape), test);
    }
  }
}

TEST(ThreadCounts, LongColumns) {
  for (const char* op : {"ReduceSum", "ReduceMax", "ReduceSumSquare"}) {
    for (Shape shape : {Shape{9001, 70}, Shape{8192, 300}, Shape{2000, 90}, Shape{2, 12300, 47}}) {
      OpTest test(op, 18);
      test.input(floats(shape)).input<int64_t>({1}, {static_cast<int64_t>(shape.rank()) - 2});
      expect_same_on_any_threads(join(op, " of columns of ", shape), test);
    }
  }
}

TEST(ThreadCounts, Repetitions) {
  auto expand = [](Shape from, std::vector<int64_t> to) {
    OpTest test("Expand", 13);
    test.input(floats(from)).input<int64_t>({static_cast<int64_t>(to.size())}, to);
    expect_same_on_any_threads(join("Expand ", from), test);
  };
  expand({1}, {200001});
  expand({3}, {70001, 3});
  expand({50, 1, 70}, {50, 90, 70});
  expand({1, 900, 1}, {20, 900, 30});
  expand({300, 7, 1}, {300, 7, 90});
  auto tile = [](Shape from, std::vector<int64_t> times) {
    OpTest test("Tile", 13);
    test.input(random_tensor<uint8_t>(from, 1, 0, 256)).input<int64_t>({static_cast<int64_t>(times.size())}, times);
    expect_same_on_any_threads(join("Tile ", from), test);
  };
  tile({701}, {900});
  tile({40, 300}, {30, 2});
  tile({90, 30, 11}, {1, 30, 3});
}

TEST(ThreadCounts, CopiesOfData) {
  const Tensor data = floats({400, 500});
  const Tensor rows = random_tensor<int64_t>({3, 500}, 2, 0, 400);
  OpTest elements("ScatterElements", 18);
  expect_same_on_any_threads("ScatterElements", elements.input(data).input(rows).input(floats({3, 500}, 3)));
  OpTest blocks("ScatterND", 18);
  blocks.input(data).input(random_tensor<int64_t>({3, 1}, 2, 0, 400)).input(floats({3, 500}, 3));
  expect_same_on_any_threads("ScatterND", blocks);
}

TEST(ThreadCounts, Experts) {
  for (int64_t tokens : {1, 5, 40, 300}) {
    const int64_t experts = 5, hidden = 96, inter = tokens < 10 ? 1200 : 130;
    OpTest test("MoE", 1, "com.microsoft");
    test.set("k", 2).input(floats({tokens, hidden})).input(floats({tokens, experts}, 2));
    test.input(floats({experts, inter, hidden}, 3)).input(floats({experts, inter}, 4));
    test.input(floats({experts, hidden, inter}, 5)).input(floats({experts, hidden}, 6));
    expect_same_on_any_threads(join("MoE of ", tokens, " tokens"), test);
  }
}

/** Trees of three leaves each, with two targets. */
OpTest forest(int64_t trees, const char* aggregate) {
  std::vector<int64_t> tree, node, yes, no, feature, weight_tree, weight_node, target;
  std::vector<std::string> mode;
  std::vector<float> value, weight;
  for (int64_t t = 0; t < trees; ++t) {
    for (int64_t n = 0; n < 5; ++n) {
      tree.push_back(t), node.push_back(n), feature.push_back((t + n) % 7);
      mode.push_back(n < 2 ? "BRANCH_LEQ" : "LEAF");
      value.push_back(n < 2 ? static_cast<float>((t * 31 + n * 17) % 100) / 50 - 1 : 0);
      yes.push_back(n < 2 ? 2 * n + 1 : 0), no.push_back(n < 2 ? 2 * n + 2 : 0);
      if (n < 2) continue;
      weight_tree.push_back(t), weight_node.push_back(n), target.push_back((t + n) % 2);
      weight.push_back(1 / static_cast<float>(t * 5 + n));
    }
  }
  OpTest test("TreeEnsembleRegressor", 3, "ai.onnx.ml");
  test.ints("nodes_treeids", tree).ints("nodes_nodeids", node).ints("nodes_featureids", feature);
  test.ints("nodes_truenodeids", yes).ints("nodes_falsenodeids", no).attribute("nodes_modes", mode);
  test.attribute("nodes_values", value).attribute("target_weights", weight);
  test.ints("target_treeids", weight_tree).ints("target_nodeids", weight_node).ints("target_ids", target);
  return test.set("n_targets", 2).set("aggregate_function", aggregate);
}

TEST(ThreadCounts, Forests) {
  for (const char* aggregate : {"SUM", "AVERAGE", "MIN", "MAX"}) {
    for (int64_t rows : {1, 7, 20, 700}) {
      expect_same_on_any_threads(join(aggregate, " of trees for ", rows, " rows"),
                                 forest(1500, aggregate).input(floats({rows, 7})));
    }
  }
}

TEST(ThreadCounts, RowsOfPools) {
  for (const char* op : {"MaxPool", "AveragePool"}) {
    OpTest test(op, 12);
    test.ints("kernel_shape", {3, 3}).ints("strides", {1, 2}).ints("pads", {1, 1, 0, 1});
    expect_same_on_any_threads(join(op, " of one plane"), test.input(floats({1, 1, 301, 290})));
  }
}

}  // namespace
}  // namespace ortolan::test
