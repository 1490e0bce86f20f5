"""One program on one library: main PROGRAM LIBRARY ANSWER writes what it finds, after a look at what was loaded."""
import importlib
import pathlib
import pickle
import sys

LIBRARIES = ("libortolan.so", "onnxruntime_pybind11_state")  # ours, and the extension that the official library is in


def loaded():
    """Which of the libraries this process has mapped."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        paths = {line.split(maxsplit=5)[5].strip() for line in maps if len(line.split(maxsplit=5)) == 6}
    return [any(library in path for path in paths) for library in LIBRARIES]


def main():
    program, library, answer = sys.argv[1:]
    module = importlib.import_module(program)
    found = module.results()
    module.check(found)
    expected = [library == "ortolan", library == "official"]
    if loaded() != expected:
        sys.exit(f"{program} was to run on the {library} library, but of {LIBRARIES} these are mapped: {loaded()}")
    pathlib.Path(answer).write_bytes(pickle.dumps((found, module.TOLERANCES)))
