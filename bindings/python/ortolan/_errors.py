"""The exceptions: one for each error code of the library."""
from __future__ import annotations

from typing import NoReturn

from . import _native


class OrtError(Exception):
    """What the library refused. The text begins "[ONNXRuntimeError] : <code> : <name of the code> : "."""

    code = 0
    code_name = "UNKNOWN"


class Fail(OrtError):
    """Something failed that has no code of its own."""

    code, code_name = 1, "FAIL"


class InvalidArgument(OrtError):
    """An argument, or an input of a run, is not what is needed."""

    code, code_name = 2, "INVALID_ARGUMENT"


class NoSuchFile(OrtError):
    """A file is not there."""

    code, code_name = 3, "NO_SUCHFILE"


class NoModel(OrtError):
    """There is no model to work on."""

    code, code_name = 4, "NO_MODEL"


class EngineError(OrtError):
    """An engine behind a provider failed."""

    code, code_name = 5, "ENGINE_ERROR"


class RuntimeException(OrtError):
    """A run failed."""

    code, code_name = 6, "RUNTIME_EXCEPTION"


class InvalidProtobuf(OrtError):
    """The bytes are not a model."""

    code, code_name = 7, "INVALID_PROTOBUF"


class ModelLoaded(OrtError):
    """The session has a model already."""

    code, code_name = 8, "MODEL_LOADED"


class NotImplemented(OrtError):  # pylint: disable=redefined-builtin
    """The library does not have what is asked for, often a kernel."""

    code, code_name = 9, "NOT_IMPLEMENTED"


class InvalidGraph(OrtError):
    """The model's graph breaks a rule."""

    code, code_name = 10, "INVALID_GRAPH"


class EPFail(OrtError):
    """An execution provider failed."""

    code, code_name = 11, "EP_FAIL"


class ModelLoadCanceled(OrtError):
    """Loading was cancelled."""

    code, code_name = 12, "MODEL_LOAD_CANCELED"


class ModelRequiresCompilation(OrtError):
    """The model must be compiled first, and the options forbid it."""

    code, code_name = 13, "MODEL_REQUIRES_COMPILATION"


class NotFound(OrtError):
    """What was looked up is not there."""

    code, code_name = 14, "NOT_FOUND"


class DeviceReset(OrtError):
    """A device lost its state; what is on it must be made anew."""

    code, code_name = 15, "DEVICE_RESET"


def fail(error: type[OrtError], text: str) -> NoReturn:
    """Raises an error of this package in the form of the library's."""
    raise error(f"[ONNXRuntimeError] : {error.code} : {error.code_name} : {text}")


ALL = (Fail, InvalidArgument, NoSuchFile, NoModel, EngineError, RuntimeException, InvalidProtobuf, ModelLoaded,
       NotImplemented, InvalidGraph, EPFail, ModelLoadCanceled, ModelRequiresCompilation, NotFound,
       DeviceReset)
_native.set_exceptions((OrtError, *ALL))
