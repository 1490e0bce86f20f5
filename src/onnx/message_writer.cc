// ModelProto, GraphProto and the messages in them.
#include "onnx/message_writer.h"

#include <algorithm>

#include "onnx/reader.h"

namespace ortolan::onnx {
namespace {

constexpr int64_t kLeastIr = 4;  // since then, initializers need not be inputs
constexpr int64_t kIrOfOverloads = 10;
constexpr uint64_t kExternalAlignment = 64;

WireWriter entry(std::string_view key, std::string_view value) {
  WireWriter out;
  out.text(1, key);
  out.text(2, value);
  return out;
}

}  // namespace

WireWriter MessageWriter::model() {
  choose_names(*model_.graph);
  import_opsets();
  WireWriter out;
  int64_t least = kLeastIr;
  for_each_graph(*model_.graph, [&](const Graph& graph) {
    for (const auto& node : graph.nodes()) {
      if (!node->overload.empty()) least = kIrOfOverloads;
    }
  });
  out.integer(1, std::max(model_.ir_version, least));
  out.text(2, model_.producer_name);
  out.text(3, model_.producer_version);
  out.text(4, model_.domain);
  if (model_.model_version != kNoModelVersion) out.integer(5, model_.model_version);
  out.text(6, model_.doc);
  out.message(7, graph(*model_.graph));
  for (const auto& [domain, version] : opsets_) {
    WireWriter import;
    import.text(1, domain);
    import.integer(2, version);
    out.message(8, std::move(import));
  }
  for (const auto& [key, value] : model_.metadata) {
    auto same_key = [&key = key](const auto& other) { return other.first == key; };
    if (std::ranges::none_of(options_.metadata, same_key)) out.message(14, entry(key, value));
  }
  for (const auto& [key, value] : options_.metadata) out.message(14, entry(key, value));
  return out;
}

/** The model's imports, and those of the nodes that come in the place of others. */
void MessageWriter::import_opsets() {
  opsets_ = model_.context->opsets;
  if (options_.replacements == nullptr) return;
  for (const auto& [node, graph] : *options_.replacements) {
    for (const auto& replacing : graph->nodes()) opsets_.try_emplace(replacing->domain, replacing->opset);
  }
}

const Graph* MessageWriter::replacement_of(const Node& node) const {
  if (options_.replacements == nullptr) return nullptr;
  auto found = options_.replacements->find(&node);
  return found != options_.replacements->end() ? found->second : nullptr;
}

/** In the file, a subgraph's name would hide the same name around it; in memory both may be used. */
void MessageWriter::choose_names(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (const Graph* replacement = replacement_of(*node)) {
      for (const auto& value : replacement->values()) {
        ValueInfo* known = graph.find_visible(value->name);
        if (known != nullptr && renamed_.contains(known)) renamed_[value.get()] = renamed_.at(known);
      }
    }
    for (auto& [attribute, subgraph] : node->subgraphs()) {
      for (const auto& value : subgraph->values()) {
        if (subgraph->outer() && subgraph->outer()->find_visible(value->name)) {
          renamed_[value.get()] = subgraph->unique_name(value->name);
        }
      }
      choose_names(*subgraph);
    }
  }
}

std::string_view MessageWriter::name_of(const ValueInfo& value) const {
  auto renamed = renamed_.find(&value);
  return renamed == renamed_.end() ? std::string_view(value.name) : std::string_view(renamed->second);
}

void MessageWriter::add_nodes(WireWriter& out, const Graph& graph) {
  for (const auto& item : graph.nodes()) {
    const Graph* replacement = replacement_of(*item);
    if (replacement != nullptr) {
      add_nodes(out, *replacement);
    } else {
      out.message(1, node(*item));
    }
  }
}

/** The names that the nodes that come in the place of others read, in subgraphs too. */
void MessageWriter::collect_names(const Graph& graph,
                                  std::unordered_set<std::string_view, base::TextHash>& names) const {
  for (const auto& node : graph.nodes()) {
    for (auto& [attribute, subgraph] : node->subgraphs()) collect_names(*subgraph, names);
    const Graph* replacement = replacement_of(*node);
    if (replacement == nullptr) continue;
    for (const auto& value : replacement->values()) names.insert(value->name);
  }
}

void MessageWriter::add_initializers(WireWriter& out, const Graph& graph) {
  auto replaced = [&](const Node* node) { return replacement_of(*node) != nullptr; };
  std::unordered_set<std::string_view, base::TextHash> used;
  if (options_.replacements != nullptr) collect_names(graph, used);
  for (const auto& value : graph.values()) {
    if (!value->constant) continue;
    bool left_out = !value->is_input && !value->is_output && !value->consumers.empty() &&
                    std::ranges::all_of(value->consumers, replaced) && !used.contains(value->name);
    if (!left_out) out.message(5, tensor(*value->constant, name_of(*value), true));
  }
}

WireWriter MessageWriter::graph(const Graph& graph) {
  WireWriter out;
  add_nodes(out, graph);
  out.text(2, graph.name.empty() ? std::string_view("graph") : std::string_view(graph.name));
  add_initializers(out, graph);
  out.text(10, graph.doc);
  for (const ValueInfo* value : graph.inputs) out.message(11, value_info(*value));
  for (const ValueInfo* value : graph.outputs) out.message(12, value_info(*value));
  for (const auto& value : graph.values()) {
    if (value->producer && !value->is_output && value->type.known()) out.message(13, value_info(*value));
  }
  return out;
}

WireWriter MessageWriter::node(const Node& node) {
  auto imported = opsets_.find(node.domain);
  require(imported != opsets_.end() && imported->second == node.opset, ErrorCode::kNotImplemented, node.label(),
          " is of version ", node.opset, " of its domain '", node.domain,
          "', but the model imports another; such a model cannot be saved");
  WireWriter out;
  for (const ValueInfo* value : node.inputs()) out.bytes(1, value ? name_of(*value) : std::string_view());
  for (const ValueInfo* value : node.outputs()) out.bytes(2, value ? name_of(*value) : std::string_view());
  out.text(3, node.name);
  out.text(4, node.op_type);
  for (const Attribute& item : node.attributes()) out.message(5, attribute(item));
  out.text(7, node.domain);
  out.text(8, node.overload);
  return out;
}

WireWriter MessageWriter::value_info(const ValueInfo& value) {
  WireWriter out;
  out.text(1, name_of(value));
  if (value.type.known()) out.message(2, type(value.type));
  return out;
}

WireWriter MessageWriter::type(const TypeInfo& info) {
  WireWriter inner;
  uint32_t field = 1;
  switch (info.kind) {
    case ValueKind::kTensor:
    case ValueKind::kSparse:
      field = info.kind == ValueKind::kTensor ? 1 : 8;
      inner.integer(1, static_cast<int64_t>(info.element));
      if (info.shape.has_rank()) inner.message(2, shape(info.shape));
      break;
    case ValueKind::kSequence:
    case ValueKind::kOptional:
      field = info.kind == ValueKind::kSequence ? 4 : 9;
      if (info.contained) inner.message(1, type(*info.contained));
      break;
    case ValueKind::kMap:
      field = 5;
      inner.integer(1, static_cast<int64_t>(info.element));
      if (info.contained) inner.message(2, type(*info.contained));
      break;
    case ValueKind::kOpaque:
      field = 7;
      break;
    case ValueKind::kNone:
      return inner;
  }
  WireWriter out;
  out.message(field, std::move(inner));
  out.text(6, info.denotation);
  return out;
}

WireWriter MessageWriter::shape(const SymbolicShape& shape) {
  WireWriter out;
  for (Dim dim : shape.dims()) {
    WireWriter item;
    if (dim.known()) {
      item.integer(1, dim.value());
    } else {
      item.text(2, model_.context->symbols.name_of(dim));
    }
    out.message(1, std::move(item));
  }
  return out;
}

WireWriter MessageWriter::tensor(const Tensor& tensor, std::string_view name, bool may_be_external) {
  WireWriter out;
  out.packed(1, tensor.shape());
  out.integer(2, static_cast<int64_t>(tensor.type()));
  out.text(8, name);
  if (tensor.type() == ElementType::kString) {
    for (const std::string& text : tensor.span<std::string>()) out.bytes(6, text);
    return out;
  }
  Bytes data(static_cast<const std::byte*>(tensor.raw()), tensor.byte_count());
  bool outside = may_be_external && external_data(out, tensor, name);
  if (!outside && !data.empty()) out.borrowed(9, data);
  return out;
}

/** Writes where the elements are, if not here. */
bool MessageWriter::external_data(WireWriter& out, const Tensor& tensor, std::string_view name) {
  std::optional<ExternalPlace> place;
  size_t size = tensor.byte_count();
  if (options_.place != nullptr) {
    place = (*options_.place)(name, tensor);
  } else if (!options_.external_file.empty() && size >= options_.external_threshold) {
    external_size_ = (external_size_ + kExternalAlignment - 1) / kExternalAlignment * kExternalAlignment;
    place = ExternalPlace{options_.external_file, external_size_, size};
    external_.push_back({{static_cast<const std::byte*>(tensor.raw()), size}, external_size_});
    external_size_ += size;
  }
  if (!place) return false;
  out.message(13, entry("location", place->file));
  out.message(13, entry("offset", join(place->offset)));
  out.message(13, entry("length", join(place->bytes)));
  out.integer(14, 1);
  return true;
}

WireWriter MessageWriter::sparse_tensor(const SparseTensor& sparse) {
  require(sparse.format == SparseFormat::kCoo && sparse.indices.size() == 1, ErrorCode::kNotImplemented,
          "a sparse tensor can be saved in COO form only");
  WireWriter out;
  out.message(1, tensor(sparse.values, "", false));
  out.message(2, tensor(sparse.indices[0], "", false));
  out.packed(3, sparse.dense_shape);
  return out;
}

WireWriter MessageWriter::attribute(const Attribute& attribute) {
  WireWriter out;
  out.text(1, attribute.name);
  auto write = [&]<class T>(const T& value) {
    if constexpr (std::is_same_v<T, float>) {
      out.real(2, value);
    } else if constexpr (std::is_same_v<T, int64_t>) {
      out.integer(3, value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      out.bytes(4, value);
    } else if constexpr (std::is_same_v<T, Tensor>) {
      out.message(5, tensor(value, "", false));
    } else if constexpr (std::is_same_v<T, std::shared_ptr<Graph>>) {
      out.message(6, graph(*value));
    } else if constexpr (std::is_same_v<T, std::shared_ptr<SparseTensor>>) {
      out.message(22, sparse_tensor(*value));
    } else if constexpr (std::is_same_v<T, TypeInfo>) {
      out.message(14, type(value));
    } else if constexpr (std::is_same_v<T, std::vector<float>>) {
      for (float item : value) out.real(7, item);
    } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
      for (int64_t item : value) out.integer(8, item);
    } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      for (const std::string& item : value) out.bytes(9, item);
    } else if constexpr (std::is_same_v<T, std::vector<Tensor>>) {
      for (const Tensor& item : value) out.message(10, tensor(item, "", false));
    } else if constexpr (std::is_same_v<T, std::vector<std::shared_ptr<Graph>>>) {
      for (const auto& item : value) out.message(11, graph(*item));
    } else if constexpr (std::is_same_v<T, std::vector<std::shared_ptr<SparseTensor>>>) {
      for (const auto& item : value) out.message(23, sparse_tensor(*item));
    } else if constexpr (std::is_same_v<T, std::vector<TypeInfo>>) {
      for (const TypeInfo& item : value) out.message(15, type(item));
    }
  };
  std::visit(write, attribute.value);
  out.integer(20, static_cast<int64_t>(attribute.kind()));
  return out;
}

}  // namespace ortolan::onnx
