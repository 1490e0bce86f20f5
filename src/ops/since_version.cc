// The version in which a node's operator was last changed.
#include "ops/since_version.h"

#include "ops/schema.h"
#include "ops/signatures.h"

namespace ortolan::ops {

int since_version(const Node& node) {
  bool custom = node.schema != nullptr && (node.schema->flags & kCustom) != 0;
  const auto* signature = custom ? nullptr : find_signature(node.domain, node.op_type, node.opset);
  if (signature != nullptr) return signature->since;
  return node.schema != nullptr ? node.schema->since : node.opset;
}

}  // namespace ortolan::ops
