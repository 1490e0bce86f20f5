// CropAndResize: the source positions of a box are worked out once, then serve all channels. 16-bit floats compute in
// float.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** Where one row or column of a crop comes from; `low` is -1 outside of the image. */
template <class C>
struct Source {
  int64_t low = -1, high = -1;
  C weight = 0;  // of `high`
};

/** Whole numbers are cut to the side, since the last position rounds to one beyond it where C cannot hold it. */
template <class C>
Source<C> source_at(C position, int64_t size, bool nearest) {
  if (!(position >= 0 && position <= static_cast<C>(size - 1))) return {};
  auto inside = [&](C whole) { return std::min(static_cast<int64_t>(whole), size - 1); };
  if (nearest) return {inside(std::round(position)), 0, 0};
  C low = std::floor(position);
  return {inside(low), inside(std::ceil(position)), position - low};
}

/** The sources of all positions of a crop between `begin` and `end` of a dimension of `size`. */
template <class C>
std::vector<Source<C>> sources(C begin, C end, int64_t size, int64_t crop, bool nearest) {
  std::vector<Source<C>> result(static_cast<size_t>(crop));
  C last = static_cast<C>(size - 1);
  if (crop == 1) {
    result[0] = source_at(static_cast<C>(0.5 * static_cast<double>(begin + end) * static_cast<double>(size - 1)), size,
                          nearest);
    return result;
  }
  C step = (end - begin) * last / static_cast<C>(crop - 1);
  for (int64_t i = 0; i < crop; ++i) {
    C position = i == crop - 1 ? end * last : begin * last + static_cast<C>(i) * step;
    result[static_cast<size_t>(i)] = source_at(position, size, nearest);
  }
  return result;
}

class CropAndResize final : public OpKernel {
 public:
  explicit CropAndResize(const KernelInfo& info) : fill_(info.node().float_or("extrapolation_value", 0)) {
    std::string_view mode = info.node().string_or("mode", "bilinear");
    require(mode == "bilinear" || mode == "nearest", ErrorCode::kInvalidGraph, "mode '", mode,
            "' is unknown; it must be bilinear or nearest");
    nearest_ = mode == "nearest";
  }

  void compute(KernelContext& context) const override {
    check_boxes(context);
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) {
      OutputAs<C> y(context, 0);
      if (y.shape().element_count() > 0) crop_all(context, y.shape(), y.data());
      y.finish();
    });
  }

 private:
  static void check_boxes(const KernelContext& context) {
    const Shape &x = context.input(0).shape(), &boxes = context.input(1).shape();
    const Tensor& images = context.input(2);
    require(x.rank() == 4 && images.rank() == 1 && boxes == Shape{images.shape()[0], 4}, ErrorCode::kInvalidArgument,
            "the input ", x, ", rois ", boxes, " and batch_indices ", images.shape(),
            " do not fit; they need ranks 4, 2 and 1, and one box [y1, x1, y2, x2] for each index");
    for (int32_t image : images.span<int32_t>()) {
      require(image >= 0 && image < x[0], ErrorCode::kInvalidArgument, "batch index ", image, " is outside the ", x[0],
              " images of the input");
    }
  }

  template <class C>
  void crop_all(KernelContext& context, const Shape& out, C* y) const {
    const Shape& x = context.input(0).shape();
    const C *images = read_input<C>(context, 0), *boxes = read_input<C>(context, 1);
    const int32_t* chosen = context.input(2).data<int32_t>();
    int64_t crop = out[1] * out[2] * out[3], image = x.count_from(1);
    const int64_t least = kernels::least_rows(crop, kernels::kScalarNs);
    context.threads().parallel_for(out[0], least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const C* box = boxes + 4 * r;
        auto rows = sources(box[0], box[2], x[2], out[2], nearest_),
             columns = sources(box[1], box[3], x[3], out[3], nearest_);
        for (int64_t c = 0; c < out[1]; ++c) {
          const C* from = images + chosen[r] * image + c * x[2] * x[3];
          crop_plane(from, x[3], rows, columns, y + r * crop + c * out[2] * out[3]);
        }
      }
    });
  }

  template <class C>
  void crop_plane(const C* x, int64_t width, const std::vector<Source<C>>& rows, const std::vector<Source<C>>& columns,
                  C* y) const {
    for (const Source<C>& row : rows) {
      if (row.low < 0) {
        y = std::fill_n(y, columns.size(), static_cast<C>(fill_));
        continue;
      }
      const C *top = x + row.low * width, *bottom = x + row.high * width;
      for (const Source<C>& column : columns) {
        *y++ = column.low < 0 ? static_cast<C>(fill_)
               : nearest_     ? top[column.low]
                              : mix(mix(top[column.low], top[column.high], column.weight),
                                    mix(bottom[column.low], bottom[column.high], column.weight), row.weight);
      }
    }
  }

  template <class C>
  static C mix(C a, C b, C weight) {
    return a + (b - a) * weight;
  }

  float fill_;
  bool nearest_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "CropAndResize", 1, kLatest, make_kernel<CropAndResize>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable crop_and_resize_rows;
const KernelTable crop_and_resize_rows(kRows);
}  // namespace ortolan::cpu::microsoft
