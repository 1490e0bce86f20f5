// Where, by element size: selection moves bytes and does no arithmetic.
#include <algorithm>

#include "cpu/elements/broadcast.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/counted_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

struct Block16 {
  uint64_t low, high;
};

/** Rows in which an operand's step is 0 (one element) or 1. */
struct Steps {
  int64_t condition, x, y;
};

/** x where c holds, else y; without branches or conditional loads where the bits allow it, so that it vectorises. */
template <class T>
T choose(bool c, const T& x, const T& y) {
  if constexpr (std::is_integral_v<T>) {
    T mask = static_cast<T>(0 - static_cast<T>(c));
    return static_cast<T>((x & mask) | (y & static_cast<T>(~mask)));
  } else {
    return c ? x : y;
  }
}

template <class T>
void select(const uint8_t* condition, const T* x, const T* y, T* out, const Steps& step, int64_t count) {
  if (step.condition == 1 && step.x == 1 && step.y == 1) {
#pragma GCC ivdep  // out is x, y or apart
    for (int64_t i = 0; i < count; ++i) out[i] = choose(condition[i] != 0, x[i], y[i]);
  } else if (step.condition == 1 && step.x == 1) {
    const T other = *y;
#pragma GCC ivdep  // out is x, y or apart
    for (int64_t i = 0; i < count; ++i) out[i] = choose(condition[i] != 0, x[i], other);
  } else if (step.condition == 1 && step.y == 1) {
    const T one = *x;
#pragma GCC ivdep  // out is x, y or apart
    for (int64_t i = 0; i < count; ++i) out[i] = choose(condition[i] != 0, one, y[i]);
  } else if (step.condition == 0) {
    const bool first = *condition != 0;
    const T* from = first ? x : y;
    if ((first ? step.x : step.y) == 0) {
      std::fill_n(out, count, T(*from));
    } else if (from != out) {
      std::copy_n(from, count, out);
    }
  } else if (step.x == 0 && step.y == 0) {
    const T one = *x, other = *y;
    for (int64_t i = 0; i < count; ++i) out[i] = choose(condition[i] != 0, one, other);
  } else {
    for (int64_t i = 0; i < count; ++i) {
      out[i] = choose(condition[i * step.condition] != 0, x[i * step.x], y[i * step.y]);
    }
  }
}

void select(const uint8_t* condition, const std::string* x, const std::string* y, std::string* out, const Steps& step,
            int64_t count) {
  for (int64_t i = 0; i < count; ++i) put(out[i], condition[i * step.condition] != 0 ? x[i * step.x] : y[i * step.y]);
}

template <class T>
void run(KernelContext& context) {
  const Tensor& condition = context.input(0);
  const Tensor& x = context.input(1);
  const Tensor& y = context.input(2);
  Tensor& out = context.output(0);
  BroadcastPlan plan(out.shape(), {&condition.shape(), &x.shape(), &y.shape()});
  require(condition.type() == ElementType::kBool, ErrorCode::kInvalidArgument, "the condition holds ",
          name_of(condition.type()), ", not bool");
  Steps step{!plan.is_scalar(0), !plan.is_scalar(1), !plan.is_scalar(2)};
  auto* c = static_cast<const uint8_t*>(condition.raw());
  auto *x0 = static_cast<const T*>(x.raw()), *y0 = static_cast<const T*>(y.raw());
  auto* to = static_cast<T*>(out.mutable_raw());
  plan.run(context.threads(), kernels::least_items(kernels::kElementNs),
           [&](const int64_t* at, int64_t begin, int64_t count) {
             select(c + at[0], x0 + at[1], y0 + at[2], to + begin, step, count);
           });
}

class Where : public OpKernel {
 public:
  explicit Where(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    ElementType type = context.input(1).type();
    require(context.input(2).type() == type, ErrorCode::kInvalidArgument, "inputs X and Y hold ", name_of(type),
            " and ", name_of(context.input(2).type()), "; they must be of one type");
    if (type == ElementType::kString) return run<std::string>(context);
    switch (bits_of(type)) {
      case 8:
        return run<uint8_t>(context);
      case 16:
        return run<uint16_t>(context);
      case 32:
        return run<uint32_t>(context);
      case 64:
        return run<uint64_t>(context);
      default:
        return run<Block16>(context);
    }
  }
};

constexpr KernelRow kRows[] = {
    {"", "Where", 9, kLatest, make_kernel<Where>, {{1, kPlainTypes | ElementType::kString}}, Reuse::kInPlace}};

}  // namespace

extern const KernelTable where_rows;
constinit const KernelTable where_rows(kRows);

}  // namespace ortolan::cpu::onnx
