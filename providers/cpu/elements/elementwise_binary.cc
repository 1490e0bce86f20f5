// The walk of elementwise kernels over broadcast inputs, and their conversion of float16 and bfloat16.
#include "cpu/elements/elementwise_binary.h"

#include <algorithm>

namespace ortolan::cpu {
namespace {

/** One row, or a part of one: pointers to elements; a side may be a scalar. */
struct RowArgs {
  const char* a;
  const char* b;
  char* y;
  bool a_scalar;
  bool b_scalar;
};

void run_plain(const BinaryLoops& loops, const RowArgs& row, size_t in_size, size_t out_size, int64_t count) {
  if (!row.a_scalar && !row.b_scalar) return loops.vectors(row.a, row.b, row.y, count);
  if (!row.a_scalar) return loops.scalar_b(row.a, row.b, row.y, count);
  if (!row.b_scalar) return loops.scalar_a(row.a, row.b, row.y, count);
  for (int64_t i = 0; i < count; ++i) loops.vectors(row.a, row.b, row.y + i * out_size, 1);
}

/** float16 or bfloat16 inputs, a block at a time. */
void run_small_floats(const BinaryLoops& loops, const RowArgs& row, ElementType in, ElementType out, int64_t count) {
  float a[kConversionBlock], b[kConversionBlock], y[kConversionBlock];
  for (int64_t i = 0; i < count; i += kConversionBlock) {
    int64_t n = std::min(kConversionBlock, count - i);
    if (!row.a_scalar || i == 0) widen(in, row.a + 2 * i, a, row.a_scalar ? 1 : n);
    if (!row.b_scalar || i == 0) widen(in, row.b + 2 * i, b, row.b_scalar ? 1 : n);
    RowArgs block{reinterpret_cast<char*>(a), reinterpret_cast<char*>(b), reinterpret_cast<char*>(y), row.a_scalar,
                  row.b_scalar};
    if (kHalfTypes.contains(out)) {
      run_plain(loops, block, 4, 4, n);
      narrow(out, y, row.y + 2 * i, n);
    } else {
      block.y = row.y + i;
      run_plain(loops, block, 4, 1, n);
    }
  }
}

struct Operation {
  const BinaryLoops& loops;
  ElementType in, out;
  size_t in_size, out_size;
  void operator()(const RowArgs& row, int64_t count) const {
    if (kHalfTypes.contains(in)) [[unlikely]]
      return run_small_floats(loops, row, in, out, count);
    run_plain(loops, row, in_size, out_size, count);
  }
};

void check_input(const Tensor& tensor, ElementType type, size_t index) {
  require(tensor.type() == type, ErrorCode::kInvalidArgument, "input ", index, " holds ", name_of(tensor.type()),
          ", not ", name_of(type));
}

/** Inputs of equal shape, or one of them a single element: one row. */
void run_one_row(const Operation& operation, RowArgs row, int64_t count, ThreadPool& threads) {
  threads.parallel_for(count, operation.loops.least_elements(), [&](int64_t begin, int64_t end) {
    RowArgs part = row;
    if (!row.a_scalar) part.a += begin * operation.in_size;
    if (!row.b_scalar) part.b += begin * operation.in_size;
    part.y += begin * operation.out_size;
    operation(part, end - begin);
  });
}

/** Rows below this length are put together in blocks. */
constexpr int64_t kGatheredRow = 32;
constexpr int64_t kGatheredBlock = 512;

/** An operand of short rows, block by block. */
class BlockReader {
 public:
  BlockReader(const BroadcastPlan& plan, size_t k, size_t size, const char* data)
      : plan_(plan), k_(k), size_(size), data_(data) {
    if (plan.is_repeated_row(k)) plan.gather(k, size, data, 0, kGatheredBlock + kGatheredRow, block_);
  }
  /** The operand for output elements [begin, begin + count); count is at most kGatheredBlock. */
  const char* read(int64_t begin, int64_t count) {
    if (plan_.is_whole(k_)) return data_ + begin * size_;
    if (plan_.is_repeated_row(k_)) return block_ + begin % plan_.row_length() * size_;
    plan_.gather(k_, size_, data_, begin, count, block_);
    return block_;
  }

 private:
  const BroadcastPlan& plan_;
  size_t k_, size_;
  const char* data_;
  alignas(64) char block_[(kGatheredBlock + kGatheredRow) * 8];
};

void run_short_rows(const Operation& operation, const BroadcastPlan& plan, const RowArgs& row, ThreadPool& threads) {
  threads.parallel_for(plan.element_count(), operation.loops.least_elements(), [&](int64_t begin, int64_t end) {
    BlockReader a(plan, 0, operation.in_size, row.a), b(plan, 1, operation.in_size, row.b);
    for (int64_t i = begin; i < end; i += kGatheredBlock) {
      int64_t count = std::min(kGatheredBlock, end - i);
      operation({a.read(i, count), b.read(i, count), row.y + i * operation.out_size, false, false}, count);
    }
  });
}

}  // namespace

void run_binary(const BinaryLoops& loops, const Tensor& a, const Shape& a_shape, const Tensor& b, const Shape& b_shape,
                Tensor& y, ThreadPool& threads) {
  Operation operation{loops, a.type(), y.type(), static_cast<size_t>(bits_of(a.type()) / 8),
                      static_cast<size_t>(bits_of(y.type()) / 8)};
  RowArgs row{static_cast<const char*>(a.raw()), static_cast<const char*>(b.raw()), static_cast<char*>(y.mutable_raw()),
              false, false};
  if (a_shape == b_shape && a_shape == y.shape()) return run_one_row(operation, row, y.element_count(), threads);
  BroadcastPlan plan(y.shape(), {&a_shape, &b_shape});
  row.a_scalar = plan.is_scalar(0) && plan.row_length() > 1;
  row.b_scalar = plan.is_scalar(1) && plan.row_length() > 1;
  if (plan.row_length() == plan.element_count()) return run_one_row(operation, row, plan.element_count(), threads);
  if (plan.row_length() < kGatheredRow && plan.element_count() > 2 * kGatheredBlock) {
    return run_short_rows(operation, plan, row, threads);
  }
  plan.run(threads, loops.least_elements(), [&](const int64_t* offsets, int64_t output_offset, int64_t length) {
    RowArgs part = row;
    part.a += offsets[0] * operation.in_size;
    part.b += offsets[1] * operation.in_size;
    part.y += output_offset * operation.out_size;
    operation(part, length);
  });
}

LegacyAlignment::LegacyAlignment(const Node& node) {
  if (node.opset >= 7 || !node.domain.empty()) return;
  bool broadcast = node.int_or("broadcast", 0) != 0;
  aligned_ = broadcast && node.has_attribute("axis");
  if (aligned_) axis_ = node.int_or("axis", 0);
  if (node.op_type == "PRelu") {  // one slope a channel
    aligned_ = true;
    axis_ = 1;
  }
}

Shape LegacyAlignment::apply(const Shape& a, const Shape& b) const {
  if (b.element_count() == 1 || b.rank() == a.rank()) return b;
  size_t first = checked_axis(axis_, a.rank());
  require(first + b.rank() <= a.rank(), ErrorCode::kInvalidArgument, "input 1 of shape ", b, " does not fit into ", a,
          " from axis ", first, " on");
  Shape aligned = b;
  aligned.resize(a.rank() - first, 1);
  return aligned;
}

ElementwiseBinary::ElementwiseBinary(const KernelInfo& info, FindLoops find)
    : type_(info.input_type(0).element),
      loops_(find(info.node(), compute_type(info.input_type(0).element))),
      legacy_(info.node()) {}

void ElementwiseBinary::compute(KernelContext& context) const {
  const Tensor& a = context.input(0);
  const Tensor& b = context.input(1);
  check_input(a, type_, 0);
  check_input(b, type_, 1);
  Tensor& y = context.output(0);
  if (legacy_.needed()) [[unlikely]] {
    return run_binary(loops_, a, a.shape(), b, legacy_.apply(a.shape(), b.shape()), y, context.threads());
  }
  run_binary(loops_, a, a.shape(), b, b.shape(), y, context.threads());
}

ElementwiseVariadic::ElementwiseVariadic(const KernelInfo& info, FindLoops find)
    : type_(info.input_type(0).element), loops_(find(info.node(), compute_type(info.input_type(0).element))) {}

void ElementwiseVariadic::compute(KernelContext& context) const {
  Tensor& y = context.output(0);
  if (!kHalfTypes.contains(type_)) {
    fold(context, y);
    return finish(y, context.input_count(), context.threads());
  }
  auto floats = context.scratch<float>(y.element_count());
  Tensor sum(ElementType::kFloat, y.shape(), floats.data());
  fold(context, sum);
  finish(sum, context.input_count(), context.threads());
  narrow(type_, floats.data(), y.mutable_raw(), y.element_count());
}

void ElementwiseVariadic::fold(KernelContext& context, Tensor& y) const {
  auto operand = [&](size_t i) {
    const Tensor& input = context.input(i);
    check_input(input, type_, i);
    if (!kHalfTypes.contains(type_)) return input;
    Tensor floats(ElementType::kFloat, input.shape(), context.services().allocator);
    widen(type_, input.raw(), floats.mutable_data<float>(), input.element_count());
    return floats;
  };
  Tensor first = operand(0);
  if (context.input_count() == 1) return copy_elements(first, y);
  bool reads_later = false;  // y's memory is an input that a later step reads
  for (size_t i = 2; i < context.input_count(); ++i) reads_later |= context.input(i).raw() == y.raw();
  Tensor result = reads_later ? Tensor(y.type(), y.shape(), context.services().allocator) : y;
  for (size_t i = 1; i < context.input_count(); ++i) {
    Tensor next = operand(i);
    run_binary(loops_, first, first.shape(), next, next.shape(), result, context.threads());
    first = result;
  }
  if (reads_later) copy_elements(result, y);
}

}  // namespace ortolan::cpu
