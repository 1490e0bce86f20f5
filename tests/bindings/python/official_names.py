"""The public names of a package onnxruntime: of its module and, after "state.", of what stands behind it alone.

official_names.py prints them, one a line; official_names.txt holds those of version 1.32.
"""
import inspect

_SHOWN = ("__dlpack__", "__dlpack_device__")


def _is_public(name):
    return not name.startswith("_") or name in _SHOWN


def members_of(kind):
    """The public members of a class, without those of int, str and exceptions."""
    inherited = {name for base in (object, int, str, Exception) for name in dir(base)}
    return sorted(name for name in dir(kind) if _is_public(name) and name not in inherited)


def names_of(module, prefix="", known=()):
    """The names of a module that are not modules, and Class.member for each class."""
    found = []
    for name in dir(module):
        value = getattr(module, name)
        if not _is_public(name) or name in known or inspect.ismodule(value):
            continue
        found.append(prefix + name)
        if inspect.isclass(value):
            found += [f"{prefix}{name}.{member}" for member in members_of(value)]
    return found


def all_names():
    """The names of the package onnxruntime that can be imported."""
    import onnxruntime
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return names_of(onnxruntime) + names_of(state, "state.", dir(onnxruntime))


if __name__ == "__main__":
    print("\n".join(all_names()))
