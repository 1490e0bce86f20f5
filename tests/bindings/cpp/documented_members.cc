// The members that the documentation of the usual header lists: each is there, can be called so on an object that is
// const where the list says so, and gives that type. Compiling is the test.
#include <onnxruntime_cxx_api.h>
#include <unordered_map>

namespace {

template <typename T>
T& mutable_object() noexcept;
template <typename T>
const T& const_object() noexcept;

#define GIVES(TYPE, ...) static_assert(std::is_same_v<TYPE, decltype(__VA_ARGS__)>, #__VA_ARGS__)
#define CONST(CLASS) const_object<Ort::CLASS>()
#define MUTABLE(CLASS) mutable_object<Ort::CLASS>()

using Strings = std::vector<std::string>;
using Dims = std::vector<int64_t>;
using Map = std::unordered_map<std::string, std::string>;
constexpr OrtAllocator* kAllocator = nullptr;
constexpr const char* kText = "";

// Session
GIVES(size_t, CONST(Session).GetInputCount());
GIVES(size_t, CONST(ConstSession).GetOutputCount());
GIVES(size_t, CONST(Session).GetOverridableInitializerCount());
GIVES(Strings, CONST(Session).GetInputNames());
GIVES(Strings, CONST(Session).GetOutputNames());
GIVES(Strings, CONST(Session).GetOverridableInitializerNames());
GIVES(std::vector<Ort::ConstMemoryInfo>, CONST(Session).GetMemoryInfoForInputs());
GIVES(std::vector<Ort::ConstMemoryInfo>, CONST(Session).GetMemoryInfoForOutputs());
GIVES(std::vector<Ort::ConstEpDevice>, CONST(Session).GetEpDeviceForInputs());
GIVES(std::vector<Ort::ConstEpDevice>, CONST(Session).GetEpDeviceForOutputs());
GIVES(Ort::AllocatedStringPtr, CONST(Session).GetInputNameAllocated(0, kAllocator));
GIVES(Ort::AllocatedStringPtr, CONST(Session).GetOverridableInitializerNameAllocated(0, kAllocator));
GIVES(uint64_t, CONST(Session).GetProfilingStartTimeNs());
GIVES(Ort::ModelMetadata, CONST(Session).GetModelMetadata());
GIVES(Ort::TypeInfo, CONST(Session).GetOverridableInitializerTypeInfo(0));
GIVES(int, CONST(Session).GetOpset(std::string()));
GIVES(std::vector<Ort::ValueInfo>, CONST(Session).GetOutputs());
GIVES(std::vector<Ort::ConstEpAssignedSubgraph>, CONST(Session).GetEpGraphAssignmentInfo());
GIVES(Ort::AllocatedStringPtr, MUTABLE(Session).EndProfilingAllocated(kAllocator));
GIVES(void, MUTABLE(Session).SetEpDynamicOptions(&kText, &kText, 1));
GIVES(std::vector<Ort::Value>, MUTABLE(UnownedSession).Run(CONST(RunOptions), &kText, &CONST(Value), 1, &kText, 1));
GIVES(void, MUTABLE(Session).Run(CONST(RunOptions), &kText, &CONST(Value), 1, &kText, &MUTABLE(Value), 1));
GIVES(void, MUTABLE(Session).Run(CONST(RunOptions), CONST(IoBinding)));

// SessionOptions: setters give the options again
using Options = Ort::detail::SessionOptionsImpl<OrtSessionOptions>;
GIVES(Ort::SessionOptions, CONST(SessionOptions).Clone());
GIVES(std::string, CONST(ConstSessionOptions).GetConfigEntry(kText));
GIVES(bool, CONST(SessionOptions).HasConfigEntry(kText));
GIVES(std::string, CONST(SessionOptions).GetConfigEntryOrDefault(kText, std::string()));
GIVES(bool, CONST(SessionOptions).GetMemPatternEnabled());
GIVES(ExecutionMode, CONST(SessionOptions).GetExecutionMode());
GIVES(Options&, MUTABLE(SessionOptions).SetIntraOpNumThreads(1));
GIVES(Options&, MUTABLE(SessionOptions).SetGraphOptimizationLevel(ORT_ENABLE_ALL));
GIVES(Options&, MUTABLE(SessionOptions).SetLoadCancellationFlag(true));
GIVES(Options&, MUTABLE(SessionOptions).AppendExecutionProvider(std::string()));
GIVES(Options&, MUTABLE(SessionOptions).AppendExecutionProvider_OpenVINO_V2());
GIVES(Options&, MUTABLE(SessionOptions).AppendExecutionProvider_V2(MUTABLE(Env), {}, CONST(KeyValuePairs)));
GIVES(Options&, MUTABLE(SessionOptions).AppendExecutionProvider_V2(MUTABLE(Env), {}, const_object<Map>()));
GIVES(Options&, MUTABLE(SessionOptions).SetEpSelectionPolicy(OrtExecutionProviderDevicePolicy_DEFAULT));
GIVES(Options&, MUTABLE(SessionOptions).SetEpSelectionPolicy(EpSelectionDelegate{}));
GIVES(Options&, MUTABLE(SessionOptions).RegisterCustomOpsLibrary(kText));
GIVES(Options&, MUTABLE(SessionOptions).SetCustomJoinThreadFn(nullptr));

// Value
GIVES(bool, CONST(ConstValue).IsTensor());
GIVES(bool, CONST(Value).HasValue());
GIVES(Ort::Value, CONST(Value).GetValue(0, kAllocator));
GIVES(const float*, CONST(ConstValue).GetTensorData<float>());
GIVES(float*, MUTABLE(UnownedValue).GetTensorMutableData<float>());
GIVES(const void*, CONST(Value).GetTensorRawData());
GIVES(void*, MUTABLE(Value).GetTensorMutableRawData());
GIVES(const float&, CONST(ConstValue).At<float>(Dims()));
GIVES(float&, MUTABLE(Value).At<float>(Dims()));
GIVES(Ort::TypeInfo, CONST(Value).GetTypeInfo());
GIVES(Ort::TensorTypeAndShapeInfo, CONST(Value).GetTensorTypeAndShapeInfo());
GIVES(Ort::ConstMemoryInfo, CONST(Value).GetTensorMemoryInfo());
GIVES(std::string, CONST(Value).GetStringTensorElement(0));
GIVES(const int64_t*,
      CONST(Value).GetSparseTensorIndicesData<int64_t>(ORT_SPARSE_COO_INDICES, mutable_object<size_t>()));
GIVES(char*, MUTABLE(Value).GetResizedStringTensorElementBuffer(0, 0));
GIVES(Ort::ConstValue, CONST(Value).GetConst());
GIVES(Ort::UnownedValue, CONST(Value).GetUnowned());

// Types
GIVES(Ort::ConstTensorTypeAndShapeInfo, CONST(TypeInfo).GetTensorTypeAndShapeInfo());
GIVES(Ort::ConstSequenceTypeInfo, CONST(ConstTypeInfo).GetSequenceTypeInfo());
GIVES(Ort::ConstMapTypeInfo, CONST(TypeInfo).GetMapTypeInfo());
GIVES(Ort::ConstOptionalTypeInfo, CONST(TypeInfo).GetOptionalTypeInfo());
GIVES(Dims, CONST(ConstTensorTypeAndShapeInfo).GetShape());
GIVES(std::vector<const char*>, CONST(TensorTypeAndShapeInfo).GetSymbolicDimensions());
GIVES(Ort::TypeInfo, CONST(ConstMapTypeInfo).GetMapValueType());

// The environment, memory and devices
GIVES(Ort::Env&, MUTABLE(Env).RegisterExecutionProviderLibrary(kText, std::string()));
GIVES(std::vector<Ort::ConstEpDevice>, CONST(Env).GetEpDevices());
GIVES(Ort::Status, CONST(Env).CopyTensors({}, {}, nullptr));
GIVES(Ort::UnownedAllocator, MUTABLE(Env).GetSharedAllocator(nullptr));
GIVES(const char*, CONST(ConstEpDevice).EpName());
GIVES(Ort::ConstKeyValuePairs, CONST(EpDevice).EpMetadata());
GIVES(Ort::SyncStream, CONST(ConstEpDevice).CreateSyncStream());
GIVES(OrtHardwareDeviceType, CONST(ConstHardwareDevice).Type());
GIVES(Map, CONST(ConstKeyValuePairs).GetKeyValuePairs());
GIVES(std::string, CONST(ConstMemoryInfo).GetAllocatorName());
GIVES(OrtDeviceMemoryType, CONST(MemoryInfo).GetDeviceMemoryType());
GIVES(Ort::KeyValuePairs, CONST(AllocatorWithDefaultOptions).GetStats());
GIVES(Ort::MemoryAllocation, MUTABLE(Allocator).GetAllocation(1));
GIVES(void, MUTABLE(TensorRTProviderOptions).Update(Map()));
GIVES(std::string, CONST(CUDAProviderOptions).GetCUDAProviderOptionsAsString());
GIVES(Ort::ModelCompilationOptions&, MUTABLE(ModelCompilationOptions).SetEpContextEmbedMode(true));

// Runs, bindings, metadata
GIVES(Ort::RunOptions&, MUTABLE(RunOptions).AddActiveLoraAdapter(CONST(LoraAdapter)));
GIVES(Ort::RunOptions&, MUTABLE(RunOptions).SetSyncStream(nullptr));
GIVES(const char*, MUTABLE(RunOptions).GetConfigEntry(kText));
GIVES(std::vector<Ort::Value>, CONST(ConstIoBinding).GetOutputValues());
GIVES(Strings, CONST(IoBinding).GetOutputNames(kAllocator));
GIVES(std::vector<Ort::AllocatedStringPtr>, CONST(ModelMetadata).GetCustomMetadataMapKeysAllocated(kAllocator));

// Graphs
GIVES(std::vector<Ort::ConstNode>, CONST(ConstGraph).GetNodes());
GIVES(std::vector<Ort::OperatorSet>, CONST(Graph).GetOperatorSets());
GIVES(Ort::Graph, CONST(ConstGraph).GetGraphView({}));
GIVES(Ort::ModelMetadata, CONST(ConstGraph).GetModelMetadata());
GIVES(std::vector<Ort::AttrNameSubgraph>, CONST(ConstNode).GetSubgraphs());
GIVES(Ort::ConstGraph, CONST(Node).GetGraph());
GIVES(Ort::Status, CONST(ConstNode).GetAttributeByName(std::string(), MUTABLE(ConstOpAttr)));
GIVES(Ort::ValueInfoConsumerProducerInfo, CONST(ConstValueInfo).GetProducerNode());
GIVES(Ort::Status, CONST(ValueInfo).GetExternalInitializerInfo(MUTABLE(ExternalInitializerInfo)));
GIVES(Ort::Status, CONST(ConstOpAttr).GetValueArray(mutable_object<Strings>()));

// Kernels
GIVES(Ort::KernelInfo, CONST(ConstKernelInfo).Copy());
GIVES(Ort::ConstValue, CONST(KernelInfo).GetTensorConstantInput(0, nullptr));
GIVES(const OrtEp*, CONST(ConstKernelInfo).GetEp());
GIVES(Ort::UnownedValue, CONST(KernelContext).GetOutput(0, Dims()));
GIVES(OrtAllocator*, CONST(KernelContext).GetAllocator(const_object<OrtMemoryInfo>()));
GIVES(const Ort::ShapeInferContext::Shape&, CONST(ShapeInferContext).GetInputShape(0));
GIVES(Ort::Status, MUTABLE(ShapeInferContext).SetOutputShape(0, {}));
GIVES(Ort::KernelDefBuilder&, MUTABLE(KernelDefBuilder).SetSinceVersion(1, 2));
GIVES(Ort::KernelDef, MUTABLE(KernelDefBuilder).Build());
static_assert(noexcept(CONST(Logger).GetLoggingSeverityLevel()) && noexcept(CONST(Status).IsOK()));
static_assert(noexcept(CONST(Logger).LogFormattedMessage(ORT_LOGGING_LEVEL_INFO, kText, 1, kText, "%d", 1)));
static_assert(noexcept(Ort::GetApi()) && noexcept(Ort::InitApi()) && noexcept(Ort::InitApi(nullptr)));

}  // namespace
