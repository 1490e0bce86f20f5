"""What programs look for behind the classes: operators and kernels, devices of the machine, compatibility of models."""
from __future__ import annotations

import enum
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

from . import _native
from ._environment import OrtEpDevice, OrtHardwareDevice, Path, default_environment
from ._errors import InvalidArgument, fail
from ._options import SessionOptions


class OrtCompiledModelCompatibility(enum.IntEnum):
    """Whether a compiled model fits devices."""

    EP_NOT_APPLICABLE = 0
    EP_SUPPORTED_OPTIMAL = 1
    EP_SUPPORTED_PREFER_RECOMPILATION = 2
    EP_UNSUPPORTED = 3


class OrtDeviceEpIncompatibilityReason(enum.IntFlag):
    """Why a provider cannot use a device."""

    NONE = 0
    DRIVER_INCOMPATIBLE = 1
    DEVICE_INCOMPATIBLE = 2
    MISSING_DEPENDENCY = 4
    UNKNOWN = -2147483648


class SessionObjectInitializer:
    """What sessions are made from; programs only hand it on."""


@dataclass(frozen=True)
class FormalParameter:
    """An input or output of an operator: its name, and its type parameter or type."""

    name: str
    typeStr: str  # noqa: N815
    types: tuple[str, ...]


@dataclass(frozen=True)
class OpSchema:
    """An operator from one version of its domain on."""

    name: str
    domain: str
    since_version: int
    deprecated: bool
    inputs: tuple[FormalParameter, ...]
    outputs: tuple[FormalParameter, ...]
    min_input: int
    max_input: int
    min_output: int
    max_output: int


@dataclass(frozen=True)
class KernelDef:
    """Versions of an operator that a provider has a kernel for, and the types of its type parameters."""

    op_name: str
    domain: str
    provider: str
    version_range: tuple[int, int]
    type_constraints: dict[str, list[str]]


_LAST_VERSION = 2**31 - 1


def _parameters(values: list[tuple[str, str, str]]) -> tuple[FormalParameter, ...]:
    return tuple(FormalParameter(name, parameter or types, tuple(types.split("|"))) for name, parameter, types in values)


def _domain(name: str) -> str:
    return "" if name == "ai.onnx" else name


def _many(count: int) -> int:
    return _LAST_VERSION if count < 0 else count


def get_all_operator_schema() -> list[OpSchema]:
    """The operators that the library knows. A schema is there again for each range of versions in which a kernel
    changes."""
    return [OpSchema(name, _domain(domain), since, bool(deprecated), _parameters(inputs), _parameters(outputs), min_in,
                     _many(max_in), min_out, _many(max_out))
            for domain, name, _, since, _, deprecated, inputs, min_in, max_in, outputs, min_out, max_out
            in _native.operator_forms()]


def get_all_opkernel_def() -> list[KernelDef]:
    """The kernels that are built in."""
    found = []
    for domain, name, provider, since, until, _, inputs, _, _, outputs, _, _ in _native.operator_forms():
        if provider:
            types = {parameter: values.split("|") for _, parameter, values in (*inputs, *outputs) if parameter}
            found.append(KernelDef(name, _domain(domain), provider, (since, until or _LAST_VERSION), types))
    return found


def get_default_session_options() -> SessionOptions:
    """Options that nothing is changed in."""
    return SessionOptions()


def get_session_initializer() -> SessionObjectInitializer:
    """An object that programs hand on."""
    return SessionObjectInitializer()


def _machine_devices() -> list[Any]:
    environment = default_environment()._handle
    return [_native.machine_device_at(environment, i) for i in range(_native.machine_device_count(environment))]


def get_hardware_devices() -> list[OrtHardwareDevice]:
    """The devices of the machine, whether a provider uses them or not."""
    return [OrtHardwareDevice(handle) for handle in _machine_devices()]


def get_hardware_device_ep_incompatibility_details(ep_name: str, device: OrtHardwareDevice) -> dict[str, Any]:
    """Why a provider cannot use a device of get_hardware_devices: reasons_bitmask (0 for nothing that is known), notes and
    error_code."""
    if not isinstance(device, OrtHardwareDevice):
        raise TypeError(f"an OrtHardwareDevice is needed, not '{type(device).__name__}'")
    for handle in _machine_devices():
        if vars(OrtHardwareDevice(handle)) == vars(device):
            reasons, notes, number = _native.incompatibility_of(default_environment()._handle, ep_name, handle)
            return {"reasons_bitmask": reasons, "notes": notes, "error_code": number}
    return fail(InvalidArgument, f"the machine has no device {device!r} now")


def get_model_compatibility_for_ep_devices(ep_devices: Sequence[OrtEpDevice],
                                           compatibility_info: str) -> OrtCompiledModelCompatibility:
    """Whether a compiled model fits these devices, which are of one provider, by the text that it carries."""
    handles = [default_environment()._registered(device) for device in ep_devices]
    return OrtCompiledModelCompatibility(_native.model_compatibility(handles, compatibility_info))


def get_compatibility_info_from_model(model_path: Path, ep_type: str) -> Optional[str]:
    """The text that a compiled model carries for a provider; None for no such text."""
    return _native.compatibility_in_file(os.fsencode(model_path), ep_type)


def get_compatibility_info_from_model_bytes(model_data: Any, ep_type: str) -> Optional[str]:
    """As get_compatibility_info_from_model, from the model's bytes."""
    return _native.compatibility_in_bytes(model_data, ep_type)
