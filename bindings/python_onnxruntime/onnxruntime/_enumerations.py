"""Enumerations as the official package shows them: str() of a member is its name."""
import enum

_MODULE = "onnxruntime.capi.onnxruntime_pybind11_state"


class Enumeration(enum.IntEnum):
    """Numbers with names: shown by the name, equal to the number."""

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec):
        return format(str(self), spec)


class Flags(enum.IntFlag):
    """Bits with names, shown by the name where one stands for all of them."""

    def __str__(self):
        return f"{type(self).__name__}.{self.name if self.name in type(self).__members__ else '???'}"

    def __format__(self, spec):
        return format(str(self), spec)


_named = {}
_NUMBERS = ("OrtDeviceVendorId",)  # shown as numbers there too


def named(kind):
    """The same enumeration, shown by names; anything else is returned as it is."""
    if not isinstance(kind, type) or not issubclass(kind, (enum.IntEnum, enum.IntFlag)) or kind.__name__ in _NUMBERS:
        return kind
    if issubclass(kind, (Enumeration, Flags)):
        return kind
    if kind not in _named:
        members = [(name, int(member)) for name, member in kind.__members__.items()]
        base = Flags if issubclass(kind, enum.IntFlag) else Enumeration
        _named[kind] = base(kind.__name__, members, module=_MODULE)
        _named[kind].__doc__ = kind.__doc__
    return _named[kind]
