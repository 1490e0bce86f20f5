"""Whether the files of this package stand alone, or among those of another package of the same module."""
import pathlib


def check(init):
    """Refuses to be imported over an extension module of another package of onnxruntime, which Python would prefer to
    files of this one."""
    folder = pathlib.Path(init).parent
    strangers = sorted(path.name for path in (folder / "capi").glob("onnxruntime_pybind11_state.*so"))
    if strangers:
        raise ImportError(
            f"{folder} holds files of two packages: ortolan-onnxruntime's and, such as {strangers[0]}, those of another "
            "that gives the module onnxruntime; uninstall both, then install ortolan-onnxruntime again")
