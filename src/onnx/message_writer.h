// The parts of a model as messages.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "onnx/wire_writer.h"
#include "onnx/writer.h"

namespace ortolan::onnx {

/** Data that goes to the external file, in order. */
struct ExternalPart {
  Bytes bytes;
  uint64_t offset;
};

class MessageWriter {
 public:
  MessageWriter(const Model& model, const WriteOptions& options) : model_(model), options_(options) {}
  /** ModelProto. It borrows from the model and from this object. */
  WireWriter model();
  const std::vector<ExternalPart>& external_parts() const { return external_; }

 private:
  void choose_names(const Graph& graph);
  void import_opsets();
  const Graph* replacement_of(const Node& node) const;
  void collect_names(const Graph& graph, std::unordered_set<std::string_view, base::TextHash>& names) const;
  void add_nodes(WireWriter& out, const Graph& graph);
  void add_initializers(WireWriter& out, const Graph& graph);
  std::string_view name_of(const ValueInfo& value) const;
  WireWriter graph(const Graph& graph);
  WireWriter node(const Node& node);
  WireWriter attribute(const Attribute& attribute);
  WireWriter value_info(const ValueInfo& value);
  WireWriter type(const TypeInfo& type);
  WireWriter shape(const SymbolicShape& shape);
  WireWriter tensor(const Tensor& tensor, std::string_view name, bool may_be_external);
  bool external_data(WireWriter& out, const Tensor& tensor, std::string_view name);
  WireWriter sparse_tensor(const SparseTensor& sparse);

  const Model& model_;
  const WriteOptions& options_;
  std::unordered_map<const ValueInfo*, std::string> renamed_;
  std::map<std::string, int> opsets_;
  std::vector<ExternalPart> external_;
  uint64_t external_size_ = 0;
};

}  // namespace ortolan::onnx
