// Loops over numbers: hands spans to the instruction set in use.
#include "cpu/kernels/elementwise/number_loops.h"

#include <algorithm>

#include "base/threads/polled_loop.h"
#include "cpu/kernels/elementwise/number_loops_kernels.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kAtOnce = int64_t{1} << 22;  // elements that are read between two looks whether to stop

/** How reductions of parts of a span become that of the span. */
ReduceOp joining(ReduceOp op) { return op == ReduceOp::kSumSquares || op == ReduceOp::kSumAbs ? ReduceOp::kSum : op; }

}  // namespace

NumberLoops number_loops(NumberOp op, Number type) {
  return kernels().numbers->binary[static_cast<int>(op)][static_cast<int>(type)];
}

bool unary(NumberUnary op, Number type, const void* x, void* y, int64_t n, double slope) {
  NumberKernels::Unary loop = kernels().numbers->unary[static_cast<int>(op)][static_cast<int>(type)];
  if (loop == nullptr) return false;
  loop(x, y, n, slope);
  return true;
}

template <class T>
T reduce_numbers(ReduceOp op, const T* x, int64_t n) {
  const auto reduce = kernels().numbers->reduce[static_cast<int>(op)][static_cast<int>(number_of<T>())];
  T result;
  reduce(x, std::min(n, kAtOnce), &result);
  if (n <= kAtOnce) [[likely]]
    return result;
  for (int64_t begin = kAtOnce; begin < n; begin += kAtOnce) {
    base::check_terminate();
    T joined[2] = {result, T{}};
    reduce(x + begin, std::min(n - begin, kAtOnce), joined + 1);
    const auto join = kernels().numbers->reduce[static_cast<int>(joining(op))][static_cast<int>(number_of<T>())];
    join(joined, 2, &result);
  }
  return result;
}

template <class T>
int64_t find_first(T value, const T* x, int64_t n) {
  const auto find = kernels().numbers->find[static_cast<int>(number_of<T>())];
  if (n <= kAtOnce) [[likely]]
    return find(&value, x, n);
  for (int64_t begin = 0; begin < n; begin += kAtOnce) {
    if (begin > 0) base::check_terminate();
    const int64_t count = std::min(n - begin, kAtOnce), found = find(&value, x + begin, count);
    if (found < count) return begin + found;
  }
  return n;
}

template double reduce_numbers(ReduceOp, const double*, int64_t);
template int32_t reduce_numbers(ReduceOp, const int32_t*, int64_t);
template uint32_t reduce_numbers(ReduceOp, const uint32_t*, int64_t);
template int64_t reduce_numbers(ReduceOp, const int64_t*, int64_t);
template uint64_t reduce_numbers(ReduceOp, const uint64_t*, int64_t);
template int8_t reduce_numbers(ReduceOp, const int8_t*, int64_t);
template uint8_t reduce_numbers(ReduceOp, const uint8_t*, int64_t);
template int64_t find_first(float, const float*, int64_t);
template int64_t find_first(double, const double*, int64_t);
template int64_t find_first(int8_t, const int8_t*, int64_t);
template int64_t find_first(uint8_t, const uint8_t*, int64_t);
template int64_t find_first(int16_t, const int16_t*, int64_t);
template int64_t find_first(uint16_t, const uint16_t*, int64_t);
template int64_t find_first(int32_t, const int32_t*, int64_t);
template int64_t find_first(uint32_t, const uint32_t*, int64_t);
template int64_t find_first(int64_t, const int64_t*, int64_t);
template int64_t find_first(uint64_t, const uint64_t*, int64_t);

}  // namespace ortolan::cpu::kernels
