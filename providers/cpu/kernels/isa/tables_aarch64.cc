// The kernels of aarch64.
#include "base/cpu_features.h"
#include "cpu/kernels/isa/tables.h"
#include "cpu/kernels/products/gemm_sme.h"

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

namespace sme {
// For this processor, where it has streaming vectors.
KernelTable table() {
  KernelTable table = i8mm::table();
  table.isa = IsaLevel::kSme;
  if (const int bytes = base::cpu_features().streaming_bytes; bytes != 0) table.gemm_f32 = gemm_f32_of(bytes / 4);
  return table;
}
}  // namespace sme

std::span<const KernelTable> kernel_tables() noexcept {
  static const KernelTable kTables[] = {generic::kTable, dotprod::table(), i8mm::table(), sme::table()};
  return kTables;
}

}  // namespace ortolan::cpu::kernels
