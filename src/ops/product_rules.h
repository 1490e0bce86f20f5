// Shape rules of products and convolutions that fused operators share with the plain ones.
#pragma once

#include "ops/infer_context.h"

namespace ortolan::ops {

/** Inputs X, W, B; see Conv. */
void conv_rule(InferContext& context);
/** Inputs A, B, C and attributes transA, transB; see Gemm. */
void gemm_rule(InferContext& context);

/** numpy.matmul of inputs `left` and `right`: a vector on the left is a row, one on the right a column, and that
    dimension is dropped again. Throws where they do not fit. */
SymbolicShape product_shape(const InferContext& context, size_t left, size_t right);

}  // namespace ortolan::ops
