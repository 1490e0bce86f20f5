// The kernels of aarch64.
#include "cpu/kernels/isa/tables.h"

namespace ortolan::cpu::kernels {

using base::IsaLevel;

ORTOLAN_WHOLE_TABLE(generic, kGeneric)

namespace dotprod {
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;

constexpr KernelTable table() {
  KernelTable table = generic::kTable;
  table.isa = IsaLevel::kDotprod;
  table.gemm_int8 = &kGemmInt8;
  table.nbits = &kNBits;
  return table;
}
}  // namespace dotprod

namespace i8mm {
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;
extern const SplitF32Kernels kSplitF32;

constexpr KernelTable table() {
  KernelTable table = dotprod::table();
  table.isa = IsaLevel::kI8mm;
  table.gemm_int8 = &kGemmInt8;
  table.nbits = &kNBits;
  table.split_f32 = &kSplitF32;
  return table;
}
}  // namespace i8mm

std::span<const KernelTable> kernel_tables() noexcept {
  static constexpr KernelTable kTables[] = {generic::kTable, dotprod::table(), i8mm::table()};
  return kTables;
}

}  // namespace ortolan::cpu::kernels
