// Arithmetic on two inputs or more: Add, Sub, Mul, Div, Mod, PRelu, SwiGLU, Max, Min, Sum, Mean. Integers wrap around;
// division by zero is an error.
#include <algorithm>
#include <cmath>

#include "cpu/elements/element_number.h"
#include "cpu/elements/float_loops.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/math_f64.h"
#include "cpu/kernels/elementwise/vector_f32.h"

namespace ortolan::cpu::onnx {
namespace {

using kernels::BinaryOp;
using kernels::NumberOp;

/** The unsigned type in which integers of T's size wrap around. */
template <class T>
struct Wrapping {
  using type = std::make_unsigned_t<T>;
};
template <>
struct Wrapping<double> {
  using type = double;
};

[[noreturn, gnu::cold]] void fail_division() {
  fail(ErrorCode::kInvalidArgument,
       "an integer is divided by zero (input 1); only floating-point numbers can be divided by zero");
}

template <class T>
T divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) fail_division();
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    }
  }
  return static_cast<T>(a / b);
}

/** The remainder with the sign of a, as C's. */
template <class T>
T remainder_of(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) fail_division();
    if constexpr (std::is_signed_v<T>) {
      if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
  } else {
    return std::fmod(a, b);
  }
}

/** The remainder with the sign of b, as Python's. */
template <class T>
T modulo(T a, T b) {
  T rest = remainder_of(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? static_cast<T>(rest + b) : rest;
}

template <NumberOp kOp, BinaryOp kVector>
BinaryLoops wrapping(const Node&, ElementType type) {
  if (type == ElementType::kFloat) return float_loops(kVector);
  return loops_of(kernels::number_loops(kOp, number_of_first(type)));
}
/** Division of int32, which the vector function leaves undefined by zero. */
template <class Loop>
void divide_checked(Loop loop, const void* a, const void* b, void* y, int64_t divisors, int64_t count) {
  if (kernels::find_first(0, static_cast<const int32_t*>(b), divisors) < divisors) fail_division();
  loop(a, b, y, count);
}

BinaryLoops int32_division() {
  static constexpr auto loops = [] { return kernels::number_loops(NumberOp::kDiv, kernels::Number::kS32); };
  return {[](const void* a, const void* b, void* y, int64_t n) { divide_checked(loops().vectors, a, b, y, n, n); },
          [](const void* a, const void* b, void* y, int64_t n) { divide_checked(loops().scalar_a, a, b, y, n, n); },
          [](const void* a, const void* b, void* y, int64_t n) { divide_checked(loops().scalar_b, a, b, y, 1, n); }};
}

BinaryLoops division(const Node&, ElementType type) {
  if (type == ElementType::kFloat) return float_loops(BinaryOp::kDiv);
  if (type == ElementType::kDouble) return loops_of(kernels::number_loops(NumberOp::kDiv, kernels::Number::kF64));
  if (type == ElementType::kInt32) return int32_division();
  return dispatch<kIntegerTypes.without(ElementType::kInt32)>(
      type, []<class T>(TypeTag<T>) { return loops_of<T, T, divide<T>>(kernels::kScalarNs); });
}

/** The vector function takes spans; a scalar becomes one, a block at a time. */
template <bool kScalarA, bool kScalarB>
void float_remainder_loop(const void* a, const void* b, void* y, int64_t count) {
  constexpr int64_t kBlock = 256;
  auto *x0 = static_cast<const float*>(a), *x1 = static_cast<const float*>(b);
  float scalar[kBlock];
  if (kScalarA || kScalarB) std::fill_n(scalar, std::min(kBlock, count), kScalarA ? *x0 : *x1);
  for (int64_t i = 0; i < count; i += kBlock) {
    kernels::remainders(kScalarA ? scalar : x0 + i, kScalarB ? scalar : x1 + i, static_cast<float*>(y) + i,
                        std::min(kBlock, count - i));
  }
}

BinaryLoops remainders(const Node& node, ElementType type) {
  bool sign_of_dividend = node.int_or("fmod", 0) != 0;
  bool is_float = type == ElementType::kFloat || type == ElementType::kDouble;
  require(sign_of_dividend || !is_float, ErrorCode::kInvalidGraph,
          "attribute fmod is 0, but the elements are floating-point numbers; set fmod to 1");
  if (type == ElementType::kFloat) {
    return {float_remainder_loop<false, false>, float_remainder_loop<true, false>, float_remainder_loop<false, true>,
            4096};
  }
  return dispatch<kIntegerTypes | ElementType::kDouble>(type, [&]<class T>(TypeTag<T>) {
    return sign_of_dividend ? loops_of<T, T, remainder_of<T>>(kernels::kScalarNs)
                            : loops_of<T, T, modulo<T>>(kernels::kScalarNs);
  });
}

constexpr TypeSet kPReluTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

BinaryLoops prelu(const Node&, ElementType type) {
  if (type == ElementType::kFloat) return float_loops(BinaryOp::kPRelu);
  return dispatch<kPReluTypes.without(kHalfTypes | ElementType::kFloat)>(type, []<class T>(TypeTag<T>) {
    using U = typename Wrapping<T>::type;
    return loops_of<T, T, [](T x, T slope) { return x < 0 ? static_cast<T>(U(x) * U(slope)) : x; }>();
  });
}

/** a * b * sigmoid(alpha * a) with alpha 1; other values of alpha are the kernel's below. */
class SwiGlu : public OpKernel {
 public:
  explicit SwiGlu(const KernelInfo& info)
      : multiply_(wrapping<NumberOp::kMul, BinaryOp::kMul>(info.node(), compute_type(info.input_type(0).element))),
        alpha_(info.node().float_or("alpha", 1)) {}

  void compute(KernelContext& context) const override {
    const Tensor& a = context.input(0);
    const Tensor& b = context.input(1);
    require(a.type() == b.type(), ErrorCode::kInvalidArgument, "inputs hold ", name_of(a.type()), " and ",
            name_of(b.type()), "; they must be of one type");
    Tensor gate(a.type(), a.shape(), context.services().allocator);
    context.threads().parallel_for(a.element_count(), kernels::least_items(kernels::kActivationNs),
                                   [&](int64_t begin, int64_t end) { swish(a, gate, begin, end); });
    run_binary(multiply_, gate, gate.shape(), b, b.shape(), context.output(0), context.threads());
  }

 private:
  void swish(const Tensor& a, Tensor& gate, int64_t begin, int64_t end) const {
    kernels::Activation activation{kernels::UnaryOp::kQuickGelu, alpha_, 0};
    if (a.type() == ElementType::kDouble) {
      const double* x = a.data<double>();
      double* y = gate.mutable_data<double>();
      for (int64_t i = begin; i < end; ++i) y[i] = x[i] / (1 + std::exp(-alpha_ * x[i]));
    } else if (a.type() == ElementType::kFloat) {
      kernels::unary(activation, a.data<float>() + begin, gate.mutable_data<float>() + begin, end - begin);
    } else {
      float block[kConversionBlock];
      for (int64_t i = begin; i < end; i += kConversionBlock) {
        int64_t n = std::min(kConversionBlock, end - i);
        widen(a.type(), static_cast<const uint16_t*>(a.raw()) + i, block, n);
        kernels::unary(activation, block, block, n);
        narrow(a.type(), block, static_cast<uint16_t*>(gate.mutable_raw()) + i, n);
      }
    }
  }

  BinaryLoops multiply_;
  float alpha_;
};

/** The sum of the inputs divided by their number. */
class Mean : public ElementwiseVariadic {
 public:
  explicit Mean(const KernelInfo& info) : ElementwiseVariadic(info, wrapping<NumberOp::kAdd, BinaryOp::kAdd>) {}

 protected:
  void finish(Tensor& y, size_t inputs, ThreadPool& threads) const override {
    const int64_t least = kernels::least_items(kernels::kElementNs);
    threads.parallel_for(y.element_count(), least, [&](int64_t begin, int64_t end) {
      if (y.type() == ElementType::kFloat) {
        float* values = y.mutable_data<float>() + begin;
        return kernels::binary(BinaryOp::kDiv, values, static_cast<float>(inputs), values, end - begin);
      }
      double* values = y.mutable_data<double>() + begin;
      const auto count = static_cast<double>(inputs);
      kernels::number_loops(NumberOp::kDiv, kernels::Number::kF64).scalar_b(values, &count, values, end - begin);
    });
  }
};

constexpr auto kAdd = wrapping<NumberOp::kAdd, BinaryOp::kAdd>;
constexpr auto kSub = wrapping<NumberOp::kSub, BinaryOp::kSub>;
constexpr auto kMul = wrapping<NumberOp::kMul, BinaryOp::kMul>;

constexpr KernelRow row(const char* name, int since, MakeKernel make, TypeSet types) {
  return {"", name, since, kLatest, make, {{0, types}}, Reuse::kInPlace};
}

constexpr KernelRow kRows[] = {
    row("Add", 1, make_binary<kAdd>, kNumericTypes),
    row("Sub", 1, make_binary<kSub>, kNumericTypes),
    row("Mul", 1, make_binary<kMul>, kNumericTypes),
    row("Div", 1, make_binary<division>, kNumericTypes),
    row("Mod", 10, make_binary<remainders>, kNumericTypes),
    row("PRelu", 1, make_binary<prelu>, kPReluTypes),
    row("SwiGLU", 28, make_kernel<SwiGlu>, kFloatTypes),
    row("Max", 1, make_variadic<wrapping<NumberOp::kMax, BinaryOp::kMax>>, kNumericTypes),
    row("Min", 1, make_variadic<wrapping<NumberOp::kMin, BinaryOp::kMin>>, kNumericTypes),
    row("Sum", 1, make_variadic<kAdd>, kFloatTypes),
    row("Mean", 1, make_kernel<Mean>, kFloatTypes),
};

}  // namespace

extern const KernelTable arithmetic_rows;
constinit const KernelTable arithmetic_rows(kRows);

}  // namespace ortolan::cpu::onnx
