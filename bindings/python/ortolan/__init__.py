"""Ortolan for Python: runs ONNX models, under the names that users of ONNX Runtime know.

    import ortolan as ort
    session = ort.InferenceSession("model.onnx", providers=["CPUExecutionProvider"])
    outputs = session.run(None, {"x": array})
"""
import warnings

try:
    from . import _native
except ImportError as error:
    from ._loading import refusal
    raise ImportError(refusal(error)) from error
_native.prepare_arrays()

from . import capi
from ._adapters import AdapterFormat, LoraAdapter
from ._binding import IOBinding, SessionIOBinding
from ._compiler import ModelCompiler, OrtCompileApiFlags, OrtExternalInitializerInfo
from ._context_data import OrtEpContextDataBuffer
from ._environment import (
    Environment, OrtEpDevice, OrtHardwareDevice, OrtHardwareDeviceType, OrtLoggingLevel, create_and_register_allocator,
    create_and_register_allocator_v2, get_ep_devices, register_execution_provider_library, set_default_logger_callback,
    set_default_logger_severity, set_default_logger_verbosity, set_global_thread_pool_sizes,
    unregister_execution_provider_library)
from ._errors import (
    DeviceReset, EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled, ModelLoaded,
    ModelRequiresCompilation, NoModel, NoSuchFile, NotFound, NotImplemented, OrtError, RuntimeException)
from ._memory import (
    OrtAllocatorType, OrtArenaCfg, OrtDevice, OrtDeviceMemoryType, OrtDeviceVendorId, OrtMemoryInfo,
    OrtMemoryInfoDeviceType, OrtMemType, OrtSyncStream)
from ._memory import checked_int as _checked_int
from ._options import (
    ExecutionMode, ExecutionOrder, GraphOptimizationLevel, OrtExecutionProviderDevicePolicy, RunOptions, SessionOptions)
from ._packages import ModelPackageComponentContext, ModelPackageContext, ModelPackageOptions
from ._providers import get_all_providers, get_available_providers, get_device
from ._session import InferenceSession
from ._session_facts import ModelMetadata, NodeArg, NodeAssignment, OrtEpAssignedNode, OrtEpAssignedSubgraph
from ._sparse import OrtSparseFormat, SparseTensor
from ._types import TensorElementType
from ._values import OrtValue, copy_tensors

__version__: str = _native.library_version()


def get_version_string() -> str:
    """The release of ONNX Runtime that the library stands for."""
    return __version__


def get_build_info() -> str:
    """The library's own name and version, and how it was built."""
    return _native.library_build_info()


def set_seed(seed: int) -> None:
    """Warns: the numbers of random operators follow from the attribute seed of their nodes alone."""
    _checked_int(seed, "a seed")
    warnings.warn("set_seed changes nothing: give the model's random nodes the attribute seed", UserWarning, stacklevel=2)


def enable_telemetry_events() -> None:
    """Does nothing: there is no telemetry."""


def disable_telemetry_events() -> None:
    """Does nothing: there is no telemetry."""


__all__ = [
    "AdapterFormat", "DeviceReset", "EPFail", "EngineError", "Environment", "ExecutionMode", "ExecutionOrder", "Fail",
    "GraphOptimizationLevel", "IOBinding", "InferenceSession", "InvalidArgument", "InvalidGraph", "InvalidProtobuf",
    "LoraAdapter", "ModelCompiler", "ModelLoadCanceled", "ModelLoaded", "ModelMetadata",
    "ModelPackageComponentContext", "ModelPackageContext", "ModelPackageOptions", "ModelRequiresCompilation",
    "NoModel", "NoSuchFile", "NodeArg", "NodeAssignment", "NotFound", "NotImplemented", "OrtAllocatorType", "OrtArenaCfg",
    "OrtCompileApiFlags", "OrtDevice", "OrtDeviceMemoryType", "OrtDeviceVendorId", "OrtEpAssignedNode",
    "OrtEpAssignedSubgraph", "OrtEpContextDataBuffer", "OrtEpDevice", "OrtError", "OrtExecutionProviderDevicePolicy",
    "OrtExternalInitializerInfo", "OrtHardwareDevice", "OrtHardwareDeviceType", "OrtLoggingLevel", "OrtMemType",
    "OrtMemoryInfo", "OrtMemoryInfoDeviceType", "OrtSparseFormat", "OrtSyncStream", "OrtValue", "RunOptions",
    "RuntimeException", "SessionIOBinding", "SessionOptions", "SparseTensor", "TensorElementType", "capi", "copy_tensors",
    "create_and_register_allocator", "create_and_register_allocator_v2", "disable_telemetry_events",
    "enable_telemetry_events", "get_all_providers", "get_available_providers", "get_build_info", "get_device",
    "get_ep_devices", "get_version_string", "register_execution_provider_library", "set_default_logger_callback",
    "set_default_logger_severity", "set_default_logger_verbosity", "set_global_thread_pool_sizes", "set_seed",
    "unregister_execution_provider_library",
]
