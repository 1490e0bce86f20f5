"""OnnxRuntimeBackend: models to what can be run."""
import os
import unittest

from onnx import checker, helper
from onnx.backend.base import Backend

from onnxruntime import InferenceSession, SessionOptions, get_available_providers, get_device

from .backend_rep import OnnxRuntimeBackendRep, set_allowed

# Options that write files are not among them: what is handed on here often comes from elsewhere.
_ALLOWED = frozenset((
    "enable_cpu_mem_arena", "enable_mem_pattern", "enable_mem_reuse", "execution_mode", "execution_order",
    "graph_optimization_level", "inter_op_num_threads", "intra_op_num_threads", "log_severity_level", "log_verbosity_level",
    "logid", "use_deterministic_compute", "use_per_session_threads"))


class OnnxRuntimeBackend(Backend):
    """ONNX's backend over sessions."""

    allowReleasedOpsetsOnly = os.environ.get("ALLOW_RELEASED_ONNX_OPSET_ONLY", "1") == "1"  # noqa: N815

    @classmethod
    def is_compatible(cls, model, device=None, **kwargs):
        """Whether the device, by default the one that is here, is supported."""
        return cls.supports_device(device or get_device())

    @classmethod
    def supports_device(cls, device):
        """Whether the device is the one that is built in."""
        return ("GPU" if device == "CUDA" else device) == get_device()

    @classmethod
    def is_opset_supported(cls, model):
        """Whether the package onnx has released the model's opsets, and if not, a sentence about it."""
        if cls.allowReleasedOpsetsOnly:
            for opset in model.opset_import:
                known = (opset.domain or "ai.onnx", opset.version)
                if known not in helper.OP_SET_ID_VERSION_MAP:
                    return False, (f"opset {known[1]} of domain '{known[0]}' is not released; ALLOW_RELEASED_ONNX_OPSET_ONLY=0 "
                                   "in the environment tries it")
        return True, ""

    @classmethod
    def prepare(cls, model, device=None, **kwargs):
        """What runs the model: a path, bytes, ModelProto, InferenceSession, or what prepare returned. Keywords are
        attributes of SessionOptions; those that write files are RuntimeError, others that there are not are ignored."""
        if isinstance(model, OnnxRuntimeBackendRep):
            return model
        if isinstance(model, InferenceSession):
            return OnnxRuntimeBackendRep(model)
        if not isinstance(model, (str, bytes)):
            return cls.prepare(cls._checked(model), device, **kwargs)
        if device is not None and not cls.supports_device(device):
            raise RuntimeError(f"Incompatible device expected '{device}', got '{get_device()}'")
        return OnnxRuntimeBackendRep(InferenceSession(model, cls._options(kwargs), cls._providers()))

    @classmethod
    def _checked(cls, model):
        serialized = model.SerializeToString()
        checker.check_model(serialized)
        supported, sentence = cls.is_opset_supported(model)
        if not supported:
            raise unittest.SkipTest(sentence)
        return serialized

    @classmethod
    def _options(cls, settings):
        options = SessionOptions()
        options.add_session_config_entry("session.allow_released_opsets_only", "01"[cls.allowReleasedOpsetsOnly])
        set_allowed(options, settings, _ALLOWED)
        return options

    @staticmethod
    def _providers():
        excluded = os.environ.get("ORT_ONNX_BACKEND_EXCLUDE_PROVIDERS", "").split(",")
        return [name for name in get_available_providers() if name not in excluded]

    @classmethod
    def run_model(cls, model, inputs, device=None, **kwargs):
        """The outputs of the model for these inputs: prepare and run."""
        return cls.prepare(model, device, **kwargs).run(inputs, **kwargs)

    @classmethod
    def run_node(cls, node, inputs, device=None, outputs_info=None, **kwargs):
        """There is none: nodes run in models."""
        raise NotImplementedError("run_node: a single node cannot be run; make a model of it")
