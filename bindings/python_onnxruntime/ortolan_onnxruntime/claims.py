"""The distribution onnxruntime that holds nothing: its metadata alone tells pip that the module onnxruntime is here."""
import base64
import hashlib
import importlib
import re
import subprocess
import sys
import zipfile
from importlib import metadata

from ortolan import InferenceSession, __version__

OURS = "ortolan-onnxruntime"
LABEL = "ortolan"  # of its version: no registry has a version with one, so what asks for it gets no other package
SUMMARY = f"Holds nothing: stands for the module onnxruntime that {OURS} installs"


REMEDY = f"put the module of {OURS} in its place with: pip uninstall -y onnxruntime && pip install --force-reinstall " \
    f"--no-deps {OURS}"


class ClaimError(Exception):
    """The name cannot be taken, or is another's."""


def version_of(asked):
    """The version with the label."""
    version = asked or __version__
    if not re.fullmatch(r"\d+(\.\d+)*", version):
        raise ClaimError(f"'{version}' is not a version such as 1.31.0")
    return f"{version}+{LABEL}"


def _record(name, text):
    digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{len(text.encode())}\n"


def write_wheel(folder, asked=None):
    """Writes the wheel into the folder and returns its path."""
    version = version_of(asked)
    inner = f"onnxruntime-{version}.dist-info"
    files = {
        f"{inner}/METADATA": (f"Metadata-Version: 2.1\nName: onnxruntime\nVersion: {version}\nSummary: {SUMMARY}\n"
                              f"Requires-Dist: {OURS}=={__version__}\n"),
        f"{inner}/WHEEL": f"Wheel-Version: 1.0\nGenerator: {OURS}\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(_record(name, text) for name, text in files.items()) + f"{inner}/RECORD,,\n"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"onnxruntime-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, text in {**files, f"{inner}/RECORD": record}.items():
            wheel.writestr(name, text)
    return path


def _refuse_strangers():
    """Another package onnxruntime must go first: uninstalling it takes files of the module away."""
    try:
        found = metadata.distribution("onnxruntime")
    except metadata.PackageNotFoundError:
        return
    if not found.version.endswith(f"+{LABEL}"):
        raise ClaimError(f"onnxruntime {found.version} is installed; {REMEDY}")


def claim(folder, asked=None):
    """Has pip install the wheel, written into the folder, in this environment. Returns a sentence about it."""
    _refuse_strangers()
    wheel = write_wheel(folder, asked)
    done = subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps",
                           "--no-index", "--force-reinstall", wheel], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClaimError(f"pip did not install {wheel.name}: {done.stderr.strip()}; without pip, write it with: python -m "
                         "ortolan_onnxruntime wheel FOLDER")
    return f"installed {wheel.name}: pip takes onnxruntime {version_of(asked)} for installed"


def check():
    """A sentence about the module that programs get; ClaimError where it is another's."""
    try:
        module = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise ClaimError(f"the module onnxruntime cannot be imported: {error}") from error
    if not issubclass(getattr(module, "InferenceSession", object), InferenceSession):
        raise ClaimError(f"the module onnxruntime in {module.__file__} is another package's; {REMEDY}")
    return f"onnxruntime {module.__version__} runs on ortolan"
