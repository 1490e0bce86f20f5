// Kernels of GridSample and AffineGrid.
#include <cmath>
#include <limits>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/plane_mixes.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

enum class SampleMode { kLinear, kNearest, kCubic };
enum class Padding { kZeros, kBorder, kReflection };

SampleMode mode_of(std::string_view name) {
  if (name == "linear" || name == "bilinear") return SampleMode::kLinear;
  if (name == "cubic" || name == "bicubic") return SampleMode::kCubic;
  require(name == "nearest", ErrorCode::kInvalidGraph, "mode '", name,
          "' is unknown; it must be linear, nearest or cubic");
  return SampleMode::kNearest;
}

Padding padding_of(std::string_view name) {
  if (name == "zeros") return Padding::kZeros;
  if (name == "border") return Padding::kBorder;
  require(name == "reflection", ErrorCode::kInvalidGraph, "padding_mode '", name,
          "' is unknown; it must be zeros, border or reflection");
  return Padding::kReflection;
}

/** `x` folded back into [low, high] at both ends. */
double reflected(double x, double low, double high) {
  double range = high - low;
  if (range <= 0) return low;
  double beyond = std::fmod(std::abs(x - low), 2 * range);
  return low + (beyond <= range ? beyond : 2 * range - beyond);
}

/** Along one dimension: up to four positions and their weights; -1 stands for a zero outside. */
struct Taps {
  int64_t positions[4];
  double weights[4];
  int count;
};

/** How coordinates in [-1, 1] become positions along one dimension of `size`. */
class AxisSampler {
 public:
  AxisSampler(int64_t size, SampleMode mode, Padding padding, bool align_corners)
      : size_(size), mode_(mode), padding_(padding), align_corners_(align_corners) {
    low_ = align_corners ? 0 : -0.5;
    high_ = static_cast<double>(size) - (align_corners ? 1 : 0.5);
  }

  /** In linear mode and with a size beyond 1: the taps, which lie side by side. */
  template <class C>
  kernels::Neighbours<C> neighbours(double coordinate) const {
    double x = pixels(coordinate);
    if (x >= 0 && x < static_cast<double>(size_ - 1) && x < INT32_MAX) {
      auto left = static_cast<int32_t>(x);
      double ratio = x - left;
      return {left, {static_cast<C>(1 - ratio), static_cast<C>(ratio)}};
    }
    return kernels::moved_inside(side_by_side<C>(taps(coordinate)), size_);
  }

  Taps taps(double coordinate) const {
    double x = place(coordinate);
    Taps taps;
    if (mode_ == SampleMode::kNearest) {
      taps = {{position(std::nearbyint(x))}, {1}, 1};
      return taps;
    }
    auto whole = static_cast<double>(static_cast<int64_t>(x));  // |x| is far below 2^63
    double left = whole > x ? whole - 1 : whole, ratio = x - left;
    taps.count = mode_ == SampleMode::kLinear ? 2 : 4;
    for (int i = 0; i < taps.count; ++i) {
      int step = mode_ == SampleMode::kLinear ? i : i - 1;
      taps.positions[i] = position(left + step);
      taps.weights[i] = mode_ == SampleMode::kLinear ? (i == 0 ? 1 - ratio : ratio) : cubic(ratio - step);
    }
    return taps;
  }

 private:
  double pixels(double coordinate) const {
    auto size = static_cast<double>(size_);
    return align_corners_ ? (coordinate + 1) / 2 * (size - 1) : ((coordinate + 1) * size - 1) / 2;
  }

  /** Two taps as neighbours, the left of which has a weight: one is outside, or they are the same, or next to each
      other. */
  template <class C>
  static kernels::Neighbours<C> side_by_side(const Taps& t) {
    bool left = t.positions[0] >= 0 && t.weights[0] != 0, right = t.positions[1] >= 0 && t.weights[1] != 0;
    if (left && right && t.positions[0] != t.positions[1]) {
      return {t.positions[0], {static_cast<C>(t.weights[0]), static_cast<C>(t.weights[1])}};
    }
    double weight = (left ? t.weights[0] : 0) + (right ? t.weights[1] : 0);
    return {std::max<int64_t>(t.positions[left ? 0 : 1], 0), {static_cast<C>(weight), C{}}};
  }

  /** The coordinate in pixels, brought inside where the padding says so. */
  double place(double coordinate) const {
    constexpr double kFar = 0x1p53;  // beyond any side
    auto size = static_cast<double>(size_);
    double x = pixels(coordinate);
    if (!(std::abs(x) < kFar)) x = std::isnan(x) || x < 0 ? -kFar : kFar;
    if (mode_ == SampleMode::kNearest) x = std::nearbyint(x);
    if (x >= low_ && x <= high_) return x;
    if (padding_ == Padding::kReflection) return reflected(x, low_, high_);
    // The taps of the cubic mode are brought to the border one by one, which leaves their weights as they are.
    return padding_ == Padding::kBorder && mode_ != SampleMode::kCubic ? std::clamp(x, 0.0, size - 1) : x;
  }

  int64_t position(double x) const {
    if (x >= 0 && x < static_cast<double>(size_)) return static_cast<int64_t>(x);
    if (padding_ == Padding::kZeros) return -1;
    double inside = padding_ == Padding::kReflection ? reflected(x, low_, high_) : x;
    return static_cast<int64_t>(std::clamp(inside, 0.0, static_cast<double>(size_ - 1)));
  }

  static double cubic(double distance) {
    constexpr double a = -0.75;
    double x = std::abs(distance);
    if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0;
  }

  int64_t size_;
  SampleMode mode_;
  Padding padding_;
  bool align_corners_;
  double low_, high_;
};

/** The input elements that one grid point mixes: offsets within a channel, and weights. */
template <class C>
struct Mix {
  std::vector<int64_t> offsets;
  std::vector<C> weights;

  void clear() {
    offsets.assign(1, 0);
    weights.assign(1, C{1});
  }
  /** Multiplies by the taps of one more dimension, `stride` elements apart. */
  void add(const Taps& taps, int64_t stride) {
    more_offsets.clear();
    more_weights.clear();
    for (size_t i = 0; i < offsets.size(); ++i) {
      for (int t = 0; t < taps.count; ++t) {
        if (taps.positions[t] < 0 || taps.weights[t] == 0) continue;
        more_offsets.push_back(offsets[i] + taps.positions[t] * stride);
        more_weights.push_back(weights[i] * static_cast<C>(taps.weights[t]));
      }
    }
    offsets.swap(more_offsets);
    weights.swap(more_weights);
  }

 private:
  std::vector<int64_t> more_offsets;
  std::vector<C> more_weights;
};

template <class C, class T>
C number(T value) {
  if constexpr (kHalfTypes.contains(kTypeOf<T>)) {
    return static_cast<float>(value);
  } else {
    return static_cast<C>(value);
  }
}

class GridSample : public OpKernel {
 public:
  explicit GridSample(const KernelInfo& info)
      : mode_(mode_of(info.node().string_or("mode", "linear"))),
        padding_(padding_of(info.node().string_or("padding_mode", "zeros"))),
        align_corners_(info.node().int_or("align_corners", 0) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    const Tensor& grid = context.input(1);
    Tensor& output = context.output(0);
    if (output.element_count() == 0) return;
    require(input.element_count() > 0, ErrorCode::kInvalidArgument, "the input of shape ", input.shape(),
            " is empty, so nothing can be sampled");
    auto points = context.scratch<double>(grid.element_count());
    dispatch<kFloatTypes>(grid.type(), [&]<class G>(TypeTag<G>) {
      std::ranges::transform(grid.span<G>(), points.begin(), [](G value) { return number<double>(value); });
    });
    dispatch<kNumericTypes>(input.type(), [&]<class T>(TypeTag<T>) { sample<T>(context, input, points, output); });
  }

 private:
  template <class T>
  void sample(KernelContext& context, const Tensor& input, std::span<const double> points, Tensor& output) const {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const Shape& shape = input.shape();
    size_t spatial = shape.rank() - 2;
    int64_t channels = shape[1], plane = shape.count_from(2), out_plane = output.shape().count_from(2);
    std::vector<AxisSampler> samplers;
    for (size_t i = 0; i < spatial; ++i) samplers.emplace_back(shape[i + 2], mode_, padding_, align_corners_);
    Dims strides = row_strides(shape);
    const T* from = input.data<T>();
    T* to = output.mutable_data<T>();
    if (spatial == 2 && mode_ == SampleMode::kLinear && shape[2] > 1 && shape[3] > 1) {
      return sample_images<T, C>(context.threads(), samplers.data(), shape, out_plane, points.data(), from, to);
    }
    const int64_t least = kernels::least_rows(channels, kernels::kScalarNs);
    context.threads().parallel_for(shape[0] * out_plane, least, [&](int64_t begin, int64_t end) {
      Mix<C> mix;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = i / out_plane;
        const T* image = from + batch * channels * plane;
        T* place = to + batch * channels * out_plane + i % out_plane;
        const double* point = points.data() + i * static_cast<int64_t>(spatial);
        mix.clear();
        for (size_t a = 0; a < spatial; ++a) mix.add(samplers[a].taps(point[spatial - 1 - a]), strides[a + 2]);
        for (int64_t c = 0; c < channels; ++c) place[c * out_plane] = mixed<T>(mix, image + c * plane);
      }
    });
  }

  /** Images of at least 2 x 2 pixels between which is linear: many points at once, channel by channel. */
  template <class T, class C>
  static void sample_images(ThreadPool& threads, const AxisSampler* samplers, const Shape& shape, int64_t out_plane,
                            const double* points, const T* from, T* to) {
    constexpr int64_t most = kernels::PlaneMixes<C>::kMost;
    const int64_t channels = shape[1], plane = shape.count_from(2), blocks = (out_plane + most - 1) / most;
    const int64_t least = kernels::least_rows(channels * most, kernels::kScalarNs);
    threads.parallel_for(shape[0] * blocks, least, [&](int64_t begin, int64_t end) {
      kernels::PlaneMixes<C> mixes;
      mixes.width = shape[3];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t batch = i / blocks, first = i % blocks * most;
        const double* point = points + 2 * (batch * out_plane + first);
        mixes.count = std::min(most, out_plane - first);
        for (int64_t p = 0; p < mixes.count; ++p, point += 2) {
          mixes.set(p, samplers[0].neighbours<C>(point[1]), samplers[1].neighbours<C>(point[0]));
        }
        for (int64_t c = batch * channels; c < (batch + 1) * channels; ++c) {
          write(mixes, from + c * plane, to + c * out_plane + first);
        }
      }
    });
  }

  static void write(const kernels::PlaneMixes<float>& mixes, const float* image, float* to) {
    kernels::mix_plane(mixes, image, to);
  }
  template <class T, class C>
  static void write(const kernels::PlaneMixes<C>& mixes, const T* image, T* to) {
    for (int64_t i = 0; i < mixes.count; ++i) {
      to[i] = rounded<T>(kernels::mix_one(mixes, i, image, [](T value) { return number<C>(value); }));
    }
  }

  template <class T, class C>
  static T mixed(const Mix<C>& mix, const T* image) {
    C sum = 0;
    const int64_t* at = mix.offsets.data();
    const C* weight = mix.weights.data();
    for (size_t i = 0; i < mix.offsets.size(); ++i) sum += number<C>(image[at[i]]) * weight[i];
    return rounded<T>(sum);
  }

  template <class T, class C>
  static T rounded(C sum) {
    if constexpr (std::is_integral_v<T>) {
      C low = static_cast<C>(std::numeric_limits<T>::min()), high = static_cast<C>(std::numeric_limits<T>::max());
      if (!(sum > low)) return std::numeric_limits<T>::min();
      return sum >= high ? std::numeric_limits<T>::max() : static_cast<T>(sum);
    } else {
      return static_cast<T>(sum);
    }
  }

  SampleMode mode_;
  Padding padding_;
  bool align_corners_;
};

class AffineGrid : public OpKernel {
 public:
  explicit AffineGrid(const KernelInfo& info) : align_corners_(info.node().int_or("align_corners", 0) != 0) {}
  void compute(KernelContext& context) const override {
    const Tensor& theta = context.input(0);
    Tensor& output = context.output(0);
    dispatch<kFloatTypes>(theta.type(), [&]<class T>(TypeTag<T>) {
      using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
      const Shape& shape = output.shape();
      size_t spatial = shape.rank() - 2;
      int64_t points = shape.count_between(1, spatial + 1), width = static_cast<int64_t>(spatial) + 1;
      const T* maps = theta.data<T>();
      T* to = output.mutable_data<T>();
      if constexpr (std::is_same_v<T, C>) {
        if (spatial == 2) return plane(context, shape, maps, to);
      }
      const int64_t least = kernels::least_items(kernels::kFunctionNs);
      context.threads().parallel_for(shape[0] * points, least, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          C at[8] = {};
          int64_t rest = i % points;
          for (size_t a = spatial; a-- > 0; rest /= shape[a + 1])
            at[spatial - 1 - a] = base<C>(rest % shape[a + 1], shape[a + 1]);
          const T* map = maps + i / points * width * (width - 1);
          for (int64_t r = 0; r < width - 1; ++r) {
            C sum = number<C>(map[r * width + width - 1]);
            for (int64_t k = 0; k < width - 1; ++k) sum += number<C>(map[r * width + k]) * at[k];
            to[i * (width - 1) + r] = static_cast<T>(sum);
          }
        }
      });
    });
  }

 private:
  /** The grid of images; coordinates along a line are found once. */
  template <class C>
  void plane(KernelContext& context, const Shape& shape, const C* maps, C* to) const {
    const int64_t height = shape[1], width = shape[2];
    auto across = context.scratch<C>(width);
    for (int64_t x = 0; x < width; ++x) across[static_cast<size_t>(x)] = base<C>(x, width);
    const int64_t least = kernels::least_rows(width, kernels::kScalarNs);
    context.threads().parallel_for(shape[0] * height, least, [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const C* map = maps + line / height * 6;
        const C down = base<C>(line % height, height);
        C* out = to + line * width * 2;
        for (int64_t x = 0; x < width; ++x) {
          const C at = across[static_cast<size_t>(x)];
          out[2 * x] = map[2] + map[0] * at + map[1] * down;
          out[2 * x + 1] = map[5] + map[3] * at + map[4] * down;
        }
      }
    });
  }

  template <class C>
  C base(int64_t i, int64_t size) const {
    if (align_corners_) return size > 1 ? C(-1) + C(2) * static_cast<C>(i) / static_cast<C>(size - 1) : C(0);
    return (C(2) * static_cast<C>(i) + 1) / static_cast<C>(size) - 1;
  }

  bool align_corners_;
};

constexpr KernelRow kRows[] = {
    {"", "GridSample", 16, kLatest, make_kernel<GridSample>},
    {"com.microsoft", "GridSample", 1, kLatest, make_kernel<GridSample>},
    {"", "AffineGrid", 20, kLatest, make_kernel<AffineGrid>},
};

}  // namespace

extern const KernelTable grid_sample_rows;
const KernelTable grid_sample_rows(kRows);

}  // namespace ortolan::cpu::onnx
