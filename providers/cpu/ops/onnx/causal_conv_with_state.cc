// CausalConvWithState: past and present positions of a channel side by side, or of all channels where they come last.
#include <algorithm>

#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

void check(const Tensor& tensor, const char* what, const Shape& wanted) {
  require(tensor.shape() == wanted, ErrorCode::kInvalidArgument, what, " has shape ", tensor.shape(), "; it needs ",
          wanted);
}

class CausalConvWithState final : public OpKernel {
 public:
  explicit CausalConvWithState(const KernelInfo& info)
      : activated_(info.node().string_or("activation", "none") != "none") {
    if (info.node().domain.empty()) return;
    channels_last_ = info.node().int_or("channels_last", 0) != 0;
    window_ = info.node().int_or("state_window", 0);
    dilation_ = info.node().int_or("dilation", 1);
  }

  void compute(KernelContext& context) const override {
    OutputAs<float> y(context, 0);
    std::optional<OutputAs<float>> present;
    if (context.has_output(1)) present.emplace(context, 1);
    Run r = sizes(context);
    r.x = read_input<float>(context, 0), r.weights = read_input<float>(context, 1);
    r.bias = read_input<float>(context, 2), r.past = read_input<float>(context, 3);
    if (r.past && window_ > 0) r.past += (window_ - 1) * r.state_count();
    r.y = y.data(), r.present = present ? present->data() : nullptr;
    int64_t work = std::max<int64_t>(1, (r.length + 8) * r.taps);
    if (channels_last_) {
      const int64_t least = kernels::least_rows(work * r.channels, kernels::kElementNs);
      context.threads().parallel_for(r.batch, least, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; ++b) positions(r, b);
      });
    } else {
      context.threads().parallel_for(r.batch * r.channels, kernels::least_rows(work, kernels::kElementNs),
                                     [&](int64_t begin, int64_t end) { rows(r, begin, end); });
    }
    y.finish();
    if (present) present->finish();
  }

 private:
  struct Run {
    int64_t batch, channels, length, taps, carried;
    const float *x, *weights, *bias, *past;
    float *y, *present;
    int64_t state_count() const { return batch * channels * carried; }
  };

  Run sizes(const KernelContext& context) const {
    const Shape &x = context.input(0).shape(), &w = context.input(1).shape();
    require(x.rank() == 3 || (channels_last_ && x.rank() > 3), ErrorCode::kInvalidArgument, "the input has shape ", x,
            "; it needs rank 3");
    int64_t channels = channels_last_ ? x.count_from(2) : x[1];
    require(w.rank() == 3 && w[0] == channels && w[1] == 1 && w[2] > 0, ErrorCode::kInvalidArgument, "weights ", w,
            " do not fit input ", x, "; they need shape [", channels, ",1,k]");
    int64_t carried = checked_mul(w[2] - 1, dilation_);
    if (const Tensor* bias = context.input_if(2)) check(*bias, "bias", {channels});
    Shape state = x;
    state[channels_last_ ? 1 : 2] = carried;
    if (window_ > 0) state.insert(state.begin(), window_);
    if (const Tensor* past = context.input_if(3)) check(*past, "past_state", state);
    return {x[0],    channels, x[channels_last_ ? 1 : 2], w[2], carried, nullptr, nullptr, nullptr, nullptr,
            nullptr, nullptr};
  }

  /** Writes what is carried behind each of the last positions: the part of `whole` (past, then present positions, each
      of `width` numbers) that ends there. `state` is the place in the first state of the window. */
  void keep(const Run& r, const float* whole, int64_t width, float* state) const {
    int64_t kept = std::max<int64_t>(window_, 1);
    for (int64_t j = 0; j < kept; ++j, state += r.state_count()) {
      int64_t first = r.length - (kept - 1 - j);  // positions of this call that the state has seen
      if (first <= 0 && j < kept - 1) {
        std::fill_n(state, r.carried * width, 0.0f);
      } else {
        std::copy_n(whole + first * width, r.carried * width, state);
      }
    }
  }

  void rows(const Run& r, int64_t begin, int64_t end) const {
    auto whole = base::polled_vector<float>(r.carried + r.length);
    for (int64_t row = begin; row < end; ++row) {
      if (r.past) std::copy_n(r.past + row * r.carried, r.carried, whole.data());
      std::copy_n(r.x + row * r.length, r.length, whole.data() + r.carried);
      int64_t channel = row % r.channels;
      convolve(r, whole.data(), r.weights + channel * r.taps, r.bias ? r.bias[channel] : 0.0f, r.y + row * r.length);
      if (r.present) keep(r, whole.data(), 1, r.present + row * r.carried);
    }
    float* y = r.y + begin * r.length;
    if (activated_) kernels::unary({kernels::UnaryOp::kSilu}, y, y, (end - begin) * r.length);
  }

  void convolve(const Run& r, const float* x, const float* weights, float bias, float* y) const {
    if (r.length < 16) {
      for (int64_t t = 0; t < r.length; ++t) {
        float sum = bias;
        for (int64_t tap = 0; tap < r.taps; ++tap) sum += weights[tap] * x[t + tap * dilation_];
        y[t] = sum;
      }
      return;
    }
    constexpr int64_t kBlock = 2048;
    base::TerminatePoll poll;
    for (int64_t t = 0; t < r.length; t += kBlock) {
      poll.work(kBlock * r.taps / 4);
      int64_t count = std::min(kBlock, r.length - t);
      kernels::scale_shift(x + t, weights[0], bias, y + t, count);
      for (int64_t tap = 1; tap < r.taps; ++tap) {
        kernels::accumulate_scaled(x + t + tap * dilation_, weights[tap], y + t, count);
      }
    }
  }

  /** One sequence with the channels last: each tap is a row of factors, one a channel. */
  void positions(const Run& r, int64_t b) const {
    int64_t n = r.channels, in = r.length * n, before = r.carried * n;
    std::vector<float> whole(static_cast<size_t>(before + in)), factors(static_cast<size_t>(r.taps * n));
    if (r.past) std::copy_n(r.past + b * before, before, whole.data());
    std::copy_n(r.x + b * in, in, whole.data() + before);
    for (int64_t i = 0; i < r.taps * n; ++i) factors[static_cast<size_t>(i)] = r.weights[i % n * r.taps + i / n];
    base::TerminatePoll poll;
    for (int64_t t = 0; t < r.length; ++t) {
      poll.work(16 + n * r.taps / 4);
      float* y = r.y + b * in + t * n;
      if (r.bias) std::copy_n(r.bias, n, y);
      if (!r.bias) std::fill_n(y, n, 0.0f);
      for (int64_t tap = 0; tap < r.taps; ++tap) {
        kernels::multiply_add(whole.data() + (t + tap * dilation_) * n, factors.data() + tap * n, y, y, n);
      }
    }
    if (activated_) kernels::unary({kernels::UnaryOp::kSilu}, r.y + b * in, r.y + b * in, in);
    if (r.present) keep(r, whole.data(), n, r.present + b * before);
  }

  bool activated_, channels_last_ = false;
  int64_t window_ = 0, dilation_ = 1;
};

constexpr KernelRow kRows[] = {
    {"", "CausalConvWithState", 27, kLatest, make_kernel<CausalConvWithState>},
    {"com.microsoft", "CausalConvWithState", 1, kLatest, make_kernel<CausalConvWithState>},
};

}  // namespace

extern const KernelTable causal_conv_with_state_rows;
constinit const KernelTable causal_conv_with_state_rows(kRows);

}  // namespace ortolan::cpu::onnx
