"""ONNX's backend interface: prepare, run, supports_device and is_compatible. It needs the package onnx."""
from .backend import OnnxRuntimeBackend
from .backend_rep import OnnxRuntimeBackendRep  # noqa: F401

is_compatible = OnnxRuntimeBackend.is_compatible
prepare = OnnxRuntimeBackend.prepare
run = OnnxRuntimeBackend.run_model
supports_device = OnnxRuntimeBackend.supports_device
