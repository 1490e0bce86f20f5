// Models in ORT format, written from graphs without subgraphs.
#include "ort_writer.h"

#include "onnx/flat_writer.h"

namespace ortolan::across {
namespace {
using namespace graph;
using onnx::FlatWriter;

void add_type(FlatWriter& out, size_t value, const TypeInfo& type) {
  const size_t described = out.table(value, 2);
  out.number<uint8_t>(described, 1, 1);
  const size_t tensor = out.table(described, 2);
  out.number<int32_t>(tensor, 0, static_cast<int32_t>(type.element));
  const auto dims = out.tables(out.table(tensor, 1), 0, type.shape.rank());
  for (size_t i = 0; i < dims.size(); ++i) {
    const size_t dim = out.table(dims[i], 0);
    out.number<int8_t>(dim, 0, 1);
    out.number<int64_t>(dim, 1, type.shape[i].value());
  }
}

void add_values(FlatWriter& out, size_t graph, const Graph& from) {
  std::vector<const ValueInfo*> inputs, initializers;
  for (const auto& value : from.values()) {
    if (value->is_input) inputs.push_back(value.get());
    if (value->is_fixed()) initializers.push_back(value.get());
  }
  const auto described = out.tables(graph, 1, inputs.size() + from.outputs.size());
  for (size_t i = 0; i < described.size(); ++i) {
    const bool input = i < inputs.size();
    out.text(described[i], 0, input ? inputs[i]->name : from.outputs[i - inputs.size()]->name);
    if (input) add_type(out, described[i], inputs[i]->type);
  }
  const auto tensors = out.tables(graph, 0, initializers.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = *initializers[i]->constant;
    const auto* bytes = static_cast<const uint8_t*>(tensor.raw());
    out.text(tensors[i], 0, initializers[i]->name);
    out.numbers<int64_t>(tensors[i], 2, {tensor.shape().begin(), tensor.shape().end()});
    out.number<int32_t>(tensors[i], 3, static_cast<int32_t>(tensor.type()));
    out.numbers<uint8_t>(tensors[i], 4, {bytes, bytes + tensor.byte_count()});
  }
}

std::vector<std::string> names_of(const std::vector<ValueInfo*>& values) {
  std::vector<std::string> names;
  for (const ValueInfo* value : values) names.push_back(value != nullptr ? value->name : "");
  return names;
}

void add_attribute(FlatWriter& out, size_t table, const Attribute& attribute) {
  out.text(table, 0, attribute.name);
  const auto set_type = [&](int32_t number) { out.number<int32_t>(table, 2, number); };
  if (const auto* real = std::get_if<float>(&attribute.value)) {
    set_type(1), out.number<float>(table, 3, *real);
  } else if (const auto* whole = std::get_if<int64_t>(&attribute.value)) {
    set_type(2), out.number<int64_t>(table, 4, *whole);
  } else if (const auto* text = std::get_if<std::string>(&attribute.value)) {
    set_type(3), out.text(table, 5, *text);
  } else {
    set_type(7), out.numbers<int64_t>(table, 9, std::get<std::vector<int64_t>>(attribute.value));
  }
}

void add_nodes(FlatWriter& out, size_t graph, const Graph& from) {
  const auto tables = out.tables(graph, 2, from.nodes().size());
  for (size_t i = 0; i < tables.size(); ++i) {
    const Node& node = *from.nodes()[i];
    out.text(tables[i], 0, node.name);
    out.text(tables[i], 2, node.domain);
    out.text(tables[i], 5, node.op_type);
    out.texts(tables[i], 8, names_of(node.inputs()));
    out.texts(tables[i], 9, names_of(node.outputs()));
    const auto attributes = out.tables(tables[i], 10, node.attributes().size());
    for (size_t a = 0; a < attributes.size(); ++a) add_attribute(out, attributes[a], node.attributes()[a]);
  }
}

}  // namespace

std::string write_ort_format(const Model& model) {
  FlatWriter out;
  const size_t table = out.table(out.root(), 1);
  out.number<int64_t>(table, 0, model.ir_version);
  const auto imports = out.tables(table, 1, model.context->opsets.size());
  auto opset = model.context->opsets.begin();
  for (size_t i = 0; i < imports.size(); ++i, ++opset) {
    out.text(imports[i], 0, opset->first);
    out.number<int64_t>(imports[i], 1, opset->second);
  }
  const size_t graph = out.table(table, 7);
  add_values(out, graph, *model.graph);
  add_nodes(out, graph, *model.graph);
  out.texts(graph, 5, names_of(model.graph->inputs));
  out.texts(graph, 6, names_of(model.graph->outputs));
  return out.bytes();
}

}  // namespace ortolan::across
