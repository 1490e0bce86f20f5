// RoiAlign: averages (or maxima) of bilinear samples on a grid over each region. 16-bit floats compute in float.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/convolution/plane_mixes.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr int64_t kMaxSamples = 1 << 20;

/** A bilinear sample: four places of a plane and their weights; all weights are 0 outside. */
template <class C>
struct Sample {
  int64_t at[4] = {0, 0, 0, 0};
  C weight[4] = {0, 0, 0, 0};
};

template <class C>
Sample<C> sample_at(C y, C x, int64_t height, int64_t width) {
  Sample<C> sample;
  if (!(y >= -1 && y <= height && x >= -1 && x <= width)) return sample;
  auto split = [](C value, int64_t size, int64_t& low, int64_t& high) {
    value = std::max(value, C(0));
    low = std::min<int64_t>(static_cast<int64_t>(value), size - 1);
    high = std::min(low + 1, size - 1);
    return high == low ? C(0) : value - static_cast<C>(low);
  };
  int64_t y0, y1, x0, x1;
  C fy = split(y, height, y0, y1), fx = split(x, width, x0, x1);
  const int64_t at[4] = {y0 * width + x0, y0 * width + x1, y1 * width + x0, y1 * width + x1};
  const C weight[4] = {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx};
  std::copy_n(at, 4, sample.at);
  std::copy_n(weight, 4, sample.weight);
  return sample;
}

/** Where samples at `value` along a side of `size` > 1 pixels lie; without weights where that is outside. */
template <class C>
kernels::Neighbours<C> neighbours_of(C value, int64_t size) {
  if (!(value >= -1 && value <= static_cast<C>(size))) return {0, {C{}, C{}}};
  value = std::max(value, C(0));
  auto low = static_cast<int64_t>(value);
  if (low >= size - 1) return {size - 2, {C{}, C{1}}};
  C part = value - static_cast<C>(low);
  return {low, {1 - part, part}};
}

class RoiAlign final : public OpKernel {
 public:
  explicit RoiAlign(const KernelInfo& info)
      : ratio_(info.node().int_or("sampling_ratio", 0)), scale_(info.node().float_or("spatial_scale", 1)) {
    std::string_view mode = info.node().string_or("mode", "avg");
    require(mode == "avg" || mode == "max", ErrorCode::kInvalidGraph, "mode is '", mode, "'; use avg or max");
    require(ratio_ >= 0 && ratio_ <= 1024, ErrorCode::kInvalidGraph, "sampling_ratio is ", ratio_,
            "; it must lie within [0, 1024]");
    max_ = mode == "max";
    std::string_view fallback = info.opset() >= 16 ? "half_pixel" : "output_half_pixel";
    std::string_view coordinates = info.node().string_or("coordinate_transformation_mode", fallback);
    require(coordinates == "half_pixel" || coordinates == "output_half_pixel", ErrorCode::kInvalidGraph,
            "coordinate_transformation_mode is '", coordinates, "'; use half_pixel or output_half_pixel");
    half_pixel_ = coordinates == "half_pixel";
  }

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  /** Begin, bin size and samples a bin along one side of a region. */
  template <class C>
  struct Side {
    C begin, bin;
    int64_t samples;
    C position(int64_t out, int64_t sample) const {
      return begin + static_cast<C>(out) * bin + (static_cast<C>(sample) + C(0.5)) * bin / static_cast<C>(samples);
    }
  };
  template <class C>
  Side<C> side(C begin, C end, int64_t bins) const {
    C scale = static_cast<C>(scale_), shift = half_pixel_ ? C(0.5) : C(0);
    begin = begin * scale - shift;
    C size = end * scale - shift - begin;
    if (!half_pixel_) size = std::max(size, C(1));
    C bin = size / static_cast<C>(bins);
    C wanted = std::ceil(bin);
    require(ratio_ > 0 || wanted < kMaxSamples, ErrorCode::kInvalidArgument, "a region has a side of ", double(size),
            " pixels, which takes too many samples; give sampling_ratio");
    int64_t samples = ratio_ > 0 ? ratio_ : wanted > 0 ? static_cast<int64_t>(wanted) : 0;
    return {begin, bin, samples};
  }

  /** The neighbours of all samples of all bins along a side. */
  template <class C>
  static std::vector<kernels::Neighbours<C>> neighbours(const Side<C>& side, int64_t bins, int64_t size) {
    std::vector<kernels::Neighbours<C>> result;
    for (int64_t i = 0; i < bins * side.samples; ++i) {
      result.push_back(neighbours_of(side.position(i / side.samples, i % side.samples), size));
    }
    return result;
  }

  template <class C>
  static void average_bins(const C* planes, const Shape& shape, const Side<C>& rows, const Side<C>& columns,
                           const Shape& out, C* to);
  template <class C>
  void run(KernelContext& context) const;
  template <class C>
  C pool(const C* plane, const std::vector<Sample<C>>& samples) const;

  int64_t ratio_;
  float scale_;
  bool max_, half_pixel_;
};

template <class C>
C RoiAlign::pool(const C* plane, const std::vector<Sample<C>>& samples) const {
  C result = 0;
  bool first = true;
  for (const Sample<C>& s : samples) {
    C part[4];
    for (int i = 0; i < 4; ++i) part[i] = plane[s.at[i]] * s.weight[i];
    if (!max_) {
      result += part[0] + part[1] + part[2] + part[3];
    } else {
      C largest = std::max(std::max(part[0], part[1]), std::max(part[2], part[3]));
      result = first ? largest : std::max(result, largest);
      first = false;
    }
  }
  return max_ || samples.empty() ? result : result / static_cast<C>(samples.size());
}

/** A region of planes of at least 2 x 2 pixels, several bins at a time. */
template <class C>
void RoiAlign::average_bins(const C* planes, const Shape& shape, const Side<C>& rows, const Side<C>& columns,
                            const Shape& out, C* to) {
  constexpr int64_t most = kernels::PlaneMixes<C>::kMost;
  const auto down = neighbours(rows, out[2], shape[2]), across = neighbours(columns, out[3], shape[3]);
  const int64_t samples = rows.samples * columns.samples, bins = out[2] * out[3], plane = shape[2] * shape[3];
  kernels::PlaneMixes<C> mixes;
  mixes.width = shape[3];
  base::TerminatePoll poll;
  for (int64_t first = 0, count; first < bins; first += count) {
    count = std::min(most / samples, bins - first);
    mixes.count = samples * count;
    for (int64_t i = 0; i < mixes.count; ++i) {
      const int64_t bin = first + i % count, sample = i / count;
      mixes.set(i, down[static_cast<size_t>(bin / out[3] * rows.samples + sample / columns.samples)],
                across[static_cast<size_t>(bin % out[3] * columns.samples + sample % columns.samples)]);
    }
    for (int64_t c = 0; c < shape[1]; ++c) {
      poll.work(mixes.count);
      C parts[most];
      kernels::mix_plane(mixes, planes + c * plane, parts);
      for (int64_t i = count; i < mixes.count; i += count) {
        for (int64_t b = 0; b < count; ++b) parts[b] += parts[i + b];
      }
      for (int64_t b = 0; b < count; ++b) to[c * bins + first + b] = parts[b] / static_cast<C>(samples);
    }
  }
}

template <class C>
void RoiAlign::run(KernelContext& context) const {
  const Shape& shape = context.input(0).shape();
  const Tensor& rois = context.input(1);
  const Tensor& batch = context.input(2);
  OutputAs<C> y(context, 0);
  const Shape& out = y.shape();
  require(rois.rank() == 2 && rois.shape()[1] == 4 && batch.shape() == Shape{out[0]}, ErrorCode::kInvalidArgument,
          "rois has shape ", rois.shape(), ", batch_indices ", batch.shape(), "; they need [regions, 4] and [regions]");
  for (int64_t index : batch.span<int64_t>()) {
    require(index >= 0 && index < shape[0], ErrorCode::kInvalidArgument, "batch_indices holds ", index,
            "; it must lie within [0, ", shape[0] - 1, "]");
  }
  int64_t height = shape[2], width = shape[3], channels = shape[1];
  if (out.element_count() == 0) return;
  require(height > 0 && width > 0, ErrorCode::kInvalidArgument, "input ", shape, " has empty planes");
  const C* x = read_input<C>(context, 0);
  const C* corners = read_input<C>(context, 1);
  context.threads().parallel_for(out[0], 1, [&](int64_t begin, int64_t end) {
    std::vector<Sample<C>> samples;
    base::TerminatePoll poll;
    for (int64_t r = begin; r < end; ++r) {
      Side<C> columns = side(corners[4 * r], corners[4 * r + 2], out[3]);
      Side<C> rows = side(corners[4 * r + 1], corners[4 * r + 3], out[2]);
      require(rows.samples * columns.samples <= kMaxSamples, ErrorCode::kInvalidArgument,
              "a region takes too many samples; give sampling_ratio");
      const C* planes = x + batch.data<int64_t>()[r] * channels * height * width;
      const int64_t count = rows.samples * columns.samples;
      if (!max_ && height > 1 && width > 1 && count > 0 && count <= kernels::PlaneMixes<C>::kMost) {
        average_bins(planes, shape, rows, columns, out, y.data() + r * channels * out[2] * out[3]);
        continue;
      }
      for (int64_t bin = 0; bin < out[2] * out[3]; ++bin) {
        samples.clear();
        for (int64_t i = 0; i < rows.samples * columns.samples; ++i) {
          samples.push_back(sample_at(rows.position(bin / out[3], i / columns.samples),
                                      columns.position(bin % out[3], i % columns.samples), height, width));
        }
        C* to = y.data() + r * channels * out[2] * out[3] + bin;
        for (int64_t c = 0; c < channels; ++c) {
          poll.work(1 + 4 * std::ssize(samples));
          to[c * out[2] * out[3]] = pool(planes + c * height * width, samples);
        }
      }
    }
  });
  y.finish();
}

constexpr KernelRow kRows[] = {
    {"", "RoiAlign", 10, kLatest, make_kernel<RoiAlign>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable roi_align_rows;
const KernelTable roi_align_rows(kRows);
}  // namespace ortolan::cpu::onnx
