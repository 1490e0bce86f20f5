"""Enumerations as the official package shows them: str() of a member is its name."""
import enum

_MODULE = "onnxruntime.capi.onnxruntime_pybind11_state"


class Enumeration(enum.IntEnum):
    """Numbers with names: shown by the name, equal to the number."""

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec):
        return format(str(self), spec)


_named = {}


def named(kind):
    """The same enumeration, shown by names; anything else is returned as it is."""
    if not isinstance(kind, type) or not issubclass(kind, enum.IntEnum) or issubclass(kind, Enumeration):
        return kind
    if kind not in _named:
        members = [(name, int(member)) for name, member in kind.__members__.items()]
        _named[kind] = Enumeration(kind.__name__, members, module=_MODULE)
        _named[kind].__doc__ = kind.__doc__
    return _named[kind]
