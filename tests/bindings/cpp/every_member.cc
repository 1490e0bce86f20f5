// Every member of every class, called or not: compiled with each of the switches that programs may set.
#include <onnxruntime_lite_custom_op.h>

namespace Ort {
namespace detail {

template struct ConstGraphImpl<Unowned<const OrtGraph>>;
template struct ConstNodeImpl<Unowned<const OrtNode>>;
template struct ConstOpAttrImpl<OrtOpAttr>;
template struct ConstSessionImpl<Unowned<const OrtSession>>;
template struct ConstSessionOptionsImpl<Unowned<const OrtSessionOptions>>;
template struct ConstValueImpl<Unowned<const OrtValue>>;
template struct ConstValueInfoImpl<Unowned<const OrtValueInfo>>;
template struct AllocatorImpl<Unowned<OrtAllocator>>;
template struct ConstIoBindingImpl<Unowned<const OrtIoBinding>>;
template struct ConstKernelDefImpl<Unowned<const OrtKernelDef>>;
template struct DeviceEpIncompatibilityDetailsImpl<OrtDeviceEpIncompatibilityDetails>;
template struct EpAssignedNodeImpl<Unowned<const OrtEpAssignedNode>>;
template struct EpAssignedSubgraphImpl<Unowned<const OrtEpAssignedSubgraph>>;
template struct EpDeviceImpl<Unowned<const OrtEpDevice>>;
template struct GraphImpl<OrtGraph>;
template struct HardwareDeviceImpl<Unowned<const OrtHardwareDevice>>;
template struct IoBindingImpl<OrtIoBinding>;
template struct KernelInfoImpl<Unowned<const OrtKernelInfo>>;
template struct KeyValuePairsImpl<OrtKeyValuePairs>;
template struct MapTypeInfoImpl<Unowned<const OrtMapTypeInfo>>;
template struct MemoryInfoImpl<OrtMemoryInfo>;
template struct ModelImpl<OrtModel>;
template struct OptionalTypeInfoImpl<Unowned<const OrtOptionalTypeInfo>>;
template struct SequenceTypeInfoImpl<OrtSequenceTypeInfo>;
template struct SessionImpl<OrtSession>;
template struct SessionOptionsImpl<OrtSessionOptions>;
template struct SharedPrePackedWeightCacheImpl<Unowned<OrtSharedPrePackedWeightCache>>;
template struct SyncStreamImpl<OrtSyncStream>;
template struct TensorTypeAndShapeInfoImpl<OrtTensorTypeAndShapeInfo>;
template struct TypeInfoImpl<Unowned<const OrtTypeInfo>>;
template struct ValueImpl<OrtValue>;

}  // namespace detail

template class Custom::Tensor<float>;
template struct Custom::Span<std::string>;

}  // namespace Ort
