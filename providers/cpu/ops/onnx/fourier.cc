// DFT and STFT. Sums run in double whatever the type.
#include <complex>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/transforms/fourier.h"
#include "cpu/moves/checked_indices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

using Complex = std::complex<double>;
using kernels::Fourier;
using kernels::FourierLines;

/** Element `i` of a real (parts 1) or complex (parts 2) signal. */
template <class C>
Complex read(const C* x, int64_t i, int64_t parts) {
  return parts == 2 ? Complex(x[2 * i], x[2 * i + 1]) : Complex(x[i], 0);
}

/**
 * Transforms all lines, as many at once as the transform wants, whatever the number of threads: load(lines, l, number)
 * writes number l of lines from line `number`, store(lines, l, number) reads it. Where the last lines are fewer, the
 * last one is transformed more than once.
 */
template <class Load, class Store>
void transform_lines(KernelContext& context, const Fourier& fourier, int64_t count, bool inverse, Load&& load,
                     Store&& store) {
  const int64_t at_once = fourier.lines_at_once(count);
  const int64_t least = kernels::least_items(fourier.line_ns() * static_cast<double>(at_once));
  context.threads().parallel_for((count + at_once - 1) / at_once, least, [&](int64_t begin, int64_t end) {
    FourierLines lines(fourier, at_once, inverse);
    for (int64_t first = begin * at_once; first < std::min(count, end * at_once); first += at_once) {
      for (int64_t l = 0; l < at_once; ++l) load(lines, l, std::min(count - 1, first + l));
      lines.run();
      for (int64_t l = 0; l < std::min(at_once, count - first); ++l) store(lines, l, first + l);
    }
  });
}

/** The values of number l of lines: value(i) is real, or an std::complex. */
template <class Value>
void load_values(FourierLines& lines, int64_t l, int64_t length, Value&& value) {
  base::polled_loop(length, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (std::is_same_v<decltype(value(i)), Complex>) {
        const kernels::FourierPlanes to = lines.complex_value(i);
        const Complex v = value(i);
        to.re[l] = v.real(), to.im[l] = v.imag();
      } else {
        lines.real_value(i)[l] = value(i);
      }
    }
  });
}

/** Results of number l of lines, `length` long: those of real lines go on behind their half as its mirror image. */
struct Results {
  FourierLines& lines;
  int64_t l, length;
  bool real;

  Complex operator[](int64_t k) const {
    const bool mirror = real && k > length / 2;
    const kernels::FourierPlanes from = lines.result(mirror ? length - k : k);
    return {from.re[l], mirror ? -from.im[l] : from.im[l]};
  }
};

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
    const Fourier fourier(length, parts == 1 && !inverse_);
    double scale = inverse_ ? 1.0 / static_cast<double>(length) : 1.0;
    auto load = [&](FourierLines& lines, int64_t l, int64_t line) {
      load_line(x, from, line, parts, length, real_result, lines, l);
    };
    auto store = [&](FourierLines& lines, int64_t l, int64_t line) {
      const Results results{lines, l, length, parts == 1 && !inverse_};
      base::polled_loop(to.size, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t at = (to.offset(line) + i * inner) * out_parts;
          const Complex value = results[i];
          y.data()[at] = static_cast<C>(value.real() * scale);
          if (out_parts == 2) y.data()[at + 1] = static_cast<C>(value.imag() * scale);
        }
      });
    };
    transform_lines(context, fourier, outer * inner, inverse_, load, store);
    y.finish();
  }

  /** One line, cut or filled with zeros to its length; half a spectrum is completed by its mirror image. */
  template <class C>
  void load_line(const C* x, const Lines& from, int64_t line, int64_t parts, int64_t length, bool mirror,
                 FourierLines& lines, int64_t l) const {
    const int64_t given = std::min(from.size, mirror ? length / 2 + 1 : length), offset = from.offset(line);
    auto at = [&](int64_t i) { return i < given ? read(x, offset + i * from.inner, parts) : Complex(0, 0); };
    if (mirror) {
      load_values(lines, l, length, [&](int64_t i) {
        const Complex value = at(std::min(i, length - i));
        return Complex(value.real(), i == 0 || 2 * i == length ? 0 : 2 * i > length ? -value.imag() : value.imag());
      });
    } else if (parts == 1 && !inverse_) {
      load_values(lines, l, length, [&](int64_t i) { return at(i).real(); });
    } else {
      load_values(lines, l, length, at);
    }
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
    const Fourier fourier(length, parts == 1);
    auto load = [&](FourierLines& lines, int64_t l, int64_t frame) {
      const int64_t first = frame / frames * signal[1] + frame % frames * step;
      auto weight = [&](int64_t k) {
        if (!window) return 1.0;
        return k < shift || k - shift >= window->element_count() ? 0.0 : static_cast<double>(weights[k - shift]);
      };
      if (parts == 1) return load_values(lines, l, length, [&](int64_t k) { return x[first + k] * weight(k); });
      load_values(lines, l, length, [&](int64_t k) { return read(x, first + k, parts) * weight(k); });
    };
    auto store = [&](FourierLines& lines, int64_t l, int64_t frame) {
      const Results results{lines, l, length, parts == 1};
      base::polled_loop(bins, [&](int64_t from, int64_t to) {
        for (int64_t k = from; k < to; ++k) {
          const Complex value = results[k];
          y.data()[(frame * bins + k) * 2] = static_cast<C>(value.real());
          y.data()[(frame * bins + k) * 2 + 1] = static_cast<C>(value.imag());
        }
      });
    };
    transform_lines(context, fourier, signal[0] * frames, false, load, store);
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
