"""OrtValue: tensors, sequences, maps and optionals that stay in the library between runs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from . import _convert, _native
from ._environment import default_environment
from ._errors import InvalidArgument, fail
from ._types import PACKED, STRING, Array, Kind, ValueType, carries, dtype_of, element_from, element_of, read_type


class OrtDevice:
    """A device by name and number."""

    def __init__(self, device_type: str, device_id: int = 0) -> None:
        self._type, self._id = device_type.lower(), int(device_id)

    @staticmethod
    def make(ort_device_name: str, device_id: int = 0, vendor_id: int = -1) -> OrtDevice:
        """A device; names tell vendors apart here, so `vendor_id` is not needed."""
        return OrtDevice(ort_device_name, device_id)

    def device_type(self) -> str:
        """Its name in lower case: "cpu"."""
        return self._type

    def device_id(self) -> int:
        """Its number among those of that name."""
        return self._id

    def __repr__(self) -> str:
        return f"OrtDevice({self._type!r}, {self._id})"


def _shape_of(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(int(size) for size in shape)


def byte_size(shape: Sequence[int], element: int) -> int:
    """Bytes of a tensor; its dimensions must not be negative."""
    if any(size < 0 for size in shape):
        fail(InvalidArgument, f"the dimensions {tuple(shape)} must not be negative")
    count = 1
    for size in shape:
        count *= size
    if element in PACKED:
        return -(-count // PACKED[element])
    return count * dtype_of(element).itemsize


class OrtValue:
    """A value of the library. Its memory lives as long as it, or as the arrays that look into it. Any number of threads
    may read it at once. close() gives it up early; calls afterwards raise ValueError."""

    def __init__(self, handle: Any, writeable: bool = True) -> None:
        self._handle = handle
        self._writeable = writeable

    def _output_handle(self) -> Any:
        """The handle, for those who write into the memory."""
        if not self._writeable:
            fail(InvalidArgument, "the value is made over an array that is not writeable")
        return self._value_handle()

    def _value_handle(self) -> Any:
        if self._handle is None:
            raise ValueError("the OrtValue is closed")
        return self._handle

    # ---- Making values ----

    @staticmethod
    def ortvalue_from_numpy(numpy_obj: Array, device_type: str = "cpu", device_id: int = 0,
                            vendor_id: int = -1) -> OrtValue:
        """A tensor over the array's memory where the library can read it as it lies: later changes of the array are
        seen. Arrays that are not contiguous, of another byte order, of texts, or for another device are copied."""
        array = np.asarray(numpy_obj)
        element = element_of(array.dtype)
        if not element:
            fail(InvalidArgument, f"ONNX has no element type for NumPy's {array.dtype}")
        value = OrtValue(_convert.tensor(array, element), array.flags.writeable)
        return value if device_type.lower() == "cpu" else value.to_device(device_type, device_id)

    @staticmethod
    def ortvalue_from_numpy_with_onnx_type(data: Array, onnx_element_type: int) -> OrtValue:
        """A tensor of an ONNX type that the array's type carries: uint16 for BFLOAT16, uint8 for the float8 types."""
        element = element_from(int(onnx_element_type))
        array = np.asarray(data)
        if not carries(array.dtype, element):
            fail(InvalidArgument, f"arrays of {array.dtype} do not carry elements of ONNX's type {element.name}")
        return OrtValue(_convert.tensor(array, element), array.flags.writeable)

    @staticmethod
    def ortvalue_from_bytes(data: Any, shape: Sequence[int], element_type: Any) -> OrtValue:
        """A tensor with a copy of the bytes, for types that NumPy does not have: packed ones hold several elements a
        byte, the first in the low bits."""
        view = np.frombuffer(data, np.uint8)
        return OrtValue(_convert.packed_tensor(view, _shape_of(shape), element_from(element_type)))

    @staticmethod
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu",
                                     device_id: int = 0, vendor_id: int = -1) -> OrtValue:
        """A tensor of zeros, or of empty strings; on another device than "cpu" its content is undefined."""
        shape, element = _shape_of(shape), element_from(element_type)
        if device_type.lower() == "cpu":
            return OrtValue(_native.tensor_of_zeros(shape, element))
        environment = default_environment()
        memory = environment._memory(device_type.lower(), device_id)
        handle = _native.tensor_on_device(environment._handle, memory, shape, element)
        _native.keep(handle, environment._handle)
        return OrtValue(handle)

    @staticmethod
    def ortvalue_from_sequence(values: Sequence[Any]) -> OrtValue:
        """A sequence of values of one type: OrtValue or arrays."""
        handles = [value._value_handle() if isinstance(value, OrtValue) else
                   OrtValue.ortvalue_from_numpy(np.asarray(value))._handle for value in values]
        sequence = _native.create_sequence(handles)
        _native.keep(sequence, handles)
        return OrtValue(sequence)

    @staticmethod
    def ortvalue_from_map(content: dict[Any, Any], key_type: Any, value_type: Any) -> OrtValue:
        """A map from int or str to numbers or str; the types are element types."""
        kind = ValueType(Kind.MAP, element_from(key_type), (), ValueType(Kind.TENSOR, element_from(value_type)))
        return OrtValue(_convert.value_of(content, kind))

    def to_device(self, device_type: str, device_id: int = 0) -> OrtValue:
        """A copy of the tensor in the memory of a device."""
        copy = OrtValue.ortvalue_from_shape_and_type(self.shape(), self.element_type(), device_type, device_id)
        _native.copy_tensor(default_environment()._handle, self._value_handle(), copy._handle)
        return copy

    # ---- What it is ----

    def has_value(self) -> bool:
        """False for an optional without a value."""
        return bool(_native.value_present(self._value_handle()))

    def is_tensor(self) -> bool:
        """Whether it is a dense tensor."""
        return _native.value_kind(self._value_handle()) == Kind.TENSOR

    def is_sparse_tensor(self) -> bool:
        """Whether it is a sparse tensor."""
        return _native.value_kind(self._value_handle()) == Kind.SPARSE_TENSOR

    def is_tensor_sequence(self) -> bool:
        """Whether it is a sequence of tensors."""
        if _native.value_kind(self._value_handle()) != Kind.SEQUENCE:
            return False
        content = self._type().content
        return content is not None and content.kind == Kind.TENSOR

    def is_map(self) -> bool:
        """Whether it is a map."""
        return _native.value_kind(self._value_handle()) == Kind.MAP

    def _type(self) -> ValueType:
        return read_type(_native.value_type(self._value_handle()))

    def data_type(self) -> str:
        """Its type as text: "tensor(float)", "seq(tensor(int64))"."""
        return str(self._type())

    def element_type(self) -> int:
        """TensorElementType of a tensor's elements."""
        return _native.tensor_description(self._value_handle())[0]

    def shape(self) -> list[int]:
        """The dimensions of a tensor."""
        return list(_native.tensor_description(self._value_handle())[3])

    def tensor_size_in_bytes(self) -> int:
        """The bytes of a tensor's elements; 0 for strings."""
        return _native.tensor_description(self._value_handle())[2]

    def data_ptr(self) -> int:
        """The address of a tensor's elements, of its device; good as long as the value lives."""
        return _native.tensor_description(self._value_handle())[1]

    def device_name(self) -> str:
        """The name of the memory that a tensor is in, in lower case: "cpu"."""
        return _native.memory_name(_native.tensor_memory(self._value_handle())).lower()

    # ---- Its content ----

    def _on_cpu(self) -> Any:
        handle = self._value_handle()
        memory = _native.tensor_memory(handle)
        if _native.memory_device_type(memory) == 0:
            return handle
        element, _, _, shape = _native.tensor_description(handle)
        copy = _native.tensor_of_zeros(shape, element)
        _native.copy_tensor(default_environment()._handle, handle, copy)
        return copy

    def numpy(self, copy: bool = True) -> Array:
        """The elements of a tensor as an array: a copy, or with copy=False a view of the tensor's own memory, which
        later runs may change. Packed types come as bytes."""
        if not self.is_tensor():
            fail(InvalidArgument, f"only tensors are arrays, not a {self.data_type()}; see to_python")
        array = _convert.array_of(self._on_cpu(), copy)
        if not copy and not self._writeable:
            array.flags.writeable = False
        return array

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Array:
        array = self.numpy(copy=copy is not False)
        return array if dtype is None else array.astype(dtype, copy=False)

    def to_python(self) -> Any:
        """The content as a run returns it: an array, a list for a sequence, a dict for a map, None for nothing."""
        return self.numpy() if self.is_tensor() else _convert.object_of(self._value_handle())

    def update_inplace(self, np_arr: Array) -> None:
        """Copies an array of the same shape and type into the tensor's memory, wherever that is."""
        array, (element, _, size, shape) = np.asarray(np_arr), _native.tensor_description(self._output_handle())
        if array.shape != shape or not carries(array.dtype, element) or element == STRING:
            fail(InvalidArgument, f"an array of {array.dtype} and shape {array.shape} cannot replace the content of a "
                                  f"{self.data_type()} of shape {shape}")
        if _native.memory_device_type(_native.tensor_memory(self._handle)) == 0:
            _native.write_tensor(self._handle, _convert.in_place(array).ravel().view(np.uint8))
        else:
            _native.copy_tensor(default_environment()._handle, _convert.tensor(array, element), self._handle)

    def close(self) -> None:
        """Gives the value up; twice is once."""
        self._handle = None

    def __enter__(self) -> OrtValue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def tensor_at(address: int, shape: Sequence[int], element: int) -> Any:
    """A handle of a tensor over CPU memory that the caller vouches for."""
    shape = _shape_of(shape)
    return _native.tensor_over((address, byte_size(shape, element)), shape, element)


