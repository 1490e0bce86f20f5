// The CPU provider: a registry of kernels, always last in line.
#include "cpu/kernels/instruction_sets.h"
#include "ops/schema.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::cpu {
namespace {

class CpuExecutionProvider final : public ExecutionProvider {
 public:
  CpuExecutionProvider() : registry_(shared_registry()) {}
  const std::string& type() const override { return type_; }
  const KernelRegistry* kernel_registry() const override { return &registry_; }
  const std::vector<std::pair<std::string, std::string>>& options() const override { return options_; }

  std::string_view instruction_set() const override { return kernels::product_isa(); }

  Capability get_capability(const Graph& graph) override {
    Capability capability;
    for (const auto& node : graph.nodes()) {
      if (!node->provider.empty()) continue;
      std::string why;
      bool custom = node->schema != nullptr && (node->schema->flags & ops::kCustom) != 0;
      if (custom || registry_.find(*node, &why) != nullptr) {
        capability.groups.push_back({{node.get()}, /*compile=*/false});
      } else {
        capability.declined.push_back({node.get(), std::move(why)});
      }
    }
    return capability;
  }

 private:
  static const KernelRegistry& shared_registry() {
    static const auto* const kRegistry = new KernelRegistry(all_kernel_tables());
    return *kRegistry;
  }

  const std::string type_ = "CPUExecutionProvider";
  const std::vector<std::pair<std::string, std::string>> options_;
  const KernelRegistry& registry_;
};

}  // namespace
}  // namespace ortolan::cpu

namespace ortolan::runtime {

std::unique_ptr<ExecutionProvider> make_cpu_execution_provider() {
  return std::make_unique<cpu::CpuExecutionProvider>();
}

}  // namespace ortolan::runtime
