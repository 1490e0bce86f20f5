"""IOBinding: inputs and outputs that are bound once and run many times, on whatever device."""
from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Optional

from . import _convert, _native
from ._errors import InvalidArgument, fail
from ._memory import OrtDevice
from ._types import Array, ValueType, element_from
from ._values import OrtValue, tensor_at

if TYPE_CHECKING:
    from ._session import InferenceSession


class IOBinding:
    """The inputs and outputs of one session's runs, made by InferenceSession.io_binding. It keeps what is bound alive.
    One run uses it at a time: other threads' calls wait for its end. close() gives it up early; calls afterwards raise
    ValueError."""

    def __init__(self, session: InferenceSession) -> None:
        self._lock = threading.Lock()
        self._types: dict[str, ValueType] = session._input_types
        self._environment = session._environment
        self._session, self._session_handle = session, session._handle
        self._handle = _native.create_binding(self._session_handle)
        _native.keep(self._handle, self._session_handle)
        self._inputs: dict[str, Any] = {}
        self._outputs: dict[str, Any] = {}

    def _bind_input(self, name: str, handle: Any) -> None:
        with self._lock:
            _native.bind_input(self._handle, name, handle)
            self._inputs[name] = handle

    def _bind_output(self, name: str, handle: Any) -> None:
        with self._lock:
            _native.bind_output(self._handle, name, handle)
            self._outputs[name] = handle

    def bind_cpu_input(self, name: str, arr_on_cpu: Array) -> None:
        """Binds an array as an input: without a copy where it is contiguous, so that its later content is what later
        runs read."""
        expected = self._types.get(name)
        if expected is None:
            self._bind_input(name, OrtValue.ortvalue_from_numpy(arr_on_cpu)._handle)
        else:
            self._bind_input(name, _convert.value_of(arr_on_cpu, expected, f"; input '{name}'"))

    def bind_input(self, name: str, device_type: str, device_id: int, element_type: Any, shape: Sequence[int],
                   buffer_ptr: int) -> None:
        """Binds memory at an address: of the CPU, elements of that type close together. The caller keeps it alive as
        long as it is bound, and vouches for its size."""
        if device_type.lower() != "cpu":
            _only_values(device_type)
        self._bind_input(name, tensor_at(buffer_ptr, shape, element_from(element_type)))

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds a value, on whatever device it is."""
        self._bind_input(name, ortvalue._value_handle())

    def bind_output(self, name: str, device_type: str = "cpu", device_id: int = 0, element_type: Any = None,
                    shape: Optional[Sequence[int]] = None, buffer_ptr: Optional[int] = None) -> None:
        """Binds an output: with only a device each run makes it there; with type and shape it is made now, once, and
        written in place by each run; with an address too it is written there, under the rules of bind_input."""
        if buffer_ptr is not None:
            if device_type.lower() != "cpu":
                _only_values(device_type)
            self._bind_output(name, tensor_at(buffer_ptr, shape or (), element_from(element_type)))
        elif shape is not None and element_type is not None:
            made = OrtValue.ortvalue_from_shape_and_type(shape, element_type, device_type, device_id)
            self._bind_output(name, made._handle)
        else:
            memory = self._environment._memory(device_type.lower(), device_id)
            with self._lock:
                _native.bind_output_to_memory(self._handle, name, memory)
                self._outputs.pop(name, None)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds a tensor that each run writes in place, on whatever device it is."""
        self._bind_output(name, ortvalue._output_handle())

    def synchronize_inputs(self) -> None:
        """Waits until copies to the inputs have ended."""
        with self._lock:
            _native.synchronize_inputs(self._handle)

    def synchronize_outputs(self) -> None:
        """Waits until the outputs are whole."""
        with self._lock:
            _native.synchronize_outputs(self._handle)

    def get_output_names(self) -> list[str]:
        """The bound outputs, in the order of get_outputs."""
        with self._lock:
            names = _native.bound_output_names(self._handle)
        return [_native.text_at(names, i) for i in range(_native.text_count(names))]

    def _output_handles(self) -> list[Any]:
        with self._lock:
            handles: list[Any] = [None] * _native.bound_outputs(self._handle, [])
            _native.bound_outputs(self._handle, handles)
            names = _native.bound_output_names(self._handle)
            for i, handle in enumerate(handles):
                _native.keep(handle, self._outputs.get(_native.text_at(names, i)))
        return handles

    def get_outputs(self) -> list[OrtValue]:
        """The outputs of the last run, wherever they are, in the order in which they were bound."""
        return [OrtValue(handle) for handle in self._output_handles()]

    def get_outputs_as_ortvaluevector(self) -> OrtValueVector:
        """get_outputs as an OrtValueVector."""
        return OrtValueVector(self.get_outputs())

    def copy_outputs_to_cpu(self) -> list[Any]:
        """Copies of the outputs of the last run: arrays, and for other types what InferenceSession.run returns."""
        return [value.to_python() for value in self.get_outputs()]

    def clear_binding_inputs(self) -> None:
        """Takes all inputs out."""
        with self._lock:
            _native.clear_bound_inputs(self._handle)
            self._inputs.clear()

    def clear_binding_outputs(self) -> None:
        """Takes all outputs out."""
        with self._lock:
            _native.clear_bound_outputs(self._handle)
            self._outputs.clear()

    def close(self) -> None:
        """Gives the binding up, after a run in progress; twice is once."""
        with self._lock:
            self._handle = None
            self._inputs.clear()
            self._outputs.clear()

    def __enter__(self) -> IOBinding:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, session: InferenceSession, options_handle: Any) -> None:
        if session is not self._session:
            fail(InvalidArgument, "the binding was made by another session's io_binding")
        with self._lock:
            _native.run_binding(self._session_handle, options_handle, self._handle)


class OrtValueVector(list[OrtValue]):
    """A list of values, as SessionIOBinding and InferenceSession.run_with_ortvaluevector take and give it."""

    def push_back(self, value: Any) -> None:
        """Adds a value: an OrtValue, or what OrtValue.from_dlpack takes."""
        self.append(value if isinstance(value, OrtValue) else OrtValue.from_dlpack(value))

    def push_back_batch(self, tensors: Sequence[Any], data_ptrs: Sequence[int], element_types: Sequence[Any],
                        shapes: Sequence[Sequence[int]], devices: Sequence[OrtDevice]) -> None:
        """Adds values over CPU memory at addresses, which `tensors` are known to keep alive: each value keeps its own."""
        parts = (tensors, data_ptrs, element_types, shapes, devices)
        if len({len(part) for part in parts}) != 1:
            fail(InvalidArgument, "tensors, addresses, types, shapes and devices must be as many")
        for tensor, address, element_type, shape, device in zip(*parts):
            if device._name != "cpu":
                _only_values(device._name)
            handle = tensor_at(address, shape, element_from(element_type))
            _native.keep(handle, tensor)
            self.append(OrtValue(handle))

    def element_type_at(self, idx: int) -> int:
        """TensorElementType of a value."""
        return self[idx].element_type()

    def dlpack_at(self, idx: int) -> Any:
        """A value's OrtValue.__dlpack__."""
        return self[idx].__dlpack__()

    def to_dlpacks(self, to_tensor: Optional[Callable[[Any], Any]] = None) -> list[Any]:
        """OrtValue.__dlpack__ of all, each handed to `to_tensor`, if there is one."""
        capsules = (value.__dlpack__() for value in self)
        return list(capsules) if to_tensor is None else [to_tensor(capsule) for capsule in capsules]

    def reserve(self, count: int) -> None:
        """Does nothing: lists grow by themselves."""

    def shrink_to_fit(self) -> None:
        """Does nothing: lists shrink by themselves."""


class SessionIOBinding:
    """IOBinding with devices in place of their names, and outputs in an OrtValueVector."""

    def __init__(self, session: InferenceSession) -> None:
        self._binding = session.io_binding()

    def bind_input(self, name: str, array: Any, element_type: Any = None, shape: Sequence[int] = (),
                   buffer_ptr: int = 0) -> None:
        """bind_input(name, array) binds an array, bind_input(name, device, element_type, shape, buffer_ptr) memory."""
        if isinstance(array, OrtDevice):
            self._binding.bind_input(name, array._name, array._id, element_type, shape, buffer_ptr)
        else:
            self._binding.bind_cpu_input(name, array)

    def bind_output(self, name: str, device: OrtDevice, element_type: Any = None, shape: Optional[Sequence[int]] = None,
                    buffer_ptr: Optional[int] = None) -> None:
        """Binds an output: with only a device each run makes it there, else it is memory at an address."""
        if not isinstance(device, OrtDevice):
            raise TypeError(f"an OrtDevice is needed, not '{type(device).__name__}'; see OrtDevice.make")
        self._binding.bind_output(name, device._name, device._id, element_type, shape, buffer_ptr)

    def bind_ortvalue_input(self, name: str, ortvalue: OrtValue) -> None:
        """Binds a value."""
        self._binding.bind_ortvalue_input(name, ortvalue)

    def bind_ortvalue_output(self, name: str, ortvalue: OrtValue) -> None:
        """Binds a tensor that each run writes in place."""
        self._binding.bind_ortvalue_output(name, ortvalue)

    def synchronize_inputs(self) -> None:
        """Waits until copies to the inputs have ended."""
        self._binding.synchronize_inputs()

    def synchronize_outputs(self) -> None:
        """Waits until the outputs are whole."""
        self._binding.synchronize_outputs()

    def clear_binding_inputs(self) -> None:
        """Takes all inputs out."""
        self._binding.clear_binding_inputs()

    def clear_binding_outputs(self) -> None:
        """Takes all outputs out."""
        self._binding.clear_binding_outputs()

    def get_outputs(self) -> OrtValueVector:
        """The outputs of the last run."""
        return self._binding.get_outputs_as_ortvaluevector()

    def copy_outputs_to_cpu(self) -> list[Any]:
        """Copies of the outputs of the last run."""
        return self._binding.copy_outputs_to_cpu()

    def _run(self, session: InferenceSession, options_handle: Any) -> None:
        self._binding._run(session, options_handle)


def bind_fetches(binding: IOBinding, names: Sequence[str], fetches: Sequence[OrtValue],
                 devices: Sequence[OrtDevice]) -> None:
    """Binds outputs: the values, where there are any, else the devices, else the CPU."""
    for side, words in ((fetches, "values to write"), (devices, "devices")):
        if side and len(side) != len(names):
            fail(InvalidArgument, f"there are {len(names)} names of outputs and {len(side)} {words}")
    for index, name in enumerate(names):
        if fetches:
            binding.bind_ortvalue_output(name, fetches[index])
        elif devices:
            binding.bind_output(name, devices[index]._name, devices[index]._id)
        else:
            binding.bind_output(name)


def _only_values(device_type: str) -> None:
    raise ValueError(f"memory of the device '{device_type}' is bound as an OrtValue: see "
                     "OrtValue.ortvalue_from_shape_and_type, bind_ortvalue_input and bind_ortvalue_output")
