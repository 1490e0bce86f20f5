// Pools over windows (MaxPool, AveragePool, LpPool) and over whole planes (Global...).
#include "gpu/core/convolution/plane_windows.h"
#include "gpu/core/elements/row_items.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

constexpr int kLargest = 0, kMeanInside = 1, kMeanPadded = 2, kNorm = 3;  // OP of the kernels

/** The order of a norm: a float before opset 2. */
float norm_order(const Lowering& l) {
  if (l.node().since_version < 2) return l.node().number("p", 2);
  return static_cast<float>(l.node().integer("p", 2));
}

void lower_windows(Lowering& l, int op) {
  Window w = window_of(l);
  Shape shape = output_shape(l, w, w.channels);
  Memory x = l.input(0), y = l.output(0, shape);
  if (op != kNorm && fits_plane_windows(l.traits(), w, static_cast<WindowOp>(op))) {
    return run_plane_windows(l, w, {static_cast<WindowOp>(op)}, y);
  }
  l.call("pool")
      .group(l.traits().kind == DeviceClass::kWide ? 16 : 64)
      .rounds(w.rounds())
      .constant("OP", op)
      .constant("HALF", l.type(0) == ElementType::kFloat16)
      .read(x)
      .write(y)
      .params(element_count(shape), fields(w.in), fields(w.out), fields(w.kernel), fields(w.stride), fields(w.dilation),
              fields(w.begin), fields(w.end), op == kNorm ? norm_order(l) : 0.0f)
      .run_items(element_count(shape));
}

void lower_average(Lowering& l) {
  lower_windows(l, l.node().integer("count_include_pad", 0) != 0 ? kMeanPadded : kMeanInside);
}

void lower_planes(Lowering& l, int op) {
  Shape shape = l.shape(0);
  if (shape.size() < 2) l.fail("the input has rank " + std::to_string(shape.size()) + "; it must have 2 or more");
  int64_t planes = shape[0] * shape[1], size = element_count(shape, 2, shape.size());
  for (size_t i = 2; i < shape.size(); i++) shape[i] = 1;
  Memory x = l.input(0), y = l.output(0, shape);
  const bool wide = l.traits().kind == DeviceClass::kWide, is_half = l.type(0) == ElementType::kFloat16;
  const bool by_vectors = wide && !is_half && op == 1;
  const int items = by_vectors ? 1 : wide ? 16 : row_items(l.traits(), size);
  l.call("pool_plane")
      .group(items)
      .rounds(row_rounds(size, items))
      .constant("OP", op)
      .constant("HALF", is_half)
      .constant("BY_VECTORS", by_vectors)
      .read(x)
      .write(y)
      .params(size, norm_order(l))
      .run(planes);
}

std::string refuse_max(const Candidate& candidate) {
  if (candidate.node().has_output(1)) return "it gives indices";
  return refuse_window(candidate);
}

std::string refuse_planes(const Candidate& candidate) {
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
}

constexpr Operator kRows[] = {
    {"", "MaxPool", 1, kNewest, refuse_max, [](Lowering& l) { lower_windows(l, kLargest); }},
    {"", "AveragePool", 1, kNewest, refuse_window, lower_average},
    {"", "LpPool", 1, kNewest, refuse_window, [](Lowering& l) { lower_windows(l, kNorm); }},
    {"", "GlobalMaxPool", 1, kNewest, refuse_planes, [](Lowering& l) { lower_planes(l, kLargest); }},
    {"", "GlobalAveragePool", 1, kNewest, refuse_planes, [](Lowering& l) { lower_planes(l, kMeanInside); }},
    {"", "GlobalLpPool", 1, kNewest, refuse_planes, [](Lowering& l) { lower_planes(l, kNorm); }},
};

}  // namespace

std::span<const Operator> pool_operators() { return kRows; }

}  // namespace ortolan::gpu
