// Products of bytes over stacks of matrices.
#include "cpu/quantised/byte_product.h"

#include "base/threads/thread_pool.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/products/packed_form.h"

namespace ortolan::cpu {

std::shared_ptr<const kernels::PackedMatrixInt8> pack_byte_matrix(const KernelInfo& info, size_t i, bool transposed) {
  const Tensor* b = info.weights_input(i);
  if (!b || b->rank() == 0 || b->element_count() == 0) return nullptr;
  if (b->rank() > 2 && (!transposed || b->shape().count_from(2) != 1)) return nullptr;
  auto pack = [](ThreadPool& threads, const Tensor& bytes, bool turned) {
    int64_t rows = bytes.shape()[0], columns = bytes.rank() >= 2 ? bytes.shape()[1] : 1;
    kernels::ByteMatrix matrix{bytes.raw(), columns, turned, is_signed_byte(bytes)};
    return kernels::pack_b_int8(&threads, turned ? columns : rows, turned ? rows : columns, matrix);
  };
  return pack_once(info, *b, "gemm_int8", pack, transposed);
}

PerLine::PerLine(const Tensor* tensor, int64_t size, int64_t count, const char* what) : tensor(tensor), size(size) {
  if (!tensor) return;
  values = tensor->element_count();
  require(values == 1 || values == size || values == checked_mul(size, count), ErrorCode::kInvalidArgument, what,
          " has shape ", tensor->shape(), "; it must hold one value or ", size);
}

Tensor repeated(const Tensor& tensor, int64_t rows) {
  Tensor result(tensor.type(), Shape{rows});
  int64_t count = tensor.element_count(), bytes = static_cast<int64_t>(tensor.byte_count());
  for (int64_t at = 0; at < rows; at += count) {
    std::copy_n(static_cast<const char*>(tensor.raw()), bytes,
                static_cast<char*>(result.mutable_raw()) + at / count * bytes);
  }
  return result;
}

KernelReport ByteProduct::report(const KernelContext& context) const {
  StackedProduct p = stacked_product(context.input(0).shape(), context.input(right_).shape());
  return {product_text("gemm_int8", packed_ && p.count == 1, p), kernels::byte_isa()};
}

void ByteProduct::for_each(KernelContext& context, const StackedProduct& p, ByteOperands in, Each each) const {
  Tensor tall;
  if (in.a_zero && in.a_zero->element_count() > 1 && p.count == 1 && p.m > in.a_zero->element_count() &&
      p.m % in.a_zero->element_count() == 0) {
    tall = repeated(*in.a_zero, p.m);
    in.a_zero = &tall;
  }
  PerLine a_zero(in.a_zero, p.m, p.count, "a_zero_point"), b_zero(in.b_zero, p.n, p.count, "b_zero_point");
  if (p.m * p.n == 0) return;
  const char* a_zeros = in.a_zero ? static_cast<const char*>(in.a_zero->raw()) : nullptr;
  const char* b_zeros = in.b_zero ? static_cast<const char*>(in.b_zero->raw()) : nullptr;
  for (int64_t i = 0; i < p.count; ++i) {
    kernels::ZeroPoints zeros;
    if (a_zeros) zeros.a = a_zeros + a_zero.first(i);
    if (b_zeros) zeros.b = b_zeros + b_zero.first(i);
    zeros.a_per_row = !a_zero.single();
    zeros.b_per_column = !b_zero.single();
    kernels::ByteMatrix a{static_cast<const char*>(in.a->raw()) + p.offset_a(i), p.k, false, is_signed_byte(*in.a)};
    if (packed_ && p.count == 1) {
      each(i, a, *packed_, zeros);
    } else {
      kernels::ByteMatrix b{static_cast<const char*>(in.b->raw()) + p.offset_b(i), p.n, false, is_signed_byte(*in.b)};
      each(i, a, {p.k, p.n, b}, zeros);
    }
  }
}

void ByteProduct::run(KernelContext& context, const StackedProduct& p, ByteOperands in, int32_t* sums,
                      Done done) const {
  int32_t* block = sums ? sums : context.scratch<int32_t>(checked_mul(p.m, p.n)).data();
  for_each(context, p, in, [&](int64_t i, const auto& a, const auto& b, const auto& zeros) {
    int32_t* c = sums ? sums + i * p.m * p.n : block;
    kernels::gemm_int8(&context.threads(), p.m, a, b, zeros, c, p.n);
    done(i, c);
  });
}

void ByteProduct::run(KernelContext& context, const StackedProduct& p, const ByteOperands& in, EpilogueOf epilogue,
                      float* y) const {
  for_each(context, p, in, [&](int64_t i, const auto& a, const auto& b, const auto& zeros) {
    kernels::gemm_int8_to_float(&context.threads(), p.m, a, b, zeros, epilogue(i), y + i * p.m * p.n, p.n);
  });
}

}  // namespace ortolan::cpu
