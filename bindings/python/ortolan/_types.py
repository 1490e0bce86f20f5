"""Types of values: element types beside NumPy's, and types as ONNX Runtime's users write them, "tensor(float)"."""
from __future__ import annotations

import enum
import importlib
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from . import _native
from ._errors import InvalidArgument, fail

Array = np.ndarray[Any, Any]
DType = np.dtype[Any]
Dimension = Union[int, str, None]


class TensorElementType(enum.IntEnum):
    """Types of tensor elements, with the numbers of the C interface, which up to 23 are those of ONNX."""

    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16
    FLOAT8E4M3FN = 17
    FLOAT8E4M3FNUZ = 18
    FLOAT8E5M2 = 19
    FLOAT8E5M2FNUZ = 20
    UINT4 = 21
    INT4 = 22
    FLOAT4E2M1 = 23
    UINT2 = 24
    INT2 = 25
    FLOAT8E8M0 = 26


class Kind(enum.IntEnum):
    """What a value is."""

    UNKNOWN = 0
    TENSOR = 1
    SEQUENCE = 2
    MAP = 3
    OPAQUE = 4
    SPARSE_TENSOR = 5
    OPTIONAL = 6


STRING = TensorElementType.STRING
_DTYPE_NAMES = {
    TensorElementType.FLOAT: "f4", TensorElementType.UINT8: "u1", TensorElementType.INT8: "i1",
    TensorElementType.UINT16: "u2", TensorElementType.INT16: "i2", TensorElementType.INT32: "i4",
    TensorElementType.INT64: "i8", TensorElementType.STRING: "O", TensorElementType.BOOL: "?",
    TensorElementType.FLOAT16: "f2", TensorElementType.DOUBLE: "f8", TensorElementType.UINT32: "u4",
    TensorElementType.UINT64: "u8", TensorElementType.COMPLEX64: "c8", TensorElementType.COMPLEX128: "c16",
}
_DTYPES: dict[int, DType] = {element: np.dtype(name) for element, name in _DTYPE_NAMES.items()}
_ELEMENTS = {dtype: element for element, dtype in _DTYPES.items()}
# Types that NumPy does not have: their names in the package ml_dtypes, and the type that carries them without it.
_EXTENDED: dict[int, tuple[str, str]] = {
    TensorElementType.BFLOAT16: ("bfloat16", "u2"), TensorElementType.FLOAT8E4M3FN: ("float8_e4m3fn", "u1"),
    TensorElementType.FLOAT8E4M3FNUZ: ("float8_e4m3fnuz", "u1"), TensorElementType.FLOAT8E5M2: ("float8_e5m2", "u1"),
    TensorElementType.FLOAT8E5M2FNUZ: ("float8_e5m2fnuz", "u1"),
    TensorElementType.FLOAT8E8M0: ("float8_e8m0fnu", "u1"),
}
_EXTENDED_ELEMENTS = {name: element for element, (name, _) in _EXTENDED.items()}
# Several elements a byte: tensors of these are read and written as bytes.
PACKED: dict[int, int] = {TensorElementType.UINT4: 2, TensorElementType.INT4: 2, TensorElementType.FLOAT4E2M1: 2,
                          TensorElementType.UINT2: 4, TensorElementType.INT2: 4}


def element_name(element: int) -> str:
    """The name in a type's text: "float" for FLOAT."""
    return TensorElementType(element).name.lower()


def carrier_of(element: int) -> Optional[DType]:
    """The NumPy type with the same bytes; None for packed types and strings."""
    if element in _EXTENDED:
        return np.dtype(_EXTENDED[element][1])
    return None if element == STRING else _DTYPES.get(element)


def _extended_dtype(element: int) -> DType:
    name, carrier = _EXTENDED[element]
    try:
        return np.dtype(getattr(importlib.import_module("ml_dtypes"), name))
    except (ImportError, AttributeError):
        return np.dtype(carrier)


def dtype_of(element: int) -> DType:
    """The NumPy type that users see: ml_dtypes' where NumPy has none, else its bytes as unsigned integers."""
    if element in _EXTENDED:
        return _extended_dtype(element)
    return _DTYPES.get(element, np.dtype("u1"))


def element_of(dtype: Any) -> int:
    """The element type of a NumPy type or one of ml_dtypes; 0 when there is none."""
    dtype = np.dtype(dtype)
    if dtype.kind in "OSU":
        return STRING
    return _ELEMENTS.get(dtype.newbyteorder("="), 0) or _EXTENDED_ELEMENTS.get(dtype.name, 0)


def element_from(element_type: Any) -> TensorElementType:
    """An element type that a caller gave: an ONNX number, a NumPy type or the name of one."""
    if isinstance(element_type, int):
        try:
            return TensorElementType(element_type)
        except ValueError:
            fail(InvalidArgument, f"{element_type} is none of ONNX's element types")
    element = element_of(element_type)
    if not element:
        fail(InvalidArgument, f"ONNX has no element type for NumPy's {np.dtype(element_type)}")
    return TensorElementType(element)


def carries(dtype: DType, element: int) -> bool:
    """Whether arrays of the type may stand for tensors of the element type."""
    return element_of(dtype) == element or (element in _EXTENDED and dtype == carrier_of(element))


@dataclass(frozen=True)
class ValueType:
    """A type: `element` for tensors, and for maps that of the keys; `content` for sequences, maps and optionals."""

    kind: int
    element: int = 0
    shape: tuple[Dimension, ...] = ()
    content: Optional[ValueType] = None

    @property
    def inner(self) -> ValueType:
        """The content of a type that has one."""
        assert self.content is not None
        return self.content

    def __str__(self) -> str:
        if self.kind in (Kind.TENSOR, Kind.SPARSE_TENSOR):
            return f"{'sparse_' if self.kind == Kind.SPARSE_TENSOR else ''}tensor({element_name(self.element)})"
        if self.kind == Kind.MAP:
            return f"map({element_name(self.element)},{self.content})"
        words = {Kind.SEQUENCE: "seq", Kind.OPTIONAL: "optional"}
        return f"{words[Kind(self.kind)]}({self.content})" if self.kind in words else Kind(self.kind).name.lower()


def _dimension(handle: Any, index: int) -> Dimension:
    size = _native.type_dimension(handle, index)
    return size if size >= 0 else _native.type_symbol(handle, index) or None


def read_type(handle: Any) -> ValueType:
    """The type that a handle of an OrtTypeInfo stands for."""
    kind = _native.type_kind(handle)
    content = _native.type_content(handle)
    shape = tuple(_dimension(handle, i) for i in range(_native.type_rank(handle)))
    return ValueType(kind, _native.type_element(handle), shape, content and read_type(content))
