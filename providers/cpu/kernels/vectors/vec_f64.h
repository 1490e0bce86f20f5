// Vectors of doubles for one instruction set. Included as vec.h is.
#pragma once

#include "cpu/kernels/vectors/vec.h"

namespace ortolan::cpu::kernels::ORTOLAN_ISA {
namespace {

constexpr int kDoubles = kVectorBytes / 8;
typedef double Vd __attribute__((vector_size(kVectorBytes)));
typedef double VdLoose __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));

ORTOLAN_INLINE Vd load_doubles(const double* p) { return *reinterpret_cast<const VdLoose*>(p); }
ORTOLAN_INLINE void store_doubles(double* p, Vd v) { *reinterpret_cast<VdLoose*>(p) = v; }

}  // namespace
}  // namespace ortolan::cpu::kernels::ORTOLAN_ISA
