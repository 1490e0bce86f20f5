"""ModelCompiler: models with what their providers compile, ahead of time."""
from __future__ import annotations

import enum
import os
from collections.abc import Callable
from typing import Any, Optional, Union

from . import _native
from ._environment import Path, default_environment
from ._memory import checked_int
from ._options import GraphOptimizationLevel, SessionOptions
from ._values import OrtValue


class OrtCompileApiFlags(enum.IntFlag):
    """What makes compiling fail."""

    NONE = 0
    ERROR_IF_NO_NODES_COMPILED = 1
    ERROR_IF_OUTPUT_FILE_EXISTS = 2


class OrtExternalInitializerInfo:
    """A place in a file: its path from the model's folder, and offset and size in bytes."""

    def __init__(self, filepath: Path, file_offset: int, byte_size: int) -> None:
        self._filepath = os.fsdecode(filepath)
        self._file_offset, self._byte_size = checked_int(file_offset, "file_offset"), checked_int(byte_size, "byte_size")
        if self._byte_size < 0:
            raise TypeError(f"byte_size must not be negative, as {byte_size} is")

    @property
    def filepath(self) -> str:
        """The path."""
        return self._filepath

    @property
    def file_offset(self) -> int:
        """Where the bytes begin."""
        return self._file_offset

    @property
    def byte_size(self) -> int:
        """How many there are."""
        return self._byte_size


Locate = Callable[[str, OrtValue, Optional[OrtExternalInitializerInfo]], Optional[OrtExternalInitializerInfo]]


def _locator(locate: Locate) -> Callable[[str, Any, Optional[tuple[str, int, int]]], Optional[tuple[str, int, int]]]:
    """The function as the library calls it."""

    def call(name: str, handle: Any, place: Optional[tuple[str, int, int]]) -> Optional[tuple[str, int, int]]:
        chosen = locate(name, OrtValue(handle, False), OrtExternalInitializerInfo(*place) if place else None)
        if chosen is None:
            return None
        if not isinstance(chosen, OrtExternalInitializerInfo):
            raise TypeError(f"the function must return an OrtExternalInitializerInfo or None, not a "
                            f"'{type(chosen).__name__}'")
        return chosen.filepath, chosen.file_offset, chosen.byte_size

    return call


def _input_of(path_or_bytes: Union[Path, bytes]) -> tuple[Callable[[Any, bytes], Any], bytes]:
    if isinstance(path_or_bytes, (str, os.PathLike)):
        use, text = _native.compile_from_path, os.fsencode(path_or_bytes)
    elif isinstance(path_or_bytes, bytes):
        use, text = _native.compile_from_bytes, path_or_bytes
    else:
        raise TypeError(f"a model is a path or bytes, not '{type(path_or_bytes).__name__}'")
    if not text:
        raise ValueError("the path of the model, or its bytes, are empty")
    return use, text


class ModelCompiler:
    """Makes a model whose EPContext nodes hold what the providers of session options compiled, so that sessions of it
    load fast."""

    def __init__(self, sess_options: SessionOptions, input_model_path_or_bytes: Union[Path, bytes],
                 embed_compiled_data_into_model: bool = False, external_initializers_file_path: Optional[Path] = None,
                 external_initializers_size_threshold: int = 1024, flags: int = OrtCompileApiFlags.NONE,
                 graph_optimization_level: int = GraphOptimizationLevel.ORT_DISABLE_ALL,
                 get_initializer_location_func: Optional[Locate] = None) -> None:
        """`external_initializers_file_path` is for initializers from that threshold in bytes on; instead of it
        `get_initializer_location_func(name, value, place now or None)` may tell the place of each, None for the model
        itself. `flags` are OrtCompileApiFlags."""
        if not isinstance(sess_options, SessionOptions):
            raise TypeError(f"sess_options must be SessionOptions, not '{type(sess_options).__name__}'")
        use_input, model = _input_of(input_model_path_or_bytes)
        if external_initializers_file_path and get_initializer_location_func is not None:
            raise ValueError("initializers go to external_initializers_file_path or where get_initializer_location_func "
                             "tells; give one of them")
        self._environment = default_environment()
        self._handle = _native.create_compilation(self._environment._handle, sess_options._handle)
        _native.keep(self._handle, (sess_options._handle, model))
        use_input(self._handle, model)
        if external_initializers_file_path:
            _native.compile_with_weights_in(self._handle, _fs_path(external_initializers_file_path),
                                            external_initializers_size_threshold)
        if get_initializer_location_func is not None:
            locate = _locator(get_initializer_location_func)
            _native.keep(self._handle, locate)
            _native.compile_with_places(self._handle, locate)
        _native.compile_with(self._handle, int(flags), int(GraphOptimizationLevel(graph_optimization_level)),
                             embed_compiled_data_into_model)

    def compile_to_file(self, output_model_path: Optional[Path] = None) -> None:
        """Compiles to a file; without a path to one beside the input, "model_ctx.onnx" for "model.onnx"."""
        path = _fs_path(output_model_path) if output_model_path else None
        _native.compile_to_path(self._environment._handle, self._handle, path)

    def compile_to_bytes(self) -> bytes:
        """Compiles to bytes."""
        return _native.compile_to_bytes(self._environment._handle, self._handle)

    def compile_to_stream(self, write_function: Callable[[bytes], Any]) -> None:
        """Compiles, and calls the function with the model's bytes, piece by piece."""
        if not callable(write_function):
            raise TypeError(f"the function that writes must be callable, not a '{type(write_function).__name__}'")
        _native.compile_to_callable(self._environment._handle, self._handle, write_function)

    def set_ep_context_binary_information(self, output_directory: Path, model_name: str) -> None:
        """The folder and the model's name from which providers make the names of their files."""
        _native.compile_with_names(self._handle, _fs_path(output_directory), model_name)


def _fs_path(path: Path) -> bytes:
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"a path is a str or a path object, not a '{type(path).__name__}'")
    return os.fsencode(path)
