// LayerNormalization and RMSNormalization: rows from `axis` on are brought to mean 0 (not RMS) and unit variance.
// Scale and bias may broadcast to the rows.
#include "cpu/elements/float_tensors.h"
#include "cpu/elements/row_normalization.h"
#include "cpu/quantised/dynamic_quantization.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** The index into a parameter of shape `from`, aligned to the end of `to`, for each element of `to`. */
InlinedVector<int64_t, 6> broadcast_strides(const Shape& from, const Shape& to) {
  InlinedVector<int64_t, 6> strides(to.rank(), 0);
  require(from.rank() <= to.rank(), ErrorCode::kInvalidArgument, "a parameter has shape ", from,
          ", which does not broadcast to ", to);
  int64_t stride = 1;
  for (size_t i = 0; i < from.rank(); ++i) {
    int64_t size = from[from.rank() - 1 - i];
    size_t at = to.rank() - 1 - i;
    require(size == 1 || size == to[at], ErrorCode::kInvalidArgument, "a parameter has shape ", from,
            ", which does not broadcast to ", to, "; make its dimensions equal, or 1");
    strides[at] = size == 1 ? 0 : stride;
    stride *= size;
  }
  return strides;
}

template <class C>
void spread(const C* from, const Shape& from_shape, const Shape& to, C* out) {
  InlinedVector<int64_t, 6> strides = broadcast_strides(from_shape, to);
  int64_t count = to.element_count();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, offset = 0;
    for (size_t d = to.rank(); d-- > 0; rest /= to[d]) offset += rest % to[d] * strides[d];
    out[i] = from[offset];
  }
}

class LayerNormalization : public OpKernel {
 public:
  LayerNormalization(const KernelInfo& info, bool rms)
      : axis_(info.node().int_or("axis", -1)), epsilon_(info.node().float_or("epsilon", 1e-5f)), rms_(rms) {}
  explicit LayerNormalization(const KernelInfo& info) : LayerNormalization(info, false) {}

  void compute(KernelContext& context) const override {
    ElementType type = float_compute_type(context.input(0).type());
    if (context.input(1).type() == ElementType::kDouble) type = ElementType::kDouble;
    dispatch<kFloat32And64>(type, [&]<class C>(TypeTag<C>) { run<C>(context); });
  }

 private:
  template <class C>
  void run(KernelContext& context) const {
    const Shape& x = context.input(0).shape();
    size_t axis = checked_axis(axis_, x.rank());
    RowNormalization<C> norm{x.count_to(axis), x.count_from(axis)};
    norm.epsilon = epsilon_, norm.rms = rms_;
    auto row_parameter = [&](size_t i) { return i < 3 && fits_row(context.input_if(i), x, axis); };
    bool simple = row_parameter(1) && (rms_ || row_parameter(2));
    OutputAs<C> y(context, 0);
    norm.x = read_input<C>(context, 0);
    norm.y = y.data();
    if (simple) {
      norm.scale = read_input<C>(context, 1);
      norm.bias = rms_ ? nullptr : read_input<C>(context, 2);
    }
    C* moments = context.scratch<C>(checked_mul(norm.rows, int64_t{2})).data();
    norm.mean = moments;
    norm.inverse_std = moments + norm.rows;
    RangeOutput range(context, 3);
    if (simple) norm.range = range.wanted();
    Broadcast<C> parameters = simple ? Broadcast<C>() : broadcast<C>(context, x);  // read before y is written over them
    norm.columns > 0 ? normalize_rows(&context.threads(), norm) : no_moments(norm);
    parameters.apply(x.element_count(), y.data());
    if constexpr (std::is_same_v<C, float>) {
      if (!simple && range.wanted()) *range.wanted() = range_of(context.threads(), y.data(), x.element_count());
    }
    y.finish();
    range.finish();
    if (!rms_) write_moments<C>(context, norm);
  }

  /** True where the parameter is missing or has exactly the elements of a row. */
  static bool fits_row(const Tensor* parameter, const Shape& x, size_t axis) {
    if (!parameter) return true;
    Shape row(x.begin() + axis, x.end());
    const Shape& shape = parameter->shape();
    return shape == row || (shape.rank() <= row.rank() && shape.element_count() == row.element_count());
  }

  /** Scale and bias for each element; NULL where there is none. */
  template <class C>
  struct Broadcast {
    const C* scale = nullptr;
    const C* bias = nullptr;

    void apply(int64_t count, C* y) const {
      for (int64_t i = 0; scale && i < count; ++i) y[i] *= scale[i];
      for (int64_t i = 0; bias && i < count; ++i) y[i] += bias[i];
    }
  };

  template <class C>
  static Broadcast<C> broadcast(KernelContext& context, const Shape& x) {
    auto spread_input = [&](size_t i) -> const C* {
      const C* parameter = read_input<C>(context, i);
      if (!parameter) return nullptr;
      C* full = context.scratch<C>(x.element_count()).data();
      spread(parameter, context.input(i).shape(), x, full);
      return full;
    };
    return {spread_input(1), spread_input(2)};
  }

  template <class C>
  static void write_moments(KernelContext& context, const RowNormalization<C>& norm) {
    for (size_t i = 1; i < 3; ++i) {
      if (!context.has_output(i)) continue;
      Tensor& out = context.output(i);
      convert_floats(nullptr, i == 1 ? norm.mean : norm.inverse_std, kTypeOf<C>, out.mutable_raw(), out.type(),
                     out.element_count());
    }
  }

  int64_t axis_;
  float epsilon_;
  bool rms_;
};

class RmsNormalization final : public LayerNormalization {
 public:
  explicit RmsNormalization(const KernelInfo& info) : LayerNormalization(info, true) {}
};

constexpr KernelRow kRows[] = {
    {"", "LayerNormalization", 1, kLatest, make_kernel<LayerNormalization>, {{0, kFloatTypes}}, Reuse::kInPlace},
    {"ortolan",
     "LayerNormalization",
     1,
     kLatest,
     make_kernel<LayerNormalization>,
     {{0, ElementType::kFloat}},
     Reuse::kInPlace},
    {"", "RMSNormalization", 23, kLatest, make_kernel<RmsNormalization>, {{0, kFloatTypes}}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable layer_normalization_rows;
const KernelTable layer_normalization_rows(kRows);
}  // namespace ortolan::cpu::onnx
