"""Builds the wheel of pyproject.toml: as scikit-build-core does, and named after the systems that it runs on."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from auditwheel.wheeltools import InWheel
from scikit_build_core import build
from scikit_build_core.build import (  # noqa: F401
    build_editable, build_sdist, get_requires_for_build_editable, get_requires_for_build_sdist,
    get_requires_for_build_wheel, prepare_metadata_for_build_editable, prepare_metadata_for_build_wheel)


COPYRIGHTS = pathlib.Path("/usr/share/doc")  # a folder of each Debian package


def packages_inside(wheel):
    """The Debian packages of the libraries that auditwheel has added, as its list of parts names them."""
    parts = [part for parts in wheel.glob("*.dist-info/sboms/auditwheel.cdx.json")
             for part in json.loads(parts.read_text(encoding="utf-8"))["components"]]
    found = sorted({part["name"] for part in parts if part.get("purl", "").startswith("pkg:deb/")})
    if not found and any(wheel.glob("*.libs/*")):
        sys.exit("wheel: libraries are added that no Debian package holds, so their licences are not known; build it where "
                 "RE2 comes from libre2-dev, or without")
    return found


def add_licences(wheel):
    """Beside ours, what the packages of added libraries ask those to tell who pass them on."""
    info, = wheel.glob("*.dist-info")
    names = []
    for package in packages_inside(wheel):
        names.append(f"{package}.copyright")
        shutil.copyfile(COPYRIGHTS / package / "copyright", info / "licenses" / names[-1])
    before, body = (info / "METADATA").read_text(encoding="utf-8").split("\n\n", 1)
    lines = [before, *(f"License-File: {name}" for name in names)]
    (info / "METADATA").write_text("\n".join(lines) + "\n\n" + body, encoding="utf-8")


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The name of the wheel in that folder. auditwheel finds the oldest policy, such as manylinux_2_35, that the binaries
    keep to, and adds the libraries of this machine that they need, RE2, whose licences come along."""
    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, build.build_wheel(folder, config_settings, metadata_directory))
        named = pathlib.Path(folder, "named")
        subprocess.run([sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", named, made], check=True)
        wheel, = named.iterdir()
        with InWheel(wheel, pathlib.Path(wheel_directory, wheel.name)) as inside:
            add_licences(pathlib.Path(inside))
        return wheel.name
