"""Python files of another package onnxruntime, put into the module: tools that run on any library."""
import importlib.util
import pathlib
import shutil
import tempfile
import zipfile

FOLDERS = ("quantization", "tools", "transformers")


class FilesError(Exception):
    """There are no such files."""


def _module_folder():
    found = importlib.util.find_spec("onnxruntime")
    if found is None or not pathlib.Path(found.origin).with_name("_whole.py").exists():
        raise FilesError("the module onnxruntime of ortolan-onnxruntime is not here; install it first")
    return pathlib.Path(found.origin).parent


def _copy(source, names, target):
    for name in names:
        if not (source / name).is_dir():
            raise FilesError(f"there is no folder {name} in {source}")
    for name in names:
        shutil.copytree(source / name, target / name, dirs_exist_ok=True,
                        ignore=lambda folder, files: [file for file in files if not pathlib.Path(folder, file).is_dir() and
                                                      not file.endswith(".py")] + ["__pycache__"])


def add(source, names):
    """Copies the Python files of these folders from a wheel or a folder that holds the module; returns where to."""
    if unknown := set(names) - set(FOLDERS):
        raise FilesError(f"{', '.join(sorted(unknown))}: only these can be added: {', '.join(FOLDERS)}")
    target = _module_folder()
    if source.is_dir():
        _copy(source / "onnxruntime", names, target)
        return target
    if not zipfile.is_zipfile(source):
        raise FilesError(f"{source} is neither a folder nor a wheel")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(source) as wheel:
            wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith("onnxruntime/") and
                                      name.endswith(".py")])
        _copy(pathlib.Path(folder, "onnxruntime"), names, target)
    return target
