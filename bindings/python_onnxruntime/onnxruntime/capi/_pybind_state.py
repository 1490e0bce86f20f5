"""The same names as onnxruntime_pybind11_state: programs import them from here."""
from . import onnxruntime_pybind11_state as _state

globals().update({name: value for name, value in vars(_state).items() if not name.startswith("_")})
