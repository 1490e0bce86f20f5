// Pow: base and exponent may be of different types; the result has the base's. Floats of one type take the vector
// function. An integer base with an integer exponent is exact modulo 2^n; a negative exponent gives the whole part.
#include <cmath>
#include <limits>

#include "cpu/elements/float_loops.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu::onnx {
namespace {

template <class T>
T integer_power(T base, int64_t exponent) {
  using U = std::make_unsigned_t<T>;
  if (exponent < 0) {  // 1 / base^n: whole only for 1 and -1
    if (base == 1) return 1;
    return base == -1 ? (exponent % 2 ? T{-1} : T{1}) : T{0};
  }
  U result = 1, square = static_cast<U>(base);
  for (auto n = static_cast<uint64_t>(exponent); n != 0; n >>= 1) {
    if (n & 1) result *= square;
    square *= square;
  }
  return static_cast<T>(result);
}

/** The value towards zero, within the limits of T; 0 for NaN. */
template <class T>
T whole(double value) {
  using Limits = std::numeric_limits<T>;
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(Limits::lowest())) return Limits::lowest();
  return value >= static_cast<double>(Limits::max()) ? Limits::max() : static_cast<T>(value);
}

/** Elements of any number type as double. */
std::vector<double> as_doubles(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.element_count()));
  dispatch<kNumericTypes>(tensor.type(), [&]<class T>(TypeTag<T>) {
    const T* from = tensor.data<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        values[i] = static_cast<double>(from[i]);
      } else {
        values[i] = static_cast<double>(static_cast<float>(from[i]));
      }
    }
  });
  return values;
}

/** Exponents as int64; those of uint64 that exceed it count as its largest odd or even value. */
std::vector<int64_t> as_integers(const Tensor& tensor) {
  std::vector<int64_t> values(static_cast<size_t>(tensor.element_count()));
  dispatch<kIntegerTypes>(tensor.type(), [&]<class T>(TypeTag<T>) {
    const T* from = tensor.data<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      auto bits = static_cast<uint64_t>(from[i]);
      bool too_large = std::is_same_v<T, uint64_t> && bits > static_cast<uint64_t>(INT64_MAX);
      values[i] = too_large ? INT64_MAX - 1 + static_cast<int64_t>(bits & 1) : static_cast<int64_t>(bits);
    }
  });
  return values;
}

/** Calls `power(base, exponent)` for all pairs. */
template <class T, class Exponent, class Power>
void run(KernelContext& context, const T* base, const std::vector<Exponent>& exponents, T* y, Power power) {
  const Tensor& out = context.output(0);
  BroadcastPlan plan(out.shape(), {&context.input(0).shape(), &context.input(1).shape()});
  int64_t step_a = plan.is_scalar(0) ? 0 : 1, step_b = plan.is_scalar(1) ? 0 : 1;
  plan.run(context.threads(), kernels::least_items(kernels::kFunctionNs),
           [&](const int64_t* at, int64_t to, int64_t count) {
             for (int64_t i = 0; i < count; ++i)
               y[to + i] = power(base[at[0] + i * step_a], exponents[at[1] + i * step_b]);
           });
}

/** Any pair of types. */
class MixedPow : public OpKernel {
 public:
  explicit MixedPow(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& base = context.input(0);
    constexpr TypeSet kBases = kFloatTypes | ElementType::kInt32 | ElementType::kInt64;
    dispatch<kBases>(base.type(), [&]<class T>(TypeTag<T>) { run_typed<T>(context, base.data<T>()); });
  }

 private:
  /** True where each element is to be multiplied with itself. */
  static bool squares(const KernelContext& context) {
    const Tensor& exponent = context.input(1);
    bool one = exponent.element_count() == 1 && exponent.rank() <= context.input(0).rank();
    return one && kIntegerTypes.contains(exponent.type()) && as_integers(exponent)[0] == 2;
  }

  template <class T>
  void run_typed(KernelContext& context, const T* base) const {
    T* y = context.output(0).mutable_data<T>();
    if constexpr (std::is_integral_v<T>) {
      if (squares(context)) {
        kernels::NumberLoops loops = kernels::number_loops(kernels::NumberOp::kMul, kernels::number_of<T>());
        return loops.vectors(base, base, y, context.output(0).element_count());
      }
    }
    if constexpr (std::is_integral_v<T>) {
      if (kIntegerTypes.contains(context.input(1).type())) {
        return run(context, base, as_integers(context.input(1)), y, integer_power<T>);
      }
    }
    run(context, base, as_doubles(context.input(1)), y, [](T x, double exponent) {
      if constexpr (std::is_integral_v<T>) {
        return whole<T>(std::pow(static_cast<double>(x), exponent));
      } else if constexpr (std::is_same_v<T, double>) {
        return std::pow(x, exponent);
      } else {
        return T(static_cast<float>(std::pow(static_cast<double>(static_cast<float>(x)), exponent)));
      }
    });
  }
};

void scalar_exponent_f64(const void* a, const void* b, void* y, int64_t count) {
  auto* x = static_cast<const double*>(a);
  const double exponent = *static_cast<const double*>(b);
  if (exponent == 2) {
    return kernels::number_loops(kernels::NumberOp::kMul, kernels::Number::kF64).vectors(x, x, y, count);
  }
  for (int64_t i = 0; i < count; ++i) static_cast<double*>(y)[i] = std::pow(x[i], exponent);
}

BinaryLoops floating_loops(const Node&, ElementType type) {
  if (type == ElementType::kFloat) return float_loops(kernels::BinaryOp::kPow);
  BinaryLoops loops = loops_of<double, double, [](double a, double b) { return std::pow(a, b); }>(kernels::kFunctionNs);
  loops.scalar_b = scalar_exponent_f64;
  return loops;
}

/** Opsets before 7 align input 1 by attributes, which only the common walk knows; their types are equal. */
std::unique_ptr<OpKernel> make_pow(const KernelInfo& info) {
  bool one_type = info.input_type(0).element == info.input_type(1).element;
  bool is_float = kFloatTypes.contains(info.input_type(0).element);
  if (one_type && is_float) return std::make_unique<ElementwiseBinary>(info, floating_loops);
  return std::make_unique<MixedPow>(info);
}

constexpr KernelRow kRows[] = {
    {"", "Pow", 1, 11, make_pow, {{0, kFloatTypes}, {1, kFloatTypes}}, Reuse::kInPlace},
    {"",
     "Pow",
     12,
     kLatest,
     make_pow,
     {{0, kFloatTypes | ElementType::kInt32 | ElementType::kInt64}, {1, kNumericTypes}},
     Reuse::kInPlace},
};

}  // namespace

extern const KernelTable pow_rows;
constinit const KernelTable pow_rows(kRows);

}  // namespace ortolan::cpu::onnx
