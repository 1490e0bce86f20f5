// Orders of dimensions: of a Transpose, of two, and back.
#pragma once

#include <algorithm>
#include <vector>

#include "passes/edit.h"

namespace ortolan::passes {

/** Dimension i of a result is dimension order[i] of the input. */
using Order = std::vector<int64_t>;

/** The order of a Transpose; empty when it is the reverse of an unknown rank, or longer than any rank. */
inline Order order_of(const Node& node) {
  if (node.ints("perm").size() > static_cast<size_t>(kMaxRank)) return {};
  Order order = node.ints("perm");
  const SymbolicShape& shape = node.output(0)->type.shape;
  if (!order.empty() || !shape.has_rank()) return order;
  for (size_t i = shape.rank(); i > 0; --i) order.push_back(static_cast<int64_t>(i) - 1);
  return order;
}

/** The order that first `inner` and then `outer` give; empty when they do not fit together. */
inline Order composed(const Order& inner, const Order& outer) {
  Order order;
  for (int64_t axis : outer) {
    if (axis < 0 || static_cast<size_t>(axis) >= inner.size()) return {};
    order.push_back(inner[static_cast<size_t>(axis)]);
  }
  return order.size() == inner.size() ? order : Order{};
}

/** The order that undoes `order`, whose elements must be 0 to its size, each once. */
inline Order inverse(const Order& order) {
  Order result(order.size());
  for (size_t i = 0; i < order.size(); ++i) result[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  return result;
}

inline bool is_permutation(Order order) {
  std::ranges::sort(order);
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

inline bool changes_nothing(const Order& order) { return std::ranges::is_sorted(order); }

}  // namespace ortolan::passes
