// Merges nodes that compute the same from the same inputs, and small constants of equal content.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "ops/schema.h"
#include "passes/edit.h"
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

constexpr size_t kMostCompared = 1024;  // bytes of a tensor whose content is compared

/** Appends what tells `tensor` from others: its content when that is small, else where it lies. */
void append_key(std::string& key, const Tensor& tensor) {
  base::append(key, join(static_cast<int>(tensor.type()), tensor.shape(), ":"));
  if (tensor.type() == ElementType::kString) {
    for (const std::string& text : tensor.span<std::string>()) base::append(key, join(text.size(), "/", text));
  } else if (size_t bytes = tensor.byte_count(); bytes <= kMostCompared) {
    key.append(static_cast<const char*>(tensor.raw()), bytes);
  } else {
    base::append(key, join("at", reinterpret_cast<uintptr_t>(tensor.raw())));
  }
}

template <class T>
void append_raw(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/** Appends an attribute; false for kinds that are not compared. */
bool append_key(std::string& key, const Attribute& attribute) {
  base::append(key, join(attribute.name.size(), "/", attribute.name, static_cast<int>(attribute.kind()), "="));
  auto add = [&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, int64_t>) {
      append_raw(key, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      base::append(key, join(value.size(), "/", value));
    } else if constexpr (std::is_same_v<T, Tensor>) {
      append_key(key, value);
    } else if constexpr (std::is_same_v<T, std::vector<float>> || std::is_same_v<T, std::vector<int64_t>>) {
      base::append(key, join(value.size(), ":"));
      for (const auto& item : value) append_raw(key, item);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      base::append(key, join(value.size(), ":"));
      for (const auto& item : value) base::append(key, join(item.size(), "/", item));
    } else {
      return false;
    }
    return true;
  };
  return std::visit(add, attribute.value);
}

/** A text that is equal for nodes that compute the same; empty for nodes that are never merged. */
std::string key_of(const Node& node) {
  if (!node.schema || (node.schema->flags & (ops::kNonDeterministic | ops::kCustom))) return {};
  std::string key = join(node.op_type, "|", node.domain, "|", node.overload, "|", node.opset, "|");
  for (const ValueInfo* value : node.inputs()) append_raw(key, value);
  key += '|';
  for (const ValueInfo* value : node.outputs()) key += value ? '1' : '0';
  for (const Attribute& attribute : node.attributes()) {
    if (!append_key(key, attribute)) return {};
  }
  return key;
}

bool merge_constants(Graph& graph) {
  std::unordered_map<std::string, ValueInfo*, base::TextHash> first;
  bool changed = false;
  for (const auto& value : graph.values()) {
    const Tensor* content = value->stored_constant();
    if (!content || value->consumers.empty()) continue;
    bool small = content->type() == ElementType::kString ? content->element_count() <= 16
                                                         : content->byte_count() <= kMostCompared;
    if (!small) continue;
    std::string key;
    append_key(key, *value->fixed_constant());
    auto [at, is_new] = first.try_emplace(std::move(key), value.get());
    if (is_new) continue;
    graph.replace_uses(value.get(), at->second);
    changed = true;
  }
  return changed;
}

/** Lets the users of `node` use `kept`; outputs that are graph outputs stay where they are. */
bool merge(Graph& graph, Node& node, Node& kept) {
  bool changed = false;
  for (size_t i = 0; i < node.outputs().size(); ++i) {
    ValueInfo* value = node.output(i);
    if (!value || value->consumers.empty()) continue;
    graph.replace_uses(value, kept.output(i));
    changed = true;
  }
  return changed;
}

}  // namespace

bool merge_common_subexpressions(Graph& graph, const PassContext&) {
  bool changed = merge_constants(graph);
  std::unordered_map<std::string, Node*, base::TextHash> first;
  for (const auto& node : graph.nodes()) {
    std::string key = key_of(*node);
    if (key.empty()) continue;
    auto [at, is_new] = first.try_emplace(std::move(key), node.get());
    if (!is_new) changed |= merge(graph, *node, *at->second);
  }
  return changed;
}

}  // namespace ortolan::passes
