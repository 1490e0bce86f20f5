"""InferenceSession: a model that is ready to run."""
from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional, Union

from . import _convert, _environment, _native
from ._binding import IOBinding, OrtValueVector, SessionIOBinding, bind_fetches
from ._environment import Environment, OrtEpDevice, Path, default_environment, settings_of
from ._errors import Fail, InvalidArgument, NoSuchFile, NotImplemented, fail
from ._memory import OrtDevice, OrtMemoryInfo, checked_int
from ._options import RunOptions, SessionOptions
from ._providers import CPU, Provider, append, normalise, texts
from ._session_facts import (
    ModelMetadata, NodeArg, NodeAssignment, OrtEpAssignedNode, OrtEpAssignedSubgraph, read_metadata)
from ._types import Kind, ValueType, element_from, read_type
from ._values import OrtValue

_RECORD = "session.record_ep_graph_assignment_info"
_DISABLED_OPTIMIZERS = "optimization.disable_specified_optimizers"
_run = _native.run_arrays


def _typed(session: Any, names: list[str], type_of: Callable[[Any, int], Any]) -> dict[str, ValueType]:
    return {name: read_type(type_of(session, i)) for i, name in enumerate(names)}


def _node_args(types: dict[str, ValueType]) -> list[NodeArg]:
    return [NodeArg(name, str(kind), list(kind.shape)) for name, kind in types.items()]


def _ports(types: dict[str, ValueType]) -> list[tuple[str, int]]:
    return [(name, kind.element if kind.kind == Kind.TENSOR else 0) for name, kind in types.items()]


def _converter(types: dict[str, ValueType]) -> Callable[[int, str, Any], Any]:
    """Makes input values that are not plain arrays. It must not refer to the session, which keeps it."""
    names, kinds = list(types), list(types.values())

    def convert(index: int, name: str, value: Any) -> Any:
        if index < 0:
            known = ", ".join(f"'{known}'" for known in names)
            fail(InvalidArgument, f"Invalid input name: {name}; the model's inputs are {known}")
        return _convert.value_of(value, kinds[index], f"; input '{name}'")

    return convert


class InferenceSession:
    """A model that is ready to run. Any number of threads may run it at once, and other Python threads go on meanwhile.
    close() gives it up early; runs in progress end well, and later calls raise ValueError.

    A session of a path pickles as that path, its options and its providers: where it is unpickled the model is loaded
    anew, in the default environment."""

    _component: Any = None  # of a model package

    def __init__(self, path_or_bytes: Union[Path, bytearray, memoryview], sess_options: Optional[SessionOptions] = None,
                 providers: Optional[Sequence[Provider]] = None,
                 provider_options: Optional[Sequence[dict[str, Any]]] = None, *, fallback: Optional[bool] = None,
                 environment: Optional[Environment] = None, disabled_optimizers: Sequence[str] = (),
                 disable_fallback: bool = False) -> None:
        """Loads a model from a path (str or path object) or from its bytes.

        `providers` are names or (name, options) pairs, those asked first standing first; the CPU's always comes last.
        A name that nobody knows is InvalidArgument. A known provider that is not here is Fail, unless fallback was asked
        for: by "CPUExecutionProvider" in the list or by fallback=True. Then a UserWarning tells which provider is not
        used. With fallback=False or disable_fallback=True it is always an error. get_providers lists what the session was given;
        node_assignments tells what runs where. `disabled_optimizers` names rewritings of the model to leave out."""
        self._model = self._model_of(path_or_bytes)
        self._options = sess_options if sess_options is not None else SessionOptions()
        self._environment = environment or default_environment()
        self._fallback = False if disable_fallback else fallback
        self._disabled_optimizers = ";".join(disabled_optimizers)
        self._lock = threading.Lock()
        self._handle: Any = None
        self._open(providers, provider_options)

    @classmethod
    def _of_component(cls, component: Any, options: Optional[SessionOptions]) -> InferenceSession:
        """A session of a component of a model package, which cannot be loaded again for other providers."""
        self = cls.__new__(cls)
        self._model, self._component = b"", component
        self._options, self._environment = options or SessionOptions(), default_environment()
        self._fallback, self._disabled_optimizers, self._lock = None, "", threading.Lock()
        handle = _native.create_component_session(self._environment._handle, component, options and options._handle)
        _native.keep(handle, (self._options._handle, self._environment._handle, component))
        self._provider_options = {name: {} for name in (*self._options._appended, CPU)}
        self._describe(handle)
        self._handle, self._requested = handle, []
        return self

    @staticmethod
    def _model_of(path_or_bytes: Any) -> Union[bytes, tuple[bytes]]:
        """Bytes of a model, or its path in a tuple."""
        if isinstance(path_or_bytes, (bytes, bytearray, memoryview)):
            return bytes(path_or_bytes)
        if isinstance(path_or_bytes, (str, os.PathLike)):
            return (os.fsencode(path_or_bytes),)
        raise TypeError(f"a model is a path or bytes, not '{type(path_or_bytes).__name__}'")

    def _open(self, providers: Optional[Sequence[Provider]],
              provider_options: Optional[Sequence[dict[str, Any]]]) -> None:
        requested = normalise(providers or [], provider_options)
        options = _native.clone_session_options(self._options._handle)
        _native.keep(options, self._options._handle)
        if _native.session_setting(options, _RECORD) is None:
            _native.add_session_setting(options, _RECORD, "1")
        if self._disabled_optimizers:
            _native.add_session_setting(options, _DISABLED_OPTIMIZERS, self._disabled_optimizers)
        if _environment.default_verbosity is not None and not SessionOptions.log_verbosity_level.is_set(self._options):
            _native.set_session_verbosity(options, _environment.default_verbosity)
        present = append(options, requested, self._fallback)
        handle = self._create(options)
        self._provider_options: dict[str, dict[str, str]] = {name: {} for name in self._options._appended}
        self._provider_options.update(present)
        self._provider_options.setdefault(CPU, {})
        self._describe(handle)
        self._handle, self._requested = handle, requested

    def _create(self, options: Any) -> Any:
        environment = self._environment._handle
        if isinstance(self._model, tuple):
            handle = _native.create_session(environment, self._model[0], options)
        else:
            handle = _native.create_session_from_bytes(environment, self._model, options)
        _native.keep(handle, (options, environment, self._model))
        return handle

    def _describe(self, handle: Any) -> None:
        self._input_names_handle = _native.input_names(handle)
        self._output_names_handle = _native.output_names(handle)
        self._overridable_types = _typed(handle, texts(_native.overridable_names(handle)), _native.overridable_type)
        self._required_types = _typed(handle, texts(self._input_names_handle), _native.input_type)
        self._output_types = _typed(handle, texts(self._output_names_handle), _native.output_type)
        self._input_types = {**self._required_types, **self._overridable_types}
        self._ports = _native.create_ports(_ports(self._input_types), len(self._required_types),
                                           _ports(self._output_types), _converter(self._input_types),
                                           _convert.array_over)

    def _open_handle(self) -> Any:
        if self._handle is None:
            raise ValueError("the InferenceSession is closed")
        return self._handle

    # ---- Running ----

    def run(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
            run_options: Optional[RunOptions] = None) -> list[Any]:
        """The outputs of these names, None or none for all, for the inputs of `input_feed`: arrays, numbers, lists, texts;
        lists and dicts for sequences and maps; or OrtValue. Contiguous arrays are read in place; large output arrays lie
        where the run left them. Missing inputs are a ValueError."""
        return _run(self._handle, self._ports, output_names, input_feed,
                    None if run_options is None else run_options._handle)

    def run_with_ort_values(self, output_names: Optional[Sequence[str]], input_dict_ort_values: Mapping[str, OrtValue],
                            run_options: Optional[RunOptions] = None) -> list[OrtValue]:
        """As run, with values of the library in and out."""
        binding = self.io_binding()
        for name, value in input_dict_ort_values.items():
            binding.bind_ortvalue_input(name, value)
        for name in output_names or self._output_types:
            binding.bind_output(name)
        self.run_with_iobinding(binding, run_options)
        return binding.get_outputs()

    def io_binding(self) -> IOBinding:
        """A new binding of inputs and outputs for run_with_iobinding."""
        self._open_handle()
        return IOBinding(self)

    def run_with_iobinding(self, iobinding: Union[IOBinding, SessionIOBinding],
                           run_options: Optional[RunOptions] = None) -> None:
        """Runs on what is bound."""
        self._open_handle()
        iobinding._run(self, None if run_options is None else run_options._handle)

    def run_with_ortvaluevector(self, run_options: Optional[RunOptions], feed_names: Sequence[str],
                                feeds: Sequence[OrtValue], fetch_names: Sequence[str], fetches: OrtValueVector,
                                fetch_devices: Sequence[OrtDevice] = ()) -> None:
        """Runs from one vector into another: values that stand in `fetches` are written in place, and where it is empty
        the outputs are put there, on the devices of `fetch_devices`."""
        if len(feed_names) != len(feeds):
            fail(InvalidArgument, f"there are {len(feed_names)} names of inputs and {len(feeds)} values")
        binding = self.io_binding()
        for name, value in zip(feed_names, feeds):
            binding.bind_ortvalue_input(name, value)
        bind_fetches(binding, fetch_names, fetches, fetch_devices)
        self.run_with_iobinding(binding, run_options)
        fetches[:] = binding.get_outputs()

    def run_async(self, output_names: Optional[Sequence[str]], input_feed: Mapping[str, Any],
                  callback: Callable[[list[Any], Any, str], Any], user_data: Any = None,
                  run_options: Optional[RunOptions] = None) -> None:
        """Runs on a thread of its own and then calls `callback(outputs, user_data, error)` there; `error` is empty when
        all went well."""

        def work() -> None:
            try:
                outputs, error = self.run(output_names, input_feed, run_options), ""
            except Exception as failure:  # pylint: disable=broad-except
                outputs, error = [], str(failure)
            callback(outputs, user_data, error)

        self._open_handle()
        threading.Thread(target=work, name="ortolan-run-async").start()

    # ---- What the session is ----

    def get_inputs(self) -> list[NodeArg]:
        """The inputs that every run must be given."""
        self._open_handle()
        return _node_args(self._required_types)

    def get_outputs(self) -> list[NodeArg]:
        """The outputs."""
        self._open_handle()
        return _node_args(self._output_types)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """Initializers that a run may be given other values for, as inputs."""
        self._open_handle()
        return _node_args(self._overridable_types)

    def get_modelmeta(self) -> ModelMetadata:
        """What the model says about itself."""
        return read_metadata(self._open_handle())

    def get_session_options(self) -> SessionOptions:
        """The options that the session was made with."""
        return self._options

    def get_providers(self) -> list[str]:
        """The providers that the session was given and that are here, in the order in which they are asked, with the
        CPU's at the end. They need not run any node: see providers_in_use."""
        return list(self._provider_options)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options given for each of these."""
        return {name: dict(options) for name, options in self._provider_options.items()}

    def set_providers(self, providers: Sequence[Provider],
                      provider_options: Optional[Sequence[dict[str, Any]]] = None) -> None:
        """Loads the model again, for other providers. Runs in progress end well; bindings made before stay with what
        they were made for."""
        with self._lock:
            self._open_handle()
            if self._component is not None:
                fail(NotImplemented, "a session of a model package is not loaded again; call create_session with options")
            self._open(providers, provider_options)

    def node_assignments(self) -> list[NodeAssignment]:
        """Which provider runs each node of the rewritten model."""
        flat = iter(texts(_native.node_assignments(self._open_handle())))
        return [NodeAssignment(*four) for four in zip(flat, flat, flat, flat)]

    def providers_in_use(self) -> list[str]:
        """The providers that run nodes."""
        return list(dict.fromkeys(node.provider for node in self.node_assignments()))

    def get_provider_graph_assignment_info(self) -> list[OrtEpAssignedSubgraph]:
        """What node_assignments tells, by groups of nodes that run together."""
        return [OrtEpAssignedSubgraph(provider, tuple(OrtEpAssignedNode(*node) for node in nodes))
                for provider, nodes in _native.assigned_groups(self._open_handle())]

    def get_input_memory_infos(self) -> list[OrtMemoryInfo]:
        """The memory in which each input is wanted."""
        return self._memory_infos(_native.input_memory, len(self._required_types))

    def get_output_memory_infos(self) -> list[OrtMemoryInfo]:
        """The memory in which each output is made."""
        return self._memory_infos(_native.output_memory, len(self._output_types))

    def _memory_infos(self, memory_of: Callable[[Any, int], Any], count: int) -> list[OrtMemoryInfo]:
        handle = self._open_handle()
        memories = [memory_of(handle, i) for i in range(count)]
        for memory in memories:
            _native.keep(memory, handle)
        return [OrtMemoryInfo._of(memory) for memory in memories]

    def get_input_epdevices(self) -> list[Optional[OrtEpDevice]]:
        """The device that wants each input; None where no provider tells one."""
        handles: list[Any] = [_native.input_device(self._open_handle(), i) for i in range(len(self._required_types))]
        for handle in handles:
            if handle is not None:
                _native.keep(handle, self._environment._handle)
        return [handle and OrtEpDevice(handle) for handle in handles]

    # ---- Settings of the providers ----

    def set_ep_dynamic_options(self, options: Mapping[str, str]) -> None:
        """Changes settings of the providers while the session lives, such as "ep.dynamic.workload_type"."""
        if not options:
            fail(InvalidArgument, "set_ep_dynamic_options: no options are given")
        _native.set_dynamic_options(self._open_handle(), settings_of(dict(options)))

    def get_tuning_results(self) -> list[dict[str, Any]]:
        """An empty list: no provider has kernels that are tuned in this way."""
        self._open_handle()
        return []

    def set_tuning_results(self, results: Sequence[Mapping[str, Any]], *, error_on_invalid: bool = False) -> None:
        """Takes results of tuning, each a dict with the keys ep, validators and results. No provider uses any, which is a
        warning, or with error_on_invalid Fail."""
        self._open_handle()
        for index, result in enumerate(results):
            provider = result["ep"]
            text = f"tuning results {index} are not used: the provider {provider} has no kernels that are tuned"
            if error_on_invalid:
                fail(Fail, text)
            warnings.warn(text, UserWarning, stacklevel=2)

    def release_captured_graph(self, graph_annotation_id: int = 0) -> None:
        """Gives up the recording of a run that a provider keeps under that number, if there is one."""
        _native.release_captured_graph(self._open_handle(), checked_int(graph_annotation_id, "graph_annotation_id"))

    def create_ortvalue_from_shape_and_type(self, shape: Sequence[int], element_type: Any, device_type: str,
                                            device_id: int = 0, vendor_id: int = -1) -> OrtValue:
        """A tensor in the memory of a device that the session uses, or of the CPU: zeros there, undefined elsewhere. It
        keeps the session alive."""
        session, element, sizes = self._open_handle(), element_from(element_type), [int(size) for size in shape]
        if device_type.lower() == "cpu":
            return OrtValue(_native.tensor_of_zeros(sizes, element))
        memory = self._environment._memory(device_type.lower(), device_id, vendor_id)
        handle: Any = _native.tensor_in_session(session, memory, sizes, element)
        _native.keep(handle, session)
        return OrtValue(handle)

    # ---- Profile and end ----

    def end_profiling(self) -> str:
        """Ends the profile and returns its file; empty when profiling is off."""
        return _native.end_profiling(self._open_handle())

    def get_profiling_start_time_ns(self) -> int:
        """When profiling began, on the clock of the profile's times."""
        return _native.profiling_start_ns(self._open_handle())

    def close(self) -> None:
        """Gives the session up, when runs in progress have ended; twice is once."""
        self._handle = None

    def __reduce__(self) -> tuple[Any, ...]:
        self._open_handle()
        if not isinstance(self._model, tuple):
            raise TypeError("a session made from bytes cannot be pickled; open the session in the worker, from a path or from "
                            "the bytes")
        path = os.path.abspath(os.fsdecode(self._model[0]))
        return type(self)._restored, (path, self._options, self._requested, self._fallback, self._disabled_optimizers)

    @classmethod
    def _restored(cls, path: str, options: SessionOptions, providers: list[tuple[str, dict[str, str]]],
                  fallback: Optional[bool], disabled_optimizers: str) -> InferenceSession:
        """A session in another process: what pickle calls."""
        if not os.path.exists(path):
            fail(NoSuchFile, f"the model of a pickled session is not here: {path} does not exist; the file must be on every "
                             "machine that unpickles the session")
        return cls(path, options, providers, fallback=fallback,
                   disabled_optimizers=[name for name in disabled_optimizers.split(";") if name])

    def __enter__(self) -> InferenceSession:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
