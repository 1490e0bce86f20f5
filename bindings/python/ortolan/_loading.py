"""What users read where the package's binaries do not load."""
from __future__ import annotations

import pathlib
import platform
import sys


def refusal(error: ImportError) -> str:
    """The loader's words, and what to do."""
    folder = pathlib.Path(__file__).parent
    python = f"{sys.implementation.name} {platform.python_version()} on {platform.machine()}"
    if "libortolan.so" in str(error):
        remedy = f"the library must stand in {folder} or where the loader looks; install ortolan again"
    elif not list(folder.glob("_native*.so")):
        remedy = f"{folder} holds no binary; build it, as with: pip install ."
    else:
        remedy = "its binaries are for another Python, processor or C library; install ortolan for this one"
    return f"ortolan does not load in {python}: {error}; {remedy}"
