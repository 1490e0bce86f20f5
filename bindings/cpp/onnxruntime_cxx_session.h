// Sessions: running them, bound inputs and outputs, what their models say. Include onnxruntime_cxx_api.h instead of
// this file.
#pragma once

#include "onnxruntime_cxx_graph.h"
#include "onnxruntime_cxx_options.h"

namespace Ort {

struct IoBinding;

namespace detail {

/** A node as a provider got it. */
template <typename T>
struct EpAssignedNodeImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  std::string GetName() const { return GetBorrowedString(GetApi().EpAssignedNode_GetName, this->p_); }
  std::string GetDomain() const { return GetBorrowedString(GetApi().EpAssignedNode_GetDomain, this->p_); }
  std::string GetOperatorType() const { return GetBorrowedString(GetApi().EpAssignedNode_GetOperatorType, this->p_); }
};

}  // namespace detail

using ConstEpAssignedNode = detail::EpAssignedNodeImpl<detail::Unowned<const OrtEpAssignedNode>>;

namespace detail {

/** A part of the model that one provider runs. */
template <typename T>
struct EpAssignedSubgraphImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  std::string GetEpName() const { return GetBorrowedString(GetApi().EpAssignedSubgraph_GetEpName, this->p_); }
  std::vector<ConstEpAssignedNode> GetNodes() const {
    const OrtEpAssignedNode* const* nodes = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().EpAssignedSubgraph_GetNodes(this->p_, &nodes, &count));
    std::vector<ConstEpAssignedNode> wrapped;
    for (size_t i = 0; i < count; ++i) wrapped.emplace_back(nodes[i]);
    return wrapped;
  }
};

}  // namespace detail

using ConstEpAssignedSubgraph = detail::EpAssignedSubgraphImpl<detail::Unowned<const OrtEpAssignedSubgraph>>;

/** What a model says about itself; strings are copies from the allocator. */
struct ModelMetadata : detail::Base<OrtModelMetadata> {
  using Base = detail::Base<OrtModelMetadata>;
  using Base::Base;

  explicit ModelMetadata(std::nullptr_t) {}
  /** Takes ownership. */
  explicit ModelMetadata(OrtModelMetadata* p) : Base{p} {}

  AllocatedStringPtr GetProducerNameAllocated(OrtAllocator* allocator) const {
    return detail::GetAllocatedString(GetApi().ModelMetadataGetProducerName, p_, allocator);
  }
  AllocatedStringPtr GetGraphNameAllocated(OrtAllocator* allocator) const {
    return detail::GetAllocatedString(GetApi().ModelMetadataGetGraphName, p_, allocator);
  }
  AllocatedStringPtr GetDomainAllocated(OrtAllocator* allocator) const {
    return detail::GetAllocatedString(GetApi().ModelMetadataGetDomain, p_, allocator);
  }
  AllocatedStringPtr GetDescriptionAllocated(OrtAllocator* allocator) const {
    return detail::GetAllocatedString(GetApi().ModelMetadataGetDescription, p_, allocator);
  }
  AllocatedStringPtr GetGraphDescriptionAllocated(OrtAllocator* allocator) const {
    return detail::GetAllocatedString(GetApi().ModelMetadataGetGraphDescription, p_, allocator);
  }
  std::vector<AllocatedStringPtr> GetCustomMetadataMapKeysAllocated(OrtAllocator* allocator) const {
    const detail::AllocatedFree free_memory(allocator);
    char** keys = nullptr;
    int64_t count = 0;
    ThrowOnError(GetApi().ModelMetadataGetCustomMetadataMapKeys(p_, allocator, &keys, &count));
    const std::unique_ptr<char*, detail::AllocatedFree> array(keys, free_memory);
    std::vector<AllocatedStringPtr> out;
    out.reserve(static_cast<size_t>(count));
    for (int64_t i = 0; i < count; ++i) out.emplace_back(keys[i], free_memory);
    return out;
  }
  /** Holds NULL when the model lacks the key. */
  AllocatedStringPtr LookupCustomMetadataMapAllocated(const char* key, OrtAllocator* allocator) const {
    char* value = nullptr;
    ThrowOnError(GetApi().ModelMetadataLookupCustomMetadataMap(p_, allocator, key, &value));
    return AllocatedStringPtr(value, detail::AllocatedFree(allocator));
  }
  int64_t GetVersion() const { return detail::Get<int64_t>(GetApi().ModelMetadataGetVersion, p_); }
};

namespace detail {

template <typename T>
struct ConstSessionImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** How many inputs the model needs; initializers do not count. */
  size_t GetInputCount() const { return Get<size_t>(GetApi().SessionGetInputCount, this->p_); }
  size_t GetOutputCount() const { return Get<size_t>(GetApi().SessionGetOutputCount, this->p_); }
  /** How many initializers may be given in place of the model's own. */
  size_t GetOverridableInitializerCount() const {
    return Get<size_t>(GetApi().SessionGetOverridableInitializerCount, this->p_);
  }

  std::vector<std::string> GetInputNames() const { return Names(GetApi().SessionGetInputName, GetInputCount()); }
  std::vector<std::string> GetOutputNames() const { return Names(GetApi().SessionGetOutputName, GetOutputCount()); }
  std::vector<std::string> GetOverridableInitializerNames() const {
    return Names(GetApi().SessionGetOverridableInitializerName, GetOverridableInitializerCount());
  }
  AllocatedStringPtr GetInputNameAllocated(size_t index, OrtAllocator* allocator) const {
    return Name(GetApi().SessionGetInputName, index, allocator);
  }
  AllocatedStringPtr GetOutputNameAllocated(size_t index, OrtAllocator* allocator) const {
    return Name(GetApi().SessionGetOutputName, index, allocator);
  }
  AllocatedStringPtr GetOverridableInitializerNameAllocated(size_t index, OrtAllocator* allocator) const {
    return Name(GetApi().SessionGetOverridableInitializerName, index, allocator);
  }

  TypeInfo GetInputTypeInfo(size_t index) const {
    return TypeInfo{Get<OrtTypeInfo*>(GetApi().SessionGetInputTypeInfo, this->p_, index)};
  }
  TypeInfo GetOutputTypeInfo(size_t index) const {
    return TypeInfo{Get<OrtTypeInfo*>(GetApi().SessionGetOutputTypeInfo, this->p_, index)};
  }
  TypeInfo GetOverridableInitializerTypeInfo(size_t index) const {
    return TypeInfo{Get<OrtTypeInfo*>(GetApi().SessionGetOverridableInitializerTypeInfo, this->p_, index)};
  }
  /** The memory in which each input is expected, borrowed from the session. */
  std::vector<ConstMemoryInfo> GetMemoryInfoForInputs() const {
    return GetWrapped<ConstMemoryInfo>(GetApi().SessionGetMemoryInfoForInputs, Pointer(), GetInputCount());
  }
  /** The memory in which each output is made, borrowed from the session. */
  std::vector<ConstMemoryInfo> GetMemoryInfoForOutputs() const {
    return GetWrapped<ConstMemoryInfo>(GetApi().SessionGetMemoryInfoForOutputs, Pointer(), GetOutputCount());
  }
  /** The device of each input; holds NULL where it is the CPU without one. */
  std::vector<ConstEpDevice> GetEpDeviceForInputs() const {
    return GetWrapped<ConstEpDevice>(GetApi().SessionGetEpDeviceForInputs, Pointer(), GetInputCount());
  }
  /** The same for each output. */
  std::vector<ConstEpDevice> GetEpDeviceForOutputs() const {
    return GetWrapped<ConstEpDevice>(GetApi().SessionGetEpDeviceForOutputs, Pointer(), GetOutputCount());
  }

  /** Which provider runs which nodes, borrowed. Needs the entry session.record_ep_graph_assignment_info. */
  std::vector<ConstEpAssignedSubgraph> GetEpGraphAssignmentInfo() const {
    const OrtEpAssignedSubgraph* const* subgraphs = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().Session_GetEpGraphAssignmentInfo(this->p_, &subgraphs, &count));
    std::vector<ConstEpAssignedSubgraph> wrapped;
    for (size_t i = 0; i < count; ++i) wrapped.emplace_back(subgraphs[i]);
    return wrapped;
  }
  /** When the profile began: nanoseconds of the monotonic clock. */
  uint64_t GetProfilingStartTimeNs() const { return Get<uint64_t>(GetApi().SessionGetProfilingStartTimeNs, this->p_); }
  ModelMetadata GetModelMetadata() const {
    return ModelMetadata{Get<OrtModelMetadata*>(GetApi().SessionGetModelMetadata, this->p_)};
  }
#if !defined(ORT_MINIMAL_BUILD)
  /** Names with types. */
  std::vector<ValueInfo> GetInputs() const {
    return Infos(GetInputNames(), [this](size_t i) { return GetInputTypeInfo(i); });
  }
  std::vector<ValueInfo> GetOutputs() const {
    return Infos(GetOutputNames(), [this](size_t i) { return GetOutputTypeInfo(i); });
  }
  /** The version of an operator set that the model uses. */
  int GetOpset(const std::string& domain) const {
    return Get<int>(GetModelEditorApi().SessionGetOpsetForDomain, this->p_, domain.c_str());
  }
#endif

 private:
  const OrtSession* Pointer() const { return this->p_; }

  template <typename Function>
  AllocatedStringPtr Name(Function function, size_t index, OrtAllocator* allocator) const {
    return AllocatedStringPtr(Get<char*>(function, this->p_, index, allocator), AllocatedFree(allocator));
  }

  template <typename Function>
  std::vector<std::string> Names(Function function, size_t count) const {
    AllocatorWithDefaultOptions allocator;
    std::vector<std::string> out;
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) out.emplace_back(Name(function, i, allocator).get());
    return out;
  }

#if !defined(ORT_MINIMAL_BUILD)
  template <typename TypeOf>
  static std::vector<ValueInfo> Infos(const std::vector<std::string>& names, TypeOf type_of) {
    std::vector<ValueInfo> out;
    out.reserve(names.size());
    for (size_t i = 0; i < names.size(); ++i) out.emplace_back(names[i], type_of(i).GetConst());
    return out;
  }
#endif
};

template <typename T>
struct SessionImpl : ConstSessionImpl<T> {
  using B = ConstSessionImpl<T>;
  using B::B;

  /** Runs the model once and returns the outputs. Any number of threads may run one session at once. */
  std::vector<Value> Run(const RunOptions& run_options, const char* const* input_names, const Value* input_values,
                         size_t input_count, const char* const* output_names, size_t output_count) {
    std::vector<Value> outputs(output_count);
    Run(run_options, input_names, input_values, input_count, output_names, outputs.data(), output_count);
    return outputs;
  }
  /** The same; outputs that hold a value are written into it, the others receive one. */
  void Run(const RunOptions& run_options, const char* const* input_names, const Value* input_values, size_t input_count,
           const char* const* output_names, Value* output_values, size_t output_count) {
    ThrowOnError(GetApi().Run(this->p_, run_options, input_names, Pointers(input_values), input_count, output_names,
                              output_count, Pointers(output_values)));
  }
  /** Runs with bound inputs and outputs. */
  void Run(const RunOptions& run_options, const IoBinding& io_binding);
  /** Runs on a thread of the session's pool and calls the function when it is done. Everything given must live until
   *  then. */
  void RunAsync(const RunOptions& run_options, const char* const* input_names, const Value* input_values,
                size_t input_count, const char* const* output_names, Value* output_values, size_t output_count,
                RunAsyncCallbackFn callback, void* user_data) {
    ThrowOnError(GetApi().RunAsync(this->p_, run_options, input_names, Pointers(input_values), input_count,
                                   output_names, output_count, Pointers(output_values), callback, user_data));
  }

  /** Ends the profile and writes its file; gives the file's name. */
  AllocatedStringPtr EndProfilingAllocated(OrtAllocator* allocator) {
    return GetAllocatedString(GetApi().SessionEndProfiling, this->p_, allocator);
  }
  /** Changes settings of the session's providers; keys begin with ep.dynamic. */
  void SetEpDynamicOptions(const char* const* keys, const char* const* values, size_t kv_len) {
    ThrowOnError(GetApi().SetEpDynamicOptions(this->p_, keys, values, kv_len));
  }
  /** Frees a recorded device graph by its number. */
  void ReleaseCapturedGraph(int graph_annotation_id) {
    ThrowOnError(GetApi().SessionReleaseCapturedGraph(this->p_, graph_annotation_id));
  }
#if !defined(ORT_MINIMAL_BUILD)
  /** Adds what the model holds to a session from CreateModelEditorSession, and makes it ready to run. */
  void FinalizeModelEditorSession(const Model& model, const SessionOptions& options,
                                  OrtPrepackedWeightsContainer* prepacked_weights_container = nullptr) {
    ThrowOnError(GetModelEditorApi().ApplyModelToModelEditorSession(this->p_, model));
    ThrowOnError(GetModelEditorApi().FinalizeModelEditorSession(this->p_, options, prepacked_weights_container));
  }
#endif
};

}  // namespace detail

using ConstSession = detail::ConstSessionImpl<detail::Unowned<const OrtSession>>;
using UnownedSession = detail::SessionImpl<detail::Unowned<OrtSession>>;

/** A model made ready to run. */
struct Session : detail::SessionImpl<OrtSession> {
  explicit Session(std::nullptr_t) {}
  /** Takes ownership. */
  explicit Session(OrtSession* p) : SessionImpl<OrtSession>{p} {}
  /** From a file. */
  Session(const Env& env, const ORTCHAR_T* model_path, const SessionOptions& options) {
    ThrowOnError(GetApi().CreateSession(env, model_path, options, &p_));
  }
  Session(const Env& env, const ORTCHAR_T* model_path, const SessionOptions& options,
          OrtPrepackedWeightsContainer* prepacked_weights_container) {
    ThrowOnError(GetApi().CreateSessionWithPrepackedWeightsContainer(env, model_path, options,
                                                                     prepacked_weights_container, &p_));
  }
  /** From the bytes of a model, which are not needed any more afterwards. */
  Session(const Env& env, const void* model_data, size_t model_data_length, const SessionOptions& options) {
    ThrowOnError(GetApi().CreateSessionFromArray(env, model_data, model_data_length, options, &p_));
  }
  Session(const Env& env, const void* model_data, size_t model_data_length, const SessionOptions& options,
          OrtPrepackedWeightsContainer* prepacked_weights_container) {
    ThrowOnError(GetApi().CreateSessionFromArrayWithPrepackedWeightsContainer(
        env, model_data, model_data_length, options, prepacked_weights_container, &p_));
  }
#if !defined(ORT_MINIMAL_BUILD)
  /** From a model in memory. */
  Session(const Env& env, const Model& model, const SessionOptions& options) {
    ThrowOnError(GetModelEditorApi().CreateSessionFromModel(env, model, options, &p_));
  }
  /** Loads a model that is to be changed before FinalizeModelEditorSession makes it ready. */
  static Session CreateModelEditorSession(const Env& env, const ORTCHAR_T* model_path, const SessionOptions& options) {
    OrtSession* session = nullptr;
    ThrowOnError(GetModelEditorApi().CreateModelEditorSession(env, model_path, options, &session));
    return Session(session);
  }
  static Session CreateModelEditorSession(const Env& env, const void* model_data, size_t model_data_length,
                                          const SessionOptions& options) {
    OrtSession* session = nullptr;
    ThrowOnError(
        GetModelEditorApi().CreateModelEditorSessionFromArray(env, model_data, model_data_length, options, &session));
    return Session(session);
  }
#endif

  ConstSession GetConst() const { return ConstSession{p_}; }
  UnownedSession GetUnowned() const { return UnownedSession{p_}; }
};

namespace detail {

template <typename T>
struct ConstIoBindingImpl : Base<T> {
  using B = Base<T>;
  using B::B;

  /** The names of bound outputs, in the order of binding. */
  std::vector<std::string> GetOutputNames() const { return GetOutputNames(AllocatorWithDefaultOptions{}); }
  std::vector<std::string> GetOutputNames(OrtAllocator* allocator) const {
    char* characters = nullptr;
    size_t* lengths = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().GetBoundOutputNames(this->p_, allocator, &characters, &lengths, &count));
    const std::unique_ptr<char, AllocatedFree> character_owner(characters, AllocatedFree(allocator));
    const std::unique_ptr<size_t, AllocatedFree> length_owner(lengths, AllocatedFree(allocator));
    std::vector<std::string> names;
    names.reserve(count);
    for (size_t i = 0; i < count; characters += lengths[i], ++i) names.emplace_back(characters, lengths[i]);
    return names;
  }

  /** The outputs after a run, in the order of binding. */
  std::vector<Value> GetOutputValues() const { return GetOutputValues(AllocatorWithDefaultOptions{}); }
  std::vector<Value> GetOutputValues(OrtAllocator* allocator) const {
    OrtValue** values = nullptr;
    size_t count = 0;
    ThrowOnError(GetApi().GetBoundOutputValues(this->p_, allocator, &values, &count));
    const std::unique_ptr<OrtValue*, AllocatedFree> owner(values, AllocatedFree(allocator));
    std::vector<Value> out;
    out.reserve(count);
    for (size_t i = 0; i < count; ++i) out.emplace_back(values[i]);
    return out;
  }
};

template <typename T>
struct IoBindingImpl : ConstIoBindingImpl<T> {
  using B = ConstIoBindingImpl<T>;
  using B::B;

  /** The binding shares the value. A second call for a name replaces the first. */
  void BindInput(const char* name, const Value& value) { ThrowOnError(GetApi().BindInput(this->p_, name, value)); }
  /** Results are written into the value. */
  void BindOutput(const char* name, const Value& value) { ThrowOnError(GetApi().BindOutput(this->p_, name, value)); }
  /** Each run makes the output anew in that memory. */
  void BindOutput(const char* name, const OrtMemoryInfo* mem_info) {
    ThrowOnError(GetApi().BindOutputToDevice(this->p_, name, mem_info));
  }
  void ClearBoundInputs() { GetApi().ClearBoundInputs(this->p_); }
  void ClearBoundOutputs() { GetApi().ClearBoundOutputs(this->p_); }
  /** Waits until bound inputs have arrived on their devices. */
  void SynchronizeInputs() { ThrowOnError(GetApi().SynchronizeBoundInputs(this->p_)); }
  /** Waits until bound outputs may be read. */
  void SynchronizeOutputs() { ThrowOnError(GetApi().SynchronizeBoundOutputs(this->p_)); }
};

}  // namespace detail

using ConstIoBinding = detail::ConstIoBindingImpl<detail::Unowned<const OrtIoBinding>>;
using UnownedIoBinding = detail::IoBindingImpl<detail::Unowned<OrtIoBinding>>;

/** Inputs and outputs bound to a session, which must outlive it. */
struct IoBinding : detail::IoBindingImpl<OrtIoBinding> {
  explicit IoBinding(std::nullptr_t) {}
  explicit IoBinding(Session& session) { ThrowOnError(GetApi().CreateIoBinding(session, &p_)); }

  ConstIoBinding GetConst() const { return ConstIoBinding{p_}; }
  UnownedIoBinding GetUnowned() const { return UnownedIoBinding{p_}; }
};

template <typename T>
void detail::SessionImpl<T>::Run(const RunOptions& run_options, const IoBinding& io_binding) {
  ThrowOnError(GetApi().RunWithBinding(this->p_, run_options, io_binding));
}

template <typename T>
ModelMetadata detail::ConstGraphImpl<T>::GetModelMetadata() const {
  return ModelMetadata{Get<OrtModelMetadata*>(GetApi().Graph_GetModelMetadata, this->p_)};
}

inline Allocator::Allocator(const Session& session, const OrtMemoryInfo* memory_info) {
  ThrowOnError(GetApi().CreateAllocator(session, memory_info, &p_));
}

}  // namespace Ort
