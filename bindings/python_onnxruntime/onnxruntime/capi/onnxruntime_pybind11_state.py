"""Exceptions, enumerations, options and functions, under the path that programs import them from."""
import ortolan as _ortolan
from ortolan.capi import onnxruntime_pybind11_state as _state

from .._blockwise import (  # noqa: F401
    quantize_matmul_2bits, quantize_matmul_4bits, quantize_matmul_8bits, quantize_qdq_matmul_4bits)
from .._devices import get_ep_devices, has_collective_ops  # noqa: F401
from .._enumerations import named as _named
from .._options import RunOptions, SessionOptions  # noqa: F401


def _names():
    """What the package has, with enumerations that are shown by their names."""
    found = {name: getattr(_ortolan, name) for name in _ortolan.__all__ if name not in _PYTHON_CLASSES}
    found.update({name: value for name, value in vars(_state).items() if not name.startswith("_")})
    return {name: _named(value) for name, value in found.items() if name not in globals()}


# Classes that programs find in onnxruntime_inference_collection, and modules.
_PYTHON_CLASSES = ("IOBinding", "InferenceSession", "capi")
globals().update(_names())
