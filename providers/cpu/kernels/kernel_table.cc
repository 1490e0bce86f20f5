// The kernel table in use.
#include "cpu/kernels/kernel_table.h"

#include <atomic>

#include "base/cpu_features.h"

namespace ortolan::cpu::kernels {

using base::IsaLevel;

namespace {

const KernelTable* best_table(IsaLevel level) noexcept {
  const std::span<const KernelTable> tables = kernel_tables();
  const KernelTable* best = &tables[0];
  for (const KernelTable& table : tables) {
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
  if (!base::has_isa(level, base::cpu_features().detected)) return false;
  g_table.store(best_table(level), std::memory_order_release);
  return true;
}

}  // namespace ortolan::cpu::kernels
