"""Sparse tensors: values with the places where they stand."""
from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _convert, _native
from ._environment import default_environment
from ._errors import InvalidArgument, fail
from ._memory import OrtDevice
from ._types import STRING, Array, Kind, ValueType, carrier_of, dtype_of, element_of
from ._values import OrtValue


class OrtSparseFormat(enum.IntEnum):
    """How places are told."""

    ORT_SPARSE_UNDEFINED = 0
    ORT_SPARSE_COO = 1
    ORT_SPARSE_CSRC = 2
    ORT_SPARSE_BLOCK_SPARSE = 4


_WORDS = {OrtSparseFormat.ORT_SPARSE_COO: "COO", OrtSparseFormat.ORT_SPARSE_CSRC: "CSR(C)",
          OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE: "BlockSparse"}
_COO, _INNER, _OUTER, _BLOCKS = range(4)  # OrtSparseIndicesFormat


class SparseCooView:
    """The places of a tensor in COO format."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def indices(self) -> Array:
        """The places, of one dimension: among all elements; or of two: coordinates."""
        return _native.sparse_indices(self._handle, _COO)


class SparseCsrView:
    """The places of a tensor in CSR(C) format."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def inner(self) -> Array:
        """The column of each value."""
        return _native.sparse_indices(self._handle, _INNER)

    def outer(self) -> Array:
        """Where each row begins among the values, and where the last one ends."""
        return _native.sparse_indices(self._handle, _OUTER)


class SparseBlockSparseView:
    """The places of a tensor of blocks."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    def indices(self) -> Array:
        """The places of the blocks."""
        return _native.sparse_indices(self._handle, _BLOCKS)


def _values_of(values: Array, ort_device: OrtDevice) -> tuple[Array, int]:
    """Values of one dimension as the library reads them, and their element type."""
    if not isinstance(values, np.ndarray):
        raise TypeError(f"values must be an array, not '{type(values).__name__}'")
    default_environment()._memory_of(ort_device)
    if ort_device._name != "cpu":
        fail(InvalidArgument, f"arrays are in the memory of the CPU, not of '{ort_device._name}'")
    element = element_of(values.dtype)
    if not element:
        fail(InvalidArgument, f"ONNX has no element type for NumPy's {values.dtype}")
    return values, element


def _indices(indices: Any, kind: Any = np.int64) -> Array:
    return np.require(indices, kind, ["C_CONTIGUOUS", "ALIGNED"])


def _over(dense_shape: Sequence[int], values: Array, element: int, dimensions: int) -> Any:
    if element == STRING:
        fail(InvalidArgument, "texts are taken by sparse_coo_from_numpy alone")
    if dimensions and values.ndim != dimensions:
        fail(InvalidArgument, f"values must have {dimensions} dimension, not {values.ndim}")
    carrier = carrier_of(element)
    return _native.sparse_over_array(list(dense_shape), _convert.in_place(values).view(carrier), element)


class SparseTensor:
    """Values and their places; arrays that it is made over are read where they lie."""

    def __init__(self, handle: Any) -> None:
        """Values come from the functions below, and from OrtValue.as_sparse_tensor."""
        if type(handle).__name__ != "PyCapsule":
            raise ValueError(f"a sparse tensor is made by sparse_coo_from_numpy, not of '{type(handle).__name__}'")
        self._handle = handle

    def _get_c_tensor(self) -> SparseTensor:
        return self

    @classmethod
    def sparse_coo_from_numpy(cls, dense_shape: Sequence[int], values: Array, coo_indices: Array,
                              ort_device: OrtDevice) -> SparseTensor:
        """In COO format: a place for each value among all elements, or a row of two coordinates, in ascending order."""
        values, element = _values_of(values, ort_device)
        places = _indices(coo_indices)
        if element == STRING:
            texts = np.ascontiguousarray(values, object)
            return cls(_native.sparse_of_texts(list(dense_shape), texts, places))
        handle = _over(dense_shape, values, element, 1)
        _native.use_coo_indices(handle, places)
        return cls(handle)

    @classmethod
    def sparse_csr_from_numpy(cls, dense_shape: Sequence[int], values: Array, inner_indices: Array, outer_indices: Array,
                              ort_device: OrtDevice) -> SparseTensor:
        """In CSR(C) format: the column of each value, and where each row begins, with the end of the last."""
        values, element = _values_of(values, ort_device)
        handle = _over(dense_shape, values, element, 1)
        _native.use_csr_indices(handle, _indices(inner_indices), _indices(outer_indices))
        return cls(handle)

    @classmethod
    def _blocksparse_from_numpy(cls, dense_shape: Sequence[int], values: Array, indices: Array,
                                ort_device: OrtDevice) -> SparseTensor:
        values, element = _values_of(values, ort_device)
        handle = _over(dense_shape, values, element, 0)
        _native.use_block_indices(handle, _indices(indices, np.int32))
        return cls(handle)

    def values(self) -> Array:
        """The values: an array over them that is not for writing, or a copy of texts."""
        element = self._element()
        if element == STRING:
            return _native.sparse_values(self._handle, 0)
        carrier, dtype = carrier_of(element), dtype_of(element)
        if carrier is None:
            return fail(InvalidArgument, f"NumPy has no array for the values of a {self.data_type()}")
        array = _native.sparse_values(self._handle, carrier.num)
        return array if dtype == carrier else array.view(dtype)

    def _checked(self, needed: OrtSparseFormat) -> Any:
        if self.format() != needed:
            fail(InvalidArgument, f"the sparse tensor is in {_WORDS.get(self.format(), 'no')} format, not in {_WORDS[needed]}")
        return self._handle

    def as_coo_view(self) -> SparseCooView:
        """Its places, if it is in COO format."""
        return SparseCooView(self._checked(OrtSparseFormat.ORT_SPARSE_COO))

    def as_csrc_view(self) -> SparseCsrView:
        """Its places, if it is in CSR(C) format."""
        return SparseCsrView(self._checked(OrtSparseFormat.ORT_SPARSE_CSRC))

    def as_blocksparse_view(self) -> SparseBlockSparseView:
        """Its places, if it is in the format of blocks."""
        return SparseBlockSparseView(self._checked(OrtSparseFormat.ORT_SPARSE_BLOCK_SPARSE))

    def to_cuda(self, ort_device: OrtDevice) -> SparseTensor:
        """Always an error: sparse tensors are in the memory of the CPU."""
        return fail(InvalidArgument, f"sparse tensors stay with the CPU; they are not copied to {ort_device!r}")

    def format(self) -> OrtSparseFormat:
        """How places are told."""
        return OrtSparseFormat(_native.sparse_format(self._handle))

    def _element(self) -> int:
        return _native.sparse_description(self._handle)[0]

    def dense_shape(self) -> list[int]:
        """The dimensions of the tensor with all its elements."""
        return _native.sparse_description(self._handle)[1]

    def data_type(self) -> str:
        """Its type as text: "sparse_tensor(float)"."""
        return str(ValueType(Kind.SPARSE_TENSOR, self._element()))

    def device_name(self) -> str:
        """The name of the memory that it is in: "cpu"."""
        return "cpu"


def value_of_sparse(cls: type[OrtValue], sparse_tensor: SparseTensor) -> OrtValue:
    """A value that shares the sparse tensor's memory."""
    if not isinstance(sparse_tensor, SparseTensor):
        raise TypeError(f"a SparseTensor is needed, not '{type(sparse_tensor).__name__}'")
    return cls(sparse_tensor._handle)
