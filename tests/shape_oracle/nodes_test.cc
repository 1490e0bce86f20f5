// Random nodes of the operators whose shapes are hard to get right: load-time inference agrees with libonnx.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <random>

#include "dice.h"
#include "known_type.h"
#include "moving_nodes.h"

namespace shape_oracle {
namespace {

RandomNode broadcast(Dice& dice) {
  Dims dims = dice.dims(dice.between(0, 5), 0, 5);
  Dims a = narrowed(dice, dims), b = dice.coin() ? dims : narrowed(dice, dims);
  if (dice.coin(4)) return node("Where").tensor(a, 9).tensor(b).tensor(narrowed(dice, dims));
  std::string op = dice.pick({"Add", "Sub", "Mul", "Div", "Pow", "Less", "Equal", "Max", "Mean", "PRelu", "Mod"});
  if (op == "PRelu") return node(op).tensor(dims).tensor(narrowed(dice, dims));
  return node(op, static_cast<int>(dice.between(13, 17))).tensor(a).tensor(b);
}

RandomNode reduce(Dice& dice) {
  size_t rank = dice.between(1, 5);
  Dims dims = dice.dims(rank), axes = dice.axes(rank);
  if (dice.coin(3)) {
    RandomNode arg = node(dice.pick({"ArgMax", "ArgMin"}), 13).tensor(dims);
    return dice.coin() ? arg.set("axis", dice.axis(rank))
                       : arg.set("axis", dice.axis(rank)).set("keepdims", dice.coin());
  }
  if (dice.coin()) {
    RandomNode sum = node("ReduceSum", 13).tensor(dims);
    if (dice.coin()) sum.set("keepdims", dice.coin());
    if (dice.coin()) sum.set("noop_with_empty_axes", dice.coin());
    return axes.empty() ? sum : sum.constant(axes);
  }
  RandomNode other =
      node(dice.pick({"ReduceMean", "ReduceMax", "ReduceProd", "ReduceL2", "ReduceLogSumExp"})).tensor(dims);
  if (dice.coin()) other.set("keepdims", dice.coin());
  return axes.empty() ? other : other.ints("axes", axes);
}

/** Window attributes. With ceil_mode libonnx 1.12 also counts windows that begin behind the input, in the padding or
    between strides; so only without both. */
RandomNode& add_window(Dice& dice, RandomNode& node, size_t spatial, bool ceil_mode, bool dilations) {
  if (ceil_mode && dice.coin(3)) return node.set("ceil_mode", 1).ints("strides", dice.dims(spatial, 1, 2));
  if (dice.coin(4)) {
    node.text("auto_pad", dice.pick({"SAME_UPPER", "SAME_LOWER", "VALID"}));
  } else if (dice.coin()) {
    Dims pads = dice.dims(2 * spatial, 0, 1);
    node.ints("pads", pads);
  }
  if (dice.coin()) node.ints("strides", dice.dims(spatial, 1, 3));
  if (dilations && dice.coin(3)) node.ints("dilations", dice.dims(spatial, 1, 2));
  return node;
}

RandomNode conv(Dice& dice) {
  size_t spatial = dice.between(1, 3);
  int64_t groups = dice.between(1, 3), per_group = dice.between(1, 3);
  Dims x = dice.dims(spatial + 2, 5, 12), kernel = dice.dims(spatial, 1, 3);
  x[0] = dice.between(1, 2), x[1] = groups * per_group;
  Dims w{groups * dice.between(1, 2), per_group};
  w.insert(w.end(), kernel.begin(), kernel.end());
  RandomNode result = node(dice.coin(4) ? "ConvInteger" : "Conv", 11);
  int element = result.op == "Conv" ? 1 : 2;
  result.tensor(x, element).tensor(w, element).set("group", groups);
  if (dice.coin()) result.ints("kernel_shape", kernel);
  return add_window(dice, result, spatial, false, true);
}

RandomNode conv_transpose(Dice& dice) {
  size_t spatial = dice.between(1, 3);
  int64_t groups = dice.between(1, 2);
  Dims x = dice.dims(spatial + 2, 3, 7), kernel = dice.dims(spatial, 1, 3);
  x[1] = groups * dice.between(1, 2);
  Dims w{x[1], dice.between(1, 3)};
  w.insert(w.end(), kernel.begin(), kernel.end());
  RandomNode result = node("ConvTranspose", 11).tensor(x).tensor(w).set("group", groups);
  if (dice.coin()) result.ints("kernel_shape", kernel);
  if (dice.coin(3)) {
    result.ints("strides", Dims(spatial, 2)).ints("output_padding", dice.dims(spatial, 0, 1));
    return dice.coin() ? result.ints("pads", dice.dims(2 * spatial, 0, 1)) : result;
  }
  return add_window(dice, result, spatial, false, true);
}

RandomNode pool(Dice& dice) {
  size_t spatial = dice.between(1, 3);
  Dims x = dice.dims(spatial + 2, 5, 12);
  if (dice.coin(5)) return node(dice.pick({"GlobalAveragePool", "GlobalMaxPool"})).tensor(x);
  RandomNode result = node(dice.pick({"MaxPool", "AveragePool", "LpPool"}), dice.pick({11, 12, 17})).tensor(x);
  result.ints("kernel_shape", dice.dims(spatial, 2, 3));
  if (result.op == "MaxPool" && dice.coin()) result.outputs = 2;
  return add_window(dice, result, spatial, result.op != "LpPool", result.op == "MaxPool");
}

RandomNode matrices(Dice& dice) {
  int64_t m = dice.between(0, 5), k = dice.between(1, 5), n = dice.between(1, 5);
  if (dice.coin()) {
    bool a = dice.coin(), b = dice.coin();
    RandomNode gemm = node("Gemm", 13).tensor(a ? Dims{k, m} : Dims{m, k}).tensor(b ? Dims{n, k} : Dims{k, n});
    if (dice.coin()) gemm.tensor(narrowed(dice, {m, n}));
    return gemm.set("transA", a).set("transB", b);
  }
  Dims batch = dice.dims(dice.between(0, 3)), a = narrowed(dice, batch), b = narrowed(dice, batch);
  if (!a.empty() || dice.coin(3)) a.push_back(m);
  a.push_back(k), b.push_back(k);
  if (b.size() > 1 || dice.coin(3)) b.push_back(n);
  if (b.size() > 1) b[b.size() - 2] = k;
  bool integers = dice.coin(4);
  return node(integers ? "MatMulInteger" : "MatMul", 13).tensor(a, integers ? 2 : 1).tensor(b, integers ? 2 : 1);
}

RandomNode normalization(Dice& dice) {
  Dims x = dice.dims(dice.between(3, 5), 1, 5), channels{x[1]};
  switch (dice.between(0, 4)) {
    case 0: {
      RandomNode batch = node("BatchNormalization", 15).tensor(x).tensor(channels).tensor(channels);
      batch.tensor(channels).tensor(channels);
      bool training = dice.coin();
      batch.outputs = training ? 3 : 1;
      return batch.set("training_mode", training);
    }
    case 1:
      return node("InstanceNormalization", 6).tensor(x).tensor(channels).tensor(channels);
    case 2: {
      int64_t axis = dice.axis(x.size());
      Dims rest(x.begin() + (axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis), x.end());
      RandomNode layer = node("LayerNormalization").tensor(x).tensor(rest).set("axis", axis);
      layer.outputs = static_cast<int>(dice.between(1, 3));
      return layer;
    }
    case 3:
      return node("LpNormalization", 1).tensor(x).set("axis", dice.axis(x.size()));
    default:
      return node("LRN", 13).tensor(x).set("size", 3);
  }
}

RandomNode quantization(Dice& dice) {
  Dims x = dice.dims(dice.between(1, 4), 1, 5);
  int64_t axis = dice.axis(x.size());
  Dims scale =
      dice.coin() ? Dims{} : Dims{x[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis)]};
  switch (dice.between(0, 3)) {
    case 0: {
      RandomNode quantize = node("QuantizeLinear", 13).tensor(x).tensor(scale).set("axis", axis);
      return dice.coin() ? quantize : quantize.tensor(scale, dice.coin() ? 2 : 3);
    }
    case 1:
      return node("DequantizeLinear", 13).tensor(x, dice.coin() ? 2 : 3).tensor(scale).set("axis", axis);
    case 2: {
      RandomNode dynamic = node("DynamicQuantizeLinear", 11).tensor(x);
      dynamic.outputs = 3;
      return dynamic;
    }
    default: {
      RandomNode product = node("QLinearMatMul", 10);
      for (const Dims& dims : {Dims{2, 3}, Dims{3, dice.between(1, 5)}})
        product.tensor(dims, 2).tensor({}).tensor({}, 2);
      return product.tensor({}).tensor({}, dice.coin() ? 2 : 3);
    }
  }
}

RandomNode regions(Dice& dice) {
  Dims image = dice.dims(4, 2, 6);
  int64_t count = dice.between(0, 4);
  switch (dice.between(0, 3)) {
    case 0:
      return node("RoiAlign", 16)
          .tensor(image)
          .tensor({count, 4})
          .tensor({count}, 7)
          .set("output_height", dice.between(1, 4));
    case 1:
      return node("MaxRoiPool", 1).tensor(image).tensor({count, 5}).ints("pooled_shape", dice.dims(2, 1, 3));
    case 2:
      return node("GridSample", 16).tensor(image).tensor({image[0], dice.between(1, 5), dice.between(1, 5), 2});
    default:
      return node("NonMaxSuppression", 11).tensor({1, count, 4}).tensor({1, 2, count});
  }
}

RandomNode recurrent(Dice& dice) {
  std::string op = dice.pick({"RNN", "GRU", "LSTM"});
  int64_t gates = op == "RNN" ? 1 : op == "GRU" ? 3 : 4, hidden = dice.between(1, 4), input = dice.between(1, 4);
  std::string direction = dice.pick({"forward", "reverse", "bidirectional"});
  int64_t directions = direction == "bidirectional" ? 2 : 1;
  RandomNode result = node(op, 14).tensor({dice.between(1, 5), dice.between(1, 3), input});
  result.tensor({directions, gates * hidden, input}).tensor({directions, gates * hidden, hidden});
  result.set("hidden_size", hidden).text("direction", direction);
  if (dice.coin()) result.set("layout", dice.coin());
  result.outputs = op == "LSTM" ? 3 : 2;
  return result;
}

struct Family {
  const char* name;
  RandomNode (*make)(Dice&);
};

class Nodes : public ::testing::TestWithParam<Family> {};

constexpr int kNodes = 400;

TEST_P(Nodes, InferAsLibonnxDoes) {
  const char* given = std::getenv("ORTOLAN_TEST_SEED");
  uint32_t seed = given ? static_cast<uint32_t>(std::atoll(given)) : std::random_device()();
  Dice dice(seed);
  int compared = 0, both = 0, theirs_only = 0;
  for (int i = 0; i < kNodes; ++i) {
    RandomNode random = GetParam().make(dice);
    for (bool symbolic : {false, true}) {
      std::string model = random.model(symbolic);
      Inferred theirs = infer_by_libonnx(model, true);
      if (!theirs.error.empty()) continue;
      Inferred ours = infer_by_us(model);
      ++compared;
      EXPECT_EQ(ours.error, "") << random.text() << (symbolic ? ", symbolic" : "") << ", seed " << seed;
      EXPECT_EQ(contradiction(theirs.values, ours.values), "")
          << random.text() << (symbolic ? ", symbolic" : "") << ", seed " << seed;
      Knowledge knowledge = compare_knowledge(theirs.values, ours.values);
      both += knowledge.both, theirs_only += knowledge.only_first;
      if (knowledge.only_first && std::getenv("ORTOLAN_SHOW_UNKNOWN"))
        std::cout << random.text() << (symbolic ? ", symbolic: " : ": ") << knowledge.example << "\n";
    }
  }
  std::cout << GetParam().name << ": " << compared << " of " << 2 * kNodes << " compared, " << both
            << " dimensions known to both, " << theirs_only << " to libonnx only\n";
  EXPECT_GT(compared, kNodes / 2) << "too few of the nodes are valid to libonnx";
}

constexpr Family kFamilies[] = {{"broadcast", broadcast},
                                {"reduce", reduce},
                                {"conv", conv},
                                {"conv_transpose", conv_transpose},
                                {"pool", pool},
                                {"slice", slice},
                                {"pad", pad},
                                {"resize", resize},
                                {"gather", gather},
                                {"split", split},
                                {"concat", concat},
                                {"matrices", matrices},
                                {"reshape", reshape},
                                {"other", other},
                                {"normalization", normalization},
                                {"scatter", scatter},
                                {"quantization", quantization},
                                {"regions", regions},
                                {"recurrent", recurrent}};
INSTANTIATE_TEST_SUITE_P(Random, Nodes, ::testing::ValuesIn(kFamilies),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace shape_oracle
