// The look-up among kernel rows.
#include "runtime/kernels/kernel_registry.h"

#include <algorithm>

namespace ortolan::runtime {
namespace {

std::string key_of(std::string_view domain, std::string_view name) { return join(domain, ":", name); }

/** The element type by which a value of any kind is judged. */
ElementType judged_type(const TypeInfo& type) {
  const TypeInfo* inner = &type;
  while ((inner->kind == ValueKind::kSequence || inner->kind == ValueKind::kOptional) && inner->contained) {
    inner = inner->contained.get();
  }
  return inner->element;
}

/** The first limit of the row that the node breaks; NULL when the row fits. */
const TypeLimit* broken_limit(const KernelRow& row, const Node& node) {
  for (const TypeLimit& limit : row.limits) {
    if (limit.types.empty()) break;
    const ValueInfo* value = limit.output ? node.output(limit.index) : node.input(limit.index);
    if (value == nullptr) continue;
    ElementType type = judged_type(value->type);
    if (type != ElementType::kUndefined && !limit.types.contains(type)) return &limit;
  }
  return nullptr;
}

std::string explain_limit(const TypeLimit& limit, const Node& node) {
  const ValueInfo* value = limit.output ? node.output(limit.index) : node.input(limit.index);
  return join(limit.output ? "output " : "input ", static_cast<int>(limit.index), " is ", value->type,
              "; there is a kernel for ", limit.types);
}

}  // namespace

KernelRegistry::KernelRegistry(std::span<const KernelTable* const> tables) {
  for (const KernelTable* table : tables) {
    for (size_t i = 0; i < table->count; ++i) {
      const KernelRow& row = table->rows[i];
      rows_[key_of(row.domain, row.name)].push_back(&row);
    }
  }
}

const KernelRow* KernelRegistry::find(const Node& node, std::string* why) const {
  auto found = rows_.find(key_of(node.domain, node.op_type));
  if (found == rows_.end()) {
    if (why) *why = join("no kernel for operator '", node.op_type, "'");
    return nullptr;
  }
  std::string reason = join("no kernel for opset ", node.opset);
  for (const KernelRow* row : found->second) {
    if (node.opset < row->since || node.opset > row->until) continue;
    const TypeLimit* broken = broken_limit(*row, node);
    if (broken == nullptr) return row;
    if (why) reason = explain_limit(*broken, node);
  }
  if (why) *why = std::move(reason);
  return nullptr;
}

}  // namespace ortolan::runtime
