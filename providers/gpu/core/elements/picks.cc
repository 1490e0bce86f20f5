// Rearranges axes by tables of places.
#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

bool stays(const AxisSources& axis) { return axis.source.empty() && axis.from == axis.to; }

/** Neighbours that stay are one axis. */
std::vector<AxisSources> merged(const std::vector<AxisSources>& axes) {
  std::vector<AxisSources> result;
  for (const AxisSources& axis : axes) {
    if (!result.empty() && stays(axis) && stays(result.back())) {
      result.back().from *= axis.from;
      result.back().to *= axis.to;
    } else {
      result.push_back(axis);
    }
  }
  return result;
}

/** The axis's places, counted in elements. */
void append_places(const AxisSources& axis, int64_t stride, std::vector<int32_t>& table) {
  for (int64_t i = 0; i < axis.to; i++) {
    int64_t source = axis.source.empty() ? i : axis.source[static_cast<size_t>(i)];
    table.push_back(source < 0 ? INT32_MIN / kMostPickedAxes : static_cast<int32_t>(source * stride));
  }
}

}  // namespace

void pick(Lowering& l, const std::vector<AxisSources>& all, Memory value) {
  Shape shape;
  for (const AxisSources& axis : all) shape.push_back(axis.to);
  Memory x = l.input(0), y = l.output(0, shape);
  if (element_count(shape) == 0) return;
  std::vector<AxisSources> axes = merged(all);
  int64_t inner = 1;
  if (!axes.empty() && stays(axes.back())) {
    inner = axes.back().to;
    axes.pop_back();
  }
  if (axes.size() > kMostPickedAxes) l.fail("more than " + std::to_string(kMostPickedAxes) + " axes change");
  axes.insert(axes.begin(), kMostPickedAxes - axes.size(), AxisSources{1, 1});
  std::vector<int64_t> dims, strides(axes.size(), inner);
  for (size_t i = axes.size(); i-- > 1;) strides[i - 1] = strides[i] * axes[i].from;
  std::vector<int32_t> table;
  for (size_t i = 0; i < axes.size(); i++) {
    dims.push_back(axes[i].to);
    append_places(axes[i], strides[i], table);
  }
  Grain grain = grain_of(l.traits(), element_count(dims), inner);
  l.call("pick")
      .group(grain.group)
      .constant("BYTES", static_cast<int>(element_bytes(l.type(0))))
      .read(x)
      .write(y)
      .read(l.table(table))
      .read(value)
      .params(grain.items(), element_count(dims), grain.block, inner, grain.chunk, grain.chunks, table.size(), dims)
      .run_items(grain.items());
}

}  // namespace ortolan::gpu
