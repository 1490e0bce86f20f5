"""The module onnxruntime over the package ortolan, for programs that import it by that name.

Distribution ortolan-onnxruntime installs it. What it does otherwise than ortolan is a habit of the official package that
programs rely on; its README.md lists them.
"""
from ._whole import check as _check

_check(__file__)

import ortolan as _ortolan  # noqa: E402
from ortolan import *  # noqa: E402,F401,F403

from . import capi  # noqa: E402
from ._devices import preload_dlls, print_debug_info  # noqa: E402,F401
from .capi import onnxruntime_validation  # noqa: E402
from .capi.onnxruntime_inference_collection import *  # noqa: E402,F401,F403
from .capi.onnxruntime_pybind11_state import *  # noqa: E402,F401,F403
from .capi.onnxruntime_validation import package_name, cuda_version  # noqa: E402,F401

__version__ = version = _ortolan.__version__
__all__ = [name for name in dir() if not name.startswith("_")]


def __dir__():
    return sorted(name for name in globals() if not name.startswith("__") or name == "__version__")
