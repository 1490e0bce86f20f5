// Sparse tensors: the checks between values, indices and dense shape.
#include "tensor/sparse.h"

namespace ortolan::tensor {
namespace {

template <class T>
void check_range(std::span<const T> indices, int64_t limit, const char* what) {
  for (T index : indices) {
    require(index >= 0 && index < limit, ErrorCode::kInvalidArgument, what, " ", index, " is outside [0, ", limit - 1,
            "]");
  }
}

void check_values(const SparseTensor& sparse, const Tensor& values) {
  require(values.type() == sparse.type, ErrorCode::kInvalidArgument, "the values are of ", name_of(values.type()),
          ", but the sparse tensor is of ", name_of(sparse.type));
}

int64_t rows_of(const SparseTensor& sparse, const char* format) {
  require(sparse.dense_shape.rank() == 2, ErrorCode::kInvalidArgument, format, " needs a dense shape of rank 2, not ",
          sparse.dense_shape);
  return sparse.dense_shape[0];
}

void fill(SparseTensor& sparse, SparseFormat format, Tensor values, std::vector<Tensor> indices) {
  sparse.format = format;
  sparse.values = std::move(values);
  sparse.indices = std::move(indices);
}

}  // namespace

std::shared_ptr<SparseTensor> make_sparse(ElementType type, Shape dense_shape, std::shared_ptr<Allocator> allocator) {
  dense_shape.element_count();
  auto sparse = std::make_shared<SparseTensor>();
  sparse->type = type;
  sparse->dense_shape = std::move(dense_shape);
  sparse->values = Tensor(type, Shape{0}, allocator);
  sparse->allocator = std::move(allocator);
  return sparse;
}

void set_coo(SparseTensor& sparse, Tensor values, Tensor indices) {
  check_values(sparse, values);
  int64_t nnz = values.element_count();
  bool flat = indices.rank() == 1 && indices.element_count() == nnz;
  bool pairs = indices.rank() == 2 && indices.shape() == Shape{nnz, 2} && sparse.dense_shape.rank() == 2;
  require(flat || pairs, ErrorCode::kInvalidArgument, "COO indices of shape ", indices.shape(), " do not fit ", nnz,
          " values: give one position for each, or two for a dense shape of rank 2");
  if (flat) {
    check_range(indices.span<int64_t>(), sparse.dense_shape.element_count(), "COO position");
  } else {
    const auto* coordinates = indices.data<int64_t>();
    for (int64_t i = 0; i < nnz; ++i) {
      check_range(std::span(coordinates + 2 * i, 1), sparse.dense_shape[0], "COO row");
      check_range(std::span(coordinates + 2 * i + 1, 1), sparse.dense_shape[1], "COO column");
    }
  }
  fill(sparse, SparseFormat::kCoo, std::move(values), {std::move(indices)});
}

void set_csr(SparseTensor& sparse, Tensor values, Tensor inner, Tensor outer) {
  check_values(sparse, values);
  int64_t rows = rows_of(sparse, "CSR");
  int64_t nnz = values.element_count();
  bool empty = nnz == 0 && inner.element_count() == 0 && outer.element_count() == 0;
  require(inner.element_count() == nnz && (empty || outer.element_count() == rows + 1), ErrorCode::kInvalidArgument,
          "CSR with ", nnz, " values and ", rows, " rows needs ", nnz, " inner and ", rows + 1, " outer indices, not ",
          inner.element_count(), " and ", outer.element_count());
  check_range(inner.span<int64_t>(), sparse.dense_shape[1], "CSR column");
  int64_t last = 0;
  for (int64_t start : outer.span<int64_t>()) {
    require(start >= last && start <= nnz, ErrorCode::kInvalidArgument, "CSR outer index ", start, " is outside [",
            last, ", ", nnz, "]; row starts must ascend");
    last = start;
  }
  fill(sparse, SparseFormat::kCsrc, std::move(values), {std::move(inner), std::move(outer)});
}

void set_block_sparse(SparseTensor& sparse, Tensor values, Tensor indices) {
  check_values(sparse, values);
  rows_of(sparse, "block sparse");
  bool empty = values.element_count() == 0 && indices.element_count() == 0;
  if (!empty) {
    bool pairs = indices.rank() == 2 && indices.shape()[0] == 2 && values.rank() >= 3;
    int64_t blocks = pairs ? indices.shape()[1] : -1;
    require(pairs && (values.shape()[0] == blocks || values.shape().count_from(2) == blocks),
            ErrorCode::kInvalidArgument, "block sparse values of shape ", values.shape(), " and indices of shape ",
            indices.shape(),
            " do not fit: values have three dimensions, one of them blocks, and indices are [2, blocks]");
    auto coordinates = indices.span<int32_t>();
    auto count = static_cast<size_t>(blocks);
    check_range(coordinates.first(count), sparse.dense_shape[0], "block row");
    check_range(coordinates.subspan(count), sparse.dense_shape[1], "block column");
  }
  fill(sparse, SparseFormat::kBlockSparse, std::move(values), {std::move(indices)});
}

}  // namespace ortolan::tensor
