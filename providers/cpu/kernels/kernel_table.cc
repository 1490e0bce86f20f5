// One KernelTable for each instruction set of this architecture, and the one in use.
#include "cpu/kernels/kernel_table.h"

#include <atomic>

namespace ortolan::cpu::kernels {

namespace generic {
extern const VectorF32Kernels kVectorF32;
extern const RowF32Kernels kRowF32;
extern const ConvertKernels kConvert;
extern const GemmF32Kernels kGemmF32;
extern const ConvF32Kernels kConvF32;
extern const WinogradKernels kWinograd;
extern const WinogradInt16Kernels kWinogradInt16;
extern const RecurrentKernels kRecurrent;
extern const PoolKernels kPool;
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;
extern const MoveKernels kMove;
extern const GemmF64Kernels kGemmF64;
extern const DepthwiseInt8Kernels kDepthwiseInt8;
extern const CastKernels kCast;
extern const NumberKernels kNumberLoops;
extern const MathF64Kernels kMathF64;
}  // namespace generic
#if defined(__x86_64__)
namespace avx2 {
extern const VectorF32Kernels kVectorF32;
extern const RowF32Kernels kRowF32;
extern const ConvertKernels kConvert;
extern const GemmF32Kernels kGemmF32;
extern const ConvF32Kernels kConvF32;
extern const WinogradKernels kWinograd;
extern const WinogradInt16Kernels kWinogradInt16;
extern const RecurrentKernels kRecurrent;
extern const PoolKernels kPool;
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;
extern const MoveKernels kMove;
extern const GemmF64Kernels kGemmF64;
extern const DepthwiseInt8Kernels kDepthwiseInt8;
extern const CastKernels kCast;
extern const NumberKernels kNumberLoops;
extern const MathF64Kernels kMathF64;
}  // namespace avx2
namespace avx512 {
extern const VectorF32Kernels kVectorF32;
extern const RowF32Kernels kRowF32;
extern const ConvertKernels kConvert;
extern const GemmF32Kernels kGemmF32;
extern const ConvF32Kernels kConvF32;
extern const WinogradKernels kWinograd;
extern const WinogradInt16Kernels kWinogradInt16;
extern const RecurrentKernels kRecurrent;
extern const PoolKernels kPool;
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;
extern const MoveKernels kMove;
extern const GemmF64Kernels kGemmF64;
extern const DepthwiseInt8Kernels kDepthwiseInt8;
extern const CastKernels kCast;
extern const NumberKernels kNumberLoops;
extern const MathF64Kernels kMathF64;
}  // namespace avx512
namespace avx512vnni {
extern const DepthwiseInt8Kernels kDepthwiseInt8;
extern const GemmInt8Kernels kGemmInt8;
extern const NBitsKernels kNBits;
}  // namespace avx512vnni
namespace amx {
extern const SplitF32Kernels kSplitF32;
extern const SplitConvKernels kSplitConv;
extern const TileConvKernels kTileConv;
extern const NBitsTileKernels kNBitsTiles;
extern const NBitsSliceKernels kNBitsSlices;
extern const GemmInt8Kernels kGemmInt8;
}  // namespace amx
#endif

namespace {

using base::IsaLevel;

constexpr KernelTable kTables[] = {
    {IsaLevel::kGeneric, &generic::kVectorF32, &generic::kRowF32, &generic::kConvert, &generic::kGemmF32,
     &generic::kConvF32, &generic::kWinograd, &generic::kWinogradInt16, &generic::kGemmInt8, &generic::kPool,
     &generic::kNBits, &generic::kMove, &generic::kGemmF64, &generic::kDepthwiseInt8, &generic::kRecurrent,
     &generic::kCast, &generic::kNumberLoops, &generic::kMathF64},
#if defined(__x86_64__)
    {IsaLevel::kAvx2, &avx2::kVectorF32, &avx2::kRowF32, &avx2::kConvert, &avx2::kGemmF32, &avx2::kConvF32,
     &avx2::kWinograd, &avx2::kWinogradInt16, &avx2::kGemmInt8, &avx2::kPool, &avx2::kNBits, &avx2::kMove,
     &avx2::kGemmF64, &avx2::kDepthwiseInt8, &avx2::kRecurrent, &avx2::kCast, &avx2::kNumberLoops, &avx2::kMathF64},
    {IsaLevel::kAvx512, &avx512::kVectorF32, &avx512::kRowF32, &avx512::kConvert, &avx512::kGemmF32, &avx512::kConvF32,
     &avx512::kWinograd, &avx512::kWinogradInt16, &avx512::kGemmInt8, &avx512::kPool, &avx512::kNBits, &avx512::kMove,
     &avx512::kGemmF64, &avx512::kDepthwiseInt8, &avx512::kRecurrent, &avx512::kCast, &avx512::kNumberLoops,
     &avx512::kMathF64},
    {IsaLevel::kAvx512Vnni, &avx512::kVectorF32, &avx512::kRowF32, &avx512::kConvert, &avx512::kGemmF32,
     &avx512::kConvF32, &avx512::kWinograd, &avx512::kWinogradInt16, &avx512vnni::kGemmInt8, &avx512::kPool,
     &avx512vnni::kNBits, &avx512::kMove, &avx512::kGemmF64, &avx512vnni::kDepthwiseInt8, &avx512::kRecurrent,
     &avx512::kCast, &avx512::kNumberLoops, &avx512::kMathF64},
    {IsaLevel::kAmx,        &avx512::kVectorF32,
     &avx512::kRowF32,      &avx512::kConvert,
     &avx512::kGemmF32,     &avx512::kConvF32,
     &avx512::kWinograd,    &avx512::kWinogradInt16,
     &amx::kGemmInt8,       &avx512::kPool,
     &avx512vnni::kNBits,   &avx512::kMove,
     &avx512::kGemmF64,     &avx512vnni::kDepthwiseInt8,
     &avx512::kRecurrent,   &avx512::kCast,
     &avx512::kNumberLoops, &avx512::kMathF64,
     &amx::kSplitF32,       &amx::kTileConv,
     &amx::kSplitConv,      &amx::kNBitsTiles,
     &amx::kNBitsSlices},
#endif
};

const KernelTable* best_table(IsaLevel level) noexcept {
  const KernelTable* best = &kTables[0];
  for (const KernelTable& table : kTables) {
    if (table.isa <= level) best = &table;
  }
  return best;
}

constinit std::atomic<const KernelTable*> g_table{nullptr};

}  // namespace

const KernelTable& kernels() noexcept {
  const KernelTable* table = g_table.load(std::memory_order_acquire);
  if (table == nullptr) {
    table = best_table(base::cpu_features().isa);
    g_table.store(table, std::memory_order_release);
  }
  return *table;
}

bool use_isa(base::IsaLevel level) noexcept {
  if (level > base::cpu_features().detected) return false;
  g_table.store(best_table(level), std::memory_order_release);
  return true;
}

}  // namespace ortolan::cpu::kernels
