// GatedAdd, GatedRMSNorm, LinearAttentionGate and EngramGate, computed in float.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

void require_shape(const Tensor& tensor, const Shape& wanted, const char* what) {
  require(tensor.shape() == wanted, ErrorCode::kInvalidArgument, what, " has shape ", tensor.shape(), "; it needs ",
          wanted);
}

/** The product is rounded to the tensors' type before the sum. */
class GatedAdd final : public OpKernel {
 public:
  explicit GatedAdd(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    require(x.rank() > 0, ErrorCode::kInvalidArgument, "X is a scalar; it needs rows");
    Shape gate = x.shape();
    gate.back() = 1;
    require_shape(context.input(1), x.shape(), "Y");
    require_shape(context.input(2), gate, "gate");
    Tensor& output = context.output(0);
    int64_t row = x.shape().back();
    dispatch<kHalfTypes | ElementType::kFloat>(x.type(), [&]<class T>(TypeTag<T>) {
      const T *a = x.data<T>(), *b = context.input(1).data<T>(), *gates = context.input(2).data<T>();
      T* out = output.mutable_data<T>();
      const int64_t least = kernels::least_rows(row, kernels::kScalarNs);
      context.threads().parallel_for(gate.element_count(), least, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r) {
          auto factor = static_cast<float>(gates[r]);
          for (int64_t i = r * row; i < (r + 1) * row; ++i) {
            T product = T(static_cast<float>(b[i]) * factor);
            out[i] = T(static_cast<float>(a[i]) + static_cast<float>(product));
          }
        }
      });
    });
  }
};

class GatedRmsNorm final : public OpKernel {
 public:
  explicit GatedRmsNorm(const KernelInfo& info) : epsilon_(info.node().float_or("epsilon", 1e-5f)) {}

  void compute(KernelContext& context) const override {
    const Shape &x = context.input(0).shape(), &scale = context.input(1).shape();
    bool fits = x.rank() > 0 && scale.rank() == 1 && scale[0] > 0 && x.back() % scale[0] == 0;
    require(fits, ErrorCode::kInvalidArgument, "rows of ", x, " do not split into groups of scale's ", scale,
            " elements");
    require_shape(context.input(2), x, "gate");
    OutputAs<float> y(context, 0);
    kernels::LayerNorm norm;
    norm.columns = scale[0], norm.rows = x.element_count() / scale[0];
    norm.x = read_input<float>(context, 0), norm.scale = read_input<float>(context, 1);
    norm.epsilon = epsilon_, norm.rms = true, norm.y = y.data();
    const float* gate = read_input<float>(context, 2);
    if (norm.rows > 0) kernels::layer_norm(&context.threads(), norm);
    const int64_t least = kernels::least_items(kernels::kActivationNs);
    context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
      float factors[512];
      for (int64_t i = begin; i < end; i += 512) {
        int64_t count = std::min<int64_t>(512, end - i);
        kernels::unary({kernels::UnaryOp::kSilu}, gate + i, factors, count);
        kernels::binary(kernels::BinaryOp::kMul, y.data() + i, factors, y.data() + i, count);
      }
    });
    y.finish();
  }

 private:
  float epsilon_;
};

class LinearAttentionGate final : public OpKernel {
 public:
  explicit LinearAttentionGate(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Shape& shape = context.input(0).shape();
    require(shape.rank() == 3, ErrorCode::kInvalidArgument, "a has shape ", shape, "; it needs rank 3");
    int64_t heads = shape[2], rows = shape.count_to(2);
    require_shape(context.input(1), Shape{heads}, "dt_bias");
    require_shape(context.input(2), Shape{heads}, "decay_scale");
    const float *a = read_input<float>(context, 0), *bias = context.input(1).data<float>();
    const float* scale = context.input(2).data<float>();
    OutputAs<float> decay(context, 0);
    const int64_t least = kernels::least_rows(heads, kernels::kScalarNs);
    context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        float* y = decay.data() + r * heads;
        kernels::binary(kernels::BinaryOp::kAdd, a + r * heads, bias, y, heads);
        kernels::unary({kernels::UnaryOp::kSoftplus}, y, y, heads);
        kernels::binary(kernels::BinaryOp::kMul, y, scale, y, heads);
      }
    });
    decay.finish();
    if (context.has_output(1)) write_beta(context, shape);
  }

 private:
  static void write_beta(KernelContext& context, const Shape& shape) {
    require_shape(context.input(3), shape, "b");
    OutputAs<float> beta(context, 1);
    const float* b = read_input<float>(context, 3);
    const int64_t least = kernels::least_items(kernels::kActivationNs);
    context.threads().parallel_for(shape.element_count(), least, [&](int64_t begin, int64_t end) {
      kernels::unary({kernels::UnaryOp::kSigmoid}, b + begin, beta.data() + begin, end - begin);
    });
    beta.finish();
  }
};

/** Key and query are [batch, sequence, copies, size]; one value [batch, sequence, size] serves all copies. */
class EngramGate final : public OpKernel {
 public:
  explicit EngramGate(const KernelInfo& info) : epsilon_(info.node().float_or("epsilon", 1e-5f)) {}

  void compute(KernelContext& context) const override {
    const Shape& shape = context.input(0).shape();
    require(shape.rank() == 4, ErrorCode::kInvalidArgument, "key has shape ", shape, "; it needs rank 4");
    int64_t copies = shape[2], size = shape[3];
    require_shape(context.input(1), shape, "query");
    require_shape(context.input(2), Shape{shape[0], shape[1], size}, "value");
    require_shape(context.input(3), Shape{copies, size}, "key_norm_scale");
    require_shape(context.input(4), Shape{copies, size}, "query_norm_scale");
    const float *key = read_input<float>(context, 0), *query = read_input<float>(context, 1);
    const float *value = read_input<float>(context, 2), *key_scale = read_input<float>(context, 3);
    const float* query_scale = read_input<float>(context, 4);
    OutputAs<float> y(context, 0);
    const int64_t least = kernels::least_rows(size, kernels::kScalarNs);
    context.threads().parallel_for(shape.count_to(3), least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t scales = r % copies * size, at = r * size;
        float agreement = dot(key + at, query + at, key_scale + scales, query_scale + scales, size);
        kernels::scale_shift(value + r / copies * size, gate(agreement), 0.0f, y.data() + at, size);
      }
    });
    y.finish();
  }

 private:
  /** Of both rows, normalised and scaled, over the root of their size. */
  float dot(const float* key, const float* query, const float* key_scale, const float* query_scale, int64_t n) const {
    float keys = 0, queries = 0, both = 0;
    for (int64_t i = 0; i < n; ++i) {
      keys += key[i] * key[i];
      queries += query[i] * query[i];
      both += key[i] * key_scale[i] * query[i] * query_scale[i];
    }
    auto count = static_cast<float>(n);
    return both / (std::sqrt(keys / count + epsilon_) * std::sqrt(queries / count + epsilon_) * std::sqrt(count));
  }

  static float gate(float agreement) {
    float root = std::sqrt(std::max(std::fabs(agreement), 1e-6f));
    float x = agreement > 0 ? root : agreement < 0 ? -root : agreement;
    return 1 / (1 + std::exp(-x));
  }

  float epsilon_;
};

constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;
constexpr KernelRow kRows[] = {
    {"com.microsoft", "GatedAdd", 1, kLatest, make_kernel<GatedAdd>, {{0, kTypes}}},
    {"com.microsoft", "GatedRMSNorm", 1, kLatest, make_kernel<GatedRmsNorm>, {{0, kTypes}}},
    {"com.microsoft", "LinearAttentionGate", 1, kLatest, make_kernel<LinearAttentionGate>, {{0, kTypes}}},
    {"com.microsoft", "EngramGate", 1, kLatest, make_kernel<EngramGate>, {{0, kTypes}}},
};

}  // namespace

extern const KernelTable gates_rows;
constinit const KernelTable gates_rows(kRows);
}  // namespace ortolan::cpu::microsoft
