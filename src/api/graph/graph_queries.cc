// What graphs answer: names, versions, inputs, outputs, initializers, nodes; and views of some of their nodes.
#include "api/arguments.h"
#include "api/graph/graph_objects.h"
#include "api/graph/model_builder.h"
#include "api/guard.h"

namespace ortolan::api {
namespace {

const std::map<std::string, int>& opsets_of(const OrtGraph* handle) {
  const GraphObject& graph = unwrap(handle, "graph");
  require(graph.core() != nullptr, ErrorCode::kNotImplemented,
          "the graph is being built and is of no session's model yet; ask a graph of a session");
  return graph.core()->context().opsets;
}

const GraphOrigin& origin_of(const OrtGraph* handle) {
  static const auto& unknown = *new GraphOrigin;
  const GraphObject& graph = unwrap(handle, "graph");
  return graph.origin() != nullptr ? *graph.origin() : unknown;
}

using Values = std::span<const ValueObject* const>;

OrtStatus* count_of(const OrtGraph* graph, Values (GraphObject::*values)() const, size_t* out,
                    const char* name) noexcept {
  return guard([&] { put(out, (unwrap(graph, "graph").*values)().size(), name); });
}

OrtStatus* copy_values(const OrtGraph* graph, Values (GraphObject::*values)() const, const OrtValueInfo** out,
                       size_t room, const char* name) noexcept {
  return guard([&] { copy_handles((unwrap(graph, "graph").*values)(), out, room, name); });
}

}  // namespace

OrtStatus* ORT_API_CALL Graph_GetName(const OrtGraph* graph, const char** graph_name) noexcept {
  return guard([&] { put(graph_name, unwrap(graph, "graph").name().c_str(), "graph_name"); });
}

OrtStatus* ORT_API_CALL Graph_GetModelPath(const OrtGraph* graph, const char** model_path) noexcept {
  return guard([&] { put(model_path, origin_of(graph).model_path.c_str(), "model_path"); });
}

OrtStatus* ORT_API_CALL Graph_GetOnnxIRVersion(const OrtGraph* graph, int64_t* onnx_ir_version) noexcept {
  return guard([&] {
    bool is_draft = unwrap(graph, "graph").draft() != nullptr;
    put(onnx_ir_version, is_draft ? kBuiltIrVersion : origin_of(graph).ir_version, "onnx_ir_version");
  });
}

OrtStatus* ORT_API_CALL Graph_GetNumOperatorSets(const OrtGraph* graph, size_t* num_operator_sets) noexcept {
  return guard([&] { put(num_operator_sets, opsets_of(graph).size(), "num_operator_sets"); });
}

OrtStatus* ORT_API_CALL Graph_GetOperatorSets(const OrtGraph* graph, const char** domains, int64_t* opset_versions,
                                              size_t num_operator_sets) noexcept {
  return guard([&] {
    const auto& opsets = opsets_of(graph);
    require_argument(domains, "domains");
    auto domain = opsets.begin(), version = opsets.begin();
    copy_items(opsets.size(), opset_versions, num_operator_sets, "opset_versions",
               [&](size_t) { return (version++)->second; });
    copy_items(opsets.size(), domains, num_operator_sets, "domains", [&](size_t) { return (domain++)->first.c_str(); });
  });
}

OrtStatus* ORT_API_CALL Graph_GetNumInputs(const OrtGraph* graph, size_t* num_inputs) noexcept {
  return count_of(graph, &GraphObject::inputs, num_inputs, "num_inputs");
}
OrtStatus* ORT_API_CALL Graph_GetInputs(const OrtGraph* graph, const OrtValueInfo** inputs,
                                        size_t num_inputs) noexcept {
  return copy_values(graph, &GraphObject::inputs, inputs, num_inputs, "inputs");
}

OrtStatus* ORT_API_CALL Graph_GetNumOutputs(const OrtGraph* graph, size_t* num_outputs) noexcept {
  return count_of(graph, &GraphObject::outputs, num_outputs, "num_outputs");
}
OrtStatus* ORT_API_CALL Graph_GetOutputs(const OrtGraph* graph, const OrtValueInfo** outputs,
                                         size_t num_outputs) noexcept {
  return copy_values(graph, &GraphObject::outputs, outputs, num_outputs, "outputs");
}

OrtStatus* ORT_API_CALL Graph_GetNumInitializers(const OrtGraph* graph, size_t* num_initializers) noexcept {
  return count_of(graph, &GraphObject::initializers, num_initializers, "num_initializers");
}
OrtStatus* ORT_API_CALL Graph_GetInitializers(const OrtGraph* graph, const OrtValueInfo** initializers,
                                              size_t num_initializers) noexcept {
  return copy_values(graph, &GraphObject::initializers, initializers, num_initializers, "initializers");
}

OrtStatus* ORT_API_CALL Graph_GetNumNodes(const OrtGraph* graph, size_t* num_nodes) noexcept {
  return guard([&] {
    const GraphObject& core = unwrap(graph, "graph");
    put(num_nodes, core.draft() != nullptr ? core.draft()->nodes.size() : core.nodes().size(), "num_nodes");
  });
}
OrtStatus* ORT_API_CALL Graph_GetNodes(const OrtGraph* graph, const OrtNode** nodes, size_t num_nodes) noexcept {
  return guard([&] {
    const GraphObject& core = unwrap(graph, "graph");
    if (core.draft() != nullptr) return copy_handles(core.draft()->nodes, nodes, num_nodes, "nodes");
    const auto& held = core.nodes();
    copy_items(held.size(), nodes, num_nodes, "nodes", [&](size_t i) { return wrap<const OrtNode>(&held[i]); });
  });
}

OrtStatus* ORT_API_CALL Graph_GetParentNode(const OrtGraph* graph, const OrtNode** node) noexcept {
  return guard([&] { put(node, wrap<const OrtNode>(unwrap(graph, "graph").parent()), "node"); });
}

OrtStatus* ORT_API_CALL Graph_GetGraphView(const OrtGraph* src_graph, const OrtNode** nodes, size_t num_nodes,
                                           OrtGraph** dst_graph) noexcept {
  return guard([&] {
    const GraphObject& graph = unwrap(src_graph, "src_graph");
    require(graph.core() != nullptr, ErrorCode::kInvalidArgument,
            "a graph that is being built has no views; make a session of it first");
    require(num_nodes != 0, ErrorCode::kInvalidArgument, "a view needs at least one node; 'num_nodes' is 0");
    std::vector<const graph::Node*> selected;
    for (const OrtNode* handle : array(nodes, num_nodes, "nodes")) {
      const NodeObject& node = unwrap(handle, "nodes[i]");
      require(node.core() != nullptr && graph.find(*node.core()) != nullptr, ErrorCode::kInvalidArgument, "node '",
              node.name(), "' (", node.op_type(), ") is not of the graph '", graph.name(), "'");
      selected.push_back(node.core());
    }
    require_argument(dst_graph, "dst_graph");
    *dst_graph =
        wrap<OrtGraph>(std::make_unique<GraphObject>(*graph.core(), GraphPart{selected, {}, {}}, graph.origin()));
  });
}

OrtStatus* ORT_API_CALL Graph_GetModelMetadata(const OrtGraph* graph, OrtModelMetadata** out) noexcept {
  return guard([&] { give(out, ModelDescription(origin_of(graph).description)); });
}

void ORT_API_CALL ReleaseGraph(OrtGraph* graph) noexcept {
  const GraphObject* object = unwrap_optional(graph);
  bool is_models = object != nullptr && object->draft() != nullptr && object->draft()->taken;
  if (!is_models) release(graph);
}

}  // namespace ortolan::api
