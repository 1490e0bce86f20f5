// MatMulInteger and QLinearMatMul over exact 32-bit sums. A constant right matrix is packed once.
#include "cpu/byte_product.h"
#include "cpu/float_tensors.h"
#include "runtime/kernel_registry.h"

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

constexpr KernelRow kRows[] = {
    {"", "MatMulInteger", 10, kLatest, make_kernel<MatMulInteger>},
    {"", "QLinearMatMul", 10, kLatest, make_kernel<QLinearMatMul>},
};

}  // namespace

extern const KernelTable matmul_integer_rows;
const KernelTable matmul_integer_rows(kRows);
}  // namespace ortolan::cpu::onnx
