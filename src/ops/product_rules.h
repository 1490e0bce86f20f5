// Shape rules of products and convolutions that fused operators share with the plain ones.
#pragma once

#include "ops/infer_context.h"

namespace ortolan::ops {

/** Inputs X, W, B; see Conv. */
void conv_rule(InferContext& context);
/** Inputs A, B, C and attributes transA, transB; see Gemm. */
void gemm_rule(InferContext& context);

}  // namespace ortolan::ops
