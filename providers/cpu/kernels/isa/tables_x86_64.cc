// The kernels of x86_64.
#include "cpu/kernels/isa/tables.h"

namespace ortolan::cpu::kernels {

using base::IsaLevel;

ORTOLAN_WHOLE_TABLE(generic, kGeneric)
ORTOLAN_WHOLE_TABLE(avx2, kAvx2)
ORTOLAN_WHOLE_TABLE(avx512, kAvx512)

namespace avxvnni {
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;

constexpr KernelTable table() {
  KernelTable table = avx2::kTable;
  table.isa = IsaLevel::kAvxVnni;
  table.gemm_int8 = &kGemmInt8;
  table.nbits = &kNBits;
  return table;
}
}  // namespace avxvnni

namespace avx512vnni {
extern const DepthwiseInt8Kernels kDepthwiseInt8;
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;

constexpr KernelTable table() {
  KernelTable table = avx512::kTable;
  table.isa = IsaLevel::kAvx512Vnni;
  table.depthwise_int8 = &kDepthwiseInt8;
  table.gemm_int8 = &kGemmInt8;
  table.nbits = &kNBits;
  return table;
}
}  // namespace avx512vnni

namespace amx {
extern const GemmInt8Kernels kGemmInt8;
ORTOLAN_TILE_FAMILIES(ORTOLAN_OBJECT)

constexpr KernelTable table() {
  KernelTable table = avx512vnni::table();
  table.isa = IsaLevel::kAmx;
  table.gemm_int8 = &kGemmInt8;
  ORTOLAN_TILE_FAMILIES(ORTOLAN_SET)
  return table;
}
}  // namespace amx

std::span<const KernelTable> kernel_tables() noexcept {
  static constexpr KernelTable kTables[] = {generic::kTable, avx2::kTable,        avxvnni::table(),
                                            avx512::kTable,  avx512vnni::table(), amx::table()};
  return kTables;
}

}  // namespace ortolan::cpu::kernels
