"""Where programs look for things: modules, names, the version, the library's file; and that only one runtime is loaded."""
import glob
import importlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import onnxruntime
import ortolan

PACKAGE = pathlib.Path(onnxruntime.__file__).parent
EXCEPTIONS = ("EPFail", "EngineError", "Fail", "InvalidArgument", "InvalidGraph", "InvalidProtobuf", "ModelLoaded", "NoModel",
              "NoSuchFile", "NotFound", "NotImplemented", "RuntimeException")


class Modules(unittest.TestCase):
    def test_the_state_has_what_programs_import_from_it(self):
        for name in ("_pybind_state", "onnxruntime_pybind11_state"):
            module = importlib.import_module(f"onnxruntime.capi.{name}")
            for member in (*EXCEPTIONS, "ExecutionMode", "GraphOptimizationLevel", "NodeArg", "RunOptions", "SessionOptions",
                           "get_all_providers", "get_available_providers", "get_device", "set_default_logger_severity"):
                self.assertTrue(hasattr(module, member), member)
            self.assertIs(module.Fail, ortolan.capi.onnxruntime_pybind11_state.Fail)
            self.assertIs(module.SessionOptions, onnxruntime.SessionOptions)

    def test_the_collection_has_the_classes(self):
        module = importlib.import_module("onnxruntime.capi.onnxruntime_inference_collection")
        self.assertTrue(issubclass(module.InferenceSession, module.Session))
        for name in ("InferenceSession", "IOBinding", "OrtDevice", "OrtValue"):
            self.assertIs(getattr(module, name), getattr(onnxruntime, name))
        self.assertIs(module.C.SessionOptions, onnxruntime.SessionOptions)

    def test_the_validation_says_who_it_is(self):
        from onnxruntime.capi import onnxruntime_validation
        about = ("onnxruntime", ortolan.__version__, "")
        self.assertEqual(onnxruntime_validation.get_package_name_and_version_info(), about)
        self.assertEqual(onnxruntime_validation.check_training_module(), (False, *about))
        self.assertIsNone(onnxruntime_validation.check_distro_info())

    def test_no_name_of_ortolan_is_missing(self):
        self.assertEqual([name for name in ortolan.__all__ if not hasattr(onnxruntime, name)], [])
        self.assertRegex(onnxruntime.__version__, r"^1\.31\.\d+$")
        self.assertEqual(onnxruntime.get_version_string(), onnxruntime.__version__)
        self.assertIn("InferenceSession", dir(onnxruntime))

    def test_examples(self):
        from onnxruntime.datasets import get_example
        for name in ("mul_1.onnx", "sigmoid.onnx", "logreg_iris.onnx"):
            self.assertTrue(os.path.isabs(get_example(name)) and onnxruntime.InferenceSession(get_example(name)).get_inputs())
        with self.assertRaisesRegex(FileNotFoundError, "there is no example 'cube.onnx' in "):
            get_example("cube.onnx")


def in_fresh_process(program, *arguments, path=None):
    """What a program prints, or the last line of its error."""
    variables = {**os.environ, "PYTHONPATH": path or os.environ.get("PYTHONPATH", "")}
    done = subprocess.run([sys.executable, "-c", program, *arguments], env=variables, cwd="/", capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() if done.returncode == 0 else done.stderr.strip().splitlines()[-1]


OPEN = """
import ctypes, sys
class Base(ctypes.Structure):
    _fields_ = [("GetApi", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)),
                ("GetVersionString", ctypes.CFUNCTYPE(ctypes.c_char_p))]
base = ctypes.CDLL(sys.argv[1]).OrtGetApiBase
base.restype = ctypes.POINTER(Base)
print(base().contents.GetVersionString().decode(), bool(base().contents.GetApi(31)))
ctypes.CDLL("libonnxruntime.so.1")
"""
ONE = """
import ctypes, glob, os, onnxruntime
library = ctypes.CDLL(glob.glob(os.path.dirname(onnxruntime.__file__) + "/capi/libonnxruntime.so.*")[0])
runtimes = {os.path.realpath(line.split()[-1]) for line in open("/proc/self/maps") if "libortolan.so" in line}
print(len(runtimes), ctypes.cast(library.OrtGetApiBase, ctypes.c_void_p).value ==
      ctypes.cast(ctypes.CDLL(runtimes.pop()).OrtGetApiBase, ctypes.c_void_p).value)
"""


class Library(unittest.TestCase):
    def test_its_file_has_the_version_and_answers(self):
        path, = glob.glob(str(PACKAGE / "capi/libonnxruntime.so.*"))
        self.assertEqual(path, str(PACKAGE / f"capi/libonnxruntime.so.{onnxruntime.__version__}"))
        self.assertFalse(os.path.islink(path))
        self.assertEqual(in_fresh_process(OPEN, path), f"{onnxruntime.__version__} True")

    def test_a_process_has_one_runtime(self):
        self.assertEqual(in_fresh_process(ONE), "1 True")


class Mixtures(unittest.TestCase):
    def test_files_of_another_package_are_noticed(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(PACKAGE, pathlib.Path(folder, "onnxruntime"))
            path = f"{folder}:{PACKAGE.parent}:{os.environ.get('PYTHONPATH', '')}"
            self.assertEqual(in_fresh_process("import onnxruntime; print('fine')", path=path), "fine")
            (copy / "capi/onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so").write_bytes(b"")
            said = in_fresh_process("import onnxruntime", path=path)
        self.assertRegex(said, "^ImportError: .*holds files of two packages: .*onnxruntime_pybind11_state.cpython-311.*; "
                               "uninstall both, then install ortolan-onnxruntime again$")


if __name__ == "__main__":
    unittest.main()
