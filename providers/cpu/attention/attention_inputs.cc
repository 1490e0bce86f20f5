// Biases and masks of com.microsoft's attention operators as what is added to scores.
#include "cpu/attention/attention_inputs.h"

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/attention/attention_math.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"

namespace ortolan::cpu {
namespace {

/** [batch][rows][keys] of C, 0 or the filter. */
template <class C, class Seen>
ScoreBias fill_filter(KernelContext& context, const AttentionPlan& p, int64_t rows, float filter, Seen&& seen) {
  C* values = context.scratch<C>(checked_mul(checked_mul(p.batch, rows), p.keys)).data();
  const int64_t least = kernels::least_rows(p.keys, kernels::kScalarNs);
  context.threads().parallel_for(p.batch * rows, least, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t j = 0; j < p.keys; ++j) {
        values[row * p.keys + j] = seen(row / rows, row % rows, j) ? C(0) : C(filter);
      }
    }
  });
  return {values, rows * p.keys, 0, rows == 1 ? 0 : p.keys, p.keys};
}

template <class C>
ScoreBias filter_bias_in(KernelContext& context, const Tensor& mask, const AttentionPlan& p, float filter) {
  const Shape& shape = mask.shape();
  const int32_t* m = mask.data<int32_t>();
  int64_t batch = p.batch, keys = p.keys, past = p.first_position;
  if (shape.rank() == 1 && (shape[0] == batch || shape[0] == 3 * batch + 2)) {
    return fill_filter<C>(context, p, 1, filter, [=](int64_t b, int64_t, int64_t j) { return j < m[b]; });
  }
  if (shape == Shape{2 * batch}) {
    return fill_filter<C>(context, p, 1, filter,
                          [=](int64_t b, int64_t, int64_t j) { return j < m[b] && j >= m[batch + b]; });
  }
  if (shape == Shape{batch, keys}) {
    return fill_filter<C>(context, p, 1, filter, [=](int64_t b, int64_t, int64_t j) { return m[b * keys + j] > 0; });
  }
  if (shape == Shape{batch, 1}) {
    return fill_filter<C>(context, p, 1, filter, [=](int64_t b, int64_t, int64_t) { return m[b] > 0; });
  }
  if (shape == Shape{batch, keys - past}) {
    return fill_filter<C>(context, p, 1, filter, [=](int64_t b, int64_t, int64_t j) {
      return j < past || m[b * (keys - past) + j - past] > 0;
    });
  }
  if (shape == Shape{batch, p.queries, keys}) {
    return fill_filter<C>(context, p, p.queries, filter, [=, queries = p.queries](int64_t b, int64_t i, int64_t j) {
      return m[(b * queries + i) * keys + j] > 0;
    });
  }
  bool square = shape.rank() == 4 && shape[0] == batch && shape[1] == 1 && shape[2] == shape[3] && shape[2] >= keys &&
                past + p.queries <= shape[2];
  require(square, ErrorCode::kInvalidArgument, "mask_index has shape ", shape, "; it needs [batch], [2*batch], [batch,",
          keys, "], [batch,", p.queries, ",", keys, "] or [batch,1,n,n]");
  return fill_filter<C>(context, p, p.queries, filter, [=, n = shape[2]](int64_t b, int64_t i, int64_t j) {
    return m[(b * n + past + i) * n + j] > 0;
  });
}

}  // namespace

ScoreBias added_bias(KernelContext& context, const Tensor& bias, const AttentionPlan& p) {
  const Shape& b = bias.shape();
  bool fits = b.rank() == 4 && (b[0] == 1 || b[0] == p.batch) && (b[1] == 1 || b[1] == p.heads) &&
              (b[2] == 1 || b[2] == p.queries) && b[3] == p.keys;
  require(fits, ErrorCode::kInvalidArgument, "attention_bias has shape ", b, "; it needs [", p.batch, ",", p.heads, ",",
          p.queries, ",", p.keys, "], of which the first three may be 1");
  ScoreBias result;
  result.data = p.in_double ? static_cast<const void*>(read_as<double>(context, bias)) : read_as<float>(context, bias);
  result.row = b[2] == 1 ? 0 : b[3];
  result.head = b[1] == 1 ? 0 : b[2] * b[3];
  result.batch = b[0] == 1 ? 0 : b[1] * b[2] * b[3];
  result.columns = b[3];
  return result;
}

ScoreBias filter_bias(KernelContext& context, const Tensor& mask, const AttentionPlan& plan, float filter) {
  return (plan.in_double ? filter_bias_in<double> : filter_bias_in<float>)(context, mask, plan, filter);
}

HeadRows with_bias(KernelContext& context, const HeadRows& rows, int64_t batch, int64_t count, int64_t heads,
                   int64_t size, const Tensor& bias, int64_t offset) {
  int64_t width = heads * size, element = bits_of(rows.type) / 8;
  char* result = context.scratch<char>(checked_mul(checked_mul(batch * count, width), element)).data();
  const float* added = read_as<float>(context, bias) + offset;
  std::vector<float> row(width);
  for (int64_t n = 0; n < batch * count; ++n) {
    for (int64_t h = 0; h < heads; ++h) {
      int64_t at = n / count * rows.batch + n % count * rows.row + h * rows.head;
      attention_math::load(static_cast<const char*>(rows.data) + at * element, rows.type, size, row.data() + h * size);
    }
    kernels::binary(kernels::BinaryOp::kAdd, row.data(), added, row.data(), width);
    attention_math::save(row.data(), width, rows.type, result + n * width * element);
  }
  return rows_by_position(result, rows.type, heads, count, size);
}

int64_t int32_scalar(const Tensor& tensor, const char* name) {
  require(tensor.element_count() == 1, ErrorCode::kInvalidArgument, name, " has shape ", tensor.shape(),
          "; it must hold one element");
  return *tensor.data<int32_t>();
}

}  // namespace ortolan::cpu
