// Einsum as a chain of contractions, each one batched matrix product: labels that both operands and the result have
// form the batch, those of one operand rows or columns, and the rest are summed over.
#include <algorithm>
#include <map>
#include <memory>
#include <numeric>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/number_loops.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/rows/reduce_f32.h"
#include "ops/einsum_equation.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

using ops::EinsumLabel;
using Labels = std::vector<EinsumLabel>;
using Sizes = std::map<EinsumLabel, int64_t>;

bool contains(const Labels& labels, EinsumLabel label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

Labels joined(const Labels& a, const Labels& b, const Labels& c = {}) {
  Labels all = a;
  all.insert(all.end(), b.begin(), b.end());
  all.insert(all.end(), c.begin(), c.end());
  return all;
}

int64_t volume(const Labels& labels, const Sizes& sizes) {
  int64_t count = 1;
  for (EinsumLabel label : labels) count = checked_mul(count, sizes.at(label));
  return count;
}

/** A strided view: one label and stride for each dimension that is not 1; `owner` keeps intermediate results. */
struct Operand {
  const void* data;
  Labels labels;
  std::vector<int64_t> strides;
  Tensor owner;
};

/** The element types that the arithmetic is done in; integers wrap around, so their sign does not matter. */
constexpr TypeSet kArithmeticTypes = kFloat32And64 | kUnsignedTypes;

ElementType arithmetic_type(ElementType type) {
  switch (type) {
    case ElementType::kInt8:
      return ElementType::kUInt8;
    case ElementType::kInt16:
      return ElementType::kUInt16;
    case ElementType::kInt32:
      return ElementType::kUInt32;
    case ElementType::kInt64:
      return ElementType::kUInt64;
    default:
      return compute_type(type);
  }
}

Operand make_operand(const Tensor& tensor, const Labels& labels) {
  Operand operand{tensor.raw(), {}, {}, tensor};
  int64_t stride = 1;
  for (size_t i = tensor.rank(); i-- > 0;) {
    int64_t size = tensor.shape()[i];
    auto at = std::find(operand.labels.begin(), operand.labels.end(), labels[i]);
    if (size != 1 && at != operand.labels.end()) {
      operand.strides[static_cast<size_t>(at - operand.labels.begin())] += stride;  // a diagonal
    } else if (size != 1) {
      operand.labels.insert(operand.labels.begin(), labels[i]);
      operand.strides.insert(operand.strides.begin(), stride);
    }
    stride *= size;
  }
  return operand;
}

/** One evaluation for elements of type T. */
template <class T>
class Evaluation {
 public:
  Evaluation(KernelContext& context, const Sizes& sizes) : context_(context), sizes_(sizes) {}

  /** Sums over the labels of `operand` that are not in `kept`. */
  Operand sum_out(Operand operand, const Labels& kept) {
    Labels rows, summed;
    for (EinsumLabel label : operand.labels) (contains(kept, label) ? rows : summed).push_back(label);
    if (summed.empty()) return operand;
    Operand flat = arranged(operand, joined(rows, summed));
    int64_t count = volume(rows, sizes_), length = volume(summed, sizes_);
    Operand result = allocate(rows);
    auto* from = static_cast<const T*>(flat.data);
    T* to = result.owner.template mutable_data<T>();
    auto sum = [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) to[i] = sum_of(from + i * length, length);
    };
    base::polled_loop(count, sum, length + 1);
    return result;
  }

  static T sum_of(const T* x, int64_t count) {
    if constexpr (std::is_same_v<T, float>) {
      return kernels::reduce(kernels::ReduceOp::kSum, x, count);
    } else if constexpr (sizeof(T) == 2) {
      return std::accumulate(x, x + count, T{0});
    } else {
      return count > 0 ? kernels::reduce_numbers(kernels::ReduceOp::kSum, x, count) : T{0};
    }
  }

  /** The product of two operands, summed over what `kept` does not name. */
  Operand contract(const Operand& a, const Operand& b, const Labels& kept) {
    Labels batch, rows, columns, summed;
    for (EinsumLabel label : a.labels) {
      bool shared = contains(b.labels, label);
      (shared ? (contains(kept, label) ? batch : summed) : rows).push_back(label);
    }
    for (EinsumLabel label : b.labels) {
      if (!contains(a.labels, label)) columns.push_back(label);
    }
    Operand result = allocate(joined(batch, rows, columns));
    Product product{volume(batch, sizes_), volume(rows, sizes_), volume(columns, sizes_), volume(summed, sizes_)};
    product.trans_a = is_contiguous(a, joined(batch, summed, rows)) && !is_contiguous(a, joined(batch, rows, summed));
    product.trans_b =
        is_contiguous(b, joined(batch, columns, summed)) && !is_contiguous(b, joined(batch, summed, columns));
    Operand left = arranged(a, product.trans_a ? joined(batch, summed, rows) : joined(batch, rows, summed));
    Operand right = arranged(b, product.trans_b ? joined(batch, columns, summed) : joined(batch, summed, columns));
    multiply(product, static_cast<const T*>(left.data), static_cast<const T*>(right.data),
             result.owner.template mutable_data<T>());
    return result;
  }

  /** Writes the operand, whose labels are those of the output or fewer (size 1), to y. */
  void write(const Operand& operand, const Labels& output, T* y) {
    Labels order;
    for (EinsumLabel label : output) {
      if (contains(operand.labels, label)) order.push_back(label);
    }
    copy(operand, order, y);
  }

 private:
  struct Product {
    int64_t batch, m, n, k;
    bool trans_a = false, trans_b = false;
  };

  std::vector<int64_t> dims_of(const Labels& labels) const {
    std::vector<int64_t> dims;
    for (EinsumLabel label : labels) dims.push_back(sizes_.at(label));
    return dims;
  }

  Operand allocate(const Labels& labels) {
    std::vector<int64_t> dims = dims_of(labels);
    Shape shape;
    shape.assign(dims.begin(), dims.end());
    Tensor tensor(kTypeOf<T>, shape, context_.services().allocator);
    return make_operand(tensor, labels);
  }

  int64_t stride_of(const Operand& operand, EinsumLabel label) const {
    auto at = std::find(operand.labels.begin(), operand.labels.end(), label);
    return operand.strides[static_cast<size_t>(at - operand.labels.begin())];
  }

  bool is_contiguous(const Operand& operand, const Labels& order) const {
    int64_t expected = 1;
    for (size_t i = order.size(); i-- > 0;) {
      if (stride_of(operand, order[i]) != expected) return false;
      expected *= sizes_.at(order[i]);
    }
    return true;
  }

  /** The operand with its labels in that order, contiguous; a copy where it is not so already. */
  Operand arranged(const Operand& operand, const Labels& order) {
    if (is_contiguous(operand, order)) return {operand.data, order, operand.strides, operand.owner};
    Operand result = allocate(order);
    copy(operand, order, result.owner.template mutable_data<T>());
    return result;
  }

  void copy(const Operand& operand, const Labels& order, T* to) {
    std::vector<int64_t> dims = dims_of(order), from_strides, to_strides(order.size());
    int64_t stride = 1;
    for (size_t i = order.size(); i-- > 0;) {
      to_strides[i] = stride;
      stride *= dims[i];
    }
    if (stride == 0) return;
    for (EinsumLabel label : order) from_strides.push_back(stride_of(operand, label));
    kernels::copy_strided(&context_.threads(), sizeof(T), static_cast<int>(order.size()), dims.data(), operand.data,
                          from_strides.data(), to, to_strides.data());
  }

  void multiply(const Product& p, const T* a, const T* b, T* c) {
    if (p.batch == 0 || p.m == 0 || p.n == 0) return;
    if (p.m == 1 && p.n == 1 && p.k == 1) {
      base::polled_loop(p.batch, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) c[i] = static_cast<T>(a[i] * b[i]);
      });
    } else if constexpr (std::is_same_v<T, float>) {
      kernels::GemmBatch batch{p.batch, p.m, p.n, p.k};
      batch.a = a;
      batch.lda = p.trans_a ? p.m : p.k;
      batch.stride_a = p.m * p.k;
      batch.trans_a = p.trans_a;
      batch.b = b;
      batch.ldb = p.trans_b ? p.k : p.n;
      batch.stride_b = p.k * p.n;
      batch.trans_b = p.trans_b;
      batch.c = c;
      batch.ldc = p.n;
      batch.stride_c = p.m * p.n;
      kernels::gemm_batched(&context_.threads(), batch, {});
    } else if constexpr (std::is_same_v<T, double>) {
      base::TerminatePoll poll;
      for (int64_t i = 0; i < p.batch; ++i) {
        poll.work(64 + p.m * p.n);
        kernels::gemm_f64(&context_.threads(), p.m, p.n, p.k, 1, a + i * p.m * p.k, p.trans_a ? p.m : p.k, p.trans_a,
                          b + i * p.k * p.n, p.trans_b ? p.k : p.n, p.trans_b, 0, c + i * p.m * p.n, p.n);
      }
    } else {
      base::TerminatePoll poll;
      for (int64_t i = 0; i < p.batch; ++i) {
        poll.work(64 + p.m * p.n);
        multiply_integers(p, a + i * p.m * p.k, b + i * p.k * p.n, c + i * p.m * p.n);
      }
    }
  }

  void multiply_integers(const Product& p, const T* a, const T* b, T* c) {
    using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
    context_.threads().parallel_for(
        p.m, kernels::least_rows(p.n * p.k, kernels::kScalarNs), [&](int64_t begin, int64_t end) {
          base::TerminatePoll poll;
          for (int64_t m = begin; m < end; ++m) {
            for (int64_t n = 0; n < p.n; ++n) {
              poll.work(1 + p.k);
              Wide sum = 0;
              for (int64_t k = 0; k < p.k; ++k) {
                sum += Wide(a[p.trans_a ? k * p.m + m : m * p.k + k]) * Wide(b[p.trans_b ? n * p.k + k : k * p.n + n]);
              }
              c[m * p.n + n] = static_cast<T>(sum);
            }
          }
        });
  }

  KernelContext& context_;
  const Sizes& sizes_;
};

class Einsum : public OpKernel {
 public:
  explicit Einsum(const KernelInfo& info) : equation_(info.node().string_of("equation")) {}

  void compute(KernelContext& context) const override {
    std::vector<size_t> ranks;
    for (size_t i = 0; i < context.input_count(); ++i) ranks.push_back(context.input(i).rank());
    ops::EinsumTerms terms = ops::einsum_terms(equation_, ranks);
    Sizes sizes = label_sizes(context, terms);
    Tensor& y = context.output(0);
    dispatch<kArithmeticTypes>(arithmetic_type(y.type()), [&]<class T>(TypeTag<T>) {
      if (!kHalfTypes.contains(y.type())) return run<T>(context, terms, sizes, static_cast<T*>(y.mutable_raw()));
      if constexpr (std::is_same_v<T, float>) {
        auto floats = context.scratch<float>(y.element_count());
        run<T>(context, terms, sizes, floats.data());
        narrow(y.type(), floats.data(), y.mutable_raw(), y.element_count());
      }
    });
  }

 private:
  static Sizes label_sizes(const KernelContext& context, const ops::EinsumTerms& terms) {
    Sizes sizes;
    for (size_t i = 0; i < terms.inputs.size(); ++i) {
      const Shape& shape = context.input(i).shape();
      for (size_t d = 0; d < shape.rank(); ++d) {
        auto [at, is_new] = sizes.emplace(terms.inputs[i][d], shape[d]);
        int64_t& size = at->second;
        require(size == shape[d] || size == 1 || shape[d] == 1, ErrorCode::kInvalidArgument, "dimension ", d,
                " of input ", i, " is ", shape[d], ", but its label stands for ", size);
        if (size == 1) size = shape[d];
      }
    }
    return sizes;
  }

  /** An input as T, with its labels. */
  template <class T>
  static Operand operand_of(KernelContext& context, size_t i, const Labels& labels) {
    const Tensor& input = context.input(i);
    require(input.type() == context.input(0).type(), ErrorCode::kInvalidArgument, "input ", i, " holds ",
            name_of(input.type()), ", input 0 ", name_of(context.input(0).type()), "; they must be of one type");
    ElementType type = kTypeOf<T>;
    if (!kHalfTypes.contains(input.type())) {
      Tensor alias(type, input.shape(), const_cast<void*>(input.raw()), input.owner());
      return make_operand(alias, labels);
    }
    Tensor floats(ElementType::kFloat, input.shape(), context.services().allocator);
    widen(input.type(), input.raw(), floats.mutable_data<float>(), input.element_count());
    return make_operand(floats, labels);
  }

  template <class T>
  static void run(KernelContext& context, const ops::EinsumTerms& terms, const Sizes& sizes, T* y) {
    Evaluation<T> evaluation(context, sizes);
    size_t count = terms.inputs.size();
    std::vector<Labels> needed(count);  // by what follows operand i: the output and later operands
    needed[count - 1] = terms.output;
    for (size_t i = count - 1; i > 0; --i) needed[i - 1] = joined(needed[i], terms.inputs[i]);
    Operand result = evaluation.sum_out(operand_of<T>(context, 0, terms.inputs[0]), needed[0]);
    for (size_t i = 1; i < count; ++i) {
      Operand next = operand_of<T>(context, i, terms.inputs[i]);
      next = evaluation.sum_out(std::move(next), joined(needed[i], result.labels));
      result = evaluation.contract(result, next, needed[i]);
      result = evaluation.sum_out(std::move(result), needed[i]);
    }
    evaluation.write(result, terms.output, y);
  }

  std::string equation_;
};

constexpr KernelRow kRows[] = {{"", "Einsum", 12, kLatest, make_kernel<Einsum>, {{0, kNumericTypes}}}};

}  // namespace

extern const KernelTable einsum_rows;
constinit const KernelTable einsum_rows(kRows);

}  // namespace ortolan::cpu::onnx
