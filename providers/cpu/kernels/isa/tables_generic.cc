// The kernels of an architecture without levels of its own.
#include "cpu/kernels/isa/tables.h"
#include "cpu/kernels/products/gemm_blas.h"

namespace ortolan::cpu::kernels {

ORTOLAN_WHOLE_TABLE(generic, kGeneric)

namespace {

constexpr KernelTable table() {
  KernelTable table = generic::kTable;
#if defined(ORTOLAN_OPENBLAS)
  table.gemm_f32 = &kGemmF32OfBlas;
  table.gemm_f64 = &kGemmF64OfBlas;
#endif
  return table;
}

}  // namespace

std::span<const KernelTable> kernel_tables() noexcept {
  static constexpr KernelTable kTables[] = {table()};
  return kTables;
}

}  // namespace ortolan::cpu::kernels
