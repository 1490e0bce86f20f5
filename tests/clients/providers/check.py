#!/usr/bin/env python3
"""check.py FOLDER LIBRARY OFFICIAL: others' provider libraries, in packages below FOLDER, in the library of the file
LIBRARY. What a provider passes of ONNX's node data in the file OFFICIAL, Microsoft's library, it passes here; both list
the same devices of each. Where there is no file OFFICIAL, known_failures.txt alone says what need not pass."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER, LIBRARY, OFFICIAL = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
PROGRAMS = FOLDER.parent.parent / "bin"
DATA = {"node": Path(os.environ.get("ONNX_TESTDATA", "/usr/share/libonnx-testdata/data")) / "node",
        "node 1.23": FOLDER.parent.parent / "shared-data/node_1.23"}
CPU_EP = FOLDER / "nxrt_ep_cpu/libonnx_runtime_ep_cpu_plugin.so"
# By the names that they are registered under: those that end so also offer devices that the machine has not.
OTHERS = {
    "openvino": FOLDER / "onnxruntime_ep_openvino/libonnxruntime_providers_openvino_plugin.so",
    "webgpu": FOLDER / "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so",
    "webgpu.virtual": FOLDER / "onnxruntime_ep_webgpu/libonnxruntime_providers_webgpu.so",
}


def program(name):
    """The program that was built, or else the installed one."""
    built = PROGRAMS / name
    return str(built) if built.exists() else name


def known_failures():
    """Names of the cases; those with "~" pass by chance."""
    lines = (HERE / "known_failures.txt").read_text().splitlines()
    return {line.split(",")[0] for line in lines if not line.startswith("#")}


def passed_cases(library, data):
    """The names of the cases that pass on cpu_ep, and the number of all."""
    with tempfile.NamedTemporaryFile(suffix=".json") as report:
        subprocess.run([program("onnx_test_runner"), "--library", str(library), "--plugin", f"nxrt|{CPU_EP}",
                        "-e", "cpu_ep", "--json-file", report.name, str(data)],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cases = json.load(report)["cases"]
    return {case["name"] for case in cases if case["outcome"] == "passed"}, len(cases)


def devices(library, name, path):
    """The devices that come from the library in that path."""
    text = subprocess.run([program("ortolan"), "devices", "--json", "--library", str(library),
                           "--plugins", f"{name}|{path}"], capture_output=True, text=True, check=True).stdout
    return [device for device in json.loads(text)["devices"] if device["metadata"].get("library_path") == str(path)]


def check_node_data():
    known = known_failures()
    by_chance = {name.lstrip("~") for name in known if name.startswith("~")}
    failures = []
    for title, data in DATA.items():
        if not data.exists():
            continue
        here, total = passed_cases(LIBRARY, data)
        missing = set()
        line = f"cpu_ep, {title}: {len(here)} of {total} pass"
        if OFFICIAL.exists():
            there, _ = passed_cases(OFFICIAL, data)
            line += f", {len(there)} in Microsoft's library"
            missing |= there - here - by_chance
        if title == "node":
            missing |= {case.name for case in data.iterdir()} - here - known - by_chance
            failures += [f"{case} passes; take it from known_failures.txt" for case in sorted(here & known)]
        print(line)
        failures += [f"{case} does not pass" for case in sorted(missing)]
    return failures


def check_devices():
    failures = []
    for name, path in OTHERS.items():
        here = devices(LIBRARY, name, path)
        print(f"{name}: {len(here)} devices")
        if OFFICIAL.exists() and here != devices(OFFICIAL, name, path):
            failures.append(f"{name} has other devices than in Microsoft's library: {here}")
    return failures


problems = check_node_data() + check_devices()
for problem in problems:
    print(f"check.py: {problem}", file=sys.stderr)
sys.exit(1 if problems else 0)
