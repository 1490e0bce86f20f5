// The kernels of an architecture without levels of its own.
#include "cpu/kernels/isa/tables.h"

namespace ortolan::cpu::kernels {

ORTOLAN_WHOLE_TABLE(generic, kGeneric)

std::span<const KernelTable> kernel_tables() noexcept { return {&generic::kTable, 1}; }

}  // namespace ortolan::cpu::kernels
