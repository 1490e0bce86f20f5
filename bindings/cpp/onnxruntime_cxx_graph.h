// Graphs: looking at them, and building models in memory. Include onnxruntime_cxx_api.h instead of this file.
#pragma once

#include "onnxruntime_cxx_attributes.h"

namespace Ort {

struct Graph;
struct ModelMetadata;
struct AttrNameSubgraph;
struct ValueInfoConsumerProducerInfo;

namespace detail {

/** A named value of a graph. */
template <typename T>
struct ConstValueInfoImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  std::string GetName() const { return GetBorrowedString(GetApi().GetValueInfoName, this->p_); }
  ConstTypeInfo TypeInfo() const {
    return ConstTypeInfo{Get<const OrtTypeInfo*>(GetApi().GetValueInfoTypeInfo, this->p_)};
  }
  /** The node that makes the value and which of its outputs; the node holds NULL for inputs and initializers. */
  ValueInfoConsumerProducerInfo GetProducerNode() const;
  /** The nodes that use the value with the position of the input; -1 where a subgraph of the node uses it. */
  std::vector<ValueInfoConsumerProducerInfo> GetConsumers() const;
  /** The tensor of an initializer, borrowed; NULL for other values. */
  Status GetInitializer(ConstValue& value) const {
    const OrtValue* initializer = nullptr;
    Status status{GetApi().ValueInfo_GetInitializerValue(this->p_, &initializer)};
    if (status.IsOK()) value = ConstValue{initializer};
    return status;
  }
  /** Where an initializer stands in a file; holds NULL for those in the model. */
  Status GetExternalInitializerInfo(ExternalInitializerInfo& info) const {
    OrtExternalInitializerInfo* place = nullptr;
    Status status{GetApi().ValueInfo_GetExternalInitializerInfo(this->p_, &place)};
    if (status.IsOK()) info = ExternalInitializerInfo{place};
    return status;
  }
  /** Whether runs must give the value. */
  bool IsRequiredGraphInput() const { return Get<bool>(GetApi().ValueInfo_IsRequiredGraphInput, this->p_); }
  /** Whether runs may give the value in place of an initializer. */
  bool IsOptionalGraphInput() const { return Get<bool>(GetApi().ValueInfo_IsOptionalGraphInput, this->p_); }
  bool IsGraphOutput() const { return Get<bool>(GetApi().ValueInfo_IsGraphOutput, this->p_); }
  /** Whether the value is an initializer that nothing can replace. */
  bool IsConstantInitializer() const { return Get<bool>(GetApi().ValueInfo_IsConstantInitializer, this->p_); }
  /** Whether the value belongs to a graph around this one. */
  bool IsFromOuterScope() const { return Get<bool>(GetApi().ValueInfo_IsFromOuterScope, this->p_); }
};

template <typename T>
struct ConstGraphImpl;

/** A node of a graph. */
template <typename T>
struct ConstNodeImpl : Base<T> {
  using B = Base<T>;
  using B::B;
  using ConstValueInfos = std::vector<ConstValueInfoImpl<Unowned<const OrtValueInfo>>>;

  /** A number that is unique within the graph. */
  size_t GetId() const { return Get<size_t>(GetApi().Node_GetId, this->p_); }
  std::string GetName() const { return GetBorrowedString(GetApi().Node_GetName, this->p_); }
  std::string GetOperatorType() const { return GetBorrowedString(GetApi().Node_GetOperatorType, this->p_); }
  std::string GetDomain() const { return GetBorrowedString(GetApi().Node_GetDomain, this->p_); }
  int GetSinceVersion() const { return Get<int>(GetApi().Node_GetSinceVersion, this->p_); }
  /** Left-out ones hold NULL, among inputs as among outputs. */
  ConstValueInfos GetInputs() const { return Infos(GetApi().Node_GetNumInputs, GetApi().Node_GetInputs); }
  ConstValueInfos GetOutputs() const { return Infos(GetApi().Node_GetNumOutputs, GetApi().Node_GetOutputs); }
  /** The values of this graph that the node's subgraphs use. */
  ConstValueInfos GetImplicitInputs() const {
    return Infos(GetApi().Node_GetNumImplicitInputs, GetApi().Node_GetImplicitInputs);
  }
  std::vector<ConstOpAttr> GetAttributes() const {
    return GetWrapped<ConstOpAttr>(GetApi().Node_GetAttributes, Pointer(),
                                   Get<size_t>(GetApi().Node_GetNumAttributes, this->p_));
  }
  /** Code ORT_NOT_FOUND, and `attr` holds NULL, when the node lacks it. */
  Status GetAttributeByName(const std::string& name, ConstOpAttr& attr) const {
    const OrtOpAttr* attribute = nullptr;
    Status status{GetApi().Node_GetAttributeByName(this->p_, name.c_str(), &attribute)};
    attr = ConstOpAttr{attribute};
    return status;
  }
  /** The graphs that are attributes of the node. */
  std::vector<AttrNameSubgraph> GetSubgraphs() const;
  /** The graph that the node is in; holds NULL for a node on its own. */
  ConstGraphImpl<Unowned<const OrtGraph>> GetGraph() const;
  /** The provider that runs the node; empty before that is decided. */
  std::string GetEpName() const { return GetBorrowedString(GetApi().Node_GetEpName, this->p_); }

 private:
  const OrtNode* Pointer() const { return this->p_; }

  template <typename Count, typename Fill>
  ConstValueInfos Infos(Count count, Fill fill) const {
    return GetWrapped<typename ConstValueInfos::value_type>(fill, Pointer(), Get<size_t>(count, this->p_));
  }
};

}  // namespace detail

using ConstValueInfo = detail::ConstValueInfoImpl<detail::Unowned<const OrtValueInfo>>;
using ConstNode = detail::ConstNodeImpl<detail::Unowned<const OrtNode>>;
using ConstGraph = detail::ConstGraphImpl<detail::Unowned<const OrtGraph>>;

/** A node with the position of one of its inputs or outputs. */
struct ValueInfoConsumerProducerInfo {
  ConstNode node;
  int64_t index;
};

/** A set of operators with its version. */
struct OperatorSet {
  std::string domain;
  int64_t version;
};

struct ValueInfo : detail::ConstValueInfoImpl<OrtValueInfo> {
  ValueInfo() = default;
  explicit ValueInfo(std::nullptr_t) {}
  /** Takes ownership. */
  explicit ValueInfo(OrtValueInfo* p) : ConstValueInfoImpl<OrtValueInfo>{p} {}
#if !defined(ORT_MINIMAL_BUILD)
  /** The type is copied. */
  explicit ValueInfo(const std::string& name, const ConstTypeInfo& type_info) {
    ThrowOnError(GetModelEditorApi().CreateValueInfo(name.c_str(), type_info, &p_));
  }
#endif
  ConstValueInfo GetConst() const { return ConstValueInfo{p_}; }
};

struct Node : detail::ConstNodeImpl<OrtNode> {
  Node() = default;
  explicit Node(std::nullptr_t) {}
  /** Takes ownership. */
  explicit Node(OrtNode* p) : ConstNodeImpl<OrtNode>{p} {}
#if !defined(ORT_MINIMAL_BUILD)
  /** An empty name among inputs or outputs leaves that one out. */
  Node(const std::string& operator_name, const std::string& operator_domain, const std::string& node_name,
       const std::vector<std::string>& input_names, const std::vector<std::string>& output_names) {
    Make(operator_name, operator_domain, node_name, input_names, output_names, nullptr, 0);
  }
  /** The node takes over the attributes, which then hold NULL. */
  Node(const std::string& operator_name, const std::string& operator_domain, const std::string& node_name,
       const std::vector<std::string>& input_names, const std::vector<std::string>& output_names,
       std::vector<OpAttr>& attributes) {
    std::vector<OrtOpAttr*> raw(attributes.begin(), attributes.end());
    Make(operator_name, operator_domain, node_name, input_names, output_names, raw.data(), raw.size());
    for (OpAttr& attribute : attributes) attribute.release();
  }

 private:
  void Make(const std::string& operator_name, const std::string& operator_domain, const std::string& node_name,
            const std::vector<std::string>& input_names, const std::vector<std::string>& output_names,
            OrtOpAttr** attributes, size_t attribute_count) {
    const auto inputs = detail::CStrings(input_names), outputs = detail::CStrings(output_names);
    ThrowOnError(GetModelEditorApi().CreateNode(operator_name.c_str(), operator_domain.c_str(), node_name.c_str(),
                                                inputs.data(), inputs.size(), outputs.data(), outputs.size(),
                                                attributes, attribute_count, &p_));
  }
#endif
};

namespace detail {

template <typename T>
struct ConstGraphImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  std::string GetName() const { return GetBorrowedString(GetApi().Graph_GetName, this->p_); }
  /** The file of the model; empty when it came as bytes. */
  std::basic_string<ORTCHAR_T> GetModelPath() const {
    return Get<const ORTCHAR_T*>(GetApi().Graph_GetModelPath, this->p_);
  }
  int64_t GetOnnxIRVersion() const { return Get<int64_t>(GetApi().Graph_GetOnnxIRVersion, this->p_); }
  std::vector<OperatorSet> GetOperatorSets() const {
    const size_t count = Get<size_t>(GetApi().Graph_GetNumOperatorSets, this->p_);
    std::vector<const char*> domains(count);
    std::vector<int64_t> versions(count);
    ThrowOnError(GetApi().Graph_GetOperatorSets(this->p_, domains.data(), versions.data(), count));
    std::vector<OperatorSet> out;
    for (size_t i = 0; i < count; ++i) out.push_back(OperatorSet{domains[i], versions[i]});
    return out;
  }
  /** With initializers that are inputs too. */
  std::vector<ConstValueInfo> GetInputs() const {
    return All<ConstValueInfo>(GetApi().Graph_GetNumInputs, GetApi().Graph_GetInputs);
  }
  std::vector<ConstValueInfo> GetOutputs() const {
    return All<ConstValueInfo>(GetApi().Graph_GetNumOutputs, GetApi().Graph_GetOutputs);
  }
  std::vector<ConstValueInfo> GetInitializers() const {
    return All<ConstValueInfo>(GetApi().Graph_GetNumInitializers, GetApi().Graph_GetInitializers);
  }
  /** Each after those it depends on. */
  std::vector<ConstNode> GetNodes() const {
    return All<ConstNode>(GetApi().Graph_GetNumNodes, GetApi().Graph_GetNodes);
  }
  /** The node that this graph is an attribute of; holds NULL for a main graph. */
  ConstNode GetParentNode() const { return ConstNode{Get<const OrtNode*>(GetApi().Graph_GetParentNode, this->p_)}; }
  /** A graph of some nodes of this one, which must outlive it. */
  Graph GetGraphView(const std::vector<ConstNode>& nodes) const;
  ModelMetadata GetModelMetadata() const;

 private:
  template <typename Wrapper, typename Count, typename Fill>
  std::vector<Wrapper> All(Count count, Fill fill) const {
    return GetWrapped<Wrapper>(fill, static_cast<const OrtGraph*>(this->p_), Get<size_t>(count, this->p_));
  }
};

template <typename T>
struct GraphImpl : ConstGraphImpl<T> {
  using B = ConstGraphImpl<T>;
  using B::B;

#if !defined(ORT_MINIMAL_BUILD)
  /** The graph takes the inputs over; the wrappers then hold NULL. */
  void SetInputs(std::vector<ValueInfo>& inputs) { TakeOver(GetModelEditorApi().SetGraphInputs, inputs); }
  /** The same for outputs. */
  void SetOutputs(std::vector<ValueInfo>& outputs) { TakeOver(GetModelEditorApi().SetGraphOutputs, outputs); }
  /** The graph takes the tensor over. `data_is_external` true: memory that the tensor borrows is used in place and
   *  must live as long as the model and its sessions; false: it is copied. */
  void AddInitializer(const std::string& name, Value& initializer, bool data_is_external) {
    ThrowOnError(GetModelEditorApi().AddInitializerToGraph(this->p_, name.c_str(), initializer, data_is_external));
    initializer.release();
  }
  /** The graph takes the node over. */
  void AddNode(Node& node) {
    ThrowOnError(GetModelEditorApi().AddNodeToGraph(this->p_, node));
    node.release();
  }

 private:
  template <typename Function>
  void TakeOver(Function function, std::vector<ValueInfo>& infos) {
    std::vector<OrtValueInfo*> raw(infos.begin(), infos.end());
    ThrowOnError(function(this->p_, raw.data(), raw.size()));
    for (ValueInfo& info : infos) info.release();
  }
#endif
};

template <typename T>
struct ModelImpl : Base<T> {
  using B = Base<T>;
  using B::B;

#if !defined(ORT_MINIMAL_BUILD)
  /** Sets the main graph, which the model takes over. */
  void AddGraph(Graph& graph);
#endif
};

}  // namespace detail

/** A graph, to be built. */
struct Graph : detail::GraphImpl<OrtGraph> {
  explicit Graph(std::nullptr_t) {}
  /** Takes ownership. */
  explicit Graph(OrtGraph* p) : GraphImpl<OrtGraph>{p} {}
#if !defined(ORT_MINIMAL_BUILD)
  Graph() { ThrowOnError(GetModelEditorApi().CreateGraph(&p_)); }
#endif
};

/** The name of an attribute with its graph. */
struct AttrNameSubgraph {
  std::string attr_name;
  ConstGraph sub_graph;
};

using ConstModel = detail::ModelImpl<detail::Unowned<const OrtModel>>;

/** A model in memory. */
struct Model : detail::ModelImpl<OrtModel> {
  using DomainOpsetPair = std::pair<std::string, int>;

  explicit Model(std::nullptr_t) {}
  /** Takes ownership. */
  explicit Model(OrtModel* p) : ModelImpl<OrtModel>{p} {}
#if !defined(ORT_MINIMAL_BUILD)
  /** Uses these versions of operator sets. */
  explicit Model(const std::vector<DomainOpsetPair>& opsets) {
    std::vector<const char*> domains;
    std::vector<int> versions;
    for (const auto& [domain, version] : opsets) {
      domains.push_back(domain.c_str());
      versions.push_back(version);
    }
    ThrowOnError(GetModelEditorApi().CreateModel(domains.data(), versions.data(), opsets.size(), &p_));
  }
#endif
  ConstModel GetConst() const { return ConstModel{p_}; }
};

namespace detail {

template <typename T>
ValueInfoConsumerProducerInfo ConstValueInfoImpl<T>::GetProducerNode() const {
  const OrtNode* node = nullptr;
  size_t index = 0;
  ThrowOnError(GetApi().ValueInfo_GetValueProducer(this->p_, &node, &index));
  return ValueInfoConsumerProducerInfo{ConstNode{node}, static_cast<int64_t>(index)};
}

template <typename T>
std::vector<ValueInfoConsumerProducerInfo> ConstValueInfoImpl<T>::GetConsumers() const {
  const size_t count = Get<size_t>(GetApi().ValueInfo_GetValueNumConsumers, this->p_);
  std::vector<const OrtNode*> nodes(count);
  std::vector<int64_t> indices(count);
  if (count != 0) ThrowOnError(GetApi().ValueInfo_GetValueConsumers(this->p_, nodes.data(), indices.data(), count));
  std::vector<ValueInfoConsumerProducerInfo> out;
  for (size_t i = 0; i < count; ++i) out.push_back({ConstNode{nodes[i]}, indices[i]});
  return out;
}

template <typename T>
std::vector<AttrNameSubgraph> ConstNodeImpl<T>::GetSubgraphs() const {
  const size_t count = Get<size_t>(GetApi().Node_GetNumSubgraphs, this->p_);
  std::vector<const OrtGraph*> graphs(count);
  std::vector<const char*> names(count);
  if (count != 0) ThrowOnError(GetApi().Node_GetSubgraphs(this->p_, graphs.data(), count, names.data()));
  std::vector<AttrNameSubgraph> out;
  for (size_t i = 0; i < count; ++i) out.push_back({names[i], ConstGraph{graphs[i]}});
  return out;
}

template <typename T>
ConstGraph ConstNodeImpl<T>::GetGraph() const {
  return ConstGraph{Get<const OrtGraph*>(GetApi().Node_GetGraph, this->p_)};
}

template <typename T>
Graph ConstGraphImpl<T>::GetGraphView(const std::vector<ConstNode>& nodes) const {
  std::vector<const OrtNode*> raw(nodes.begin(), nodes.end());
  return Graph{Get<OrtGraph*>(GetApi().Graph_GetGraphView, this->p_, raw.data(), raw.size())};
}

#if !defined(ORT_MINIMAL_BUILD)
template <typename T>
void ModelImpl<T>::AddGraph(Graph& graph) {
  ThrowOnError(GetModelEditorApi().AddGraphToModel(this->p_, graph));
  graph.release();
}
#endif

}  // namespace detail

}  // namespace Ort
