// The kernels of an architecture without levels of its own.
#include "cpu/kernels/isa/tables.h"

namespace ortolan::cpu::kernels {

using base::IsaLevel;

namespace generic {
ORTOLAN_KERNEL_FAMILIES(ORTOLAN_OBJECT)
constexpr KernelTable kTable = {.isa = IsaLevel::kGeneric, ORTOLAN_KERNEL_FAMILIES(ORTOLAN_REFERENCE)};
}  // namespace generic

std::span<const KernelTable> kernel_tables() noexcept { return {&generic::kTable, 1}; }

}  // namespace ortolan::cpu::kernels
