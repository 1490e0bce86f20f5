// How Resize and Upsample scale each dimension; their rule and kernel share it.
#pragma once

#include <optional>
#include <vector>

#include "ops/infer_context.h"

namespace ortolan::ops {

/** One dimension: its size, its size afterwards, the exact ratio, and the part [start, end] that tf_crop_and_resize
    takes (0 and 1 else). */
struct ResizeAxis {
  int64_t from = 0;
  int64_t to = 0;
  double scale = 1;
  double start = 0;
  double end = 1;
};

/** What a node gives to say how to scale; lists as in its inputs or attributes, one entry for each listed axis. */
struct ResizeWishes {
  std::vector<double> scales;
  std::vector<int64_t> sizes;
  std::vector<double> roi;
};

/** Elements of a floating-point tensor. */
std::vector<double> to_doubles(const Tensor& tensor);
/** Reads them from these inputs (NULL where missing) or from the node's attributes (Upsample before opset 9). */
ResizeWishes resize_wishes(const Node& node, const Tensor* scales, const Tensor* sizes, const Tensor* roi);
/** The dimensions of `input` under the node's attributes axes, keep_aspect_ratio_policy and its coordinate mode. Throws
    for wrong counts, for scales that are not positive, and for sizes out of range. */
std::vector<ResizeAxis> resize_axes(const Node& node, const Shape& input, const ResizeWishes& wishes);
/** The axes that scales, sizes and roi list; all of them where the node has no attribute axes. */
std::vector<size_t> resized_axes(const Node& node, size_t rank);

}  // namespace ortolan::ops
