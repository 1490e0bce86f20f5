"""Execution providers: which there are, and the lists that sessions are given."""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Optional, Union

from . import _native
from ._environment import default_environment, settings_of
from ._errors import Fail

Provider = Union[str, tuple[str, dict[str, Any]]]
CPU = "CPUExecutionProvider"

# The names that programs know, those that are asked first standing first.
_KNOWN = tuple(name + "ExecutionProvider" for name in (
    "NvTensorRTRTX", "Tensorrt", "CUDA", "MIGraphX", "ROCM", "OpenVINO", "Dnnl", "VitisAI", "QNN", "Nnapi", "VSINPU",
    "JS", "CoreML", "ArmNN", "ACL", "Dml", "Rknpu", "WebNN", "WebGpu", "Xnnpack", "CANN", "Azure", "Vulkan", "OpenCL"))


def texts(handle: Any) -> list[str]:
    """The texts of a list of the library."""
    return [_native.text_at(handle, i) for i in range(_native.text_count(handle))]


def _registered() -> list[str]:
    names = [device.ep_name for device in default_environment().get_ep_devices()]
    return [name for name in dict.fromkeys(names) if name != CPU]


def get_available_providers() -> list[str]:
    """The providers that sessions can use: those of registered plugin libraries, and what is built in."""
    return _registered() + texts(_native.available_providers())


def get_all_providers() -> list[str]:
    """The providers that can be asked for by name, whether they are here or not."""
    return list(dict.fromkeys([*_registered(), *_KNOWN, CPU]))


def get_device() -> str:
    """The device that is built in: CPU. Devices of plugins are listed by get_ep_devices."""
    return "CPU"


def _split(provider: Provider) -> tuple[str, dict[str, Any]]:
    if isinstance(provider, str):
        return provider, {}
    if isinstance(provider, tuple) and len(provider) == 2 and isinstance(provider[0], str) \
            and isinstance(provider[1], dict):
        return provider[0], provider[1]
    raise ValueError(f"a provider is a name or a pair (name, dict of options), not {provider!r}")


def normalise(providers: Sequence[Provider],
              provider_options: Optional[Sequence[dict[str, Any]]]) -> list[tuple[str, dict[str, str]]]:
    """The providers with their options, in order; each once."""
    if isinstance(providers, str) or not isinstance(providers, Sequence):
        raise ValueError("providers must be a list of names or (name, options) pairs")
    split = [_split(provider) for provider in providers]
    if provider_options is not None:
        if not isinstance(provider_options, Sequence) or not all(isinstance(o, dict) for o in provider_options):
            raise ValueError("provider_options must be a list of dicts")
        if len(provider_options) != len(split):
            raise ValueError(f"there are {len(split)} providers and {len(provider_options)} provider_options; there must "
                             "be as many")
        if any(options for _, options in split):
            raise ValueError("options stand in the pairs of providers or in provider_options, not in both")
        split = [(name, options) for (name, _), options in zip(split, provider_options)]
    result: dict[str, dict[str, str]] = {}
    for name, options in split:
        if name in result:
            warnings.warn(f"the provider {name} is given twice; the first counts", UserWarning, stacklevel=4)
        else:
            result[name] = {str(key): str(value) for key, value in options.items()}
    return list(result.items())


def append(options: Any, requested: list[tuple[str, dict[str, str]]],
           fallback: Optional[bool]) -> list[tuple[str, dict[str, str]]]:
    """Adds the providers to the options and returns those that are here. One that is known but absent is an error,
    unless `fallback` is true, or is None and the CPU's provider stands in the list: then a warning tells it."""
    allowed = CPU in dict(requested) if fallback is None else fallback
    present = []
    for name, settings in requested:
        try:
            _native.append_provider(options, name, settings_of(settings))
            present.append((name, settings))
        except Fail as error:
            if not allowed:
                raise
            warnings.warn(f"{name} is not used, and what comes after it in the list of providers runs its nodes: {error}",
                          UserWarning, stacklevel=4)
    return present
