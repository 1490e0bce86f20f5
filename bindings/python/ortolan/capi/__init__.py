"""Where programs look for the exceptions: ortolan.capi.onnxruntime_pybind11_state."""
from . import onnxruntime_pybind11_state

__all__ = ["onnxruntime_pybind11_state"]
