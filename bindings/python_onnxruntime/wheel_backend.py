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
    """The name of the wheel in that folder. Its library finds libortolan.so.1 in the package ortolan beside it."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, build.build_wheel(folder, config_settings, metadata_directory))
        named = pathlib.Path(folder, "named")
        subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--exclude", "libortolan.so.1", "--wheel-dir", named,
                        made], check=True)
        wheel, = named.iterdir()
        return pathlib.Path(wheel_directory, wheel.name).write_bytes(wheel.read_bytes()) and wheel.name
