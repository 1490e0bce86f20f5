// Equal, Greater, GreaterOrEqual, Less, LessOrEqual; And, Or, Xor of bool; bitwise operators and BitShift of integers.
#include "cpu/elements/element_number.h"
#include "cpu/elements/elementwise_binary.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu::onnx {
namespace {

using kernels::NumberOp;

template <NumberOp kOp>
BinaryLoops comparison(const Node&, ElementType type) {
  return loops_of(kernels::number_loops(kOp, number_of_first(type)));
}

/** a < b is b > a: the same loops with their sides exchanged. */
template <NumberOp kOp>
BinaryLoops exchanged(const Node&, ElementType type) {
  return dispatch<kIntegerTypes | kFloat32And64>(type, []<class T>(TypeTag<T>) {
    constexpr kernels::Number kNumber = kernels::number_of<T>();
    return BinaryLoops{[](const void* a, const void* b, void* y, int64_t n) {
                         kernels::number_loops(kOp, kNumber).vectors(b, a, y, n);
                       },
                       [](const void* a, const void* b, void* y, int64_t n) {
                         kernels::number_loops(kOp, kNumber).scalar_b(b, a, y, n);
                       },
                       [](const void* a, const void* b, void* y, int64_t n) {
                         kernels::number_loops(kOp, kNumber).scalar_a(b, a, y, n);
                       }};
  });
}

/** Strings are compared one by one; they have no loops. */
class EqualStrings : public OpKernel {
 public:
  explicit EqualStrings(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& a = context.input(0);
    const Tensor& b = context.input(1);
    Tensor& y = context.output(0);
    const std::string* x0 = a.data<std::string>();
    const std::string* x1 = b.data<std::string>();
    bool* out = y.mutable_data<bool>();
    BroadcastPlan plan(y.shape(), {&a.shape(), &b.shape()});
    int64_t step_a = plan.is_scalar(0) ? 0 : 1, step_b = plan.is_scalar(1) ? 0 : 1;
    plan.run(context.threads(), kernels::least_items(kernels::kScalarNs),
             [&](const int64_t* at, int64_t to, int64_t length) {
               for (int64_t i = 0; i < length; ++i) out[to + i] = x0[at[0] + i * step_a] == x1[at[1] + i * step_b];
             });
  }
};

std::unique_ptr<OpKernel> make_equal(const KernelInfo& info) {
  if (info.input_type(0).element == ElementType::kString) return std::make_unique<EqualStrings>(info);
  return std::make_unique<ElementwiseBinary>(info, comparison<NumberOp::kEqual>);
}

enum class Bits { kAnd, kOr, kXor };

/** Bools are bytes of 0 and 1, so they take the loops of uint8. */
template <Bits kOp>
BinaryLoops bitwise(const Node&, ElementType type) {
  return dispatch<kIntegerTypes | ElementType::kBool>(type, []<class T>(TypeTag<T>) {
    using U =
        typename std::conditional_t<std::is_same_v<T, bool>, std::type_identity<uint8_t>, std::make_unsigned<T>>::type;
    return loops_of<U, U, [](U a, U b) {
      if constexpr (kOp == Bits::kAnd) return static_cast<U>(a & b);
      if constexpr (kOp == Bits::kOr) return static_cast<U>(a | b);
      if constexpr (kOp == Bits::kXor) return static_cast<U>(a ^ b);
    }>();
  });
}

/** Shifts by the width of the type or more give 0. */
BinaryLoops shift(const Node& node, ElementType type) {
  const std::string& direction = node.string_of("direction");
  bool left = direction == "LEFT";
  require(left || direction == "RIGHT", ErrorCode::kInvalidGraph, "attribute direction is '", direction,
          "'; set it to 'LEFT' or 'RIGHT'");
  return dispatch<kUnsignedTypes>(type, [&]<class T>(TypeTag<T>) {
    constexpr T kWidth = 8 * sizeof(T);
    return left ? loops_of<T, T, [](T a, T b) { return b < kWidth ? static_cast<T>(a << b) : T{0}; }>()
                : loops_of<T, T, [](T a, T b) { return b < kWidth ? static_cast<T>(a >> b) : T{0}; }>();
  });
}

constexpr KernelRow row(const char* name, int since, MakeKernel make, TypeSet types) {
  return {"", name, since, kLatest, make, {{0, types}}, Reuse::kInPlace};
}

constexpr KernelRow kRows[] = {
    row("Equal", 1, make_equal, kNumericTypes | ElementType::kBool | ElementType::kString),
    row("Greater", 1, make_binary<comparison<NumberOp::kGreater>>, kNumericTypes),
    row("GreaterOrEqual", 12, make_binary<comparison<NumberOp::kGreaterOrEqual>>, kNumericTypes),
    row("Less", 1, make_binary<exchanged<NumberOp::kGreater>>, kNumericTypes),
    row("LessOrEqual", 12, make_binary<exchanged<NumberOp::kGreaterOrEqual>>, kNumericTypes),
    row("And", 1, make_binary<bitwise<Bits::kAnd>>, ElementType::kBool),
    row("Or", 1, make_binary<bitwise<Bits::kOr>>, ElementType::kBool),
    row("Xor", 1, make_binary<bitwise<Bits::kXor>>, ElementType::kBool),
    row("BitwiseAnd", 18, make_binary<bitwise<Bits::kAnd>>, kIntegerTypes),
    row("BitwiseOr", 18, make_binary<bitwise<Bits::kOr>>, kIntegerTypes),
    row("BitwiseXor", 18, make_binary<bitwise<Bits::kXor>>, kIntegerTypes),
    row("BitShift", 11, make_binary<shift>, kUnsignedTypes),
};

}  // namespace

extern const KernelTable comparison_rows;
constinit const KernelTable comparison_rows(kRows);

}  // namespace ortolan::cpu::onnx
