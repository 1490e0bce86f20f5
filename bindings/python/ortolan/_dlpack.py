"""Tensors shared with other packages through DLPack."""
from __future__ import annotations

from typing import Any

from . import _native
from ._environment import default_environment
from ._memory import OrtDeviceMemoryType, OrtDeviceVendorId, OrtMemoryInfo, OrtMemoryInfoDeviceType

CPU, CUDA, CUDA_HOST, ROCM, ROCM_HOST = 1, 2, 3, 10, 11  # DLDeviceType
_ON_HOST = (CPU, CUDA_HOST, ROCM_HOST)
_OF_VENDOR = {OrtDeviceVendorId.NVIDIA: (CUDA, CUDA_HOST), OrtDeviceVendorId.AMD: (ROCM, ROCM_HOST)}


def device_of(handle: Any) -> tuple[int, int]:
    """Kind and number of the device that a tensor is on, as DLPack tells them; BufferError where it has no such kind."""
    memory = OrtMemoryInfo._of(_native.tensor_memory(handle))
    kinds = _OF_VENDOR.get(memory.device_vendor_id)  # type: ignore[call-overload]
    if memory.device_type == OrtMemoryInfoDeviceType.CPU:
        return CPU, 0
    if kinds is None or memory.device_type != OrtMemoryInfoDeviceType.GPU:
        raise BufferError(f"DLPack has no name for the memory '{memory.name}'; copy the tensor to the CPU first")
    return kinds[memory.device_mem_type == OrtDeviceMemoryType.HOST_ACCESSIBLE], memory.device_id


def to_capsule(handle: Any) -> Any:
    """A capsule over a tensor's memory, which keeps it alive."""
    return _native.dlpack_of_tensor(handle, *device_of(handle))


def from_any(data: Any) -> Any:
    """A handle of a tensor over the memory of a capsule, or of what has __dlpack__."""
    capsule = data.__dlpack__() if hasattr(data, "__dlpack__") else data
    kind, number = _native.dlpack_device(capsule)
    if kind in _ON_HOST:
        return _native.tensor_of_dlpack(capsule, None)
    vendors = [vendor for vendor, kinds in _OF_VENDOR.items() if kind in kinds]
    if not vendors:
        raise BufferError(f"tensors on DLPack's kind of device {kind} are not taken; copy it to the CPU first")
    environment = default_environment()
    memory = environment._memory("gpu", number, vendors[0])
    handle = _native.tensor_of_dlpack(capsule, memory)
    _native.keep(handle, (environment._handle, memory))
    return handle
