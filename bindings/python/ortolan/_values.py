"""OrtValue: tensors, sequences, maps and optionals that stay in the library between runs."""
from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy as np

from . import _convert, _dlpack, _native
from ._environment import default_environment
from ._errors import InvalidArgument, fail
from ._memory import OrtMemoryInfo, OrtSyncStream
from ._types import PACKED, STRING, Array, Kind, ValueType, carries, dtype_of, element_from, element_of, read_type

if TYPE_CHECKING:
    from ._sparse import SparseTensor


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
        return value if device_type.lower() == "cpu" else value.to_device(device_type, device_id, vendor_id)

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
    def ortvalue_from_shape_and_type(shape: Sequence[int], element_type: Any, device_type: str = "cpu", device_id: int = 0,
                                     vendor_id: int = -1, memory_info: Optional[OrtMemoryInfo] = None) -> OrtValue:
        """A tensor of zeros, or of empty strings; on another device than "cpu" its content is undefined. `memory_info`,
        as of OrtEpDevice.memory_info, takes the place of the device."""
        shape, element = _shape_of(shape), element_from(element_type)
        if memory_info is None and device_type.lower() == "cpu":
            return OrtValue(_native.tensor_of_zeros(shape, element))
        environment = default_environment()
        memory = environment._memory(device_type.lower(), device_id, vendor_id) if memory_info is None else \
            memory_info._handle
        handle = _native.tensor_on_device(environment._handle, memory, shape, element)
        _native.keep(handle, (environment._handle, memory))
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

    @classmethod
    def ort_value_from_sparse_tensor(cls, sparse_tensor: SparseTensor) -> OrtValue:
        """A value of a sparse tensor, whose memory both then share."""
        from ._sparse import value_of_sparse
        return value_of_sparse(cls, sparse_tensor)

    @classmethod
    def from_dlpack(cls, data: Any, /) -> OrtValue:
        """A tensor over the memory of another package's: an object with __dlpack__, or the capsule that it returns, which
        is then used up. BufferError for elements that ONNX does not have and for what is not contiguous."""
        return cls(_dlpack.from_any(data))

    def to_device(self, device_type: str, device_id: int = 0, vendor_id: int = -1) -> OrtValue:
        """A copy of the tensor in the memory of a device."""
        copy = OrtValue.ortvalue_from_shape_and_type(self.shape(), self.element_type(), device_type, device_id, vendor_id)
        _native.copy_tensor(default_environment()._handle, self._value_handle(), copy._handle)
        return copy

    @property
    def _ortvalue(self) -> OrtValue:
        """Itself: for code that looks for the object behind it."""
        return self

    def _get_c_value(self) -> OrtValue:
        return self

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

    def _facts(self) -> tuple[int, Sequence[int]]:
        """Element type and dimensions of a tensor, dense or sparse."""
        handle = self._value_handle()
        if self.is_sparse_tensor():
            return _native.sparse_description(handle)
        element, _, _, shape = _native.tensor_description(handle)
        return element, shape

    def element_type(self) -> int:
        """TensorElementType of a tensor's elements."""
        return self._facts()[0]

    def shape(self) -> list[int]:
        """The dimensions of a tensor."""
        return list(self._facts()[1])

    def tensor_size_in_bytes(self) -> int:
        """The bytes of a tensor's elements; 0 for strings."""
        return _native.tensor_description(self._value_handle())[2]

    def data_ptr(self) -> int:
        """The address of a tensor's elements, of its device; good as long as the value lives."""
        return _native.tensor_description(self._value_handle())[1]

    def device_name(self) -> str:
        """The name of the memory that a tensor is in, in lower case: "cpu"."""
        if self.is_sparse_tensor():
            return "cpu"
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

    def as_sparse_tensor(self) -> SparseTensor:
        """The sparse tensor that the value is."""
        from ._sparse import SparseTensor
        if not self.is_sparse_tensor():
            fail(InvalidArgument, f"the value is no sparse tensor but a {self.data_type()}")
        return SparseTensor(self._handle)

    def __dlpack__(self, *, stream: Any = None, max_version: Optional[tuple[int, int]] = None,
                   dl_device: Optional[tuple[int, int]] = None, copy: Optional[bool] = None) -> Any:
        """A capsule over the tensor's memory for other packages' from_dlpack; it keeps the value alive. It is of DLPack's
        unversioned form, which NumPy does not write to. BufferError where DLPack cannot tell the tensor."""
        handle = self._value_handle()
        if copy or dl_device not in (None, _dlpack.device_of(handle)):
            raise BufferError("tensors are shared where they are; copy it with to_device or numpy first")
        return _dlpack.to_capsule(handle)

    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's kind and number of the device that the tensor is on: (1, 0) for the CPU."""
        return _dlpack.device_of(self._value_handle())

    def to_python(self) -> Any:
        """The content as a run returns it: an array, a list for a sequence, a dict for a map, None for nothing."""
        if self.is_sparse_tensor():
            return self.as_sparse_tensor()
        return self.numpy() if self.is_tensor() else _convert.object_of(self._value_handle())

    def update_inplace(self, np_arr: Union[Array, OrtValue]) -> None:
        """Copies an array or tensor of the same shape and type into the tensor's memory, wherever that is."""
        if isinstance(np_arr, OrtValue):
            _native.copy_tensor(default_environment()._handle, np_arr._value_handle(), self._output_handle())
            return
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


def copy_tensors(src: Sequence[OrtValue], dst: Sequence[OrtValue], stream: Optional[OrtSyncStream] = None) -> None:
    """Copies tensors into others of their types and shapes, wherever they are: before it returns or, with a stream, in
    order with its other work. Sources and targets must then live until that is done."""
    if stream is not None and not isinstance(stream, OrtSyncStream):
        raise TypeError(f"a stream is made by OrtEpDevice.create_sync_stream, not a '{type(stream).__name__}'")
    for value in (*src, *dst):
        if not isinstance(value, OrtValue):
            raise TypeError(f"tensors are OrtValue, not '{type(value).__name__}'")
    _native.copy_tensors(default_environment()._handle, [value._value_handle() for value in src],
                         [value._output_handle() for value in dst], stream and stream._handle)
