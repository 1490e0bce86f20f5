// MatMulInteger and QLinearMatMul over exact 32-bit sums. A constant right matrix is packed once.
#include "base/thread_pool.h"
#include "cpu/byte_tensors.h"
#include "cpu/float_tensors.h"
#include "cpu/matmul.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

std::shared_ptr<const kernels::PackedMatrixInt8> pack(const KernelInfo& info, size_t i) {
  const Tensor* b = info.weights_input(i);
  if (!b || b->rank() == 0 || b->rank() > 2 || b->element_count() == 0) return nullptr;
  int64_t rows = b->shape()[0], columns = b->rank() == 2 ? b->shape()[1] : 1;
  std::string layout = join("gemm_int8 ", name_of(b->type()), " ", rows, "x", columns);
  auto packed = info.packed_weights().get(*b, layout, [&]() -> std::shared_ptr<void> {
    kernels::ByteMatrix matrix{b->raw(), columns, false, is_signed_byte(*b)};
    return std::make_shared<kernels::PackedMatrixInt8>(kernels::pack_b_int8(&info.threads(), rows, columns, matrix));
  });
  return std::static_pointer_cast<const kernels::PackedMatrixInt8>(packed);
}

/** Values that belong to the rows (or columns) of each product: one for all, `size` for every product alike, or
    size * count, each product its own. */
struct PerLine {
  const Tensor* tensor = nullptr;
  int64_t size = 1;
  int64_t values = 0;

  PerLine(const Tensor* tensor, int64_t size, int64_t count, const char* what) : tensor(tensor), size(size) {
    if (!tensor) return;
    values = tensor->element_count();
    require(values == 1 || values == size || values == checked_mul(size, count), ErrorCode::kInvalidArgument, what,
            " has shape ", tensor->shape(), "; it must hold one value or ", size);
  }
  bool single() const { return values <= 1; }
  /** The first value of product i. */
  int64_t first(int64_t i) const { return values > size ? i * size : 0; }
};

/** A zero point or scale of the rows of `a` where a stack of matrices became one tall one: repeated to its height. */
Tensor repeated(const Tensor& tensor, int64_t rows) {
  Tensor result(tensor.type(), Shape{rows});
  int64_t count = tensor.element_count(), bytes = static_cast<int64_t>(tensor.byte_count());
  for (int64_t at = 0; at < rows; at += count) {
    std::copy_n(static_cast<const char*>(tensor.raw()), bytes,
                static_cast<char*>(result.mutable_raw()) + at / count * bytes);
  }
  return result;
}

struct Operands {
  const Tensor *a, *b, *a_zero, *b_zero;
};

class ByteProduct : public OpKernel {
 protected:
  ByteProduct(const KernelInfo& info, size_t right) : right_(right), packed_(pack(info, right)) {}
  ConstantUse constant_use(size_t i) const override {
    return i == right_ && packed_ ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  /** Calls done(i, sums) after each of the products; sums are [m, n]. Where `sums` is NULL, scratch is used for each.
   */
  template <class Done>
  void run(KernelContext& context, const StackedProduct& p, Operands in, int32_t* sums, Done&& done) const {
    Tensor tall;
    if (in.a_zero && in.a_zero->element_count() > 1 && p.count == 1 && p.m > in.a_zero->element_count() &&
        p.m % in.a_zero->element_count() == 0) {
      tall = repeated(*in.a_zero, p.m);
      in.a_zero = &tall;
    }
    PerLine a_zero(in.a_zero, p.m, p.count, "a_zero_point"), b_zero(in.b_zero, p.n, p.count, "b_zero_point");
    if (p.m * p.n == 0) return;
    int32_t* block = sums ? sums : context.scratch<int32_t>(p.m * p.n).data();
    const char* a_zeros = in.a_zero ? static_cast<const char*>(in.a_zero->raw()) : nullptr;
    const char* b_zeros = in.b_zero ? static_cast<const char*>(in.b_zero->raw()) : nullptr;
    for (int64_t i = 0; i < p.count; ++i) {
      kernels::ZeroPoints zeros;
      if (a_zeros) zeros.a = a_zeros + a_zero.first(i);
      if (b_zeros) zeros.b = b_zeros + b_zero.first(i);
      zeros.a_per_row = !a_zero.single();
      zeros.b_per_column = !b_zero.single();
      kernels::ByteMatrix a{static_cast<const char*>(in.a->raw()) + p.offset_a(i), p.k, false, is_signed_byte(*in.a)};
      kernels::ByteMatrix b{static_cast<const char*>(in.b->raw()) + p.offset_b(i), p.n, false, is_signed_byte(*in.b)};
      int32_t* c = sums ? sums + i * p.m * p.n : block;
      if (packed_ && p.count == 1) {
        kernels::gemm_int8(&context.threads(), p.m, a, *packed_, zeros, c, p.n);
      } else {
        kernels::gemm_int8(&context.threads(), p.m, p.n, p.k, a, b, zeros, c, p.n);
      }
      done(i, c);
    }
  }

 private:
  size_t right_;
  std::shared_ptr<const kernels::PackedMatrixInt8> packed_;
};

class MatMulInteger final : public ByteProduct {
 public:
  explicit MatMulInteger(const KernelInfo& info) : ByteProduct(info, 1) {}

  void compute(KernelContext& context) const override {
    Operands in{&context.input(0), &context.input(1), context.input_if(2), context.input_if(3)};
    StackedProduct product = stacked_product(in.a->shape(), in.b->shape());
    run(context, product, in, context.output(0).mutable_data<int32_t>(), [](int64_t, int32_t*) {});
  }
};

class QLinearMatMul final : public ByteProduct {
 public:
  explicit QLinearMatMul(const KernelInfo& info) : ByteProduct(info, 3) {}

  void compute(KernelContext& context) const override {
    Operands in{&context.input(0), &context.input(3), &context.input(2), &context.input(5)};
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
