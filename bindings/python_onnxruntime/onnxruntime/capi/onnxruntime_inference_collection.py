"""The classes that programs use, under the path of the official package."""
import ortolan as _ortolan

from .._devices import get_ort_device_type, get_vendor_id_for_device_type  # noqa: F401
from .._providers import check_and_normalize_provider_args  # noqa: F401
from .._session import InferenceSession, IOBinding, Session  # noqa: F401
from . import _pybind_state as C  # noqa: F401,N812

__all__ = ["IOBinding", "InferenceSession"]
for _name in ("AdapterFormat", "ModelCompiler", "OrtDevice", "OrtDeviceVendorId", "OrtValue", "SparseTensor", "copy_tensors"):
    if hasattr(_ortolan, _name):
        globals()[_name] = getattr(_ortolan, _name)
        __all__.append(_name)
