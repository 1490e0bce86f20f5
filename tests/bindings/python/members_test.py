"""Every public name of the official package is here, in the package onnxruntime over this one, or left out for a reason.

With ORTOLAN_OFFICIAL_PACKAGE in the environment, a folder from which the official onnxruntime can be imported by this
Python, its names are read from there too, so that the list in official_names.txt cannot fall behind.
"""
import enum
import os
import pathlib
import subprocess
import sys
import unittest

import ortolan as ort
from ortolan.capi import onnxruntime_pybind11_state as state
from support import main

HERE = pathlib.Path(__file__).parent
OFFICIAL = os.environ.get("ORTOLAN_OFFICIAL_PACKAGE")
_WRITES = "writing packages came after the C interface of API 31, which reads them"
_DATA = "writing data of compiled nodes through a function came after API 31"
_QUANTISER = "packs weights for one operator; the library's interface has no such function"
LEFT_OUT = {
    "ModelPackage": _WRITES,
    "ModelPackageWriteMode": _WRITES,
    "OrtEpContextData": _DATA,
    "ModelCompiler.set_ep_context_data_write_func": _DATA,
    "ModelCompiler.clear_ep_context_data_write_func": _DATA,
    "state.get_registered_ep_kernel_defs": "the C interface does not list the kernels of plugin libraries",
    "state.quantize_matmul_2bits": _QUANTISER,
    "state.quantize_matmul_4bits": _QUANTISER,
    "state.quantize_matmul_8bits": _QUANTISER,
    "state.quantize_matmul_bnb4": _QUANTISER,
    "state.quantize_qdq_matmul_2bits": _QUANTISER,
    "state.quantize_qdq_matmul_4bits": _QUANTISER,
    "state.pack_fp4_weights_for_cuda_moe_gemm": _QUANTISER,
}
# Habits, which the package onnxruntime over this one has.
HABITS = {
    "InferenceSession.disable_fallback", "InferenceSession.enable_fallback", "cuda_version", "has_collective_ops",
    "import_capi_exception", "package_name", "preload_dlls", "print_debug_info", "version",
}
MOST_LEFT_OUT = 15


def instances():
    """Objects of classes whose attributes are not the class's."""
    device = ort.get_ep_devices()[0]
    return {"OrtEpDevice": device, "OrtHardwareDevice": device.device, "OrtArenaCfg": ort.OrtArenaCfg({})}


def is_here(name, shown):
    module, name = (state, name[len("state."):]) if name.startswith("state.") else (ort, name)
    kind, _, member = name.partition(".")
    if not hasattr(module, kind):
        return False
    found = getattr(module, kind)
    one = next(iter(found)) if isinstance(found, enum.EnumMeta) else shown.get(kind, found)
    members = (dir(found), dir(one), getattr(found, "__dataclass_fields__", ()), getattr(found, "__members__", ()))
    return not member or any(member in names for names in members)


class Members(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.names = (HERE / "official_names.txt").read_text(encoding="utf-8").split()

    def missing(self, names):
        shown = instances()
        return {name for name in names if not is_here(name, shown)}

    def excused(self, name):
        kind = name.rpartition(".")[0]
        return name in LEFT_OUT or kind in LEFT_OUT or name in HABITS

    def test_nothing_else_is_missing(self):
        self.assertGreater(len(self.names), 300)
        self.assertEqual(sorted(name for name in self.missing(self.names) if not self.excused(name)), [])

    def test_the_lists_are_short_and_true(self):
        self.assertLessEqual(len(LEFT_OUT), MOST_LEFT_OUT)
        self.assertTrue(all(LEFT_OUT.values()))
        missing = self.missing(self.names)
        self.assertEqual([name for name in (*LEFT_OUT, *sorted(HABITS)) if name not in missing], [])

    def test_what_is_missing_is_found(self):
        self.assertEqual(self.missing(["OrtValue.numpy", "OrtValue.no_such", "state.no_such", "NoSuch.member"]),
                         {"OrtValue.no_such", "state.no_such", "NoSuch.member"})

    @unittest.skipUnless(OFFICIAL, "ORTOLAN_OFFICIAL_PACKAGE names no folder of the official package")
    def test_the_official_package(self):
        result = subprocess.run([sys.executable, "-B", HERE / "official_names.py"], env={**os.environ, "PYTHONPATH": OFFICIAL},
                                capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split(), self.names)


if __name__ == "__main__":
    main()
