// Operators that reorder all elements: Transpose, SpaceToDepth, DepthToSpace.
#include <algorithm>

#include "gpu/core/elements/moves.h"
#include "gpu/core/graph/fusion.h"

namespace ortolan::gpu {
namespace {

std::string refuse(const Candidate& candidate) { return refuse_unstorable(candidate, 0); }

/** The output's axis i is the shape's axis order[i]. */
StridedCopy permuted(const Shape& shape, const std::vector<int64_t>& order) {
  std::vector<int64_t> strides = strides_of(shape);
  StridedCopy copy;
  for (int64_t axis : order) {
    copy.shape.push_back(shape[axis]);
    copy.from.push_back(strides[axis]);
  }
  copy.to = strides_of(copy.shape);
  return copy;
}

std::vector<int64_t> order_of(const Lowering& l) {
  size_t rank = l.shape(0).size();
  std::vector<int64_t> order = l.node().integers("perm");
  if (order.empty()) {
    for (size_t i = rank; i-- > 0;) order.push_back(static_cast<int64_t>(i));
  }
  for (int64_t& axis : order) axis += axis < 0 ? static_cast<int64_t>(rank) : 0;
  std::vector<int64_t> sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool names_all = sorted.size() == rank;
  for (size_t i = 0; names_all && i < rank; i++) names_all = sorted[i] == static_cast<int64_t>(i);
  if (!names_all) l.fail("perm must name each of " + std::to_string(rank) + " axes once");
  return order;
}

/** The places of the elements are left to those who read them. */
void lower_transpose(Lowering& l) {
  StridedCopy copy = permuted(l.shape(0), order_of(l)), merged = copy;
  merge_dimensions(merged);
  std::optional<Layout> from = layout_of(l, 0);
  if (!from && moves_nothing(merged, l.count(0))) return l.view(0, 0, copy.shape);
  if (!from) from = Layout{l.input(0), strides_of(l.shape(0))};
  Layout layout{from->memory, {}, from->first};
  for (int64_t axis : order_of(l)) layout.strides.push_back(from->strides[axis]);
  open_layout(l, 0, copy.shape, std::move(layout));
}

const Shape& image_of(const Lowering& l) {
  if (l.shape(0).size() != 4) l.fail("the input has " + std::to_string(l.shape(0).size()) + " axes; it must have 4");
  return l.shape(0);
}

int64_t block_of(const Lowering& l) {
  int64_t block = l.node().integer("blocksize", 0);
  constexpr int64_t kMost = 1 << 15;
  if (block < 1 || block > kMost) {
    l.fail("blocksize is " + std::to_string(block) + "; it must be in [1, " + std::to_string(kMost) + "]");
  }
  return block;
}

[[noreturn]] void fail_division(const Lowering& l, const std::string& what, int64_t size, int64_t by) {
  l.fail(what + " of " + std::to_string(size) + " do not divide by " + std::to_string(by));
}

void lower_space_to_depth(Lowering& l) {
  const Shape& in = image_of(l);
  int64_t block = block_of(l), height = in[2] / block, width = in[3] / block;
  if (in[2] % block != 0) fail_division(l, "rows", in[2], block);
  if (in[3] % block != 0) fail_division(l, "columns", in[3], block);
  StridedCopy copy = permuted({in[0], in[1], height, block, width, block}, {0, 3, 5, 1, 2, 4});
  move_input(l, {in[0], in[1] * block * block, height, width}, std::move(copy));
}

void lower_depth_to_space(Lowering& l) {
  const Shape& in = image_of(l);
  int64_t block = block_of(l), depth = in[1] / (block * block);
  if (in[1] % (block * block) != 0) fail_division(l, "channels", in[1], block * block);
  Shape shape = {in[0], depth, in[2] * block, in[3] * block};
  bool columns_last = l.node().text("mode", "DCR") == "CRD";
  StridedCopy copy = columns_last ? permuted({in[0], depth, block, block, in[2], in[3]}, {0, 1, 4, 2, 5, 3})
                                  : permuted({in[0], block, block, depth, in[2], in[3]}, {0, 3, 4, 1, 5, 2});
  move_input(l, shape, std::move(copy));
}

constexpr Operator kRows[] = {
    {"", "Transpose", 1, kNewest, refuse, lower_transpose},
    {"", "SpaceToDepth", 1, kNewest, refuse, lower_space_to_depth},
    {"", "DepthToSpace", 1, kNewest, refuse, lower_depth_to_space},
};

}  // namespace

std::span<const Operator> transpose_operators() { return kRows; }

}  // namespace ortolan::gpu
