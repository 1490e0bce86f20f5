// Convolutions in fp64: plain loops over matrix products, for a type that is rare and must be right.
#pragma once

#include "cpu/kernels/convolution/conv_f32.h"

namespace ortolan::base {
class ThreadPool;
}

namespace ortolan::cpu {

/** y = conv(x, w) + bias; bias may be NULL. Layouts as for the fp32 kernels. */
void conv_f64(base::ThreadPool* pool, const kernels::ConvGeometry& geometry, const double* x, const double* w,
              const double* bias, double* y);
/** The transposed form, weights [in][out/groups][kernel…]. */
void conv_transpose_f64(base::ThreadPool* pool, const kernels::ConvGeometry& geometry, const double* x, const double* w,
                        const double* bias, double* y);

}  // namespace ortolan::cpu
