// InstanceNormalization, GroupNormalization and MeanVarianceNormalization. 16-bit floats compute in float.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/elements/row_normalization.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "ops/shape_rules.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

void scale_rows(ThreadPool& pool, const float* x, int64_t rows, int64_t columns, const float* scale, const float* shift,
                float* y) {
  kernels::scale_channels(&pool, x, 1, rows, columns, scale, shift, y);
}

void scale_rows(ThreadPool& pool, const double* x, int64_t rows, int64_t columns, const double* scale,
                const double* shift, double* y) {
  pool.parallel_for(rows, kernels::least_rows(columns, kernels::kActivationNs), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      base::polled_loop(columns, [&](int64_t first, int64_t last) {
        for (int64_t i = row * columns + first; i < row * columns + last; ++i) y[i] = x[i] * scale[row] + shift[row];
      });
    }
  });
}

/** Moments over `groups` equal parts of each image's channels, then scale and shift of each channel. */
class GroupedNormalization : public OpKernel {
 public:
  /** num_groups 0: every channel is a group of its own. */
  GroupedNormalization(const KernelInfo& info, int64_t groups)
      : groups_(groups), epsilon_(info.node().float_or("epsilon", 1e-5f)) {}

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  template <class C>
  void run(KernelContext& context) const {
    const Shape& shape = context.input(0).shape();
    require(shape.rank() >= 2, ErrorCode::kInvalidArgument, "input ", shape, " must have rank 2 or more");
    int64_t channels = shape[1], groups = groups_ ? groups_ : channels;
    OutputAs<C> y(context, 0);
    if (shape.element_count() == 0) return y.finish();
    require(channels % groups == 0, ErrorCode::kInvalidArgument, "input ", shape, " has ", channels,
            " channels, not a multiple of num_groups ", groups);
    int64_t parts = shape[0] * groups, inner = shape.count_from(2), each = channels / groups;
    const C* x = read_input<C>(context, 0);
    C* moments = context.scratch<C>(checked_mul(parts, int64_t{2})).data();
    row_moments(&context.threads(), x, parts, each * inner, moments, moments + parts);
    C* factors = context.scratch<C>(checked_mul(shape[0] * channels, int64_t{2})).data();
    C* shifts = factors + shape[0] * channels;
    const Parameter<C> scale(context, 1, channels, groups), bias(context, 2, channels, groups);
    for (int64_t row = 0; row < shape[0] * channels; ++row) {
      int64_t part = row / each, channel = row % channels;
      C inverse = 1 / std::sqrt(moments[parts + part] + static_cast<C>(epsilon_));
      factors[row] = scale[channel] * inverse;
      shifts[row] = bias[channel] - moments[part] * factors[row];
    }
    scale_rows(context.threads(), x, shape[0] * channels, inner, factors, shifts, y.data());
    y.finish();
  }

  /** One value a channel, or one a group. */
  template <class C>
  struct Parameter {
    Parameter(KernelContext& context, size_t i, int64_t channels, int64_t groups) : data(read_input<C>(context, i)) {
      int64_t count = context.input(i).element_count();
      require(count == channels || count == groups, ErrorCode::kInvalidArgument, "input ", i, " has shape ",
              context.input(i).shape(), "; it needs ", channels, " elements, one for each channel");
      repeat = channels / count;
    }
    C operator[](int64_t channel) const { return data[channel / repeat]; }
    const C* data;
    int64_t repeat;
  };

  int64_t groups_;
  float epsilon_;
};

class InstanceNormalization final : public GroupedNormalization {
 public:
  explicit InstanceNormalization(const KernelInfo& info) : GroupedNormalization(info, 0) {}
};

class GroupNormalization final : public GroupedNormalization {
 public:
  explicit GroupNormalization(const KernelInfo& info) : GroupedNormalization(info, info.node().int_of("num_groups")) {
    int64_t groups = info.node().int_of("num_groups");
    require(groups > 0, ErrorCode::kInvalidGraph, "num_groups is ", groups, "; it must be positive");
  }
};

/** (x - mean) / sqrt(variance) over the axes, with 1e-9 added to the standard deviation as the specification says. */
class MeanVarianceNormalization final : public OpKernel {
 public:
  explicit MeanVarianceNormalization(const KernelInfo& info) : axes_(info.node().ints("axes")) {
    if (!info.node().has_attribute("axes")) axes_ = {0, 2, 3};
  }

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  /** Runs of neighbouring elements that are averaged together, and for each run the number of its set of runs. */
  struct Runs {
    int64_t length = 1;
    int64_t sets = 1;
    std::vector<int64_t> set;
  };
  Runs runs(const Shape& shape) const {
    std::vector<bool> averaged(shape.rank());
    for (size_t axis : ops::checked_axes(axes_, shape.rank())) averaged[axis] = true;
    Runs result;
    size_t rank = shape.rank();
    while (rank > 0 && averaged[rank - 1]) result.length *= shape[--rank];
    InlinedVector<int64_t, 6> strides(rank, 0);
    for (size_t d = rank; d-- > 0;) {
      if (averaged[d]) continue;
      strides[d] = result.sets;
      result.sets *= shape[d];
    }
    result.set.resize(static_cast<size_t>(shape.count_to(rank)));
    for (size_t run = 0; run < result.set.size(); ++run) {
      auto rest = static_cast<int64_t>(run);
      for (size_t d = rank; d-- > 0; rest /= shape[d]) result.set[run] += rest % shape[d] * strides[d];
    }
    return result;
  }

  template <class C>
  void run(KernelContext& context) const {
    OutputAs<C> y(context, 0);
    const C* x = read_input<C>(context, 0);
    if (y.shape().element_count() == 0) return y.finish();
    const Runs runs = this->runs(y.shape());
    auto count = static_cast<int64_t>(runs.set.size());
    C* means = context.scratch<C>(checked_mul(count, int64_t{2})).data();
    C* variances = means + count;
    row_moments(&context.threads(), x, count, runs.length, means, variances);
    const double each = static_cast<double>(count / runs.sets);
    std::vector<double> mean(runs.sets), factor(runs.sets);
    for (int64_t i = 0; i < count; ++i) mean[runs.set[i]] += means[i] / each;
    for (int64_t i = 0; i < count; ++i) {
      const double apart = means[i] - mean[runs.set[i]];
      factor[runs.set[i]] += (variances[i] + apart * apart) / each;
    }
    for (double& f : factor) f = 1 / (std::sqrt(f) + 1e-9);
    const int64_t least = kernels::least_rows(runs.length, kernels::kActivationNs);
    context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto shift = static_cast<C>(mean[runs.set[i]]), scale = static_cast<C>(factor[runs.set[i]]);
        const C* from = x + i * runs.length;
        C* to = y.data() + i * runs.length;
        base::polled_loop(runs.length, [&](int64_t first, int64_t last) {
          for (int64_t j = first; j < last; ++j) to[j] = (from[j] - shift) * scale;
        });
      }
    });
    y.finish();
  }

  std::vector<int64_t> axes_;
};

constexpr KernelRow kRows[] = {
    {"", "InstanceNormalization", 1, kLatest, make_kernel<InstanceNormalization>, {{0, kFloatTypes}}},
    {"", "GroupNormalization", 18, kLatest, make_kernel<GroupNormalization>, {{0, kFloatTypes}}},
    {"", "MeanVarianceNormalization", 9, kLatest, make_kernel<MeanVarianceNormalization>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable instance_normalization_rows;
const KernelTable instance_normalization_rows(kRows);
}  // namespace ortolan::cpu::onnx
