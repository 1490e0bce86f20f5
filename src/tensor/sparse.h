// Building sparse tensors: values and indices, copied or borrowed, checked against the dense shape.
#pragma once

#include "tensor/value.h"

namespace ortolan::tensor {

/** One of no format yet. `allocator` is what copies of values and indices will use. */
std::shared_ptr<SparseTensor> make_sparse(ElementType type, Shape dense_shape, std::shared_ptr<Allocator> allocator);

/** Sets the format's indices as given (tensors may borrow). Throws, leaving `sparse` as it was, unless counts and
    values fit the dense shape and the number of values. COO: [NNZ] flat positions or [NNZ, 2] coordinates of a matrix,
    int64. CSR: inner [NNZ] columns and outer [rows + 1] positions, int64, dense rank 2. Block: [2, blocks] int32
    coordinates for values of three dimensions, the first or the last of which is blocks (dense rank 2). */
void set_coo(SparseTensor& sparse, Tensor values, Tensor indices);
void set_csr(SparseTensor& sparse, Tensor values, Tensor inner, Tensor outer);
void set_block_sparse(SparseTensor& sparse, Tensor values, Tensor indices);

}  // namespace ortolan::tensor
