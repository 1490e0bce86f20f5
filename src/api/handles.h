// Handles of the C API and the core objects behind them: which is which, and the only reinterpret_cast of the API.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/error.h"
#include "onnxruntime_c_api.h"

namespace ortolan::base {
class KeyValues;
class Logger;
}  // namespace ortolan::base
namespace ortolan::tensor {
class Value;
enum class ElementType : uint8_t;
struct MemoryInfo;
struct ArenaOptions;
}  // namespace ortolan::tensor
namespace ortolan::graph {
struct Attribute;
}
namespace ortolan::ops {
struct TypeParameter;
}
namespace ortolan::runtime {
class Environment;
class IoBinding;
class KernelContext;
class PackedWeightsCache;
class StandaloneOperator;
struct HardwareDevice;
struct NodeAssignment;
struct ProfileEvent;
struct RunOptions;
struct SessionOptions;
struct ThreadingOptions;
}  // namespace ortolan::runtime

namespace ortolan::api {

class GraphObject;
class NodeObject;
class PluginKernelRegistry;
class PluginStream;
class ValueObject;
struct AssignedSubgraph;
struct CompilationRequest;
struct CustomOpDomain;
struct DeviceIncompatibility;
struct EpDevice;
struct EpGraphSupport;
struct ExternalInitializer;
struct KernelDef;
struct KernelInfoObject;
struct LoraAdapter;
struct ModelPackage;
struct ModelDraft;
struct ModelDescription;
struct NodeComputeContext;
struct OpSchema;
struct PackageComponent;
struct PackageTarget;
struct ProfilingEvents;
struct ProviderOptions;
struct ResourceImporter;
struct SessionObject;
struct ShapeInference;
struct SharedWeightBuffers;
struct TensorDescription;
struct TypeDescription;

/** The core type behind a handle: one specialisation a handle. */
template <class Handle>
struct CoreOf;

#define ORTOLAN_CORE_OF(Handle, Type) \
  template <>                         \
  struct CoreOf<Handle> {             \
    using type = Type;                \
  };
ORTOLAN_CORE_OF(OrtValue, tensor::Value)
ORTOLAN_CORE_OF(OrtMemoryInfo, tensor::MemoryInfo)
ORTOLAN_CORE_OF(OrtMemoryDevice, tensor::MemoryInfo)
ORTOLAN_CORE_OF(OrtArenaCfg, tensor::ArenaOptions)
ORTOLAN_CORE_OF(OrtEnv, runtime::Environment)
ORTOLAN_CORE_OF(OrtLogger, base::Logger)
ORTOLAN_CORE_OF(OrtThreadingOptions, runtime::ThreadingOptions)
ORTOLAN_CORE_OF(OrtSession, SessionObject)
ORTOLAN_CORE_OF(OrtSessionOptions, runtime::SessionOptions)
ORTOLAN_CORE_OF(OrtRunOptions, runtime::RunOptions)
ORTOLAN_CORE_OF(OrtIoBinding, runtime::IoBinding)
ORTOLAN_CORE_OF(OrtPrepackedWeightsContainer, runtime::PackedWeightsCache)
ORTOLAN_CORE_OF(OrtHardwareDevice, runtime::HardwareDevice)
ORTOLAN_CORE_OF(OrtEpDevice, EpDevice)
ORTOLAN_CORE_OF(OrtDeviceEpIncompatibilityDetails, DeviceIncompatibility)
ORTOLAN_CORE_OF(OrtSyncStream, PluginStream)
ORTOLAN_CORE_OF(OrtEpGraphSupportInfo, EpGraphSupport)
ORTOLAN_CORE_OF(OrtNodeComputeContext, NodeComputeContext)
ORTOLAN_CORE_OF(OrtEpAssignedSubgraph, AssignedSubgraph)
ORTOLAN_CORE_OF(OrtEpAssignedNode, runtime::NodeAssignment)
ORTOLAN_CORE_OF(OrtCustomOpDomain, CustomOpDomain)
ORTOLAN_CORE_OF(OrtKernelInfo, KernelInfoObject)
ORTOLAN_CORE_OF(OrtKernelContext, runtime::KernelContext)
ORTOLAN_CORE_OF(OrtKernelRegistry, PluginKernelRegistry)
ORTOLAN_CORE_OF(OrtKernelDefBuilder, KernelDef)
ORTOLAN_CORE_OF(OrtKernelDef, KernelDef)
ORTOLAN_CORE_OF(OrtDataType, tensor::ElementType)
ORTOLAN_CORE_OF(OrtSharedPrePackedWeightCache, SharedWeightBuffers)
ORTOLAN_CORE_OF(OrtOpSchema, OpSchema)
ORTOLAN_CORE_OF(OrtOpSchemaTypeConstraint, ops::TypeParameter)
ORTOLAN_CORE_OF(OrtProfilingEvent, runtime::ProfileEvent)
ORTOLAN_CORE_OF(OrtProfilingEventsContainer, ProfilingEvents)
ORTOLAN_CORE_OF(OrtLoraAdapter, LoraAdapter)
ORTOLAN_CORE_OF(OrtOp, runtime::StandaloneOperator)
ORTOLAN_CORE_OF(OrtOpAttr, graph::Attribute)
ORTOLAN_CORE_OF(OrtShapeInferContext, ShapeInference)
ORTOLAN_CORE_OF(OrtModelMetadata, ModelDescription)
ORTOLAN_CORE_OF(OrtCUDAProviderOptionsV2, ProviderOptions)
ORTOLAN_CORE_OF(OrtTensorRTProviderOptionsV2, ProviderOptions)
ORTOLAN_CORE_OF(OrtCANNProviderOptions, ProviderOptions)
ORTOLAN_CORE_OF(OrtDnnlProviderOptions, ProviderOptions)
ORTOLAN_CORE_OF(OrtGraph, GraphObject)
ORTOLAN_CORE_OF(OrtNode, NodeObject)
ORTOLAN_CORE_OF(OrtValueInfo, ValueObject)
ORTOLAN_CORE_OF(OrtModel, ModelDraft)
ORTOLAN_CORE_OF(OrtModelCompilationOptions, CompilationRequest)
ORTOLAN_CORE_OF(OrtModelPackageOptions, PackageTarget)
ORTOLAN_CORE_OF(OrtModelPackageContext, ModelPackage)
ORTOLAN_CORE_OF(OrtModelPackageComponentContext, PackageComponent)
ORTOLAN_CORE_OF(OrtExternalResourceImporter, ResourceImporter)
ORTOLAN_CORE_OF(OrtExternalInitializerInfo, ExternalInitializer)
ORTOLAN_CORE_OF(OrtKeyValuePairs, base::KeyValues)
ORTOLAN_CORE_OF(OrtTensorTypeAndShapeInfo, TensorDescription)
ORTOLAN_CORE_OF(OrtTypeInfo, TypeDescription)
ORTOLAN_CORE_OF(OrtMapTypeInfo, TypeDescription)
ORTOLAN_CORE_OF(OrtSequenceTypeInfo, TypeDescription)
ORTOLAN_CORE_OF(OrtOptionalTypeInfo, TypeDescription)
#undef ORTOLAN_CORE_OF

/** The core type behind a handle, const where the handle is. */
template <class Handle>
using Core = std::conditional_t<std::is_const_v<Handle>, const typename CoreOf<std::remove_const_t<Handle>>::type,
                                typename CoreOf<std::remove_const_t<Handle>>::type>;

/** The core object, NULL for NULL. */
template <class Handle>
Core<Handle>* unwrap_optional(Handle* handle) noexcept {
  return reinterpret_cast<Core<Handle>*>(handle);
}

/** The core object. Throws when the handle is NULL; `name` is the parameter's, for the text. */
template <class Handle>
Core<Handle>& unwrap(Handle* handle, const char* name) {
  base::require(handle != nullptr, base::ErrorCode::kInvalidArgument, "argument '", name, "' must not be NULL");
  return *unwrap_optional(handle);
}

/** The handle of a core object that stays with its owner. */
template <class Handle>
Handle* wrap(Core<Handle>* core) noexcept {
  return reinterpret_cast<Handle*>(core);
}

/** An array of pointers to core objects, as one of handles. */
template <class Handle>
Handle* const* wrap_array(Core<Handle>* const* cores) noexcept {
  return reinterpret_cast<Handle* const*>(cores);
}

/** The handle of a core object that goes to the caller, who ends it with `release`. */
template <class Handle>
Handle* wrap(std::unique_ptr<Core<Handle>> core) noexcept {
  return wrap<Handle>(core.release());
}

/** A function of the caller's as the core calls it: their types differ only in what pointers point to. */
template <class Function, class Theirs>
Function wrap_function(Theirs* theirs) noexcept {
  static_assert(std::is_function_v<Theirs>);
  return reinterpret_cast<Function>(theirs);
}

/** A function found by name in a library. */
template <class Function>
Function wrap_symbol(void* symbol) noexcept {
  return reinterpret_cast<Function>(symbol);
}

/** Ends what `wrap` handed out; NULL is fine. */
template <class Handle>
void release(Handle* handle) noexcept {
  delete unwrap_optional(handle);
}

/** Throws unless an argument that is no handle (a string, an array, an out parameter) is there. */
inline void require_argument(const void* argument, const char* name) {
  base::require(argument != nullptr, base::ErrorCode::kInvalidArgument, "argument '", name, "' must not be NULL");
}

}  // namespace ortolan::api
