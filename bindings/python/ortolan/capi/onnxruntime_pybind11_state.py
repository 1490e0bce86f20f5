"""The exceptions, under the path that programs for ONNX Runtime import them from."""
from .._errors import (  # noqa: F401
    DeviceReset, EngineError, EPFail, Fail, InvalidArgument, InvalidGraph, InvalidProtobuf, ModelLoadCanceled,
    ModelLoaded, ModelRequiresCompilation, NoModel, NoSuchFile, NotFound, NotImplemented, RuntimeException)
from .._memory import ArenaExtendStrategy  # noqa: F401
