// What this library infers when it loads a model.
#include "known_type.h"
#include "onnx/reader.h"
#include "ops/signatures.h"
#include "runtime/resolve.h"

namespace shape_oracle {
namespace {

using namespace ortolan;

KnownType known_type(const graph::TypeInfo& type) {
  KnownType known;
  if (!type.is_tensor()) return known;
  known.element = static_cast<int>(type.element);
  known.has_rank = type.shape.has_rank();
  for (graph::Dim dim : type.shape.dims()) known.dims.push_back(dim.known() ? dim.value() : -1);
  return known;
}

std::unique_ptr<graph::Model> read(const std::string& bytes) {
  return ortolan::onnx::read_model_bytes({std::as_bytes(std::span(bytes)), nullptr});
}

bool known_to_libonnx(const graph::Graph& graph) {
  for (const auto& node : graph.nodes()) {
    const auto* signature = ops::find_signature(node->domain, node->op_type, node->opset);
    int newest = node->domain.empty() ? 17 : node->domain == "ai.onnx.ml" ? 3 : 1;
    if (signature == nullptr || signature->since > newest) return false;
    for (const auto& [name, inner] : node->subgraphs()) {
      if (!known_to_libonnx(*inner)) return false;
    }
  }
  return true;
}

}  // namespace

Inferred infer_by_us(const std::string& bytes) {
  Inferred result;
  try {
    auto model = read(bytes);
    runtime::resolve_model(*model, {});
    for (const auto& value : model->graph->values()) result.values[value->name] = known_type(value->type);
  } catch (const base::Error& error) {
    result.error = error.what();
  }
  return result;
}

bool libonnx_knows(const std::string& bytes) {
  try {
    return known_to_libonnx(*read(bytes)->graph);
  } catch (const base::Error&) {
    return false;
  }
}

}  // namespace shape_oracle
