// Finding a node's operator, and refusals in words.
#include "gpu/core/operators.h"

#include <map>

namespace ortolan::gpu {
namespace {

using Rows = std::multimap<std::string_view, const Operator*>;

const Rows& rows_by_name() {
  static const Rows* rows = [] {
    auto* all = new Rows;
    for (std::span<const Operator> family : all_operators()) {
      for (const Operator& row : family) all->emplace(row.name, &row);
    }
    return all;
  }();
  return *rows;
}

}  // namespace

const Operator* find_operator(const Node& node) {
  auto [first, last] = rows_by_name().equal_range(node.op);
  for (auto it = first; it != last; ++it) {
    const Operator& row = *it->second;
    if (row.domain == node.domain && row.since <= node.since_version && node.since_version <= row.until) return &row;
  }
  return nullptr;
}

void lower_node(Lowering lowering) {
  const Operator* row = find_operator(lowering.node());
  if (row == nullptr || !lowering.node().unsupported.empty()) lowering.fail("no kernel computes it");
  row->lower(lowering);
}

void lower_parts(const Lowering& lowering) {
  for (const Node& part : lowering.node().parts) lower_node(lowering.of_part(part));
}

std::string refuse_unless(const Candidate& candidate, size_t i, std::initializer_list<ElementType> types) {
  std::string known;
  for (ElementType type : types) {
    if (candidate.type(i) == type) return "";
    known += (known.empty() ? "" : ", ") + std::string(type_name(type));
  }
  return "input " + std::to_string(i) + " is " + type_name(candidate.type(i)) + "; supported: " + known;
}

}  // namespace ortolan::gpu
