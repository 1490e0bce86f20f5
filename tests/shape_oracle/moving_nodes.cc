// Random nodes that choose, move or arrange elements, and those with little to draw.
#include "moving_nodes.h"

#include <algorithm>
#include <cstdlib>

namespace shape_oracle {

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

}  // namespace shape_oracle
