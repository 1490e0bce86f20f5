// Operators that map each element of one input to one element of the output. Each is a line of a table: a vector
// function of kernels/elementwise/activation.h for float, a vector or a scalar one for double, and its parameters.
#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/math_f64.h"
#include "cpu/kernels/elementwise/number_loops.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

using kernels::MathOp;
using kernels::NumberUnary;
using kernels::UnaryOp;

/** The values of the operator's attributes. */
struct Parameters {
  kernels::Activation activation;
  double a = 0, b = 0;
};

using Loop = void (*)(const void* x, void* y, int64_t count, const Parameters& p);

template <class T, auto kFunction>
void loop(const void* x, void* y, int64_t count, const Parameters& p) {
  auto* from = static_cast<const T*>(x);
  auto* to = static_cast<T*>(y);
#pragma GCC ivdep  // y is x or apart
  for (int64_t i = 0; i < count; ++i) to[i] = kFunction(from[i], p);
}

/** Of a function that the kernels have for T. */
template <class T, kernels::NumberUnary kOp>
void number_loop(const void* x, void* y, int64_t count, const Parameters& p) {
  kernels::unary(kOp, kernels::number_of<T>(), x, y, count, p.a);
}

void activation_loop(const void* x, void* y, int64_t count, const Parameters& p) {
  kernels::unary(p.activation, static_cast<const float*>(x), static_cast<float*>(y), count);
}

using kernels::kActivationNs;
using kernels::kElementNs;

using D = double;
using P = const Parameters&;
constexpr D kSqrtHalf = 0.70710678118654752440;

struct FloatOperator {
  const char* name;
  UnaryOp vector;
  Loop float_loop;
  Loop double_loop;
  double element_ns;
  const char* a_name = nullptr;
  float a_default = 0;
  const char* b_name = nullptr;
  float b_default = 0;
};

/** A line of an operator that has a vector function. */
template <auto kFunction>
constexpr FloatOperator vector(const char* name, UnaryOp op, double element_ns, const char* a_name = nullptr,
                               float a = 0, const char* b_name = nullptr, float b = 0) {
  return {name, op, activation_loop, loop<double, kFunction>, element_ns, a_name, a, b_name, b};
}
/** The same of an operator that has a vector function for doubles, too. */
template <kernels::NumberUnary kOp>
constexpr FloatOperator vectors(const char* name, UnaryOp op, const char* a_name = nullptr, float a = 0) {
  return {name, op, activation_loop, number_loop<double, kOp>, kElementNs, a_name, a};
}
template <kernels::MathOp kOp>
void math_loop(const void* x, void* y, int64_t count, const Parameters&) {
  kernels::unary(kOp, static_cast<const double*>(x), static_cast<double*>(y), count);
}
template <kernels::MathOp kOp>
constexpr FloatOperator vectors(const char* name, UnaryOp op) {
  return {name, op, activation_loop, math_loop<kOp>, kActivationNs};
}
constexpr auto kShrink = [](auto x, P p) -> decltype(x) {
  using T = decltype(x);
  D value = static_cast<D>(x);
  value = value < -p.a ? value + p.b : p.a < value ? value - p.b : 0;
  if constexpr (std::is_integral_v<T>) {  // wraps around; 0 for what no integer holds
    if (value >= 0 && value < 0x1p64) return static_cast<T>(static_cast<uint64_t>(value));
    return static_cast<T>(std::fabs(value) < 0x1p63 ? static_cast<int64_t>(value) : 0);
  }
  return static_cast<T>(value);
};

constexpr FloatOperator kFloatOperators[] = {
    vectors<NumberUnary::kAbs>("Abs", UnaryOp::kAbs),
    vector<[](D x, P) { return std::acos(x); }>("Acos", UnaryOp::kAcos, kActivationNs),
    vector<[](D x, P) { return std::acosh(x); }>("Acosh", UnaryOp::kAcosh, kActivationNs),
    vector<[](D x, P) { return std::asin(x); }>("Asin", UnaryOp::kAsin, kActivationNs),
    vector<[](D x, P) { return std::asinh(x); }>("Asinh", UnaryOp::kAsinh, kActivationNs),
    vector<[](D x, P) { return std::atan(x); }>("Atan", UnaryOp::kAtan, kActivationNs),
    vector<[](D x, P) { return std::atanh(x); }>("Atanh", UnaryOp::kAtanh, kActivationNs),
    vectors<NumberUnary::kCeil>("Ceil", UnaryOp::kCeil),
    vector<[](D x, P p) { return std::fmax(x, 0) + std::fmin(0, p.a * std::expm1(x / p.a)); }>(
        "Celu", UnaryOp::kCelu, kActivationNs, "alpha", 1),
    vectors<MathOp::kCos>("Cos", UnaryOp::kCos),
    vector<[](D x, P) { return std::cosh(x); }>("Cosh", UnaryOp::kCosh, kActivationNs),
    vector<[](D x, P p) { return x < 0 ? p.a * std::expm1(x) : x; }>("Elu", UnaryOp::kElu, kActivationNs, "alpha", 1),
    vector<[](D x, P) { return std::erf(x); }>("Erf", UnaryOp::kErf, kActivationNs),
    vectors<MathOp::kExp>("Exp", UnaryOp::kExp),
    vectors<NumberUnary::kFloor>("Floor", UnaryOp::kFloor),
    vector<[](D x, P) { return x / 2 * (1 + std::erf(x * kSqrtHalf)); }>("Gelu", UnaryOp::kGelu, kActivationNs),
    vector<[](D x, P) { return x / 2 * (1 + std::tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x))); }>(
        "Gelu:tanh", UnaryOp::kGeluTanh, kActivationNs),
    vector<[](D x, P p) { return std::fmax(0, std::fmin(1, p.a * x + p.b)); }>("HardSigmoid", UnaryOp::kHardSigmoid,
                                                                               kElementNs, "alpha", 0.2f, "beta", 0.5f),
    vector<[](D x, P) { return x * std::fmax(0, std::fmin(1, x / 6 + 0.5)); }>("HardSwish", UnaryOp::kHardSwish,
                                                                               kElementNs),
    vectors<NumberUnary::kLeakyRelu>("LeakyRelu", UnaryOp::kLeakyRelu, "alpha", 0.01f),
    vectors<MathOp::kLog>("Log", UnaryOp::kLog),
    vector<[](D x, P) { return x * std::tanh(std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)))); }>(
        "Mish", UnaryOp::kMish, kActivationNs),
    vectors<NumberUnary::kNeg>("Neg", UnaryOp::kNeg),
    vector<[](D x, P) { return 1 / x; }>("Reciprocal", UnaryOp::kReciprocal, kElementNs),
    vectors<NumberUnary::kRelu>("Relu", UnaryOp::kRelu),
    vectors<NumberUnary::kRound>("Round", UnaryOp::kRound),
    vector<[](D x, P p) { return p.b * (x < 0 ? p.a * std::expm1(x) : x); }>("Selu", UnaryOp::kSelu, kActivationNs,
                                                                             "alpha", 1.67326319217681884765625f,
                                                                             "gamma", 1.05070102214813232421875f),
    vector<kShrink>("Shrink", UnaryOp::kShrink, kElementNs, "lambd", 0.5f, "bias", 0),
    vectors<MathOp::kSigmoid>("Sigmoid", UnaryOp::kSigmoid),
    vectors<NumberUnary::kSign>("Sign", UnaryOp::kSign),
    vectors<MathOp::kSin>("Sin", UnaryOp::kSin),
    vector<[](D x, P) { return std::sinh(x); }>("Sinh", UnaryOp::kSinh, kActivationNs),
    vector<[](D x, P) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }>("Softplus", UnaryOp::kSoftplus,
                                                                                         kActivationNs),
    vector<[](D x, P) { return x / (1 + std::fabs(x)); }>("Softsign", UnaryOp::kSoftsign, kElementNs),
    vectors<NumberUnary::kSqrt>("Sqrt", UnaryOp::kSqrt),
    vector<[](D x, P p) { return x / (1 + std::exp(-p.a * x)); }>("Swish", UnaryOp::kQuickGelu, kActivationNs, "alpha",
                                                                  1),
    vector<[](D x, P) { return std::tan(x); }>("Tan", UnaryOp::kTan, kActivationNs),
    vectors<MathOp::kTanh>("Tanh", UnaryOp::kTanh),
    vector<[](D x, P p) { return x <= p.a ? 0 : x; }>("ThresholdedRelu", UnaryOp::kThresholdedRelu, kElementNs, "alpha",
                                                      1),
};

/** The loop of an integer operator, or NULL. */
template <class T>
Loop integer_loop(std::string_view name) {
  if (name == "BitwiseNot") return number_loop<T, NumberUnary::kBitwiseNot>;
  if constexpr (std::is_signed_v<T>) {
    if (name == "Abs") return number_loop<T, NumberUnary::kAbs>;
    if (name == "Neg") return number_loop<T, NumberUnary::kNeg>;
    if (name == "Relu") return number_loop<T, NumberUnary::kRelu>;
    if (name == "Sign") return number_loop<T, NumberUnary::kSign>;
  } else {
    if (name == "Abs") return loop<T, [](T x, P) { return x; }>;
    if (name == "Sign") return loop<T, [](T x, P) { return static_cast<T>(x != 0); }>;
  }
  if (name == "Shrink") return loop<T, kShrink>;
  if (name == "Erf") return loop<T, [](T x, P) { return static_cast<T>(std::erf(static_cast<D>(x))); }>;
  return nullptr;
}

std::string operator_name(const Node& node) {
  if (node.op_type != "Gelu") return node.op_type;
  std::string_view approximate = node.string_or("approximate", "none");
  require(approximate == "none" || approximate == "tanh", ErrorCode::kInvalidGraph, "attribute approximate is '",
          approximate, "'; set it to 'none' or 'tanh'");
  return approximate == "tanh" ? "Gelu:tanh" : "Gelu";
}

class ElementwiseUnary : public OpKernel {
 public:
  explicit ElementwiseUnary(const KernelInfo& info) : type_(info.input_type(0).element) {
    std::string name = operator_name(info.node());
    for (const FloatOperator& candidate : kFloatOperators) {
      if (candidate.name == name) read_attributes(info.node(), candidate);
    }
    if (kIntegerTypes.contains(type_)) {
      loop_ = dispatch<kIntegerTypes>(type_, [&]<class T>(TypeTag<T>) { return integer_loop<T>(name); });
    } else if (type_ == ElementType::kBool) {
      loop_ = loop<uint8_t, [](uint8_t x, P) { return static_cast<uint8_t>(x == 0); }>;
    }
    require(loop_ != nullptr, ErrorCode::kNotImplemented, name, " has no kernel for elements of ", name_of(type_));
  }

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    require(x.type() == type_, ErrorCode::kInvalidArgument, "input 0 holds ", name_of(x.type()), ", not ",
            name_of(type_));
    auto* from = static_cast<const char*>(x.raw());
    auto* to = static_cast<char*>(y.mutable_raw());
    int64_t size = bits_of(type_) / 8;
    context.threads().parallel_for(x.element_count(), least_, [&](int64_t begin, int64_t end) {
      run(from + begin * size, to + begin * size, end - begin);
    });
  }

 private:
  void read_attributes(const Node& node, const FloatOperator& op) {
    bool old_selu = node.op_type == "Selu" && node.opset < 6;
    if (op.a_name) parameters_.a = node.float_or(op.a_name, old_selu ? 1.6732f : op.a_default);
    if (op.b_name) parameters_.b = node.float_or(op.b_name, old_selu ? 1.0507f : op.b_default);
    parameters_.activation = {op.vector, static_cast<float>(parameters_.a), static_cast<float>(parameters_.b)};
    least_ = kernels::least_items(op.element_ns * (type_ == ElementType::kDouble ? kernels::kDoubleTimes : 1));
    loop_ = type_ == ElementType::kDouble ? op.double_loop : op.float_loop;
  }

  void run(const char* x, char* y, int64_t count) const {
    if (!kHalfTypes.contains(type_)) return loop_(x, y, count, parameters_);
    float block[kConversionBlock];
    for (int64_t i = 0; i < count; i += kConversionBlock) {
      int64_t n = std::min(kConversionBlock, count - i);
      widen(type_, x + 2 * i, block, n);
      loop_(block, block, n, parameters_);
      narrow(type_, block, y + 2 * i, n);
    }
  }

  ElementType type_;
  Loop loop_ = nullptr;
  int64_t least_ = kernels::least_items(kElementNs);
  Parameters parameters_;
};

constexpr KernelRow row(const char* name, int since, TypeSet types) {
  return {"", name, since, kLatest, make_kernel<ElementwiseUnary>, {{0, types}}, Reuse::kInPlace};
}

constexpr TypeSet kSignedNumbers = kFloatTypes | kSignedTypes;

constexpr KernelRow kRows[] = {
    row("Abs", 1, kNumericTypes),      row("Acos", 7, kFloatTypes),
    row("Acosh", 9, kFloatTypes),      row("Asin", 7, kFloatTypes),
    row("Asinh", 9, kFloatTypes),      row("Atan", 7, kFloatTypes),
    row("Atanh", 9, kFloatTypes),      row("BitwiseNot", 18, kIntegerTypes),
    row("Ceil", 1, kFloatTypes),       row("Celu", 12, kFloatTypes),
    row("Cos", 7, kFloatTypes),        row("Cosh", 9, kFloatTypes),
    row("Elu", 1, kFloatTypes),        row("Erf", 9, kNumericTypes),
    row("Exp", 1, kFloatTypes),        row("Floor", 1, kFloatTypes),
    row("Gelu", 20, kFloatTypes),      row("HardSigmoid", 1, kFloatTypes),
    row("HardSwish", 14, kFloatTypes), row("LeakyRelu", 1, kFloatTypes),
    row("Log", 1, kFloatTypes),        row("Mish", 18, kFloatTypes),
    row("Neg", 1, kSignedNumbers),     row("Not", 1, ElementType::kBool),
    row("Reciprocal", 1, kFloatTypes), row("Relu", 1, kSignedNumbers),
    row("Round", 11, kFloatTypes),     row("Selu", 1, kFloatTypes),
    row("Shrink", 9, kNumericTypes),   row("Sigmoid", 1, kFloatTypes),
    row("Sign", 9, kNumericTypes),     row("Sin", 7, kFloatTypes),
    row("Sinh", 9, kFloatTypes),       row("Softplus", 1, kFloatTypes),
    row("Softsign", 1, kFloatTypes),   row("Sqrt", 1, kFloatTypes),
    row("Swish", 24, kFloatTypes),     row("Tan", 7, kFloatTypes),
    row("Tanh", 1, kFloatTypes),       row("ThresholdedRelu", 1, kFloatTypes),
};

}  // namespace

extern const KernelTable elementwise_unary_rows;
constinit const KernelTable elementwise_unary_rows(kRows);

}  // namespace ortolan::cpu::onnx
