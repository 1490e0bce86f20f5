// GridSample of images: each output point is taken from the place that a grid names.
#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

/** The number in kernel grid_sample; -1 for an unknown name. */
int mode_of(const Node& node) {
  std::string name = node.text("mode", "linear");
  if (name == "linear" || name == "bilinear") return 0;
  if (name == "nearest") return 1;
  return name == "cubic" || name == "bicubic" ? 2 : -1;
}

int padding_of(const Node& node) {
  std::string name = node.text("padding_mode", "zeros");
  return name == "zeros" ? 0 : name == "border" ? 1 : name == "reflection" ? 2 : -1;
}

std::string refuse(const Candidate& candidate) {
  if (candidate.rank(0) != 4) return "input 0 is not known to have 4 axes, as images have";
  if (mode_of(candidate.node()) < 0 || padding_of(candidate.node()) < 0) return "its mode or padding_mode is unknown";
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  return refusal.empty() ? refuse_unless(candidate, 1, {ElementType::kFloat, ElementType::kFloat16}) : refusal;
}

void lower(Lowering& l) {
  const Shape &image = l.shape(0), &grid = l.shape(1);
  if (image.size() != 4 || grid.size() != 4 || grid[3] != 2 || grid[0] != image[0]) {
    l.fail("the input must be images and the grid pairs for each of them");
  }
  Shape shape = {image[0], image[1], grid[1], grid[2]};
  Memory x = l.input(0), points = l.input(1), y = l.output(0, shape);
  if (element_count(shape) == 0) return;
  if (l.count(0) == 0) l.fail("the input is empty, so nothing can be sampled");
  int64_t plane = grid[1] * grid[2];
  l.call("grid_sample")
      .group(l.traits().kind == DeviceClass::kWide ? 1 : 64)
      .rounds(image[1] * 16)
      .constant("MODE", mode_of(l.node()))
      .constant("PADDING", padding_of(l.node()))
      .constant("CORNERS", l.node().integer("align_corners", 0) != 0)
      .constant("HALF_X", l.type(0) == ElementType::kFloat16)
      .constant("HALF_GRID", l.type(1) == ElementType::kFloat16)
      .read(x)
      .write(y)
      .read(points)
      .params(image[0] * plane, image[1], image[2], image[3], plane)
      .run_items(image[0] * plane);
}

constexpr Operator kRows[] = {
    {"", "GridSample", 16, kNewest, refuse, lower},
    {"com.microsoft", "GridSample", 1, kNewest, refuse, lower},
};

}  // namespace

std::span<const Operator> grid_sample_operators() { return kRows; }

}  // namespace ortolan::gpu
