"""Builds the wheel of pyproject.toml: as scikit-build-core does, and named after the systems that it runs on."""
import pathlib
import subprocess
import sys
import tempfile

from scikit_build_core import build
from scikit_build_core.build import (  # noqa: F401
    build_editable, build_sdist, get_requires_for_build_editable, get_requires_for_build_sdist,
    get_requires_for_build_wheel, prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The name of the wheel in that folder. auditwheel finds the oldest policy, such as manylinux_2_35, that the binaries
    keep to, and adds the libraries of this machine that they need, RE2."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, build.build_wheel(folder, config_settings, metadata_directory))
        named = pathlib.Path(folder, "named")
        subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", named, made], check=True)
        wheel, = named.iterdir()
        return pathlib.Path(wheel_directory, wheel.name).write_bytes(wheel.read_bytes()) and wheel.name
