// BatchNormalization. Inference is one multiply-add a channel; training also gives the batch's statistics. Training is
// asked for by training_mode from opset 14 on, before that by wanting more outputs than Y.
#include <cmath>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** The input as [outer][channels][inner]. */
struct Layout {
  int64_t outer = 1, channels = 1, inner = 1;
};

void scale_channels(ThreadPool& pool, const float* x, const Layout& l, const float* scale, const float* shift,
                    float* y) {
  kernels::scale_channels(&pool, x, l.outer, l.channels, l.inner, scale, shift, y);
}

void scale_channels(ThreadPool& pool, const double* x, const Layout& l, const double* scale, const double* shift,
                    double* y) {
  const int64_t least = kernels::least_rows(l.inner, kernels::kActivationNs);
  pool.parallel_for(l.outer * l.channels, least, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      double a = scale[row % l.channels], b = shift[row % l.channels];
      base::polled_loop(l.inner, [&](int64_t first, int64_t last) {
        for (int64_t i = row * l.inner + first; i < row * l.inner + last; ++i) y[i] = x[i] * a + b;
      });
    }
  });
}

/** Mean and variance (of the population) of every channel, in double. */
template <class C>
void channel_moments(ThreadPool& pool, const C* x, const Layout& l, C* mean, C* variance) {
  double count = static_cast<double>(l.outer * l.inner);
  const int64_t least = kernels::least_rows(l.outer * l.inner, kernels::kScalarNs);
  pool.parallel_for(l.channels, least, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      auto total = [&](auto&& term) {
        double sum = 0;
        base::TerminatePoll poll;
        for (int64_t o = 0; o < l.outer; ++o) {
          const C* row = x + (o * l.channels + c) * l.inner;
          base::polled_loop(poll, l.inner, [&](int64_t first, int64_t last) {
            for (int64_t i = first; i < last; ++i) sum += term(row[i]);
          });
        }
        return sum / count;
      };
      double m = total([](C v) { return double(v); });
      mean[c] = static_cast<C>(m);
      variance[c] = static_cast<C>(total([m](C v) { return (v - m) * (v - m); }));
    }
  });
}

class BatchNormalization final : public OpKernel {
 public:
  explicit BatchNormalization(const KernelInfo& info)
      : epsilon_(info.node().float_or("epsilon", 1e-5f)),
        momentum_(info.node().float_or("momentum", 0.9f)),
        spatial_(info.opset() >= 9 || info.node().int_or("spatial", 1) != 0),
        modern_(info.opset() >= 14) {
    bool more = info.has_output(1) || info.has_output(2) || info.has_output(3) || info.has_output(4);
    bool test = info.opset() < 7 && info.node().int_or("is_test", 0) != 0;
    training_ = modern_ ? info.node().int_or("training_mode", 0) != 0 : more && !test;
    require(training_ || !more, ErrorCode::kInvalidGraph,
            "only Y can be an output in inference; set training_mode to 1 or remove the other outputs");
  }

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  Layout layout(const Shape& x) const {
    if (x.rank() < 2) return {x.element_count(), 1, 1};
    return spatial_ ? Layout{x[0], x[1], x.count_from(2)} : Layout{x[0], x.count_from(1), 1};
  }
  template <class C>
  void run(KernelContext& context) const;
  template <class C>
  void write_statistics(KernelContext& context, int64_t channels, const C* mean, const C* variance) const;

  float epsilon_, momentum_;
  bool spatial_, modern_, training_;
};

template <class C>
void BatchNormalization::run(KernelContext& context) const {
  Layout l = layout(context.input(0).shape());
  for (size_t i = 1; i < 5; ++i) {
    require(context.input(i).element_count() == l.channels, ErrorCode::kInvalidArgument, "input ", i, " has shape ",
            context.input(i).shape(), "; it needs ", l.channels, " elements, one for each channel");
  }
  const C* x = read_input<C>(context, 0);
  const C* mean = read_input<C>(context, 3);
  const C* variance = read_input<C>(context, 4);
  auto work = context.scratch<C>(checked_mul(l.channels, int64_t{4}));
  C *factor = work.data(), *shift = factor + l.channels;
  if (training_) {
    C *batch_mean = shift + l.channels, *batch_variance = batch_mean + l.channels;
    channel_moments(context.threads(), x, l, batch_mean, batch_variance);
    write_statistics(context, l.channels, batch_mean, batch_variance);
    mean = batch_mean, variance = batch_variance;
  }
  const C* scale = read_input<C>(context, 1);
  const C* bias = read_input<C>(context, 2);
  for (int64_t c = 0; c < l.channels; ++c) {
    factor[c] = scale[c] / std::sqrt(variance[c] + static_cast<C>(epsilon_));
    shift[c] = bias[c] - mean[c] * factor[c];
  }
  OutputAs<C> y(context, 0);
  if (y.shape().element_count() > 0) scale_channels(context.threads(), x, l, factor, shift, y.data());
  y.finish();
}

/** Running statistics; before opset 14 the batch's own too. */
template <class C>
void BatchNormalization::write_statistics(KernelContext& context, int64_t channels, const C* mean,
                                          const C* variance) const {
  for (size_t i = 1; i < 5; ++i) {
    if (!context.has_output(i)) continue;
    const C* batch = i % 2 ? mean : variance;
    const C* running = read_input<C>(context, i % 2 ? 3 : 4);
    OutputAs<C> out(context, i);
    C keep = i < 3 ? static_cast<C>(momentum_) : C(0);
    for (int64_t c = 0; c < channels; ++c) out.data()[c] = (i < 3 ? running[c] * keep : C(0)) + batch[c] * (1 - keep);
    out.finish();
  }
}

constexpr KernelRow kRows[] = {
    {"", "BatchNormalization", 1, kLatest, make_kernel<BatchNormalization>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable batch_normalization_rows;
const KernelTable batch_normalization_rows(kRows);
}  // namespace ortolan::cpu::onnx
