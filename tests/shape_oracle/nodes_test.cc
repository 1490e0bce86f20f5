// Random nodes of the operators whose shapes are hard to get right: load-time inference agrees with libonnx.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "known_type.h"

namespace shape_oracle {
namespace {

using Dims = std::vector<int64_t>;

class Dice {
 public:
  explicit Dice(uint32_t seed) : generator_(seed) {}
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(generator_); }
  bool coin(int in = 2) { return between(1, in) == 1; }
  Dims dims(size_t rank, int64_t low = 1, int64_t high = 6) {
    Dims result(rank);
    for (int64_t& dim : result) dim = between(low, high);
    return result;
  }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<int64_t>(choices.size()) - 1));
  }
  /** An axis of that rank, counted from either end. */
  int64_t axis(size_t rank) { return between(-static_cast<int64_t>(rank), static_cast<int64_t>(rank) - 1); }
  /** Some axes, each once. */
  Dims axes(size_t rank) {
    Dims result;
    for (size_t i = 0; i < rank; ++i) {
      if (coin())
        result.push_back(coin() ? static_cast<int64_t>(i) : static_cast<int64_t>(i) - static_cast<int64_t>(rank));
    }
    std::shuffle(result.begin(), result.end(), generator_);
    return result;
  }
  Dims permutation(size_t rank) {
    Dims result(rank);
    for (size_t i = 0; i < rank; ++i) result[i] = static_cast<int64_t>(i);
    std::shuffle(result.begin(), result.end(), generator_);
    return result;
  }

 private:
  std::mt19937 generator_;
};

/** `dims` as an operand that broadcasts to it: fewer dimensions, some of them 1. */
Dims narrowed(Dice& dice, Dims dims) {
  dims.erase(dims.begin(), dims.begin() + dice.between(0, static_cast<int64_t>(dims.size())));
  for (int64_t& dim : dims) dim = dice.coin(3) ? 1 : dim;
  return dims;
}

RandomNode node(std::string op, int opset = 17) {
  RandomNode result;
  result.op = std::move(op);
  result.opset = opset;
  return result;
}

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

RandomNode slice(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 1, 8), axes = dice.axes(rank);  // libonnx takes elements from empty dimensions
  if (axes.empty()) axes = {0};
  Dims starts, ends, steps;
  for (size_t i = 0; i < axes.size(); ++i) {
    starts.push_back(dice.coin(6) ? dice.pick({INT64_MIN, INT64_MAX, int64_t{-1000}}) : dice.between(-9, 9));
    ends.push_back(dice.coin(4) ? dice.pick({INT64_MAX, INT64_MIN + 1, int64_t{1000}}) : dice.between(-9, 9));
    steps.push_back(dice.pick({1, 1, 2, 3, -1, -2}));
  }
  if (dice.coin(4)) return node("Slice", 9).tensor(x).ints("starts", starts).ints("ends", ends).ints("axes", axes);
  RandomNode result = node("Slice", 13).tensor(x).constant(starts).constant(ends).constant(axes);
  return dice.coin() ? result : result.constant(steps);
}

RandomNode pad(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 2, 6), pads = dice.dims(2 * rank, -1, 3);
  std::string mode = dice.pick({"constant", "constant", "edge", "reflect"});
  if (mode == "reflect") pads = dice.dims(2 * rank, 0, 1);
  if (dice.coin(3)) return node("Pad", 2).tensor(x).ints("pads", pads).text("mode", mode);
  return node("Pad", dice.pick({11, 13})).tensor(x).constant(pads).text("mode", mode);
}

RandomNode resize(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 1, 9);
  std::vector<float> scales;
  for (size_t i = 0; i < rank; ++i) scales.push_back(dice.pick({1.0f, 2.0f, 0.5f, 1.5f, 0.75f, 3.3f}));
  if (dice.coin(4)) {
    for (float& scale : scales) scale = std::max(1.0f, scale);
    return dice.coin() ? node("Upsample", 9).tensor(x).scales(scales)
                       : node("Upsample", 7).tensor(x).floats("scales", scales);
  }
  if (dice.coin(4)) return node("Resize", 10).tensor(x).scales(scales);
  int opset = dice.pick({11, 13});
  RandomNode result = node("Resize", opset).tensor(x);
  opset == 13 ? result.left_out() : result.scales(std::vector<float>(2 * rank, 0.0f));
  if (dice.coin()) return result.scales(scales);
  return (opset == 13 ? result.left_out() : result.scales({})).constant(dice.dims(rank, 1, 12));
}

RandomNode gather(Dice& dice) {
  size_t rank = dice.between(1, 4), index_rank = dice.between(0, 3);
  Dims x = dice.dims(rank, 1, 5), places = dice.dims(index_rank, 0, 4);
  if (dice.coin(3)) {
    return node("GatherElements", 13).tensor(x).tensor(dice.dims(rank, 1, 1), 7).set("axis", dice.axis(rank));
  }
  if (dice.coin(3)) {
    int64_t batch = dice.between(0, static_cast<int64_t>(rank) - 1);
    Dims tuples(x.begin(), x.begin() + batch);
    tuples.push_back(dice.between(1, 3));
    tuples.push_back(dice.between(1, static_cast<int64_t>(rank) - batch));
    return node("GatherND", 13).tensor(x).tensor(tuples, 7).set("batch_dims", batch);
  }
  RandomNode result = node("Gather", dice.pick({1, 11, 13})).tensor(x).tensor(places, 7);
  return dice.coin() ? result
                     : result.set("axis", result.opset == 1 ? std::abs(dice.axis(rank)) % static_cast<int64_t>(rank)
                                                            : dice.axis(rank));
}

RandomNode split(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 1, 4);
  int64_t axis = dice.axis(rank);
  int64_t& along = x[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)];
  int64_t count = dice.between(1, 4);
  Dims parts = dice.dims(static_cast<size_t>(count), 0, 4);
  bool even = dice.coin();
  along = even ? count * dice.between(1, 3) : 0;
  if (!even) {
    for (int64_t part : parts) along += part;
  }
  RandomNode result = node("Split", dice.pick({11, 13})).tensor(x).set("axis", axis);
  result.outputs = static_cast<int>(count);
  if (even) return result;
  return result.opset == 11 ? result.ints("split", parts) : result.constant(parts);
}

RandomNode concat(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 0, 4);
  int64_t axis = dice.axis(rank);
  RandomNode result = node("Concat", 13).set("axis", axis);
  for (int64_t count = dice.between(1, 4); count > 0; --count) {
    x[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)] = dice.between(0, 5);
    result.tensor(x);
  }
  return result;
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

RandomNode reshape(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 1, 4);
  int64_t count = 1;
  for (int64_t dim : x) count *= dim;
  switch (dice.between(0, 6)) {
    case 0:
      return node("Reshape", 14).tensor(x).constant({0, -1});
    case 1:
      return node("Reshape", 14).tensor(x).constant({count, 1, -1}).set("allowzero", dice.coin());
    case 2:
      return node("Flatten", 13)
          .tensor(x)
          .set("axis", dice.between(-static_cast<int64_t>(rank), static_cast<int64_t>(rank)));
    case 3:
      return node("Transpose", 13).tensor(x).ints("perm", dice.permutation(rank));
    case 4:
      return node("Unsqueeze", 13).tensor(x).constant({0, dice.between(1, static_cast<int64_t>(rank)), -1});
    case 5:
      x[rank - 1] = 1;
      return dice.coin() ? node("Squeeze", 13).tensor(x).constant({-1})
                         : node("Squeeze", 11).tensor(x).ints("axes", {-1});
    default:
      return node("Expand", 13).tensor(x).constant(dice.coin() ? Dims{2, 1} : x);
  }
}

RandomNode other(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 1, 5),
       image{dice.between(1, 2), 4 * dice.between(1, 3), 2 * dice.between(1, 3), 2 * dice.between(1, 3)};
  switch (dice.between(0, 10)) {
    case 0:
      return node("Tile", 13).tensor(x).constant(dice.dims(rank, 0, 3));
    case 1: {
      RandomNode top = node("TopK", 11).tensor(x).constant({1}).set("axis", dice.axis(rank));
      top.outputs = 2;
      return top;
    }
    case 2:
      return node("OneHot", 11).tensor(x, 7).scalar(dice.between(1, 7)).tensor({2}).set("axis", dice.axis(rank + 1));
    case 3:
      return node("DepthToSpace", 13).tensor(image).set("blocksize", 2);
    case 4:
      return node("SpaceToDepth", 13).tensor(image).set("blocksize", 2);
    case 5: {
      RandomNode shape = node("Shape", 15).tensor(x).set("start", dice.between(-6, 6));
      return dice.coin() ? shape : shape.set("end", dice.between(-6, 6));
    }
    case 6:
      return node("ConstantOfShape", 9).constant(dice.dims(rank, 0, 4));
    case 7:
      return node("Softmax", 13).tensor(x).set("axis", dice.axis(rank));
    case 8:
      return node("NonZero", 13).tensor(x);
    case 9:
      return node("Range", 11)
          .scalar(dice.between(-9, 9))
          .scalar(dice.between(-9, 9))
          .scalar(dice.pick({1, 2, -1, -3}));
    default:
      return node("EyeLike", 9).tensor(dice.dims(2));
  }
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

RandomNode scatter(Dice& dice) {
  size_t rank = dice.between(1, 4);
  Dims x = dice.dims(rank, 2, 5), places = dice.dims(rank, 1, 2);
  switch (dice.between(0, 4)) {
    case 0:
      return node("ScatterElements", 16).tensor(x).tensor(places, 7).tensor(places).set("axis", dice.axis(rank));
    case 1: {
      int64_t depth = dice.between(1, static_cast<int64_t>(rank)), count = dice.between(1, 3);
      Dims updates{count};
      updates.insert(updates.end(), x.begin() + depth, x.end());
      return node("ScatterND", 16).tensor(x).tensor({count, depth}, 7).tensor(updates);
    }
    case 2: {
      RandomNode compress = node("Compress", 11).tensor(x).tensor({dice.between(1, 2)}, 9);
      return dice.coin() ? compress : compress.set("axis", dice.axis(rank));
    }
    case 3:
      return node("CumSum", 14).tensor(x).scalar(dice.axis(rank));
    default: {
      RandomNode unique = node("Unique", 11).tensor(x);
      unique.outputs = static_cast<int>(dice.between(1, 4));
      return dice.coin() ? unique : unique.set("axis", dice.axis(rank));
    }
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
