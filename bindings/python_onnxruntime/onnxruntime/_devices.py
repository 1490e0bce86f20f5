"""Devices, with kinds that are shown by their names, and what programs ask about names of devices."""
import ortolan

from ._enumerations import named

_KINDS = {"cpu": 0, "gpu": 1, "cuda": 1, "webgpu": 1, "npu": 3, "cann": 3, "dml": 4}
_VENDORS = {"cuda": 0x10DE, "dml": 0x1414, "cann": 0x19E5, "webgpu": 0}


def get_ep_devices():
    """The devices of all registered providers."""
    devices = ortolan.get_ep_devices()
    for device in devices:
        device.device.type = named(ortolan.OrtHardwareDeviceType)(device.device.type)
    return devices


def get_ort_device_type(device_type):
    """The number of a kind of device, by its name."""
    if device_type not in _KINDS:
        raise Exception(f"Unsupported device type: {device_type}")  # pylint: disable=broad-exception-raised
    return _KINDS[device_type]


def get_vendor_id_for_device_type(device_type):
    """The number of the vendor that a name of devices implies, or None."""
    return _VENDORS.get(device_type)


def has_collective_ops():
    """Whether there are operators that several processes run together: no."""
    return False


def preload_dlls(cuda=True, cudnn=True, msvc=True, directory=None):
    """Does nothing: no provider here needs libraries of CUDA to be loaded before it."""


def print_debug_info():
    """Prints the versions that a report of a fault should name."""
    print(f"onnxruntime version: {ortolan.__version__}, of ortolan-onnxruntime in {__file__.rpartition('/')[0]}")
    print(f"library: {ortolan.get_build_info()}")
    print(f"providers: {', '.join(ortolan.get_available_providers())}")
