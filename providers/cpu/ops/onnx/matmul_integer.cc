// MatMulInteger and QLinearMatMul over exact 32-bit sums. A constant right matrix is packed once.
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/quantised/byte_product.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class MatMulInteger final : public ByteProduct {
 public:
  explicit MatMulInteger(const KernelInfo& info) : ByteProduct(info, 1) {}

  void compute(KernelContext& context) const override {
    ByteOperands in{&context.input(0), &context.input(1), context.input_if(2), context.input_if(3)};
    StackedProduct product = stacked_product(in.a->shape(), in.b->shape());
    run(context, product, in, context.output(0).mutable_data<int32_t>(), [](int64_t, int32_t*) {});
  }
};

class QLinearMatMul final : public ByteProduct {
 public:
  explicit QLinearMatMul(const KernelInfo& info) : ByteProduct(info, 3) {}

  void compute(KernelContext& context) const override {
    ByteOperands in{&context.input(0), &context.input(3), &context.input(2), &context.input(5)};
    StackedProduct p = stacked_product(in.a->shape(), in.b->shape());
    Tensor a_scale = to_float_tensor(context.input(1));
    if (a_scale.element_count() > 1 && p.count == 1 && p.m % a_scale.element_count() == 0) {
      a_scale = repeated(a_scale, p.m);
    }
    Tensor& y = context.output(0);
    int32_t zero = single_zero_point(&context.input(7), "y_zero_point");
    dispatch<ElementType::kInt8 | ElementType::kUInt8>(y.type(), [&]<class T>(TypeTag<T>) {
      Scales scales(context, p, a_scale);
      run(context, p, in, nullptr, [&](int64_t i, int32_t* sums) {
        scales.requantize(context, p, i, sums, zero, y.mutable_data<T>() + i * p.m * p.n);
      });
    });
  }

 private:
  /** The factors a_scale * b_scale / y_scale, by row and column where the scales are. */
  struct Scales {
    Scales(KernelContext& context, const StackedProduct& p, const Tensor& a_scale)
        : rows(&a_scale, p.m, p.count, "a_scale"),
          columns(&context.input(4), p.n, p.count, "b_scale"),
          a(a_scale.data<float>()),
          b(read_input<float>(context, 4)),
          factors(context.scratch<float>(p.n).data()) {
      const Tensor& y_scale = context.input(6);
      require(y_scale.element_count() == 1, ErrorCode::kInvalidArgument, "y_scale has shape ", y_scale.shape(),
              "; it must hold one value");
      y = *read_as<float>(context, y_scale);
    }
    template <class T>
    void requantize(KernelContext& context, const StackedProduct& p, int64_t i, const int32_t* sums, int32_t zero,
                    T* out) const {
      int64_t step = rows.single() ? p.m : 1;
      for (int64_t row = 0; row < p.m; row += step) {
        float left = a[rows.single() ? 0 : rows.first(i) + row];
        int64_t count = columns.single() ? 1 : p.n;
        for (int64_t j = 0; j < count; ++j) factors[j] = left * b[columns.first(i) + j] / y;
        kernels::requantize<T>(&context.threads(), step, p.n, sums + row * p.n, p.n, nullptr, factors,
                               !columns.single(), zero, out + row * p.n, p.n);
      }
    }
    PerLine rows, columns;
    const float *a, *b;
    float* factors;
    float y;
  };
};

/** QLinearMatMul where A, B or Y is of a float8 type: both operands become floats, and so does their product. */
class Float8MatMul final : public OpKernel {
 public:
  explicit Float8MatMul(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    StackedProduct p = stacked_product(context.input(0).shape(), context.input(3).shape());
    Tensor& y = context.output(0);
    const float* a = real_values(context, 0, p.m, p.k, p.count, true);
    const float* b = real_values(context, 3, p.n, p.k, p.count, false);
    const Tensor& y_scale = context.input(6);
    require(y_scale.element_count() == 1 && context.input(7).element_count() == 1, ErrorCode::kInvalidArgument,
            "y_scale ", y_scale.shape(), " and y_zero_point ", context.input(7).shape(), " must hold one value each");
    float scale = *read_as<float>(context, y_scale), zero = value_at(context.input(7), 0);
    if (y.element_count() == 0) return;
    float* sums = context.scratch<float>(p.m * p.n).data();
    for (int64_t i = 0; i < p.count; ++i) {
      kernels::gemm(&context.threads(), p.m, p.n, p.k, a + p.offset_a(i), p.k, false, b + p.offset_b(i), p.n, false,
                    sums, p.n, {});
      save(context, sums, p.m * p.n, scale, zero, i * p.m * p.n, y);
    }
  }

 private:
  static constexpr TypeSet kCodes = kFloat8Types | ElementType::kInt8 | ElementType::kUInt8;

  static float value_at(const Tensor& tensor, int64_t i) {
    float value = 0;
    dispatch<kCodes>(tensor.type(), [&]<class T>(TypeTag<T>) { value = static_cast<float>(tensor.data<T>()[i]); });
    return value;
  }

  /** Input i times its scale. Scales and zero points follow it; they hold one value or one a line (row or column). */
  static const float* real_values(KernelContext& context, size_t i, int64_t lines, int64_t k, int64_t count,
                                  bool by_row) {
    const Tensor &x = context.input(i), &zero = context.input(i + 2);
    PerLine scales(&context.input(i + 1), lines, count, by_row ? "a_scale" : "b_scale");
    PerLine zeros(&zero, lines, count, by_row ? "a_zero_point" : "b_zero_point");
    const float* scale = read_input<float>(context, i + 1);
    float* result = context.scratch<float>(x.element_count()).data();
    int64_t line_step = by_row ? k : 1, size = std::max<int64_t>(lines * k, 1);
    dispatch<kCodes>(x.type(), [&]<class T>(TypeTag<T>) {
      const T* from = x.data<T>();
      const int64_t least = kernels::least_items(kernels::kScalarNs);
      context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
        for (int64_t at = begin; at < end; ++at) {
          int64_t line = at / line_step % lines, matrix = at / size;
          float less = value_at(zero, zeros.single() ? 0 : zeros.first(matrix) + line);
          float factor = scale[scales.single() ? 0 : scales.first(matrix) + line];
          result[at] = (static_cast<float>(from[at]) - less) * factor;
        }
      });
    });
    return result;
  }

  static void save(KernelContext& context, const float* sums, int64_t count, float scale, float zero, int64_t at,
                   Tensor& y) {
    dispatch<kCodes>(y.type(), [&]<class T>(TypeTag<T>) {
      T* out = y.mutable_data<T>() + at;
      const int64_t least = kernels::least_items(kernels::kElementNs);
      context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
        if constexpr (kFloat8Types.contains(kTypeOf<T>)) {
          for (int64_t i = begin; i < end; ++i) out[i] = T(sums[i] / scale + zero, true);
        } else {
          kernels::quantize<T>(sums + begin, end - begin, scale, static_cast<int32_t>(zero), out + begin);
        }
      });
    });
  }
};

std::unique_ptr<OpKernel> make_qlinear_matmul(const KernelInfo& info) {
  for (size_t i : {0, 3, 7}) {
    if (kFloat8Types.contains(info.input_type(i).element)) return std::make_unique<Float8MatMul>(info);
  }
  return std::make_unique<QLinearMatMul>(info);
}

constexpr KernelRow kRows[] = {
    {"", "MatMulInteger", 10, kLatest, make_kernel<MatMulInteger>},
    {"", "QLinearMatMul", 10, kLatest, make_qlinear_matmul},
};

}  // namespace

extern const KernelTable matmul_integer_rows;
const KernelTable matmul_integer_rows(kRows);
}  // namespace ortolan::cpu::onnx
