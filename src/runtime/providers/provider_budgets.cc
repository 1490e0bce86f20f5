// The bytes of weights and results.
#include "runtime/providers/provider_budgets.h"

namespace ortolan::runtime {
namespace {

uint64_t bytes_of(const TypeInfo& type) {
  bool known = type.is_tensor() && type.element != ElementType::kUndefined && type.shape.fully_known();
  return known ? bytes_for(type.element, type.shape.concrete().element_count()) : 0;
}

}  // namespace

bool Budget::pay(std::span<const Node* const> nodes) {
  if (!left_) return true;
  std::unordered_set<const ValueInfo*> weights;
  uint64_t bytes = 0;
  for (const Node* node : nodes) bytes += bytes_of(*node, weights);
  if (bytes > *left_) return false;
  *left_ -= bytes;
  paid_.merge(weights);
  return true;
}

uint64_t Budget::bytes_of(const Node& node, std::unordered_set<const ValueInfo*>& weights) const {
  uint64_t bytes = 0;
  for (const ValueInfo* input : node.inputs()) {
    const Tensor* constant = input != nullptr ? input->stored_constant() : nullptr;
    if (constant == nullptr || paid_.contains(input) || !weights.insert(input).second) continue;
    bytes += constant->byte_count();
  }
  for (const ValueInfo* output : node.outputs()) bytes += output != nullptr ? runtime::bytes_of(output->type) : 0;
  return bytes;
}

Budget& Budgets::of(const ExecutionProvider& provider) {
  auto found = budgets_.find(&provider);
  return found != budgets_.end() ? found->second : set(provider, provider.free_bytes());
}

Budget& Budgets::set(const ExecutionProvider& provider, std::optional<uint64_t> bytes) {
  return budgets_.emplace(&provider, Budget(bytes)).first->second;
}

}  // namespace ortolan::runtime
