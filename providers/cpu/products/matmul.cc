// numpy.matmul over the kernels' matrix products.
#include "cpu/products/matmul.h"

#include "base/threads/thread_pool.h"
#include "cpu/kernels/elementwise/number_matrices.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/products/fused_activation.h"

namespace ortolan::cpu {
namespace {

constexpr TypeSet kWords = ElementType::kInt32 | ElementType::kUInt32;

/** One operand as it lies in memory: a vector is a row on the left, a column on the right. */
struct Operand {
  int64_t rows = 1, columns = 1;
  int64_t stride;  // elements between rows
  bool batch;      // the rows of all matrices lie side by side
  Shape stack;

  Operand(const Shape& shape, bool side_by_side, bool left) : batch(side_by_side && shape.rank() > 2) {
    size_t rank = shape.rank();
    columns = rank > 1 || left ? shape.back() : 1;
    if (rank > 1 || !left) rows = rank > 1 ? shape[rank - 2] : shape[0];
    stride = columns;
    if (rank <= 2) return;
    stack = batch ? Shape(shape.begin() + 1, shape.end() - 1) : Shape(shape.begin(), shape.end() - 2);
    if (batch) rows = shape[0], stride = checked_mul(stack.element_count(), columns);
  }
  int64_t matrix() const { return batch ? columns : rows * columns; }
};

/** Offsets of one operand's matrices in the order of the broadcast stack. */
InlinedVector<int64_t, 8> offsets_in(const Shape& stack, const Shape& whole, int64_t count, int64_t matrix) {
  Shape strides(whole.rank(), 0);
  int64_t stride = matrix;
  for (size_t i = stack.rank(); i-- > 0;) {
    strides[whole.rank() - stack.rank() + i] = stack[i] == 1 ? 0 : stride;
    stride *= stack[i];
  }
  InlinedVector<int64_t, 8> offsets(static_cast<size_t>(count), 0);
  Shape index(whole.rank(), 0);
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    offsets[i] = offset;
    for (size_t d = whole.rank(); d-- > 0;) {
      offset += strides[d];
      if (++index[d] < whole[d]) break;
      offset -= strides[d] * whole[d];
      index[d] = 0;
    }
  }
  return offsets;
}

/** Sets the spacing of one operand: even, or by offsets. */
void place(const Shape& stack, const Shape& whole, int64_t count, int64_t matrix, int64_t& stride,
           InlinedVector<int64_t, 8>& offsets) {
  int64_t own = stack.element_count();
  if (own == 1) {
    stride = 0;
  } else if (own == count) {
    stride = matrix;
  } else {
    offsets = offsets_in(stack, whole, count, matrix);
  }
}

}  // namespace

StackedProduct stacked_product(const Shape& a, const Shape& b, const MatMulOptions& options) {
  require(a.rank() > 0 && b.rank() > 0, ErrorCode::kInvalidArgument,
          "a scalar cannot be multiplied as a matrix; give operands of rank 1 or more");
  Operand left(a, options.batch_a, true), right(b, options.batch_b, false);
  bool trans_a = options.trans_a && a.rank() > 1, trans_b = options.trans_b && b.rank() > 1;
  StackedProduct p;
  p.m = trans_a ? left.columns : left.rows;
  p.k = trans_a ? left.rows : left.columns;
  p.n = trans_b ? right.rows : right.columns;
  int64_t inner = trans_b ? right.columns : right.rows;
  require(p.k == inner, ErrorCode::kInvalidArgument, "the matrices do not fit: ", a, " times ", b,
          "; their inner dimensions are ", p.k, " and ", inner);
  Shape whole = broadcast(left.stack, right.stack);
  p.count = whole.element_count();
  p.lda = options.trans_a && !trans_a ? 1 : left.stride;  // a vector is its own transpose
  p.ldb = right.stride;
  if (right.stack.element_count() == 1 && !options.trans_a && left.stride == left.columns) {
    p.m = checked_mul(p.m, p.count);
    p.count = 1;
    return p;
  }
  if (p.m == 0 || p.n == 0) p.count = 0;
  if (p.count == 0) return p;
  place(left.stack, whole, p.count, left.matrix(), p.stride_a, p.offsets_a);
  place(right.stack, whole, p.count, right.matrix(), p.stride_b, p.offsets_b);
  return p;
}

std::string product_text(std::string_view kernel, bool packed, const StackedProduct& p) {
  std::string stack = p.count == 1 ? "" : join(p.count, " of ");
  return join(kernel, packed ? " packed " : " ", stack, p.m, "x", p.k, "x", p.n);
}

MatMul::MatMul(const KernelInfo& info, MatMulOptions options) : options_(options), right_(info, 1, options.trans_b) {}

MatMul::MatMul(const KernelInfo& info)
    : MatMul(info, {.alpha = info.node().float_or("ortolan.alpha", 1), .activation = fused_activation(info.node())}) {}

void MatMul::compute(KernelContext& context) const {
  const Tensor& a = context.input(0);
  StackedProduct product = stacked_product(a.shape(), context.input(1).shape(), options_);
  if (kIntegerTypes.contains(a.type())) {
    return kWords.contains(a.type()) ? compute_integer<uint32_t>(context, product)
                                     : compute_integer<uint64_t>(context, product);
  }
  a.type() == ElementType::kDouble ? compute_double(context, product) : compute_float(context, product);
}

KernelReport MatMul::report(const KernelContext& context) const {
  const Tensor& a = context.input(0);
  StackedProduct p = stacked_product(a.shape(), context.input(1).shape(), options_);
  if (kIntegerTypes.contains(a.type())) return {product_text("integer_product", false, p), kernels::float_isa()};
  if (a.type() == ElementType::kDouble) return {product_text("gemm_f64", false, p), kernels::float_isa()};
  bool packed = p.count == 1 && right_.packed();
  return {product_text("gemm_f32", packed, p) + activation_text(context.node()), kernels::gemm_isa(p.m, p.n, p.k)};
}

void MatMul::compute_float(KernelContext& context, const StackedProduct& p) const {
  OutputAs<float> y(context, 0);
  const float* a = read_input<float>(context, 0);
  kernels::Epilogue epilogue;
  epilogue.alpha = options_.alpha;
  epilogue.activation = options_.activation;
  if (const Tensor* bias = context.input_if(2)) {
    require(bias->element_count() == p.n, ErrorCode::kInvalidArgument, "the bias has shape ", bias->shape(),
            "; it needs ", p.n, " elements");
    epilogue.bias = read_as<float>(context, *bias);
    epilogue.bias_kind = kernels::BiasKind::kColumn;
  }
  if (const Tensor* addend = context.input_if(3)) {
    require(addend->shape() == y.shape(), ErrorCode::kInvalidArgument, "the addend has shape ", addend->shape(),
            ", the result ", y.shape(), "; they must be equal");
    epilogue.residual = read_as<float>(context, *addend);
    epilogue.residual_stride = p.n;
  }
  if (p.count == 1 && right_.packed()) {
    kernels::gemm(&context.threads(), p.m, a, p.lda, options_.trans_a, *right_.packed(), y.data(), p.n, epilogue);
  } else if (p.count == 1) {
    kernels::gemm(&context.threads(), p.m, p.n, p.k, a, p.lda, options_.trans_a, read_input<float>(context, 1), p.ldb,
                  options_.trans_b, y.data(), p.n, epilogue);
  } else if (p.count > 1) {
    InlinedVector<int64_t, 8> offsets_c;
    bool uneven = !p.offsets_a.empty() || !p.offsets_b.empty();
    InlinedVector<int64_t, 8> offsets_a = p.offsets_a, offsets_b = p.offsets_b;
    for (int64_t i = 0; uneven && i < p.count; ++i) {
      offsets_c.push_back(i * p.m * p.n);
      if (p.offsets_a.empty()) offsets_a.push_back(p.offset_a(i));
      if (p.offsets_b.empty()) offsets_b.push_back(p.offset_b(i));
    }
    kernels::GemmBatch batch{p.count, p.m, p.n, p.k};
    batch.a = a, batch.lda = p.lda, batch.stride_a = p.stride_a, batch.trans_a = options_.trans_a;
    batch.b = read_input<float>(context, 1), batch.ldb = p.ldb, batch.stride_b = p.stride_b;
    batch.trans_b = options_.trans_b;
    batch.c = y.data(), batch.ldc = p.n, batch.stride_c = p.m * p.n;
    if (uneven) {
      batch.offsets_a = offsets_a.data(), batch.offsets_b = offsets_b.data(), batch.offsets_c = offsets_c.data();
    }
    kernels::gemm_batched(&context.threads(), batch, epilogue);
  }
  y.finish();
}

void MatMul::compute_double(KernelContext& context, const StackedProduct& p) const {
  bool plain = options_.activation.op == kernels::UnaryOp::kIdentity && !context.has_input(2) && !context.has_input(3);
  require(plain, ErrorCode::kNotImplemented, "a fused bias, addend or activation needs float tensors");
  const double* a = context.input(0).data<double>();
  const double* b = context.input(1).data<double>();
  double* y = context.output(0).mutable_data<double>();
  for (int64_t i = 0; i < p.count; ++i) {
    kernels::gemm_f64(&context.threads(), p.m, p.n, p.k, options_.alpha, a + p.offset_a(i), p.lda, options_.trans_a,
                      b + p.offset_b(i), p.ldb, options_.trans_b, 0, y + i * p.m * p.n, p.n);
  }
}

template <class T>
void MatMul::compute_integer(KernelContext& context, const StackedProduct& p) const {
  const T* a = static_cast<const T*>(context.input(0).raw());
  const T* b = static_cast<const T*>(context.input(1).raw());
  T* y = static_cast<T*>(context.output(0).mutable_raw());
  for (int64_t i = 0; i < p.count; ++i) {
    kernels::multiply_words<T>(&context.threads(), p.m, p.n, p.k, {a + p.offset_a(i), p.k, 1},
                               {b + p.offset_b(i), p.n, 1}, y + i * p.m * p.n);
  }
}

}  // namespace ortolan::cpu
