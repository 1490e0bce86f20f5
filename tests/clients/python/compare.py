#!/usr/bin/python3
"""Runs each program of this folder on two libraries, in processes of their own, and compares what they find.

usage: compare.py OURS OFFICIAL PACKAGES [PROGRAM...]
OURS, OFFICIAL and PACKAGES are folders, or several with ':' between them, that Python imports from: the module onnxruntime
over ortolan, the official one, and the packages of requirements.txt. If OURS is "own", OFFICIAL stands in for it.
"""
import math
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = ("ocr", "speech", "file_types", "detection", "trees", "quantize")
DRIVER = "import surroundings; surroundings.main()"


def run(program, library, path, folder):
    """What the program finds with the library, and its tolerances; how long it took."""
    answer = pathlib.Path(folder, f"{program}-{library}.pickle")
    variables = {**os.environ, "PYTHONPATH": f"{HERE}:{path}"}
    begin = time.perf_counter()
    # Without site: nothing else that is installed may be imported.
    done = subprocess.run([sys.executable, "-S", "-B", "-c", DRIVER, program, library, answer], env=variables, cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise AssertionError(f"with the {library} library: {done.stdout[-4000:]}")
    return *pickle.loads(answer.read_bytes()), time.perf_counter() - begin


def differences(ours, official, allowed, where):
    """The numbers that are too far apart, as sentences; how far apart the others are is put into `allowed`."""
    if isinstance(official, dict):
        if not isinstance(ours, dict) or list(ours) != list(official):
            return [f"{where}: has {ours!r:.400}, and the official library {official!r:.400}"]
        return [text for key in official for text in differences(ours[key], official[key], allowed, f"{where}[{key!r}]")]
    if isinstance(official, list):
        if not isinstance(ours, list) or len(ours) != len(official):
            return [f"{where}: is {ours!r:.400}, and the official library has {official!r:.400}"]
        pairs = enumerate(zip(ours, official))
        return [text for i, (one, other) in pairs for text in differences(one, other, allowed, f"{where}[{i}]")]
    if isinstance(official, float) or hasattr(official, "dtype"):
        return numbers_apart(ours, official, allowed, where)
    return [] if ours == official else [f"{where}: is {ours!r:.400}, and the official library has {official!r:.400}"]


def numbers_apart(ours, official, allowed, where):
    import numpy as np
    one, other = np.asarray(ours), np.asarray(official)
    if one.dtype != other.dtype or one.shape != other.shape:
        return [f"{where}: is {one.dtype} {one.shape}, and the official library has {other.dtype} {other.shape}"]
    if one.dtype.kind not in "fc":
        return [] if np.array_equal(one, other) else [f"{where}: {np.sum(one != other)} of {one.size} values differ"]
    if not one.size:
        return []
    apart = np.abs(one.astype(np.float64) - other)
    allowed["largest"] = max(allowed["largest"], float(apart.max()))
    wrong = ~(apart <= allowed.get("atol", 0) + allowed.get("rtol", 0) * np.abs(other))
    if not wrong.any():
        return []
    worst = int(np.argmax(np.where(wrong, apart, 0)))
    return [f"{where}: {wrong.sum()} of {one.size} values differ, the worst {one.flat[worst]!r} and {other.flat[worst]!r}"]


def compare(program, ours_path, official_path, folder):
    """Sentences about what differs."""
    library = "official" if ours_path is official_path else "ortolan"
    official, tolerances, official_time = run(program, "official", official_path, folder)
    ours, _, our_time = run(program, library, ours_path, folder)
    if list(ours) != list(official):
        return [f"{program}: found {list(ours)}, and the official library {list(official)}"]
    found, largest = [], 0.0
    for name in official:
        allowed = {"largest": 0.0, **tolerances.get(name, {})}
        found += differences(ours[name], official[name], allowed, f"{program}: {name}")
        largest = max(largest, allowed["largest"] if math.isfinite(allowed["largest"]) else largest)
    print(f"{program}: {len(official)} results, numbers differ by {largest:.1e} at most; {our_time:.1f} s, official "
          f"{official_time:.1f} s", flush=True)
    return found


def main():
    ours, official, packages, *programs = sys.argv[1:]
    sys.path[:0] = packages.split(":")
    official_path = f"{official}:{packages}"
    ours_path = official_path if ours == "own" else f"{ours}:{packages}"
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for program in programs or PROGRAMS:
            try:
                wrong += compare(program, ours_path, official_path, folder)
            except AssertionError as error:
                wrong.append(f"{program}: {error}")
    print("\n".join(wrong) or "all results are equal")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
