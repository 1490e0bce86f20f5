"""Where values may lie: devices, descriptions of memory, arenas, and streams of work."""
from __future__ import annotations

import enum
from typing import Any, Optional, Union

from . import _native
from ._errors import InvalidArgument, fail


class OrtAllocatorType(enum.IntEnum):
    """What stands behind an allocator."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemType(enum.IntEnum):
    """What a kernel uses memory for."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtDeviceMemoryType(enum.IntEnum):
    """Whether the host reaches memory of a device."""

    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtMemoryInfoDeviceType(enum.IntEnum):
    """Kinds of devices that have memory."""

    CPU = 0
    GPU = 1
    NPU = 3
    FPGA = 2


class OrtDeviceVendorId(enum.IntEnum):
    """Vendors of devices, by their numbers on PCI."""

    NONE = 0
    AMD = 0x1002
    NVIDIA = 0x10DE
    ARM = 0x13B5
    MICROSOFT = 0x1414
    HUAWEI = 0x19E5
    QUALCOMM = 0x5143
    INTEL = 0x8086


class ArenaExtendStrategy(enum.IntEnum):
    """How much more an arena takes when it is full."""

    kNextPowerOfTwo = 0  # noqa: N815
    kSameAsRequested = 1  # noqa: N815


def checked_int(value: Any, what: str) -> int:
    """The value of what must be a whole number."""
    try:
        return value.__index__()
    except AttributeError:
        raise TypeError(f"{what} must be an int, not '{type(value).__name__}'") from None


# Names of devices: their kind and, where the name tells it, their vendor.
_DEVICE_NAMES = {
    "cpu": (0, 0), "gpu": (1, 0), "fpga": (2, 0), "npu": (3, 0), "cuda": (1, OrtDeviceVendorId.NVIDIA),
    "dml": (4, OrtDeviceVendorId.MICROSOFT), "cann": (3, OrtDeviceVendorId.HUAWEI), "webgpu": (1, 0),
}


class OrtDevice:
    """A device by name, number and vendor. Names are those of kinds of devices ("cpu", "gpu", "npu"), or of memory or
    providers of registered libraries, such as "cuda"."""

    def __init__(self, device_type: str, device_id: int = 0, vendor_id: int = -1) -> None:
        if not isinstance(device_type, str):
            raise TypeError(f"a device has a name, not a '{type(device_type).__name__}'; see OrtDevice.make")
        self._name, self._id = device_type.lower(), checked_int(device_id, "device_id")
        self._vendor = checked_int(vendor_id, "vendor_id")

    @staticmethod
    def make(ort_device_name: str, device_id: int = 0, vendor_id: int = -1) -> OrtDevice:
        """A device; `vendor_id` tells those of one kind apart, -1 takes any."""
        return OrtDevice(ort_device_name, device_id, vendor_id)

    def device_type(self) -> int:
        """The kind of the device: OrtMemoryInfoDeviceType; GPU for names that only a library knows."""
        return _DEVICE_NAMES.get(self._name, (1, 0))[0]

    def device_id(self) -> int:
        """Its number among those of that name."""
        return self._id

    def device_vendor_id(self) -> int:
        """OrtDeviceVendorId; 0 where neither the caller nor the name tells it."""
        return int(_DEVICE_NAMES.get(self._name, (1, 0))[1]) if self._vendor < 0 else self._vendor

    def device_mem_type(self) -> int:
        """OrtDeviceMemoryType: the device's own."""
        return int(OrtDeviceMemoryType.DEFAULT)

    def _get_c_device(self) -> OrtDevice:
        return self

    def __repr__(self) -> str:
        return f"OrtDevice({self._name!r}, {self._id})"


class OrtMemoryInfo:
    """A description of memory: whose, of which device, and for what."""

    def __init__(self, name: str, allocator_type: int, device_id: int, mem_type: int) -> None:
        """Memory by a name that the library knows: "Cpu", "Cuda", "CudaPinned" and others. create_v2 makes any other."""
        self._handle = _native.create_memory(name, int(OrtAllocatorType(allocator_type)),
                                             checked_int(device_id, "device_id"), int(OrtMemType(mem_type)))

    @classmethod
    def _of(cls, handle: Any) -> OrtMemoryInfo:
        """The description that a handle stands for."""
        self = cls.__new__(cls)
        self._handle = handle
        return self

    @staticmethod
    def create_v2(name: str, device_type: int, vendor_id: int, device_id: int, device_mem_type: int, alignment: int,
                  allocator_type: int) -> OrtMemoryInfo:
        """Memory of a device: OrtMemoryInfoDeviceType, the vendor's number, the device's, OrtDeviceMemoryType, alignment
        in bytes or 0, and OrtAllocatorType."""
        return OrtMemoryInfo._of(_native.create_device_memory(
            name, int(OrtMemoryInfoDeviceType(device_type)), vendor_id, device_id, int(OrtDeviceMemoryType(device_mem_type)),
            alignment, int(OrtAllocatorType(allocator_type))))

    @property
    def name(self) -> str:
        """Its name."""
        return _native.memory_name(self._handle)

    @property
    def device_id(self) -> int:
        """The number of the device."""
        return _native.memory_device_id(self._handle)

    @property
    def device_type(self) -> OrtMemoryInfoDeviceType:
        """The kind of the device."""
        return OrtMemoryInfoDeviceType(_native.memory_device_type(self._handle))

    @property
    def allocator_type(self) -> OrtAllocatorType:
        """What stands behind its allocator."""
        return OrtAllocatorType(_native.memory_allocator(self._handle))

    @property
    def mem_type(self) -> OrtMemType:
        """What it is used for."""
        use = _native.memory_use(self._handle)
        return OrtMemType(use) if use in OrtMemType.__members__.values() else OrtMemType.CPU_OUTPUT

    @property
    def device_mem_type(self) -> OrtDeviceMemoryType:
        """Whether the host reaches it."""
        return OrtDeviceMemoryType(_native.memory_access(self._handle))

    @property
    def device_vendor_id(self) -> int:
        """The number of the device's vendor; 0 where it does not matter."""
        return _native.memory_vendor_id(self._handle)

    def __repr__(self) -> str:
        return f"OrtMemoryInfo(name={self.name!r}, device_id={self.device_id})"


class OrtArenaCfg:
    """Settings of an arena: OrtArenaCfg(max_mem, arena_extend_strategy, initial_chunk_size_bytes,
    max_dead_bytes_per_chunk), or a dict of any of them and of initial_growth_chunk_size_bytes and
    max_power_of_two_extend_bytes. max_mem 0 is no limit; -1 is the default of the others."""

    def __init__(self, max_mem: Union[int, dict[str, int]] = 0, arena_extend_strategy: Optional[int] = None,
                 initial_chunk_size_bytes: Optional[int] = None, max_dead_bytes_per_chunk: Optional[int] = None) -> None:
        self.max_mem, self.arena_extend_strategy, self.initial_chunk_size_bytes = 0, -1, -1
        self.max_dead_bytes_per_chunk = self.initial_growth_chunk_size_bytes = self.max_power_of_two_extend_bytes = -1
        numbers = (arena_extend_strategy, initial_chunk_size_bytes, max_dead_bytes_per_chunk)
        if not isinstance(max_mem, dict):
            if None in numbers:
                raise TypeError("OrtArenaCfg takes four numbers or a dict of settings")
            max_mem = dict(zip(list(vars(self))[:4], (max_mem, *numbers)))  # type: ignore[arg-type]
        for key, value in max_mem.items():
            if key not in vars(self):
                fail(InvalidArgument, f"an arena has no setting '{key}'; there are {', '.join(vars(self))}")
            setattr(self, key, checked_int(value, key))

    def _numbers(self) -> list[int]:
        return [checked_int(value, key) for key, value in vars(self).items()]


class OrtSyncStream:
    """A queue of work on a device, made by OrtEpDevice.create_sync_stream."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def get_handle(self) -> int:
        """The address of the native stream, such as a cudaStream_t."""
        return _native.stream_address(self._handle)
