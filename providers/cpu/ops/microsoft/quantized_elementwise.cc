// QLinearAdd, QLinearMul and MulInteger with broadcasting; QLinearLeakyRelu and QLinearSigmoid by table.
#include <cmath>

#include "cpu/elements/broadcast.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/quantised/bytes.h"
#include "cpu/quantised/byte_formats.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

constexpr int64_t kShortRow = 32, kBlock = 1024;

using JoinBytes = void (*)(const kernels::BytePair&, const uint8_t*, const uint8_t*, int64_t, uint8_t*);

/** Operands laid out whole, a block at a time: a loop for each short row would cost more. */
void join_short_rows(const BroadcastPlan& plan, ThreadPool& threads, JoinBytes join, const kernels::BytePair& pair,
                     const uint8_t* a, const uint8_t* b, uint8_t* y) {
  const int64_t least = kernels::least_items(kernels::kElementNs);
  threads.parallel_for(plan.element_count(), least, [&](int64_t begin, int64_t end) {
    uint8_t left[kBlock], right[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      int64_t count = std::min(kBlock, end - i);
      plan.gather(0, 1, a, i, count, left);
      plan.gather(1, 1, b, i, count, right);
      join(pair, left, right, count, y + i);
    }
  });
}

void join_rows(ThreadPool& threads, JoinBytes join, kernels::BytePair pair, const Tensor& a, const Tensor& b,
               Tensor& y) {
  BroadcastPlan plan(y.shape(), {&a.shape(), &b.shape()});
  auto *x0 = static_cast<const uint8_t*>(a.raw()), *x1 = static_cast<const uint8_t*>(b.raw());
  auto* out = static_cast<uint8_t*>(y.mutable_raw());
  if (plan.row_length() < kShortRow && plan.element_count() > plan.row_length()) {
    return join_short_rows(plan, threads, join, pair, x0, x1, out);
  }
  bool one_a = plan.is_scalar(0), one_b = plan.is_scalar(1) && !one_a;
  pair.scalar_a = one_a, pair.scalar_b = one_b;
  bool both = one_a && plan.is_scalar(1);  // then each row has one element, for which any form will do
  if (both) pair.scalar_a = false;
  plan.run(threads, kernels::least_items(kernels::kElementNs), [&](const int64_t* at, int64_t begin, int64_t count) {
    join(pair, x0 + at[0], x1 + at[1], count, out + begin);
  });
}

template <bool product>
class QLinearBinary final : public OpKernel {
 public:
  explicit QLinearBinary(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor &a = context.input(0), &b = context.input(3);
    Tensor& y = context.output(0);
    ByteFormat from_a = byte_format(context.input(1), context.input_if(2), a.type(), "A");
    ByteFormat from_b = byte_format(context.input(4), context.input_if(5), b.type(), "B");
    ByteFormat to = byte_format(context.input(6), context.input_if(7), y.type(), "C");
    kernels::BytePair pair{from_a.zero, from_b.zero, to.zero, from_a.scale / to.scale, from_b.scale / to.scale};
    if (product) pair.factor_a = from_a.scale * from_b.scale / to.scale;
    pair.is_signed = to.is_signed;
    join_rows(context.threads(), product ? kernels::multiply_bytes : kernels::add_bytes, pair, a, b, y);
  }
};

class MulInteger final : public OpKernel {
 public:
  explicit MulInteger(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor &a = context.input(0), &b = context.input(2);
    int32_t zero_a = single_zero_point(context.input_if(1), "A_zero_point");
    int32_t zero_b = single_zero_point(context.input_if(3), "B_zero_point");
    Tensor& y = context.output(0);
    BroadcastPlan plan(y.shape(), {&a.shape(), &b.shape()});
    int64_t step_a = !plan.is_scalar(0), step_b = !plan.is_scalar(1);
    dispatch<ElementType::kInt8 | ElementType::kUInt8>(a.type(), [&]<class T>(TypeTag<T>) {
      const T *x0 = a.data<T>(), *x1 = b.data<T>();
      int32_t* out = y.mutable_data<int32_t>();
      plan.run(context.threads(), kernels::least_items(kernels::kElementNs),
               [&](const int64_t* at, int64_t begin, int64_t count) {
                 const T *left = x0 + at[0], *right = x1 + at[1];
                 for (int64_t i = 0; i < count; ++i)
                   out[begin + i] = (left[i * step_a] - zero_a) * (right[i * step_b] - zero_b);
               });
    });
  }
};

/** A function of one byte: its table is made once where scales and zero points are constant. */
class ByteFunction : public OpKernel {
 public:
  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    if (table_) return map_tensor(context.threads(), *table_, x, y);
    map_tensor(context.threads(), make(kFrom.format(context, x.type()), kTo.format(context, x.type())), x, y);
  }

 protected:
  ByteFunction(const KernelInfo& info, float (*function)(float x, float alpha), float alpha)
      : function_(function), alpha_(alpha) {
    ElementType type = info.input_type(0).element;
    if (kFrom.constant(info) && kTo.constant(info)) table_ = make(kFrom.format(info, type), kTo.format(info, type));
  }

 private:
  ByteTable make(const ByteFormat& from, const ByteFormat& to) const {
    return byte_table(from, to, [&](float x) { return function_(x, alpha_); });
  }

  static constexpr FormatInputs kFrom{1, 2, "X"}, kTo{3, 4, "Y"};
  float (*function_)(float x, float alpha);
  float alpha_;
  std::optional<ByteTable> table_;
};

class QLinearLeakyRelu final : public ByteFunction {
 public:
  explicit QLinearLeakyRelu(const KernelInfo& info)
      : ByteFunction(
            info, [](float x, float alpha) { return x >= 0 ? x : alpha * x; }, info.node().float_or("alpha", 0.01f)) {}
};

class QLinearSigmoid final : public ByteFunction {
 public:
  explicit QLinearSigmoid(const KernelInfo& info)
      : ByteFunction(
            info, [](float x, float) { return 1 / (1 + std::exp(-x)); }, 0) {}
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "QLinearAdd", 1, kLatest, make_kernel<QLinearBinary<false>>, {}, Reuse::kNone},
    {"com.microsoft", "QLinearMul", 1, kLatest, make_kernel<QLinearBinary<true>>, {}, Reuse::kNone},
    {"com.microsoft", "MulInteger", 1, kLatest, make_kernel<MulInteger>},
    {"com.microsoft", "QLinearLeakyRelu", 1, kLatest, make_kernel<QLinearLeakyRelu>, {}, Reuse::kInPlace},
    {"com.microsoft", "QLinearSigmoid", 1, kLatest, make_kernel<QLinearSigmoid>, {}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable quantized_elementwise_rows;
const KernelTable quantized_elementwise_rows(kRows);
}  // namespace ortolan::cpu::microsoft
