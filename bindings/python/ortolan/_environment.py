"""The environment: the process's log, shared thread pools, plugin libraries and devices."""
from __future__ import annotations

import atexit
import enum
import os
import sys
import threading
from collections.abc import Callable
from typing import Any, Optional, Union

from . import _native
from ._errors import InvalidArgument, fail
from ._memory import OrtArenaCfg, OrtDevice, OrtDeviceMemoryType, OrtMemoryInfo, OrtSyncStream

Path = Union[str, bytes, "os.PathLike[Any]"]
Logger = Callable[[int, str, str, str, str], Any]


class OrtLoggingLevel(enum.IntEnum):
    """How bad what a log line tells is."""

    VERBOSE = 0
    INFO = 1
    WARNING = 2
    ERROR = 3
    FATAL = 4


class OrtHardwareDeviceType(enum.IntEnum):
    """Kinds of devices."""

    CPU = 0
    GPU = 1
    NPU = 2


def pairs(settings: Any) -> dict[str, str]:
    """The settings that a handle of OrtKeyValuePairs holds; none for None."""
    count = _native.setting_count(settings)
    return {_native.setting_key(settings, i): _native.setting_value(settings, i) for i in range(count)}


def settings_of(options: Optional[dict[str, Any]]) -> Any:
    """A handle of the options; values become text."""
    settings = _native.create_settings()
    for key, value in (options or {}).items():
        _native.add_setting(settings, str(key), str(value))
    return settings


class OrtHardwareDevice:
    """A device of the machine, as its provider describes it."""

    def __init__(self, handle: Any) -> None:
        self.type = OrtHardwareDeviceType(_native.machine_device_type(handle))
        self.vendor: str = _native.machine_device_vendor(handle)
        self.vendor_id: int = _native.machine_device_vendor_id(handle)
        self.device_id: int = _native.machine_device_id(handle)
        self.metadata = pairs(_native.machine_device_metadata(handle))

    def __repr__(self) -> str:
        return f"OrtHardwareDevice(type={self.type.name}, vendor={self.vendor!r}, device_id={self.device_id})"


class OrtEpDevice:
    """A device that an execution provider can use; given to SessionOptions.add_provider_for_devices. After its provider's
    library has been unregistered it still describes the device, and using it is an error."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle
        self.ep_name: str = _native.device_provider(handle)
        self.ep_vendor: str = _native.device_provider_vendor(handle)
        self.ep_metadata = pairs(_native.device_metadata(handle))
        self.ep_options = pairs(_native.device_settings(handle))
        self.device = OrtHardwareDevice(_native.hardware_device(handle))

    def memory_info(self, memory_type: int) -> Optional[OrtMemoryInfo]:
        """The memory of the device, OrtDeviceMemoryType; None where that is the CPU's."""
        shared = OrtDeviceMemoryType(memory_type) == OrtDeviceMemoryType.HOST_ACCESSIBLE
        memory = _native.device_memory(default_environment()._registered(self), shared)
        if memory is None:
            return None
        _native.keep(memory, self._handle)
        return OrtMemoryInfo._of(memory)

    def create_sync_stream(self) -> OrtSyncStream:
        """A queue of work on the device, for copy_tensors. Fail where the provider has none, as on the CPU."""
        stream = _native.create_stream(default_environment()._registered(self))
        _native.keep(stream, self._handle)
        return OrtSyncStream(stream)

    def __repr__(self) -> str:
        return f"OrtEpDevice(ep_name={self.ep_name!r}, device={self.device!r})"


_UNKNOWN_DEVICE = "devices must come from get_ep_devices, and their library must be registered still"

# The library keeps one environment a process, made by the first that asks; its log goes to the logger that came then.
_logger: Optional[Logger] = None
_routed = False  # whether its log comes here at all


def _log(severity: int, category: str, log_id: str, where: str, message: str) -> None:
    logger = _logger
    if logger is not None:
        logger(severity, category, log_id, where, message)
    else:
        print(f"[{OrtLoggingLevel(severity).name[0]}:{category}:{log_id}, {where}] {message}", file=sys.stderr)


class Environment:
    """A share of the process's environment. Sessions take one that is made when it is first needed, so that programs need
    this class only for what it can set: make it then before the first session.

    `logger(severity, category, log_id, where, message)` gets the log lines, on any thread; without it they go to stderr.
    `global_thread_pools` is (threads in operators, threads between operators, whether idle threads spin); 0 threads are
    the machine's choice. Sessions whose options have use_per_session_threads = False share these pools.

    `log_severity_level` None leaves the process's level as it is: warnings, to begin with.

    Logger and pools belong to the process: asking for them while another environment lives is an error. Sessions keep
    their environment alive."""

    def __init__(self, log_severity_level: Optional[int] = None, log_id: str = "Default",
                 logger: Optional[Logger] = None,
                 global_thread_pools: Optional[tuple[int, int, bool]] = None) -> None:
        global _logger, _routed
        self._lock = threading.RLock()
        self._handle: Any = None
        alone = _native.environment_count() == 0
        if not alone and (logger is not None or global_thread_pools is not None):
            fail(InvalidArgument, "the process has an environment already; close it and the sessions that use it first, "
                                  "or make the one with a logger or thread pools before them")
        if alone:
            _logger, _routed = logger, logger is not None
        intra, inter, spin = global_thread_pools or (0, 0, True)
        level = OrtLoggingLevel.WARNING if log_severity_level is None else log_severity_level
        self._handle = _native.create_environment(int(level), log_id, _log if logger is not None else None,
                                                  global_thread_pools is not None, intra, inter, spin)
        if log_severity_level is not None:
            self.set_log_severity_level(log_severity_level)

    def set_log_severity_level(self, level: int) -> None:
        """Lines less bad than this are not written."""
        _native.set_environment_severity(self._handle, int(level))

    def register_execution_provider_library(self, registration_name: str, library_path: Path) -> None:
        """Opens a plugin library; its providers can then be asked for by name, and its devices are listed."""
        with self._lock:
            _native.register_provider_library(self._handle, registration_name, os.fsencode(library_path))

    def unregister_execution_provider_library(self, registration_name: str) -> None:
        """Closes a plugin library. Sessions that use it keep running."""
        with self._lock:
            _native.unregister_provider_library(self._handle, registration_name)

    def get_ep_devices(self) -> list[OrtEpDevice]:
        """The devices of all registered providers."""
        with self._lock:
            return [OrtEpDevice(handle) for handle in self._devices()]

    def append_provider(self, name: str, options: Optional[dict[str, Any]] = None, required: bool = True) -> None:
        """Adds a provider for every later session that names none. Where it is absent: an error if `required`, else the
        sessions do without it."""
        _native.append_environment_provider(self._handle, name, settings_of(options), required)

    def clear_providers(self) -> None:
        """Takes back what append_provider did."""
        _native.clear_environment_providers(self._handle)

    def close(self) -> None:
        """Gives this share of the environment up; twice is once. Sessions that use it go on."""
        self._handle = None

    def __enter__(self) -> Environment:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _devices(self) -> list[Any]:
        handles = [_native.device_at(self._handle, i) for i in range(_native.device_count(self._handle))]
        for handle in handles:
            _native.keep(handle, self._handle)
        return handles

    def _append_devices(self, options: Any, devices: list[OrtEpDevice], provider_options: dict[str, Any]) -> None:
        with self._lock:
            if not devices:
                fail(InvalidArgument, _UNKNOWN_DEVICE)
            handles = [self._registered(device) for device in devices]
            _native.append_provider_devices(options, self._handle, handles, settings_of(provider_options))

    def _registered(self, device: OrtEpDevice) -> Any:
        """The handle of a device that is there still."""
        if not isinstance(device, OrtEpDevice):
            raise TypeError(f"an OrtEpDevice is needed, not '{type(device).__name__}'; see get_ep_devices")
        with self._lock:
            known = {_native.handle_address(handle) for handle in self._devices()}
        if _native.handle_address(device._handle) not in known:
            fail(InvalidArgument, _UNKNOWN_DEVICE)
        return device._handle

    def _memory(self, device_type: str, device_id: int, vendor_id: int = -1) -> Any:
        """A handle of the memory of a device: "cpu", or the name of its memory, kind ("gpu") or provider."""
        if device_type == "cpu":
            return _native.create_memory("Cpu", 0, 0, 0)
        for device in self.get_ep_devices():
            memory = _native.device_memory(device._handle, 0)
            if memory is None or _native.memory_device_id(memory) != device_id or \
                    vendor_id not in (-1, _native.memory_vendor_id(memory), device.device.vendor_id):
                continue
            provider = device.ep_name.removesuffix("ExecutionProvider")
            if device_type in (_native.memory_name(memory).lower(), device.device.type.name.lower(), provider.lower()):
                _native.keep(memory, device._handle)
                return memory
        return fail(InvalidArgument, f"no registered provider has a device '{device_type}' with the number {device_id}")

    def _memory_of(self, device: OrtDevice) -> Any:
        if not isinstance(device, OrtDevice):
            raise TypeError(f"an OrtDevice is needed, not '{type(device).__name__}'; see OrtDevice.make")
        return self._memory(device._name, device._id, device._vendor)


_default: Optional[Environment] = None
_default_lock = threading.RLock()
_default_severity = int(OrtLoggingLevel.WARNING)
_default_pools: Optional[tuple[int, int, bool]] = None
_default_logger: Optional[Logger] = None
default_verbosity: Optional[int] = None


def default_environment() -> Environment:
    """The environment of sessions that are given none."""
    global _default
    with _default_lock:
        if _default is None:
            alone = _native.environment_count() == 0
            _default = Environment(_default_severity if alone else None, logger=_default_logger if alone else None,
                                   global_thread_pools=_default_pools if alone else None)
        return _default


def set_default_logger_severity(severity: int) -> None:
    """Log lines less bad than this are not written, by sessions whose options set no level of their own."""
    global _default_severity
    _default_severity = int(OrtLoggingLevel(severity))
    default_environment().set_log_severity_level(severity)


def set_default_logger_verbosity(verbosity: int) -> None:
    """How much verbose sessions tell whose options set nothing of their own."""
    global default_verbosity
    default_verbosity = int(verbosity)


def set_global_thread_pool_sizes(intra_op: int, inter_op: int) -> None:
    """Sizes of the pools that sessions share with use_per_session_threads = False; before the first session."""
    global _default_pools
    if _native.environment_count():
        fail(InvalidArgument, "the environment is made already; set the sizes of pools before the first session")
    _default_pools = (int(intra_op), int(inter_op), True)


def register_execution_provider_library(registration_name: str, library_path: Path) -> None:
    """As Environment.register_execution_provider_library, for the default environment."""
    default_environment().register_execution_provider_library(registration_name, library_path)


def unregister_execution_provider_library(registration_name: str) -> None:
    """As Environment.unregister_execution_provider_library, for the default environment."""
    default_environment().unregister_execution_provider_library(registration_name)


def get_ep_devices() -> list[OrtEpDevice]:
    """The devices of all registered providers, in the default environment."""
    return default_environment().get_ep_devices()


def create_and_register_allocator(mem_info: OrtMemoryInfo, arena_cfg: Optional[OrtArenaCfg] = None) -> None:
    """Has the environment make an allocator of CPU memory, once, which sessions share whose entry
    session.use_env_allocators is "1"."""
    _register_allocator(None, mem_info, {}, arena_cfg)


def create_and_register_allocator_v2(provider_type: str, mem_info: OrtMemoryInfo, options: dict[str, Any],
                                     arena_cfg: Optional[OrtArenaCfg] = None) -> None:
    """As create_and_register_allocator, for the memory of a provider."""
    _register_allocator(provider_type, mem_info, options, arena_cfg)


def _register_allocator(provider: Optional[str], memory: OrtMemoryInfo, options: dict[str, Any],
                        arena: Optional[OrtArenaCfg]) -> None:
    for value, kind in ((memory, OrtMemoryInfo), (arena, OrtArenaCfg)):
        if not isinstance(value, kind) and value is not None or memory is None:
            raise TypeError(f"an {kind.__name__} is needed, not '{type(value).__name__}'")
    _native.register_allocator(default_environment()._handle, provider, memory._handle, settings_of(options),
                               arena._numbers() if arena else [])


def set_default_logger_callback(callback: Optional[Logger], severity: int = OrtLoggingLevel.WARNING) -> None:
    """Sends log lines to `callback(severity, category, log_id, where, message)`, on any thread, and leaves out those less
    bad than `severity`. None sends them to stderr again. The first callback must come before the first session and plugin
    library: the log of an environment that is in use cannot be led elsewhere."""
    global _default, _default_logger, _logger
    if callback is not None and not callable(callback):
        raise TypeError(f"the callback must be a callable or None, not '{type(callback).__name__}'")
    level = OrtLoggingLevel(severity)
    with _default_lock:
        _default_logger = callback
        if _native.environment_count() and _routed:
            _logger = callback
        elif callback is not None:
            if _default is not None and len(_default._devices()) == len(_native_devices(_default)):
                _default = None
            if _native.environment_count():
                _default_logger = None
                fail(InvalidArgument, "the environment is in use, and its log goes to stderr; set the callback before the "
                                      "first session and plugin library")
    if callback is not None:
        set_default_logger_severity(level)


def _native_devices(environment: Environment) -> list[OrtEpDevice]:
    """The devices of what is built in."""
    return [device for device in environment.get_ep_devices() if device.ep_name == "CPUExecutionProvider"]


atexit.register(_native.stop_logging)
