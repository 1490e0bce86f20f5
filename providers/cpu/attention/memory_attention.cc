// Bahdanau's attention: keys once a run, a query and a softmax over the memory each step.
#include "cpu/attention/memory_attention.h"

#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/rows/normalization_f32.h"

namespace ortolan::cpu {
namespace {

enum Input : size_t { kQueryWeights = 8, kMemoryWeights, kVector, kMemory, kLengths, kLayer };

void require_shape(const Tensor& tensor, const Shape& wanted, const char* what) {
  require(tensor.shape() == wanted, ErrorCode::kInvalidArgument, what, " has shape ", tensor.shape(), "; it needs ",
          wanted);
}

/** out = tanh(key + query) . vector; `mixed` holds n elements. */
float score(const float* key, const float* query, const float* vector, float* mixed, int64_t n) {
  kernels::binary(kernels::BinaryOp::kAdd, key, query, mixed, n);
  kernels::unary({kernels::UnaryOp::kTanh}, mixed, mixed, n);
  float sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += vector[i] * mixed[i];
  return sum;
}

double score(const double* key, const double* query, const double* vector, double*, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += vector[i] * std::tanh(key[i] + query[i]);
  return sum;
}

void softmax(float* x, int64_t n) { kernels::softmax_row(x, 1, nullptr, n, x); }

void softmax(double* x, int64_t n) {
  double most = *std::max_element(x, x + n), sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] = std::exp(x[i] - most);
  for (int64_t i = 0; i < n; ++i) x[i] /= sum;
}

void add_scaled(const float* x, float a, float* y, int64_t n) { kernels::accumulate_scaled(x, a, y, n); }

void add_scaled(const double* x, double a, double* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] += a * x[i];
}

GateMatrix<float> right_operand(ThreadPool& pool, const float* data, int64_t k, int64_t n) {
  return {std::make_shared<const kernels::PackedMatrix>(kernels::pack_b(&pool, k, n, data, n, false))};
}
GateMatrix<double> right_operand(ThreadPool&, const double* data, int64_t k, int64_t n) {
  return {data, n, k, n, false};
}

}  // namespace

MemorySizes memory_sizes(const KernelContext& context, int64_t directions, int64_t batch, int64_t hidden) {
  const Shape &memory = context.input(kMemory).shape(), &weights = context.input(kMemoryWeights).shape();
  require(memory.rank() == 3 && weights.rank() == 3, ErrorCode::kInvalidArgument, "M is ", memory, " and MW is ",
          weights, "; both must have rank 3");
  MemorySizes sizes{memory[1], memory[2], weights[2], memory[2]};
  require_shape(context.input(kMemory), Shape{batch, sizes.steps, sizes.depth}, "M");
  require_shape(context.input(kMemoryWeights), Shape{directions, sizes.depth, sizes.width}, "MW");
  require_shape(context.input(kQueryWeights), Shape{directions, hidden, sizes.width}, "QW");
  require_shape(context.input(kVector), Shape{directions, sizes.width}, "V");
  if (const Tensor* layer = context.input_if(kLayer)) {
    sizes.state = layer->rank() == 3 ? layer->shape()[2] : 0;
    require_shape(*layer, Shape{directions, checked_add(sizes.depth, hidden), sizes.state}, "AW");
  }
  return sizes;
}

template <class C>
MemoryAttention<C>::MemoryAttention(KernelContext& context, int64_t direction, int64_t directions, int64_t batch,
                                    int64_t hidden)
    : pool_(context.threads()),
      sizes_(memory_sizes(context, directions, batch, hidden)),
      batch_(batch),
      memory_(read_input<C>(context, kMemory)),
      vector_(read_input<C>(context, kVector) + direction * sizes_.width),
      layer_(context.has_input(kLayer)) {
  auto [steps, depth, width, state] = sizes_;
  read_lengths(context.input_if(kLengths));
  query_ = right_operand(pool_, read_input<C>(context, kQueryWeights) + direction * hidden * width, hidden, width);
  if (layer_) {
    const C* weights = read_input<C>(context, kLayer) + direction * (depth + hidden) * state;
    from_hidden_ = right_operand(pool_, weights, hidden, state);
    from_context_ = right_operand(pool_, weights + hidden * state, depth, state);
  }
  int64_t rows = checked_mul(batch, steps);
  keys_ = context.scratch<C>(checked_mul(rows, width)).data();
  queries_ = context.scratch<C>(checked_mul(batch, width)).data();
  mixed_ = context.scratch<C>(checked_mul(batch, width)).data();
  scores_ = context.scratch<C>(rows).data();
  context_ = context.scratch<C>(checked_mul(batch, depth)).data();
  state_ = layer_ ? context.scratch<C>(checked_mul(batch, state)).data() : context_;
  std::fill_n(state_, batch * state, C(0));
  const C* weights = read_input<C>(context, kMemoryWeights) + direction * depth * width;
  gate_product(pool_, rows, memory_, right_operand(pool_, weights, depth, width), keys_, width, false);
}

template <class C>
void MemoryAttention<C>::read_lengths(const Tensor* lengths) {
  lengths_.assign(static_cast<size_t>(batch_), sizes_.steps);
  if (lengths) {
    require_shape(*lengths, Shape{batch_}, "memory_seq_lens");
    std::copy_n(lengths->data<int32_t>(), batch_, lengths_.begin());
  }
  for (int64_t length : lengths_) {
    require(length >= 1 && length <= sizes_.steps, ErrorCode::kInvalidArgument, "a memory's length is ", length,
            "; it must lie within [1, ", sizes_.steps, "], the steps of M");
  }
}

template <class C>
void MemoryAttention<C>::attend(const C* hidden) {
  gate_product(pool_, batch_, hidden, query_, queries_, sizes_.width, false);
  int64_t cost = sizes_.steps * (sizes_.width + sizes_.depth);
  pool_.parallel_for(batch_, kernels::least_rows(cost, kernels::kActivationNs), [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) attend_row(b);
  });
  if (!layer_) return;
  gate_product(pool_, batch_, hidden, from_hidden_, state_, sizes_.state, false);
  gate_product(pool_, batch_, context_, from_context_, state_, sizes_.state, true);
}

template <class C>
void MemoryAttention<C>::attend_row(int64_t b) {
  auto [steps, depth, width, state] = sizes_;
  int64_t length = lengths_[static_cast<size_t>(b)];
  C *scores = scores_ + b * steps, *mean = context_ + b * depth;
  for (int64_t s = 0; s < length; ++s) {
    scores[s] = score(keys_ + (b * steps + s) * width, queries_ + b * width, vector_, mixed_ + b * width, width);
  }
  softmax(scores, length);
  std::fill_n(mean, depth, C(0));
  for (int64_t s = 0; s < length; ++s) add_scaled(memory_ + (b * steps + s) * depth, scores[s], mean, depth);
}

template class MemoryAttention<float>;
template class MemoryAttention<double>;

}  // namespace ortolan::cpu
