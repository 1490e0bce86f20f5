// QLinearWhere, QLinearConcat and QLinearSoftmax: bytes pass through tables from one format into another.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/broadcast.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/kernels/quantised/bytes.h"
#include "cpu/quantised/byte_formats.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** A table into the result's format, and whether it changes anything. */
struct Recoding {
  Recoding(const ByteFormat& from, const ByteFormat& to) : same(from == to), table(recoding_table(from, to)) {}
  void operator()(const uint8_t* x, int64_t n, uint8_t* y) const {
    if (!same) return kernels::map_bytes(table.data(), x, n, y);
    std::copy_n(x, n, y);
  }
  bool same;
  ByteTable table;
};

/** Recodings of a node: made once where all scales and zero points are constant. */
class RecodingKernel : public OpKernel {
 protected:
  /** The recoding of each of `from` into `to`, for bytes of `type`. */
  void prepare(const KernelInfo& info, std::span<const FormatInputs> from, const FormatInputs& to, ElementType type) {
    bool constant = to.constant(info);
    for (const FormatInputs& inputs : from) constant = constant && inputs.constant(info);
    if (constant) recodings_ = make(info, from, to, type);
  }
  template <class Body>
  void with_recodings(const KernelContext& context, std::span<const FormatInputs> from, const FormatInputs& to,
                      ElementType type, Body&& body) const {
    if (!recodings_.empty()) return body(recodings_);
    body(make(context, from, to, type));
  }

 private:
  template <class Source>
  static std::vector<Recoding> make(const Source& source, std::span<const FormatInputs> from, const FormatInputs& to,
                                    ElementType type) {
    std::vector<Recoding> result;
    ByteFormat target = to.format(source, type);
    for (const FormatInputs& inputs : from) result.emplace_back(inputs.format(source, type), target);
    return result;
  }

  std::vector<Recoding> recodings_;
};

void select(const uint8_t* condition, const uint8_t* x, const uint8_t* y, uint8_t* out, int64_t count) {
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    auto mask = static_cast<uint8_t>(0 - static_cast<uint8_t>(condition[i] != 0));
    out[i] = static_cast<uint8_t>((x[i] & mask) | (y[i] & static_cast<uint8_t>(~mask)));
  }
}

class QLinearWhere final : public RecodingKernel {
 public:
  explicit QLinearWhere(const KernelInfo& info) { prepare(info, kFrom, kTo, info.input_type(1).element); }

  void compute(KernelContext& context) const override {
    const Tensor &condition = context.input(0), &x = context.input(1), &y = context.input(4);
    Tensor& out = context.output(0);
    with_recodings(context, kFrom, kTo, x.type(), [&](const std::vector<Recoding>& recodings) {
      BroadcastPlan plan(out.shape(), {&condition.shape(), &x.shape(), &y.shape()});
      auto* to = static_cast<uint8_t*>(out.mutable_raw());
      const int64_t least = kernels::least_items(kernels::kActivationNs);
      context.threads().parallel_for(plan.element_count(), least, [&](int64_t begin, int64_t end) {
        uint8_t chosen[kBlock], left[kBlock], right[kBlock];
        for (int64_t i = begin; i < end; i += kBlock) {
          int64_t count = std::min(kBlock, end - i);
          plan.gather(0, 1, condition.raw(), i, count, chosen);
          plan.gather(1, 1, x.raw(), i, count, left);
          plan.gather(2, 1, y.raw(), i, count, right);
          recodings[0](left, count, left);
          recodings[1](right, count, right);
          select(chosen, left, right, to + i, count);
        }
      });
    });
  }

 private:
  static constexpr int64_t kBlock = 2048;
  static constexpr FormatInputs kFrom[] = {{2, 3, "X"}, {5, 6, "Y"}}, kTo{7, 8, "Z"};
};

class QLinearConcat final : public RecodingKernel {
 public:
  explicit QLinearConcat(const KernelInfo& info) : axis_(info.node().int_of("axis")) {
    for (size_t i = 2; i + 2 < info.input_count(); i += 3) from_.emplace_back(i + 1, i + 2, "an input");
    prepare(info, from_, kTo, info.input_type(1).element);
  }

  void compute(KernelContext& context) const override {
    Tensor& y = context.output(0);
    size_t axis = checked_axis(axis_, y.rank());
    int64_t outer = y.shape().count_to(axis), row = y.shape().count_from(axis);
    with_recodings(context, from_, kTo, y.type(), [&](const std::vector<Recoding>& recodings) {
      auto* to = static_cast<uint8_t*>(y.mutable_raw());
      for (size_t i = 0; i < recodings.size(); ++i) {
        const Tensor& x = context.input(2 + 3 * i);
        require(x.type() == y.type(), ErrorCode::kInvalidArgument, "input ", 2 + 3 * i, " holds ", name_of(x.type()),
                " but the result ", name_of(y.type()), "; all tensors must be of one type");
        if (x.element_count() == 0) continue;
        int64_t part = x.element_count() / outer;
        copy(context.threads(), recodings[i], static_cast<const uint8_t*>(x.raw()), outer, part, to, row);
        to += part;
      }
    });
  }

 private:
  /** `outer` rows of `part` bytes into rows `stride` apart. */
  static void copy(ThreadPool& threads, const Recoding& recode, const uint8_t* x, int64_t outer, int64_t part,
                   uint8_t* y, int64_t stride) {
    if (outer == 1) {
      return threads.parallel_for(part, kernels::least_items(kernels::kMovedByteNs),
                                  [&](int64_t begin, int64_t end) { recode(x + begin, end - begin, y + begin); });
    }
    threads.parallel_for(outer, kernels::least_rows(part, kernels::kMovedByteNs), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) recode(x + i * part, part, y + i * stride);
    });
  }

  static constexpr FormatInputs kTo{0, 1, "Y"};
  int64_t axis_;
  std::vector<FormatInputs> from_;
};

/** exp(-d * scale) for the distance d of a byte from the largest of its row. */
using Exponentials = std::array<float, 256>;

Exponentials exponentials(float scale) {
  Exponentials result;
  for (int d = 0; d < 256; ++d) result[d] = static_cast<float>(std::exp(-static_cast<double>(d) * scale));
  return result;
}

/** To the nearest whole number, halves to even; far values and NaN become 1024 or -1024, beyond any byte. */
float round_near(float x) {
  constexpr float kMagic = 0x1.8p23f;
  if (!(x < 1024)) x = 1024;
  return (std::max(x, -1024.0f) + kMagic) - kMagic;
}

/** One row of n > 0 bytes. `flip` makes signed bytes ordered as unsigned ones. */
void softmax_row(const Exponentials& exps, const ByteFormat& to, uint8_t flip, const uint8_t* x, int64_t n,
                 uint8_t* y) {
  uint8_t largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max<uint8_t>(largest, x[i] ^ flip);
  float sums[4] = {};
  int64_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (int j = 0; j < 4; ++j) sums[j] += exps[largest - (x[i + j] ^ flip)];
  }
  for (; i < n; ++i) sums[0] += exps[largest - (x[i] ^ flip)];
  float sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  float factor = 1 / (sum * to.scale), low = to.is_signed ? -128.0f : 0.0f;
  auto quotient = [&](uint8_t byte) {
    float value = round_near(exps[largest - (byte ^ flip)] * factor) + static_cast<float>(to.zero);
    return static_cast<uint8_t>(static_cast<int32_t>(value >= low ? std::min(value, low + 255) : low));
  };
  if (n < 512) {
    for (i = 0; i < n; ++i) y[i] = quotient(x[i]);
    return;
  }
  ByteTable table;
  table.fill(0);  // bytes above the largest do not occur
  for (int value = 0; value <= largest; ++value) table[value ^ flip] = quotient(static_cast<uint8_t>(value ^ flip));
  kernels::map_bytes(table.data(), x, n, y);
}

class QLinearSoftmax final : public OpKernel {
 public:
  explicit QLinearSoftmax(const KernelInfo& info)
      : flattens_(info.node().int_of("opset") < 13), axis_(info.node().int_or("axis", flattens_ ? 1 : -1)) {
    ElementType type = info.input_type(0).element;
    if (kFrom.constant(info)) exps_ = exponentials(kFrom.format(info, type).scale);
  }

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    size_t axis = checked_axis(axis_, x.rank());
    ByteFormat from = kFrom.format(context, x.type()), to = kTo.format(context, x.type());
    if (x.element_count() == 0) return;
    std::optional<Exponentials> fresh;
    const Exponentials& exps = exps_ ? *exps_ : fresh.emplace(exponentials(from.scale));
    int64_t outer = x.shape().count_to(axis);
    int64_t length = flattens_ ? x.shape().count_from(axis) : x.shape()[axis];
    int64_t inner = flattens_ ? 1 : x.shape().count_from(axis + 1);
    auto* in = static_cast<const uint8_t*>(x.raw());
    auto* out = static_cast<uint8_t*>(y.mutable_raw());
    if (inner == 1) return run(context.threads(), exps, to, in, outer, length, out);
    uint8_t* rows = context.scratch<uint8_t>(x.element_count()).data();
    const int64_t dims[] = {outer, length, inner}, turned[] = {outer, inner, length};
    const int swap[] = {0, 2, 1};
    kernels::transpose(&context.threads(), 1, 3, dims, swap, in, rows);
    run(context.threads(), exps, to, rows, outer * inner, length, rows);
    kernels::transpose(&context.threads(), 1, 3, turned, swap, rows, out);
  }

 private:
  static void run(ThreadPool& threads, const Exponentials& exps, const ByteFormat& to, const uint8_t* x, int64_t rows,
                  int64_t length, uint8_t* y) {
    uint8_t flip = to.is_signed ? 128 : 0;
    threads.parallel_for(rows, kernels::least_rows(length, kernels::kActivationNs), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) softmax_row(exps, to, flip, x + i * length, length, y + i * length);
    });
  }

  static constexpr FormatInputs kFrom{1, 2, "X"}, kTo{3, 4, "Y"};
  bool flattens_;
  int64_t axis_;
  std::optional<Exponentials> exps_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "QLinearWhere", 1, kLatest, make_kernel<QLinearWhere>},
    {"com.microsoft", "QLinearConcat", 1, kLatest, make_kernel<QLinearConcat>},
    {"com.microsoft", "QLinearSoftmax", 1, kLatest, make_kernel<QLinearSoftmax>},
};

}  // namespace

extern const KernelTable quantized_selection_rows;
const KernelTable quantized_selection_rows(kRows);
}  // namespace ortolan::cpu::microsoft
