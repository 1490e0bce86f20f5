// One KernelTable for each instruction set of this architecture, and the one in use.
#include "cpu/kernels/kernel_table.h"

#include <atomic>

namespace ortolan::cpu::kernels {

using base::IsaLevel;

#define ORTOLAN_OBJECT(type, name, object) extern const type object;
#define ORTOLAN_REFERENCE(type, name, object) .name = &object,
#define ORTOLAN_SET(type, name, object) table.name = &object;
namespace generic {
ORTOLAN_KERNEL_FAMILIES(ORTOLAN_OBJECT)
constexpr KernelTable kTable = {.isa = IsaLevel::kGeneric, ORTOLAN_KERNEL_FAMILIES(ORTOLAN_REFERENCE)};
}  // namespace generic
#if defined(__x86_64__)
namespace avx2 {
ORTOLAN_KERNEL_FAMILIES(ORTOLAN_OBJECT)
constexpr KernelTable kTable = {.isa = IsaLevel::kAvx2, ORTOLAN_KERNEL_FAMILIES(ORTOLAN_REFERENCE)};
}  // namespace avx2
namespace avx512 {
ORTOLAN_KERNEL_FAMILIES(ORTOLAN_OBJECT)
constexpr KernelTable kTable = {.isa = IsaLevel::kAvx512, ORTOLAN_KERNEL_FAMILIES(ORTOLAN_REFERENCE)};
}  // namespace avx512

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
#endif

namespace {

constexpr KernelTable kTables[] = {
    generic::kTable,
#if defined(__x86_64__)
    avx2::kTable,    avx512::kTable, avx512vnni::table(), amx::table(),
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
