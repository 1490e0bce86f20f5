// MatMulIntegerToFloat and DynamicQuantizeMatMul over exact 32-bit sums, QGemm, and MatMulInteger16.
#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/kernels/quantised/bytes.h"
#include "cpu/quantised/dynamic_quantization.h"
#include "cpu/quantised/matmul_integer_to_float.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

class DynamicQuantizeMatMul final : public FloatByteProduct {
 public:
  explicit DynamicQuantizeMatMul(const KernelInfo& info) : FloatByteProduct(info) {}

  void compute(KernelContext& context) const override {
    const Tensor &a = context.input(0), &b = context.input(1);
    const float* values = a.data<float>();
    DynamicFormat format = dynamic_format(range_of(context.threads(), values, a.element_count()));
    Tensor codes(ElementType::kUInt8, a.shape(), context.scratch<uint8_t>(a.element_count()).data());
    quantize_dynamic(context.threads(), format, values, a.element_count(), codes.mutable_data<uint8_t>());
    Tensor zero(ElementType::kUInt8, Shape{});
    *zero.mutable_data<uint8_t>() = static_cast<uint8_t>(format.zero);
    ByteOperands in{&codes, &b, &zero, context.input_if(3)};
    FloatFactors factors{format.scale, &context.input(2), context.input_if(4)};
    StackedProduct p = stacked_product(a.shape(), b.shape());
    run_to_floats(context, p, in, factors);
    float* y = context.output(0).mutable_data<float>();
    for (int64_t i = 0; i < p.count; ++i) {
      spread_nan(context.threads(), p.m, values + p.offset_a(i), p.k, y + i * p.m * p.n, p.n, p.n);
    }
  }
};

/** Y = alpha * A * B + C in real numbers; C counts in units of alpha * a_scale * b_scale. */
class QGemm final : public OpKernel {
 public:
  explicit QGemm(const KernelInfo& info)
      : trans_a_(info.node().int_or("transA", 0) != 0),
        trans_b_(info.node().int_or("transB", 0) != 0),
        alpha_(info.node().float_or("alpha", 1)),
        packed_(pack_byte_matrix(info, 3, trans_b_)) {}

  void compute(KernelContext& context) const override {
    const Shape &a = context.input(0).shape(), &b = context.input(3).shape();
    require(a.rank() == 2 && b.rank() == 2 && a[!trans_a_] == b[trans_b_], ErrorCode::kInvalidArgument, "A is ", a,
            " and B ", b, "; they must be matrices whose inner dimensions agree");
    Sizes size{a[trans_a_], b[!trans_b_], a[!trans_a_]};
    Tensor& y = context.output(0);
    int64_t scale_count;
    const float* scales = this->scales(context, size.n, &scale_count);
    kernels::ZeroPoints zeros = zero_points(context, size.n);
    const Tensor* c = context.input_if(6);
    check_addend(c, size);
    if (y.element_count() == 0) return;
    bool to_float = y.type() == ElementType::kFloat;
    auto* sums = to_float ? static_cast<int32_t*>(y.mutable_raw()) : context.scratch<int32_t>(size.m * size.n).data();
    multiply(context, size, zeros, sums);
    bool as_bias = c && !to_float && c->element_count() == size.n && c->shape().back() == size.n;
    if (c && !as_bias) add(context, *c, size, sums);
    if (to_float) {
      return kernels::dequantize_sums(&context.threads(), size.m, size.n, sums, size.n, scales, scale_count > 1,
                                      nullptr, y.mutable_data<float>(), size.n);
    }
    int32_t zero = single_zero_point(&context.input(8), "y_zero_point");
    dispatch<ElementType::kInt8 | ElementType::kUInt8>(y.type(), [&]<class T>(TypeTag<T>) {
      kernels::requantize<T>(&context.threads(), size.m, size.n, sums, size.n, as_bias ? c->data<int32_t>() : nullptr,
                             scales, scale_count > 1, zero, y.mutable_data<T>(), size.n);
    });
  }
  KernelReport report(const KernelContext& context) const override {
    const Shape &a = context.input(0).shape(), &b = context.input(3).shape();
    StackedProduct p{.m = a[trans_a_], .n = b[!trans_b_], .k = a[!trans_a_]};
    return {product_text("gemm_int8", packed_ != nullptr, p), kernels::byte_isa()};
  }
  ConstantUse constant_use(size_t i) const override {
    return i == 3 && packed_ ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  struct Sizes {
    int64_t m, n, k;
  };

  /** alpha * a_scale * b_scale (/ y_scale), one or one a column. */
  const float* scales(KernelContext& context, int64_t n, int64_t* count) const {
    const Tensor &a = context.input(1), &b = context.input(4);
    const Tensor* y = context.input_if(7);
    require(a.element_count() == 1 && (!y || y->element_count() == 1), ErrorCode::kInvalidArgument, "a_scale ",
            a.shape(), " and y_scale ", y ? y->shape() : Shape(), " must hold one value each");
    *count = PerLine(&b, n, 1, "b_scale").values;
    float* result = context.scratch<float>(*count).data();
    for (int64_t i = 0; i < *count; ++i) {
      result[i] = alpha_ * *a.data<float>() * b.data<float>()[i];
      if (y) result[i] /= *y->data<float>();
    }
    return result;
  }

  static kernels::ZeroPoints zero_points(const KernelContext& context, int64_t n) {
    single_zero_point(&context.input(2), "a_zero_point");
    PerLine columns(&context.input(5), n, 1, "b_zero_point");
    kernels::ZeroPoints zeros;
    zeros.a = context.input(2).raw(), zeros.b = context.input(5).raw();
    zeros.b_per_column = !columns.single();
    return zeros;
  }

  static void check_addend(const Tensor* c, const Sizes& size) {
    if (!c) return;
    const Shape& shape = c->shape();
    bool fits = shape.rank() <= 2 && (shape.rank() < 1 || shape.back() == size.n || shape.back() == 1) &&
                (shape.rank() < 2 || shape[0] == size.m || shape[0] == 1);
    require(fits, ErrorCode::kInvalidArgument, "C has shape ", shape, ", which does not broadcast to [", size.m, ",",
            size.n, "]");
  }

  void multiply(KernelContext& context, const Sizes& size, const kernels::ZeroPoints& zeros, int32_t* sums) const {
    const Tensor &a = context.input(0), &b = context.input(3);
    kernels::ByteMatrix left{a.raw(), trans_a_ ? size.m : size.k, trans_a_, is_signed_byte(a)};
    if (packed_) return kernels::gemm_int8(&context.threads(), size.m, left, *packed_, zeros, sums, size.n);
    kernels::ByteMatrix right{b.raw(), trans_b_ ? size.k : size.n, trans_b_, is_signed_byte(b)};
    kernels::gemm_int8(&context.threads(), size.m, left, {size.k, size.n, right}, zeros, sums, size.n);
  }

  static void add(KernelContext& context, const Tensor& c, const Sizes& size, int32_t* sums) {
    const Shape& shape = c.shape();
    const auto* values = reinterpret_cast<const uint32_t*>(c.data<int32_t>());
    auto* to = reinterpret_cast<uint32_t*>(sums);
    int64_t column_step = shape.rank() > 0 && shape.back() > 1, row_step = 0;
    if (shape.rank() == 2 && shape[0] > 1) row_step = shape[1];
    const int64_t least = kernels::least_rows(size.n, kernels::kElementNs);
    context.threads().parallel_for(size.m, least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const uint32_t* from = values + i * row_step;
        for (int64_t j = 0; j < size.n; ++j) to[i * size.n + j] += from[j * column_step];
      }
    });
  }

  bool trans_a_, trans_b_;
  float alpha_;
  std::shared_ptr<const kernels::PackedMatrixInt8> packed_;
};

/** Sums modulo 2^32. Unsigned operands are taken 2^15 lower, so that the products fit signed instructions. */
class MatMulInteger16 final : public OpKernel {
 public:
  explicit MatMulInteger16(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor &a = context.input(0), &b = context.input(1);
    StackedProduct p = stacked_product(a.shape(), b.shape());
    auto* y = static_cast<uint32_t*>(context.output(0).mutable_raw());
    if (p.count * p.m * p.n == 0) return;
    const int16_t* left = signed_values(context, a);
    const int16_t* right = signed_values(context, b);
    int16_t* columns = context.scratch<int16_t>(checked_mul(p.n, p.k)).data();
    Shifts shifts{a.type() == ElementType::kUInt16, b.type() == ElementType::kUInt16};
    for (int64_t i = 0; i < p.count; ++i) {
      const int64_t dims[] = {p.k, p.n};
      const int swap[] = {1, 0};
      kernels::transpose(&context.threads(), 2, 2, dims, swap, right + p.offset_b(i), columns);
      multiply(context, p, left + p.offset_a(i), columns, shifts, y + i * p.m * p.n);
    }
  }

 private:
  struct Shifts {
    bool a, b;
  };

  static const int16_t* signed_values(KernelContext& context, const Tensor& tensor) {
    if (tensor.type() == ElementType::kInt16) return tensor.data<int16_t>();
    int16_t* result = context.scratch<int16_t>(tensor.element_count()).data();
    const uint16_t* from = tensor.data<uint16_t>();
    for (int64_t i = 0; i < tensor.element_count(); ++i) result[i] = static_cast<int16_t>(from[i] ^ 0x8000);
    return result;
  }

  /** The sum of a row of signed values as 32 bits. */
  static uint32_t sum(const int16_t* x, int64_t n) {
    uint32_t total = 0;
    for (int64_t i = 0; i < n; ++i) total += static_cast<uint32_t>(int32_t{x[i]});
    return total;
  }

  /** (a + s)(b + t) = ab + s*b + t*a + st, where s and t are 2^15 or 0. */
  static void multiply(KernelContext& context, const StackedProduct& p, const int16_t* a, const int16_t* columns,
                       Shifts shifts, uint32_t* y) {
    uint32_t s = shifts.a ? 32768 : 0, t = shifts.b ? 32768 : 0, rest = static_cast<uint32_t>(p.k) * s * t;
    std::vector<uint32_t> column_sums(shifts.a ? p.n : 0);
    for (size_t j = 0; j < column_sums.size(); ++j) column_sums[j] = sum(columns + j * p.k, p.k);
    const int64_t least = kernels::least_rows(p.n * (p.k + 1), kernels::kElementNs);
    context.threads().parallel_for(p.m, least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        uint32_t row = rest + (shifts.b ? t * sum(a + i * p.k, p.k) : 0);
        for (int64_t j = 0; j < p.n; ++j) {
          auto product = static_cast<uint32_t>(kernels::dot_s16(a + i * p.k, columns + j * p.k, p.k));
          y[i * p.n + j] = product + row + (shifts.a ? s * column_sums[j] : 0);
        }
      }
    });
  }
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "MatMulIntegerToFloat", 1, kLatest, make_kernel<MatMulIntegerToFloat>},
    {"com.microsoft", "DynamicQuantizeMatMul", 1, kLatest, make_kernel<DynamicQuantizeMatMul>},
    {"com.microsoft", "QGemm", 1, kLatest, make_kernel<QGemm>},
    {"com.microsoft", "MatMulInteger16", 1, kLatest, make_kernel<MatMulInteger16>},
};

}  // namespace

extern const KernelTable quantized_products_rows;
const KernelTable quantized_products_rows(kRows);
}  // namespace ortolan::cpu::microsoft
