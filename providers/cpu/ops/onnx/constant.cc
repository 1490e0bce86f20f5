// Kernels of Constant and ConstantOfShape.
#include <cstring>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/moves/strided_copy.h"
#include "graph/constant_value.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Fills `dense` from a COO tensor whose indices are flat or one tuple an element. */
void densify(const SparseTensor& sparse, Tensor& dense) {
  bool strings = sparse.type == ElementType::kString;
  if (!strings) base::polled_clear(dense.mutable_raw(), static_cast<int64_t>(dense.byte_count()));
  require(sparse.format == SparseFormat::kCoo && sparse.indices.size() == 1 && !is_packed(sparse.type),
          ErrorCode::kNotImplemented, "a sparse constant must be in COO format and not of a packed type");
  require(sparse.values.type() == sparse.type, ErrorCode::kInvalidGraph, "the values of a sparse constant are ",
          name_of(sparse.values.type()), ", not ", name_of(sparse.type));
  const Tensor& indices = sparse.indices[0];
  int64_t count = sparse.values.element_count(), total = dense.element_count();
  auto rank = static_cast<int64_t>(sparse.dense_shape.rank());
  int64_t width = indices.rank() == 2 ? indices.shape()[1] : 1;
  require(width == (indices.rank() == 2 ? rank : 1) && indices.element_count() == checked_mul(count, width),
          ErrorCode::kInvalidGraph, "the indices of a sparse constant have shape ", indices.shape(), " for ", count,
          " values");
  Dims strides = indices.rank() == 2 ? row_strides(sparse.dense_shape) : Dims{1};
  auto index = indices.span<int64_t>();
  dispatch_moved(sparse.type, [&]<class E>(TypeTag<E>) {
    auto* from = static_cast<const E*>(sparse.values.raw());
    auto* to = static_cast<E*>(dense.mutable_raw());
    base::TerminatePoll poll;
    for (int64_t i = 0; i < count; ++i) {
      poll.work(4);
      int64_t position = 0;
      for (int64_t j = 0; j < width; ++j) {
        int64_t at = index[static_cast<size_t>(i * width + j)];
        int64_t limit = width == rank && indices.rank() == 2 ? sparse.dense_shape[static_cast<size_t>(j)] : total;
        require(at >= 0 && at < limit, ErrorCode::kInvalidGraph, "index ", at, " of a sparse constant is outside [0, ",
                limit - 1, "]");
        position += at * strides[static_cast<size_t>(j)];
      }
      to[position] = from[i];
    }
  });
}

class Constant : public OpKernel {
 public:
  explicit Constant(const KernelInfo& info) : value_(graph::constant_value(info.node())) {
    require(value_.defined(), ErrorCode::kInvalidGraph, "no value is given; set attribute value");
  }
  void compute(KernelContext& context) const override { context.set_output(0, value_); }

 private:
  Tensor value_;
};

class SparseConstant : public OpKernel {
 public:
  explicit SparseConstant(const std::shared_ptr<SparseTensor>& value) : value_(value) {
    require(value_ != nullptr, ErrorCode::kInvalidGraph, "attribute 'sparse_value' is empty");
  }
  void compute(KernelContext& context) const override { densify(*value_, context.output(0)); }

 private:
  std::shared_ptr<SparseTensor> value_;
};

std::unique_ptr<OpKernel> make_constant(const KernelInfo& info) {
  const Attribute* sparse = info.node().find_attribute("sparse_value");
  if (sparse == nullptr) return std::make_unique<Constant>(info);
  auto* value = std::get_if<std::shared_ptr<SparseTensor>>(&sparse->value);
  require(value != nullptr, ErrorCode::kInvalidGraph, "attribute 'sparse_value' is not a sparse tensor");
  return std::make_unique<SparseConstant>(*value);
}

class ConstantOfShape : public OpKernel {
 public:
  explicit ConstantOfShape(const KernelInfo& info)
      : value_(info.node().has_attribute("value") ? info.node().tensor_of("value") : scalar(0.0f)) {
    require(value_.element_count() == 1, ErrorCode::kInvalidGraph, "attribute 'value' must hold one element");
  }
  void compute(KernelContext& context) const override {
    Tensor& output = context.output(0);
    if (!is_packed(value_.type())) {
      StridedWalk walk;
      walk.add(output.element_count(), 0, 1);
      return strided_copy(context.threads(), value_.type(), walk, value_.raw(), output.mutable_raw());
    }
    int code = unpack_element(value_.type(), value_.raw(), 0);
    base::polled_loop(output.element_count(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pack_element(value_.type(), output.mutable_raw(), i, code);
    });
  }

 private:
  Tensor value_;
};

constexpr KernelRow kRows[] = {
    {"", "Constant", 1, kLatest, make_constant},
    {"", "ConstantOfShape", 9, kLatest, make_kernel<ConstantOfShape>},
};

}  // namespace

extern const KernelTable constant_rows;
const KernelTable constant_rows(kRows);

}  // namespace ortolan::cpu::onnx
