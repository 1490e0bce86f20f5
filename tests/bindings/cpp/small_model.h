// Models of a single node, built in memory, for tests of operators.
#pragma once

#include <onnxruntime_cxx_api.h>

#include <string>
#include <vector>

/** An input or output of a node: its name, empty for one that is left out, and its element type. Of any rank. */
struct Port {
  std::string name;
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
};

inline std::vector<Ort::ValueInfo> value_infos(const std::vector<Port>& ports, size_t rank) {
  std::vector<Ort::ValueInfo> infos;
  for (const Port& port : ports) {
    if (port.name.empty()) continue;
    const Ort::TensorTypeAndShapeInfo tensor(port.type, std::vector<int64_t>(rank, -1));
    const auto type = Ort::TypeInfo::CreateTensorInfo(tensor.GetConst());
    infos.emplace_back(port.name, type.GetConst());
  }
  return infos;
}

inline std::vector<std::string> names_of(const std::vector<Port>& ports) {
  std::vector<std::string> names;
  for (const Port& port : ports) names.push_back(port.name);
  return names;
}

/** A model of one node "node"; its values have that rank. The attributes are taken over. */
inline Ort::Model single_node_model(const std::string& type, const std::string& domain, const std::vector<Port>& inputs,
                                    const std::vector<Port>& outputs, std::vector<Ort::OpAttr> attributes = {},
                                    size_t rank = 1) {
  auto input_infos = value_infos(inputs, rank), output_infos = value_infos(outputs, rank);
  Ort::Graph graph;
  graph.SetInputs(input_infos);
  graph.SetOutputs(output_infos);
  Ort::Node node(type, domain, "node", names_of(inputs), names_of(outputs), attributes);
  graph.AddNode(node);
  std::vector<Ort::Model::DomainOpsetPair> opsets{{"", 17}};
  if (!domain.empty()) opsets.emplace_back(domain, 1);
  Ort::Model model(opsets);
  model.AddGraph(graph);
  return model;
}
