// Gemm over the kernels' matrix products; whole numbers in plain loops.
#include "cpu/products/gemm.h"

#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/elements/saturate.h"
#include "cpu/kernels/elementwise/number_matrices.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/products/fused_activation.h"
#include "cpu/products/matmul.h"

namespace ortolan::cpu {
namespace {

/** How C lies in the [m, n] result: element (i, j) is c[i*row + j*column]. */
struct Spread {
  int64_t row = 0, column = 0;
};

Spread spread_of(const Shape& c, int64_t m, int64_t n) {
  if (c.element_count() == 1) return {};
  int64_t rows = c.rank() == 2 ? c[0] : 1, columns = c.rank() > 0 ? c.back() : 1;
  bool fits = c.rank() <= 2 && (rows == m || rows == 1) && (columns == n || columns == 1);
  require(fits, ErrorCode::kInvalidArgument, "C has shape ", c, ", which does not broadcast to [", m, ",", n,
          "]; make its dimensions equal to the result's, or 1");
  return {rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

template <class T>
void spread(const T* c, Spread at, int64_t m, int64_t n, T* y) {
  for (int64_t i = 0; i < m; ++i) {
    const T* row = c + i * at.row;
    for (int64_t j = 0; j < n; ++j) y[i * n + j] = row[j * at.column];
  }
}

/** Adds C to the epilogue: as a bias where beta is 1, else as the result's earlier content. */
void add_to(kernels::Epilogue& epilogue, const float* c, Spread at, float beta, int64_t m, int64_t n, float* y) {
  if (beta != 1) {
    spread(c, at, m, n, y);
    epilogue.beta = beta;
  } else if (at.row && at.column) {
    epilogue.residual = c;
    epilogue.residual_stride = n;
  } else {
    epilogue.bias = c;
    epilogue.bias_kind = at.row      ? kernels::BiasKind::kRow
                         : at.column ? kernels::BiasKind::kColumn
                                     : kernels::BiasKind::kScalar;
  }
}

}  // namespace

Gemm::Gemm(const KernelInfo& info)
    : trans_a_(info.node().int_or("transA", 0) != 0),
      trans_b_(info.node().int_or("transB", 0) != 0),
      alpha_(info.node().float_or("alpha", 1)),
      beta_(info.node().float_or("beta", 1)),
      activation_(fused_activation(info.node())),
      right_(info, 1, trans_b_) {}

Gemm::Sizes Gemm::sizes(const KernelContext& context) const {
  const Shape& a = context.input(0).shape();
  const Shape& b = context.input(1).shape();
  require(a.rank() == 2 && b.rank() == 2, ErrorCode::kInvalidArgument, "A is ", a, " and B is ", b,
          "; both must have rank 2");
  int64_t inner = trans_b_ ? b[1] : b[0];
  Sizes result{trans_a_ ? a[1] : a[0], trans_b_ ? b[0] : b[1], trans_a_ ? a[0] : a[1], a[1], b[1]};
  require(result.k == inner, ErrorCode::kInvalidArgument, "the matrices do not fit: A is ", a, ", B is ", b,
          "; their inner dimensions are ", result.k, " and ", inner);
  return result;
}

KernelReport Gemm::report(const KernelContext& context) const {
  Sizes s = sizes(context);
  StackedProduct p{.m = s.m, .n = s.n, .k = s.k};
  ElementType type = context.input(0).type();
  if (kIntegerTypes.contains(type)) return {product_text("integer_product", false, p), kernels::float_isa()};
  if (type == ElementType::kDouble) return {product_text("gemm_f64", false, p), kernels::float_isa()};
  bool packed = right_.packed() != nullptr;
  return {product_text("gemm_f32", packed, p) + activation_text(context.node()), kernels::gemm_isa(s.m, s.n, s.k)};
}

void Gemm::compute(KernelContext& context) const {
  Sizes s = sizes(context);
  ElementType type = context.input(0).type();
  switch (type) {
    case ElementType::kDouble:
      return compute_double(context, s);
    case ElementType::kInt32:
      return compute_integer<int32_t>(context, s);
    case ElementType::kUInt32:
      return compute_integer<uint32_t>(context, s);
    case ElementType::kInt64:
      return compute_integer<int64_t>(context, s);
    case ElementType::kUInt64:
      return compute_integer<uint64_t>(context, s);
    default:
      return compute_float(context, s);
  }
}

void Gemm::compute_float(KernelContext& context, const Sizes& s) const {
  OutputAs<float> y(context, 0);
  kernels::Epilogue epilogue;
  epilogue.alpha = alpha_;
  epilogue.activation = activation_;
  const Tensor* c = context.input_if(2);
  if (c && beta_ != 0 && s.m > 0 && s.n > 0) {
    add_to(epilogue, read_as<float>(context, *c), spread_of(c->shape(), s.m, s.n), beta_, s.m, s.n, y.data());
  }
  const float* a = read_input<float>(context, 0);
  if (right_.packed()) {
    kernels::gemm(&context.threads(), s.m, a, s.lda, trans_a_, *right_.packed(), y.data(), s.n, epilogue);
  } else {
    kernels::gemm(&context.threads(), s.m, s.n, s.k, a, s.lda, trans_a_, read_input<float>(context, 1), s.ldb, trans_b_,
                  y.data(), s.n, epilogue);
  }
  y.finish();
}

void Gemm::compute_double(KernelContext& context, const Sizes& s) const {
  require(activation_.op == kernels::UnaryOp::kIdentity, ErrorCode::kNotImplemented,
          "a fused activation needs float tensors");
  double* y = context.output(0).mutable_data<double>();
  const Tensor* c = context.input_if(2);
  bool add = c && beta_ != 0 && s.m > 0 && s.n > 0;
  if (add) spread(c->data<double>(), spread_of(c->shape(), s.m, s.n), s.m, s.n, y);
  kernels::gemm_f64(&context.threads(), s.m, s.n, s.k, alpha_, context.input(0).data<double>(), s.lda, trans_a_,
                    context.input(1).data<double>(), s.ldb, trans_b_, add ? beta_ : 0.0, y, s.n);
}

/** Exact where alpha and beta are 1; else computed in double and cut to the type. */
template <class T>
void Gemm::compute_integer(KernelContext& context, const Sizes& s) const {
  using Word = std::make_unsigned_t<T>;
  Word* y = static_cast<Word*>(context.output(0).mutable_raw());
  kernels::StridedMatrix<Word> a{static_cast<const Word*>(context.input(0).raw()), trans_a_ ? 1 : s.lda,
                                 trans_a_ ? s.lda : 1};
  kernels::StridedMatrix<Word> b{static_cast<const Word*>(context.input(1).raw()), trans_b_ ? 1 : s.ldb,
                                 trans_b_ ? s.ldb : 1};
  kernels::multiply_words<Word>(&context.threads(), s.m, s.n, s.k, a, b, y);
  const Tensor* c = s.m > 0 && s.n > 0 ? context.input_if(2) : nullptr;
  Spread at = c ? spread_of(c->shape(), s.m, s.n) : Spread{};
  const Word* addend = c ? static_cast<const Word*>(c->raw()) : nullptr;
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      Word& element = y[i * s.n + j];
      Word extra = addend ? addend[i * at.row + j * at.column] : Word{0};
      if (alpha_ == 1 && beta_ == 1) {
        element += extra;
      } else {
        double value = double(alpha_) * static_cast<T>(element) + double(beta_) * static_cast<T>(extra);
        element = static_cast<Word>(saturate_cast<T>(value));
      }
    }
  }
}

}  // namespace ortolan::cpu
