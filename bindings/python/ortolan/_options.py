"""Options of sessions and of runs."""
from __future__ import annotations

import enum
import os
from collections.abc import Callable, Sequence
from typing import Any, Optional

from . import _native
from ._adapters import LoraAdapter
from ._context_data import OrtEpContextDataBuffer, content_of
from ._environment import Environment, Logger, OrtEpDevice, Path, default_environment, settings_of
from ._errors import InvalidArgument, fail
from ._memory import checked_int
from ._settings import Options, Setting, only_kept


class GraphOptimizationLevel(enum.IntEnum):
    """How much the model is rewritten before it runs."""

    ORT_DISABLE_ALL = 0
    ORT_ENABLE_BASIC = 1
    ORT_ENABLE_EXTENDED = 2
    ORT_ENABLE_LAYOUT = 3
    ORT_ENABLE_ALL = 99


class ExecutionMode(enum.IntEnum):
    """Whether operators that do not wait for one another run at the same time."""

    ORT_SEQUENTIAL = 0
    ORT_PARALLEL = 1


class ExecutionOrder(enum.IntEnum):
    """Orders of operators that programs may ask for; the library chooses its own."""

    DEFAULT = 0
    PRIORITY_BASED = 1
    MEMORY_EFFICIENT = 2


class OrtExecutionProviderDevicePolicy(enum.IntEnum):
    """Which of the registered devices a session takes by itself."""

    DEFAULT = 0
    PREFER_CPU = 1
    PREFER_NPU = 2
    PREFER_GPU = 3
    MAX_PERFORMANCE = 4
    MAX_EFFICIENCY = 5
    MIN_OVERALL_POWER = 6


def _set_own_threads(handle: Any, own: bool) -> None:
    if not own:
        _native.disable_session_threads(handle)


def _handle_of(value: Any) -> Any:
    try:
        return value._value_handle()
    except AttributeError:
        raise TypeError(f"an OrtValue is needed, not '{type(value).__name__}'") from None


def _chooser(delegate: Callable[..., Sequence[OrtEpDevice]]) -> Callable[..., list[int]]:
    """The delegate as the library calls it: from handles to indices."""

    def choose(handles: list[Any], model: dict[str, str], runtime: dict[str, str], most: int) -> list[int]:
        devices = [OrtEpDevice(handle) for handle in handles]
        known = [_native.handle_address(handle) for handle in handles]
        chosen = list(delegate(devices, model, runtime, most))
        for device in chosen:
            if not isinstance(device, OrtEpDevice) or _native.handle_address(device._handle) not in known:
                raise ValueError(f"the delegate chose {device!r}, which is none of the devices")
        if not chosen:
            raise ValueError("the delegate did not choose any device")
        return [known.index(_native.handle_address(device._handle)) for device in chosen]

    return choose


class SessionOptions(Options):
    """How sessions are made. A session takes a copy: later changes do not touch it. One thread changes an object at a
    time. Options pickle, unless they hold what is of this process alone: a logger, an initializer or devices."""

    def __init__(self) -> None:
        self._handle = _native.create_session_options()
        self._enable_profiling, self._profile_file_prefix = False, "onnxruntime_profile_"
        self._appended: list[str] = []
        self._has_policy = False
        self._calls: list[tuple[str, tuple[Any, ...]]] = []  # of methods, for copies in other processes
        self._bound_to = ""  # what ties the options to this process

    graph_optimization_level = Setting[int](
        GraphOptimizationLevel.ORT_ENABLE_ALL, GraphOptimizationLevel, _native.set_optimization_level,
        "GraphOptimizationLevel")
    execution_mode = Setting[int](ExecutionMode.ORT_SEQUENTIAL, ExecutionMode, _native.set_execution_mode,
                                   "ExecutionMode")
    execution_order = Setting[int](ExecutionOrder.DEFAULT, ExecutionOrder, only_kept, "accepted; changes nothing")
    intra_op_num_threads = Setting[int](0, int, _native.set_intra_op_threads,
                                         "Threads that share the work of an operator; 0: the machine's choice.")
    inter_op_num_threads = Setting[int](0, int, _native.set_inter_op_threads,
                                         "Threads that operators run on in parallel mode; 0: the machine's choice.")
    use_per_session_threads = Setting[bool](
        True, bool, _set_own_threads,
        "False, which cannot be taken back: the session uses the environment's pools of threads.")
    enable_mem_pattern = Setting[bool](True, bool, _native.set_memory_pattern, "Whether memory is planned ahead.")
    enable_mem_reuse = Setting[bool](True, bool, only_kept, "accepted; changes nothing")
    enable_cpu_mem_arena = Setting[bool](True, bool, _native.set_cpu_arena,
                                          "Whether freed memory is kept for the next tensors.")
    logid = Setting[str]("", str, _native.set_session_log_id, "What log lines of the session are marked with.")
    log_severity_level = Setting[int](-1, int, _native.set_session_severity,
                                       "Log lines less bad than this are not written; 0 verbose to 4 fatal.")
    log_verbosity_level = Setting[int](0, int, _native.set_session_verbosity, "How much verbose sessions tell.")
    optimized_model_filepath = Setting[str]("", os.fsdecode, _native.set_optimized_model_path,
                                             "The file that the rewritten model is saved to.")
    use_deterministic_compute = Setting[bool](False, bool, _native.set_deterministic,
                                               "Whether results must not depend on the order of threads.")

    @property
    def enable_profiling(self) -> bool:
        """Whether the session writes a profile; see InferenceSession.end_profiling."""
        return self._enable_profiling

    @enable_profiling.setter
    def enable_profiling(self, on: bool) -> None:
        self._enable_profiling = bool(on)
        self._apply_profiling()

    @property
    def profile_file_prefix(self) -> str:
        """What the profile's path begins with."""
        return self._profile_file_prefix

    @profile_file_prefix.setter
    def profile_file_prefix(self, prefix: str) -> None:
        self._profile_file_prefix = str(prefix)
        self._apply_profiling()

    def _apply_profiling(self) -> None:
        _native.set_profiling(self._handle, self._profile_file_prefix if self._enable_profiling else None)

    def set_logger(self, logger: Logger) -> None:
        """Sends the log lines of sessions to `logger(severity, category, log_id, where, message)`, on any thread. It is
        kept as long as the options and their sessions; it should not refer to them."""
        _native.set_session_log(self._handle, logger)
        _native.keep(self._handle, logger)
        self._bound_to = "a logger"

    def add_session_config_entry(self, key: str, value: str) -> None:
        """Sets an entry, such as "session.disable_cpu_ep_fallback" to "1"."""
        _native.add_session_setting(self._handle, key, value)
        self._calls.append(("add_session_config_entry", (key, value)))

    def get_session_config_entry(self, key: str) -> str:
        """The value of an entry; InvalidArgument when it is not set."""
        value = _native.session_setting(self._handle, key)
        if value is None:
            fail(InvalidArgument, f"the session options have no entry '{key}'")
        return value

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Fixes the symbolic dimension of that name."""
        _native.add_free_dimension_by_name(self._handle, name, int(size))
        self._calls.append(("add_free_dimension_override_by_name", (name, int(size))))

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Fixes the dimensions of that denotation, such as DATA_BATCH."""
        _native.add_free_dimension(self._handle, denotation, int(size))
        self._calls.append(("add_free_dimension_override_by_denotation", (denotation, int(size))))

    def add_initializer(self, name: str, value: Any) -> None:
        """Uses an OrtValue in place of the model's initializer of that name. Its memory is shared, not copied."""
        handle = value._value_handle()
        _native.add_initializer(self._handle, name, handle)
        _native.keep(self._handle, handle)
        self._bound_to = f"the memory of the initializer '{name}'"

    def register_custom_ops_library(self, path: Path) -> None:
        """Opens a library of custom operators for the sessions."""
        _native.register_custom_operators(self._handle, os.fsencode(path))
        self._calls.append(("register_custom_ops_library", (os.path.abspath(os.fsdecode(path)),)))

    def add_external_initializers(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Uses OrtValues in place of the model's initializers in files, by name. Their memory is shared, not copied."""
        names, handles = list(names), [_handle_of(value) for value in values]
        _native.add_external_initializers(self._handle, names, handles)
        _native.keep(self._handle, handles)
        self._bound_to = "the memory of external initializers"

    def add_external_initializers_from_files_in_memory(self, file_names: Sequence[str], buffers: Sequence[Any],
                                                       lengths: Sequence[int]) -> None:
        """Uses buffers in place of the files of the model's external data. They are shared, not copied, where they are
        bytes, a bytearray or a contiguous array."""
        names, counts = list(file_names), [checked_int(length, "a length") for length in lengths]
        contents = [content_of(buffer) for buffer in buffers]
        if not len(names) == len(contents) == len(counts):
            fail(InvalidArgument, f"there are {len(names)} names, {len(contents)} buffers and {len(counts)} lengths; there "
                                  "must be as many")
        for name, content, count in zip(names, contents, counts):
            if not 0 <= count <= content.nbytes:
                fail(InvalidArgument, f"the length {count} of file '{name}' is outside its buffer of {content.nbytes} bytes")
        parts = [content[:count] for content, count in zip(contents, counts)]
        _native.add_external_files(self._handle, names, parts)
        _native.keep(self._handle, parts)
        self._bound_to = "the memory of external data"

    def set_load_cancellation_flag(self, is_cancel: bool) -> None:
        """True, which any thread may say, ends the making of sessions with these options by ModelLoadCanceled."""
        _native.set_load_cancelled(self._handle, bool(is_cancel))

    def set_ep_context_data_read_func(self, read_func: Callable[[str, OrtEpContextDataBuffer], Any],
                                      max_data_size: int) -> None:
        """Has `read_func(name, buffer)` give the data that compiled nodes name, at most `max_data_size` bytes each, while
        sessions load: it calls buffer.allocate(size) once and buffer.write(data, offset). It may be called by several
        threads at once."""
        most = checked_int(max_data_size, "max_data_size")
        if not callable(read_func) or most <= 0:
            raise TypeError("a callable is needed, and a max_data_size of 1 or more")

        def read(name: str) -> bytearray:
            buffer = OrtEpContextDataBuffer(most)
            read_func(name, buffer)
            return buffer._filled(name)

        self._set_function("a function that reads data", _native.set_context_reader, read)

    def clear_ep_context_data_read_func(self) -> None:
        """Has sessions read files again."""
        self._set_function(self._bound_to, _native.set_context_reader, None)

    def _set_function(self, bound_to: str, set_function: Callable[[Any, Any], Any], function: Any) -> None:
        set_function(self._handle, function)
        _native.keep(self._handle, function)
        self._bound_to = bound_to

    def add_provider(self, provider_name: str, provider_options: Optional[dict[str, Any]] = None) -> None:
        """Adds a provider by name; earlier ones are asked first. Fail when it is known but not here."""
        _native.append_provider(self._handle, provider_name, settings_of(provider_options))
        self._calls.append(("add_provider", (provider_name, dict(provider_options or {}))))
        self._appended.append(provider_name)

    def add_provider_for_devices(self, ep_devices: Sequence[OrtEpDevice],
                                 provider_options: Optional[dict[str, Any]] = None,
                                 environment: Optional[Environment] = None) -> None:
        """Adds the provider of these devices, which are all of one provider."""
        devices = list(ep_devices)
        (environment or default_environment())._append_devices(self._handle, devices, provider_options or {})
        self._appended.append(devices[0].ep_name)
        self._bound_to = "devices of this process"

    def set_provider_selection_policy(self, policy: int) -> None:
        """Lets sessions choose among the registered devices: OrtExecutionProviderDevicePolicy."""
        _native.set_device_policy(self._handle, int(policy))
        self._calls.append(("set_provider_selection_policy", (int(policy),)))
        self._has_policy = True

    def set_provider_selection_policy_delegate(
            self, delegate: Optional[Callable[[list[OrtEpDevice], dict[str, str], dict[str, str], int],
                                              Sequence[OrtEpDevice]]]) -> None:
        """Lets sessions use the devices that `delegate(devices, model's metadata, runtime's metadata, most)` returns: some
        of those it is given, at most `most`. What it raises makes the session Fail. None is none yet."""
        if delegate is not None and not callable(delegate):
            raise TypeError(f"the delegate must be a callable or None, not '{type(delegate).__name__}'")
        if delegate is not None:
            self._set_function("a function that selects devices", _native.set_device_chooser, _chooser(delegate))
            self._has_policy = True
        elif self._has_policy:
            fail(InvalidArgument, "a way to select devices cannot be taken back; make other session options")

    def has_providers(self) -> bool:
        """Whether a provider, devices or a way to choose them has been added."""
        return bool(self._appended) or self._has_policy

    def __reduce__(self) -> tuple[Any, ...]:
        if self._bound_to:
            raise TypeError(f"session options that hold {self._bound_to} cannot be pickled; make them in the process that "
                            "uses them")
        attributes = {name: getattr(self, name) for name, attribute in vars(SessionOptions).items()
                      if isinstance(attribute, Setting) and attribute.is_set(self)}
        attributes.update(profile_file_prefix=self.profile_file_prefix, enable_profiling=self.enable_profiling)
        return type(self)._restored, (attributes, list(self._calls))

    @classmethod
    def _restored(cls, attributes: dict[str, Any], calls: list[tuple[str, tuple[Any, ...]]]) -> SessionOptions:
        """Options in another process: what pickle calls."""
        options = cls()
        for name, value in attributes.items():
            setattr(options, name, value)
        for name, arguments in calls:
            getattr(options, name)(*arguments)
        return options


class RunOptions(Options):
    """How one or more runs go. `terminate` may be set by any thread, the rest by one at a time."""

    only_execute_path_to_fetches = Setting[bool](
        False, bool, only_kept, "accepted; changes nothing: what no output needs never runs")

    def __init__(self) -> None:
        self._handle = _native.create_run_options()
        self._terminate = False
        self._entries: dict[str, str] = {}

    @property
    def terminate(self) -> bool:
        """True ends the runs that use these options, soon and with an error; False lets later ones run."""
        return self._terminate

    @terminate.setter
    def terminate(self, on: bool) -> None:
        _native.set_terminate(self._handle, bool(on))
        self._terminate = bool(on)

    @property
    def logid(self) -> str:
        """What log lines of the run are marked with; run_tag is the same."""
        return _native.run_tag(self._handle) or ""

    @logid.setter
    def logid(self, tag: str) -> None:
        _native.set_run_tag(self._handle, tag)

    run_tag = logid

    @property
    def log_severity_level(self) -> int:
        """Log lines less bad than this are not written; -1 is the session's level."""
        return _native.run_severity(self._handle)

    @log_severity_level.setter
    def log_severity_level(self, level: int) -> None:
        _native.set_run_severity(self._handle, int(level))

    @property
    def log_verbosity_level(self) -> int:
        """How much verbose runs tell."""
        return _native.run_verbosity(self._handle)

    @log_verbosity_level.setter
    def log_verbosity_level(self, level: int) -> None:
        _native.set_run_verbosity(self._handle, int(level))

    def add_run_config_entry(self, key: str, value: str) -> None:
        """Sets an entry, such as "memory.enable_memory_arena_shrinkage" to "cpu:0"."""
        _native.add_run_setting(self._handle, key, value)
        self._entries[key] = value

    def get_run_config_entry(self, key: str) -> str:
        """The value of an entry; InvalidArgument when it is not set."""
        if key not in self._entries:
            fail(InvalidArgument, f"the run options have no entry '{key}'")
        return self._entries[key]

    def add_active_adapter(self, adapter: LoraAdapter) -> None:
        """Adds the adapter's parameters to the inputs of runs with these options."""
        if not isinstance(adapter, LoraAdapter):
            raise TypeError(f"a LoraAdapter is needed, not '{type(adapter).__name__}'")
        if adapter._handle is not None:
            _native.add_adapter(self._handle, adapter._handle)
            _native.keep(self._handle, adapter._handle)
