// What nodes may take of the memory of providers.
#pragma once

#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>

#include "runtime/providers/execution_provider.h"

namespace ortolan::runtime {

/** What a provider has left of the bytes that its nodes may take. */
class Budget {
 public:
  explicit Budget(std::optional<uint64_t> bytes) : left_(bytes) {}
  uint64_t left() const { return left_.value_or(UINT64_MAX); }

  /** Takes what the nodes need: weights, unless it paid for them before, and results of known size. False where that is
   *  more than is left. */
  bool pay(std::span<const Node* const> nodes);

 private:
  uint64_t bytes_of(const Node& node, std::unordered_set<const ValueInfo*>& weights) const;

  std::optional<uint64_t> left_;
  std::unordered_set<const ValueInfo*> paid_;
};

/** The budgets of the providers, which are asked for them when first needed. */
class Budgets {
 public:
  Budget& of(const ExecutionProvider& provider);
  Budget& set(const ExecutionProvider& provider, std::optional<uint64_t> bytes);

 private:
  std::unordered_map<const ExecutionProvider*, Budget> budgets_;
};

}  // namespace ortolan::runtime
