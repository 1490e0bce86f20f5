"""Python objects as values of the library, and back: what is not simply an array."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import _native
from ._errors import InvalidArgument, fail
from ._types import PACKED, STRING, Array, DType, Kind, ValueType, carrier_of, carries, dtype_of, element_name, element_of


def _tensor_type(dtype: DType) -> str:
    element = element_of(dtype)
    return f"tensor({element_name(element)})" if element else f"NumPy's {dtype}"


def _refuse_type(dtype: DType, element: int, where: str) -> None:
    fail(InvalidArgument, f"Unexpected input data type. Actual: ({_tensor_type(dtype)}) , "
                          f"expected: (tensor({element_name(element)})){where}")


def in_place(array: Array) -> Array:
    """The array itself where the library can read it as it lies, else a copy that it can."""
    native = array.dtype.newbyteorder("=")
    return np.require(array, native, ["C_CONTIGUOUS", "ALIGNED"])


def tensor(array: Array, element: int) -> Any:
    """A handle of a tensor over an array that may carry that element type; the array is copied where it must be."""
    if element == STRING:
        return _native.tensor_of_texts(np.ascontiguousarray(array, object).reshape(array.shape))
    array = in_place(array)
    carrier = carrier_of(element)
    return _native.tensor_over_array(array if array.dtype == carrier else array.view(carrier), element)


def packed_tensor(data: Array, shape: tuple[int, ...], element: int) -> Any:
    """A handle of a tensor with several elements a byte, from its bytes."""
    return _native.tensor_copy(in_place(data).view(np.uint8).ravel(), shape, element)


def _numbers_of(value: Any, dtype: DType) -> Array:
    """Numbers of Python as an array; whole ones must stay what they are, others are rounded."""
    given = np.array(value)
    if given.dtype.kind not in "biufc":
        raise ValueError(f"'{value!r:.80}' are not numbers")
    numbers = given.astype(dtype)
    if dtype.kind in "biu" and not np.array_equal(numbers, given):
        raise ValueError(f"a number does not fit {dtype}")
    return numbers


def _tensor_of(value: Any, element: int, where: str) -> Any:
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if not carries(array.dtype, element):
            _refuse_type(array.dtype, element, where)
        return tensor(array, element)
    if element in PACKED:
        fail(InvalidArgument, f"tensors of {element_name(element)} are given as OrtValue{where}")
    try:
        return tensor(np.array(value, object) if element == STRING else _numbers_of(value, dtype_of(element)), element)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgument(f"[ONNXRuntimeError] : 2 : INVALID_ARGUMENT : the value does not make a "
                              f"tensor({element_name(element)}): {error}{where}") from error


def _sequence_of(value: Any, content: ValueType, where: str) -> Any:
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__"):
        fail(InvalidArgument, f"a list is needed for a sequence, not '{type(value).__name__}'{where}")
    return _native.create_sequence([value_of(element, content, where) for element in value])


def _map_of(value: Any, expected: ValueType, where: str) -> Any:
    if not isinstance(value, dict):
        fail(InvalidArgument, f"a dict is needed for a {expected}, not '{type(value).__name__}'{where}")
    keys = _tensor_of(list(value.keys()), expected.element, where)
    return _native.create_map(keys, _tensor_of(list(value.values()), expected.inner.element, where))


def value_of(value: Any, expected: ValueType, where: str = "") -> Any:
    """A handle of a value of the expected type. `where` is what errors add about the place."""
    if hasattr(value, "_value_handle"):
        return value._value_handle()
    if expected.kind == Kind.TENSOR:
        return _tensor_of(value, expected.element, where)
    if expected.kind == Kind.SEQUENCE:
        return _sequence_of(value, expected.inner, where)
    if expected.kind == Kind.MAP:
        return _map_of(value, expected, where)
    if expected.kind == Kind.OPTIONAL:
        return value_of(value, expected.inner, where)
    return fail(InvalidArgument, f"a {expected} cannot be made of '{type(value).__name__}'; give an OrtValue{where}")


def array_of(handle: Any, copy: bool = True) -> Array:
    """The elements of a tensor in CPU memory. Packed types come as bytes, in one dimension."""
    element, _, size, shape = _native.tensor_description(handle)
    if element == STRING:
        return _native.texts_of_tensor(handle)
    carrier = carrier_of(element)
    if carrier is None:
        packed = np.zeros(size, np.uint8)
        _native.read_tensor(handle, packed)
        return packed
    array = _native.array_over_tensor(handle, carrier.num)
    dtype = dtype_of(element)
    array = array if dtype == carrier else array.view(dtype)
    return array.copy() if copy else array


def array_over(handle: Any) -> Array:
    """The elements of a tensor where they lie, if they can be read there."""
    return array_of(handle, copy=False)


def object_of(handle: Any) -> Any:
    """A value as a run returns it: an array, a list, a dict, or None for an optional without a value."""
    return _native.object_of_value(handle, array_over)
