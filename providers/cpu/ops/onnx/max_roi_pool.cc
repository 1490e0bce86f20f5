// MaxRoiPool: the largest element in each cell of a grid over each region, whose corners are rounded to pixels.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/elements/saturate.h"
#include "cpu/kernels/convolution/pooling.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Cell `i` of `cells` over a side from `first` to `last` (pixels, both included), cut to [0, limit). */
kernels::CellRange cell(double first, double last, int64_t i, int64_t cells, int64_t limit) {
  double size = std::max(last - first + 1, 1.0) / static_cast<double>(cells);
  double begin = std::floor(static_cast<double>(i) * size) + first;
  double end = std::ceil(static_cast<double>(i + 1) * size) + first;
  auto cut = [&](double v) { return std::clamp<int64_t>(saturate_cast<int64_t>(v), 0, limit); };
  return {cut(begin), cut(end)};
}

class MaxRoiPool final : public OpKernel {
 public:
  explicit MaxRoiPool(const KernelInfo& info) : scale_(info.node().float_or("spatial_scale", 1)) {}

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  template <class C>
  void run(KernelContext& context) const {
    const Shape& shape = context.input(0).shape();
    const Shape& rois = context.input(1).shape();
    require(rois.rank() == 2 && rois[1] == 5, ErrorCode::kInvalidArgument, "rois has shape ", rois,
            "; it needs [regions, 5]");
    OutputAs<C> y(context, 0);
    const Shape& out = y.shape();
    if (out.element_count() == 0) return;
    const C* x = read_input<C>(context, 0);
    const C* regions = read_input<C>(context, 1);
    const int64_t channels = shape[1], plane = shape.count_from(2), cells = out[2] * out[3];
    context.threads().parallel_for(out[0] * channels, 1, [&](int64_t begin, int64_t end) {
      Grid grid;
      for (int64_t i = begin; i < end; ++i) {
        const C* region = regions + i / channels * 5;
        int64_t image = saturate_cast<int64_t>(region[0]);
        require(image >= 0 && image < shape[0], ErrorCode::kInvalidArgument, "a region names image ", image,
                "; there are ", shape[0]);
        if (i == begin || i % channels == 0) grid = this->grid(region, shape, out);
        kernels::max_pool_cells(x + (image * channels + i % channels) * plane, shape[3], grid.rows.data(), out[2],
                                grid.columns.data(), out[3], y.data() + i * cells);
      }
    });
    y.finish();
  }

  struct Grid {
    std::vector<kernels::CellRange> rows, columns;
  };

  /** The cells of a region. */
  template <class C>
  Grid grid(const C* region, const Shape& shape, const Shape& out) const {
    double corner[4];
    for (int i = 0; i < 4; ++i) corner[i] = std::round(static_cast<double>(region[i + 1]) * scale_);
    Grid grid;
    for (int64_t i = 0; i < out[2]; ++i) grid.rows.push_back(cell(corner[1], corner[3], i, out[2], shape[2]));
    for (int64_t i = 0; i < out[3]; ++i) grid.columns.push_back(cell(corner[0], corner[2], i, out[3], shape[3]));
    return grid;
  }

  float scale_;
};

constexpr KernelRow kRows[] = {
    {"", "MaxRoiPool", 1, kLatest, make_kernel<MaxRoiPool>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable max_roi_pool_rows;
const KernelTable max_roi_pool_rows(kRows);
}  // namespace ortolan::cpu::onnx
