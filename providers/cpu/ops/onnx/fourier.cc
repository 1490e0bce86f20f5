// DFT and STFT. Sums run in double whatever the type.
#include "cpu/elements/fourier.h"
#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/checked_indices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

using Complex = std::complex<double>;

/** Element `i` of a real (parts 1) or complex (parts 2) signal. */
template <class C>
Complex read(const C* x, int64_t i, int64_t parts) {
  return parts == 2 ? Complex(x[2 * i], x[2 * i + 1]) : Complex(x[i], 0);
}

class Dft final : public OpKernel {
 public:
  explicit Dft(const KernelInfo& info)
      : inverse_(info.node().int_or("inverse", 0) != 0),
        onesided_(info.node().int_or("onesided", 0) != 0),
        axis_input_(info.opset() >= 20),
        axis_(info.opset() >= 20 ? -2 : info.node().int_or("axis", 1)) {}

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  /** Where the lines of the axis lie: line l of [outer][axis][inner] starts at element offset(l). */
  struct Lines {
    int64_t size, inner;
    int64_t offset(int64_t line) const { return line / inner * size * inner + line % inner; }
  };

  template <class C>
  void run(KernelContext& context) const {
    const Shape& shape = context.input(0).shape();
    int64_t wanted = axis_;
    if (const Tensor* given = axis_input_ ? context.input_if(2) : nullptr) wanted = only_int64(*given, "axis");
    size_t axis = checked_axis(wanted, shape.rank());
    OutputAs<C> y(context, 0);
    if (y.shape().element_count() == 0) return;
    int64_t out_parts = y.shape().back(), parts = shape.back();
    bool real_result = onesided_ && inverse_;
    int64_t length = y.shape()[axis];
    if (onesided_ && !inverse_)
      length = context.has_input(1) ? only_int64(context.input(1), "dft_length") : shape[axis];
    require(length > 0, ErrorCode::kInvalidArgument, "input ", shape, " has no elements along axis ", wanted);
    int64_t inner = shape.count_between(axis + 1, shape.rank() - 1), outer = shape.count_to(axis);
    const Lines from{shape[axis], inner}, to{y.shape()[axis], inner};
    const C* x = read_input<C>(context, 0);
    Fourier fourier(length);
    double scale = inverse_ ? 1.0 / static_cast<double>(length) : 1.0;
    const int64_t least = kernels::least_rows(length, kernels::kFunctionNs);
    context.threads().parallel_for(outer * inner, least, [&](int64_t begin, int64_t end) {
      auto line = base::polled_vector<Complex>(length);
      for (int64_t l = begin; l < end; ++l) {
        load(x, from, l, parts, real_result, line);
        fourier.transform(line.data(), inverse_);
        base::polled_loop(to.size, [&](int64_t first, int64_t last) {
          for (int64_t i = first; i < last; ++i) {
            int64_t at = (to.offset(l) + i * inner) * out_parts;
            y.data()[at] = static_cast<C>(line[i].real() * scale);
            if (out_parts == 2) y.data()[at + 1] = static_cast<C>(line[i].imag() * scale);
          }
        });
      }
    });
    y.finish();
  }

  /** One line, cut or filled with zeros to its length; a half spectrum is completed by its mirror image. */
  template <class C>
  static void load(const C* x, const Lines& from, int64_t line, int64_t parts, bool mirror, std::vector<Complex>& out) {
    int64_t length = static_cast<int64_t>(out.size());
    int64_t given = std::min(from.size, mirror ? length / 2 + 1 : length);
    base::polled_loop(length, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = i < given ? read(x, from.offset(line) + i * from.inner, parts) : Complex(0, 0);
      }
    });
    if (!mirror) return;
    for (int64_t i = length / 2 + 1; i < length; ++i) out[i] = std::conj(out[length - i]);
    out[0] = out[0].real();
    if (length % 2 == 0) out[length / 2] = out[length / 2].real();
  }

  bool inverse_, onesided_, axis_input_;
  int64_t axis_;
};

class Stft final : public OpKernel {
 public:
  explicit Stft(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  template <class C>
  static void run(KernelContext& context) {
    const Shape& signal = context.input(0).shape();
    OutputAs<C> y(context, 0);
    int64_t parts = signal.rank() == 3 ? signal[2] : 1;
    require(parts == 1 || parts == 2, ErrorCode::kInvalidArgument, "signal ", signal,
            " must end in a dimension of 1 (real) or 2 (complex)");
    int64_t step = only_int64(context.input(1), "frame_step");
    const Tensor* window = context.input_if(2);
    int64_t length = context.has_input(3) ? only_int64(context.input(3), "frame_length") : window->element_count();
    require(!window || window->element_count() <= length, ErrorCode::kInvalidArgument, "the window has ",
            window ? window->element_count() : 0, " values, more than frame_length ", length);
    if (y.shape().element_count() == 0) return;
    int64_t frames = y.shape()[1], bins = y.shape()[2];
    const C* x = read_input<C>(context, 0);
    const C* weights = window ? read_as<C>(context, *window) : nullptr;
    int64_t shift = window ? (length - window->element_count()) / 2 : 0;
    Fourier fourier(length);
    const int64_t least = kernels::least_rows(length, kernels::kFunctionNs);
    context.threads().parallel_for(signal[0] * frames, least, [&](int64_t begin, int64_t end) {
      auto line = base::polled_vector<Complex>(length);
      for (int64_t i = begin; i < end; ++i) {
        int64_t first = i / frames * signal[1] + i % frames * step;
        base::polled_loop(length, [&](int64_t from, int64_t to) {
          for (int64_t k = from; k < to; ++k) {
            bool inside = !window || (k >= shift && k - shift < window->element_count());
            double weight = !inside ? 0.0 : weights ? double(weights[k - shift]) : 1.0;
            line[k] = read(x, first + k, parts) * weight;
          }
        });
        fourier.transform(line.data(), false);
        base::polled_loop(bins, [&](int64_t from, int64_t to) {
          for (int64_t k = from; k < to; ++k) {
            y.data()[(i * bins + k) * 2] = static_cast<C>(line[k].real());
            y.data()[(i * bins + k) * 2 + 1] = static_cast<C>(line[k].imag());
          }
        });
      }
    });
    y.finish();
  }
};

constexpr KernelRow kRows[] = {
    {"", "DFT", 17, kLatest, make_kernel<Dft>, {{0, kFloatTypes}}},
    {"", "STFT", 17, kLatest, make_kernel<Stft>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable fourier_rows;
const KernelTable fourier_rows(kRows);
}  // namespace ortolan::cpu::onnx
