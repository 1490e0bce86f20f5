"""Data of compiled nodes that a program gives from its memory."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from ._memory import checked_int
from ._types import Array


def content_of(buffer: Any) -> Array:
    """The bytes of a buffer as an array over them."""
    try:
        return np.frombuffer(memoryview(buffer).cast("B"), np.uint8)
    except TypeError:
        raise TypeError(f"the content of a file is a contiguous buffer of bytes, not a '{type(buffer).__name__}'") from None


class OrtEpContextDataBuffer:
    """Where a function of set_ep_context_data_read_func puts data."""

    def __init__(self, max_size: int) -> None:
        self._max_size = max_size
        self._data: Optional[bytearray] = None

    @property
    def max_size(self) -> int:
        """How many bytes there may be."""
        return self._max_size

    @property
    def is_allocated(self) -> bool:
        """Whether allocate has been called."""
        return self._data is not None

    @property
    def size(self) -> int:
        """The bytes that were allocated; 0 before."""
        return len(self._data or b"")

    def allocate(self, size: int) -> None:
        """Makes room for that many bytes, once."""
        if self._data is not None or not 0 <= checked_int(size, "size") <= self._max_size:
            raise ValueError(f"allocate({size}): it is called once, with 0 to {self._max_size} bytes")
        self._data = bytearray(size)

    def write(self, data: Any, offset: int = 0) -> None:
        """Copies bytes to a place in that room."""
        content, start = content_of(data), checked_int(offset, "offset")
        if self._data is None or start < 0 or start + content.nbytes > len(self._data):
            raise ValueError(f"{content.nbytes} bytes at {start} are outside the {self.size} bytes that were allocated")
        self._data[start:start + content.nbytes] = content.tobytes()

    def _filled(self, name: str) -> bytearray:
        if self._data is None:
            raise ValueError(f"the function did not allocate data for '{name}'")
        return self._data
