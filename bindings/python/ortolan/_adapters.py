"""LoRA adapters: files of named tensors that runs add to their inputs."""
from __future__ import annotations

import os
import struct
from typing import Any

from . import _convert, _native
from ._environment import Path
from ._errors import InvalidArgument, fail
from ._memory import checked_int
from ._types import PACKED, STRING, TensorElementType
from ._values import OrtValue


class LoraAdapter:
    """The parameters of a file, for RunOptions.add_active_adapter."""

    def __init__(self) -> None:
        self._handle: Any = None

    def Load(self, file_path: Path) -> None:  # noqa: N802
        """Opens a file that AdapterFormat.export_adapter or another program wrote."""
        self._handle = _native.load_adapter(os.fsencode(file_path))


class _Reader:
    """A FlatBuffer of an adapter, which the library has found well-formed: tables whose fields are told by number."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.root = self.follow(0)

    def _number(self, form: str, at: int) -> int:
        return struct.unpack_from(form, self._data, at)[0]

    def follow(self, at: int) -> int:
        """Where the offset at a place leads."""
        return at + self._number("<I", at)

    def _field(self, table: int, number: int) -> int:
        """The place of a field, or 0."""
        fields = table - self._number("<i", table)
        offset = self._number("<H", fields + 4 + 2 * number) if 4 + 2 * number < self._number("<H", fields) else 0
        return offset and table + offset

    def number(self, table: int, field: int) -> int:
        """A field that is a number of 32 bits; 0 where it is not there."""
        at = self._field(table, field)
        return self._number("<i", at) if at else 0

    def vector(self, table: int, field: int) -> tuple[int, int]:
        """Where the elements of a field begin, and how many there are."""
        at = self._field(table, field)
        start = self.follow(at) if at else 0
        return (start + 4, self._number("<I", start)) if at else (0, 0)

    def bytes(self, table: int, field: int) -> bytes:
        """The elements of a field that are bytes."""
        at, count = self.vector(table, field)
        return self._data[at:at + count]

    def numbers(self, table: int, field: int) -> list[int]:
        """The elements of a field that are numbers of 64 bits."""
        at, count = self.vector(table, field)
        return list(struct.unpack_from(f"<{count}q", self._data, at))


class _Writer:
    """A FlatBuffer that is written from its beginning: offsets lead forward to what is written later."""

    def __init__(self) -> None:
        self.data = bytearray()

    def align(self, to: int, shift: int = 0) -> None:
        """Goes on to a place that is `shift` before a multiple."""
        self.data += bytes(-(len(self.data) + shift) % to)

    def point(self, at: int) -> None:
        """Has the offset at a place lead here."""
        struct.pack_into("<I", self.data, at, len(self.data) - at)

    def vector(self, at: int, data: bytes, count: int, align: int) -> None:
        """Writes a vector that the offset at a place leads to."""
        self.align(align, 4)
        self.point(at)
        self.data += struct.pack("<I", count) + data

    def table(self, fields: int) -> int:
        """Writes a table of fields of 32 bits, all 0 yet, and returns its place; field i is at 4 + 4 i."""
        self.align(4)
        places = len(self.data)
        self.data += struct.pack(f"<{2 + fields}H", 4 + 2 * fields, 4 + 4 * fields, *range(4, 4 + 4 * fields, 4))
        self.align(4)
        table = len(self.data)
        self.data += struct.pack("<i", table - places) + bytes(4 * fields)
        return table


_IDENTIFIER = b"TORT"
_FORMAT_VERSION = 1
_NAME, _DIMS, _TYPE, _DATA = range(4)  # fields of a parameter
_FORMAT, _ADAPTER, _MODEL, _PARAMETERS = range(4)  # fields of the adapter
_ALIGNMENT = 16


def _place(table: int, field: int) -> int:
    return table + 4 + 4 * field


def _bytes_of(value: OrtValue) -> bytes:
    return _convert.array_of(value._on_cpu()).tobytes()


def _write(adapter_version: int, model_version: int, parameters: dict[str, OrtValue]) -> bytes:
    writer = _Writer()
    writer.data += bytes(4) + _IDENTIFIER
    root = writer.table(4)
    struct.pack_into("<I", writer.data, 0, root)
    struct.pack_into("<iii", writer.data, _place(root, _FORMAT), _FORMAT_VERSION, adapter_version, model_version)
    writer.vector(_place(root, _PARAMETERS), bytes(4 * len(parameters)), len(parameters), 4)
    slots = range(len(writer.data) - 4 * len(parameters), len(writer.data), 4)
    for slot, (name, value) in zip(slots, sorted(parameters.items())):
        table = writer.table(4)
        struct.pack_into("<I", writer.data, slot, table - slot)
        struct.pack_into("<i", writer.data, _place(table, _TYPE), value.element_type())
        text, shape, data = name.encode(), value.shape(), _bytes_of(value)
        writer.vector(_place(table, _NAME), text + b"\0", len(text), 4)
        writer.vector(_place(table, _DIMS), struct.pack(f"<{len(shape)}q", *shape), len(shape), 8)
        writer.vector(_place(table, _DATA), data, len(data), _ALIGNMENT)
    return bytes(writer.data)


class AdapterFormat:
    """Makes and reads files of adapters."""

    def __init__(self) -> None:
        self._adapter_version = self._model_version = 0
        self._parameters: dict[str, OrtValue] = {}

    @staticmethod
    def read_adapter(file_path: Path) -> AdapterFormat:
        """What a file holds. The library checks it first."""
        LoraAdapter().Load(file_path)
        with open(file_path, "rb") as file:
            reader = _Reader(file.read())
        adapter = AdapterFormat()
        adapter._adapter_version = reader.number(reader.root, _ADAPTER)
        adapter._model_version = reader.number(reader.root, _MODEL)
        at, count = reader.vector(reader.root, _PARAMETERS)
        for slot in range(at, at + 4 * count, 4):
            table = reader.follow(slot)
            name = reader.bytes(table, _NAME).decode(errors="replace")
            adapter._parameters[name] = OrtValue.ortvalue_from_bytes(
                reader.bytes(table, _DATA), reader.numbers(table, _DIMS), reader.number(table, _TYPE))
        return adapter

    def export_adapter(self, file_path: Path) -> None:
        """Writes the file."""
        data = _write(self._adapter_version, self._model_version, self._parameters)
        with open(file_path, "wb") as file:
            file.write(data)

    def get_format_version(self) -> int:
        """The version of the form of files."""
        return _FORMAT_VERSION

    def set_adapter_version(self, adapter_version: int) -> None:
        """The adapter's own version, of 32 bits."""
        self._adapter_version = _checked_version(adapter_version)

    def get_adapter_version(self) -> int:
        """The adapter's own version."""
        return self._adapter_version

    def set_model_version(self, model_version: int) -> None:
        """The version of the model that the adapter is for, of 32 bits."""
        self._model_version = _checked_version(model_version)

    def get_model_version(self) -> int:
        """The version of the model that the adapter is for."""
        return self._model_version

    def set_parameters(self, params: dict[str, OrtValue]) -> None:
        """The tensors, by the names of the inputs that they are for."""
        for name, value in params.items():
            if not isinstance(name, str) or not isinstance(value, OrtValue):
                raise TypeError(f"parameters are OrtValue by name, not '{type(value).__name__}' by '{type(name).__name__}'")
            if not value.is_tensor() or value.element_type() == STRING or not value.shape():
                fail(InvalidArgument, f"parameter '{name}' is a {value.data_type()} of shape {value.shape()}; parameters are "
                                      "tensors of numbers with one dimension or more")
            if value.element_type() in PACKED or value.element_type() > TensorElementType.FLOAT8E5M2FNUZ:
                fail(InvalidArgument, f"adapters have no tensors of type {value.data_type()}; this is parameter '{name}'")
        self._parameters = dict(params)

    def get_parameters(self) -> dict[str, OrtValue]:
        """The tensors, by name."""
        return dict(self._parameters)


def _checked_version(version: int) -> int:
    number = checked_int(version, "a version")
    if not -2**31 <= number < 2**31:
        fail(InvalidArgument, f"the version {number} does not fit 32 bits")
    return number
