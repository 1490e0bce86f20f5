"""What import says where the package's binaries do not fit: a sentence, and what to do; and that old processors fit."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import ortolan
from support import DIGITS, main

PACKAGE = pathlib.Path(ortolan.__file__).parent
MACHINE = 18  # offset of the processor in an ELF file


def library_folder():
    """Where this process has the library from: a copy may look for it beside itself only."""
    lines = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    return os.path.dirname(next(line.split(maxsplit=5)[5] for line in lines if "/libortolan.so." in line))


def import_without(change):
    """The last line of an import of a copy of the package, after `change(path of the extension)`."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(PACKAGE, pathlib.Path(folder, "ortolan"))
        binary, = copy.glob("_native*.so")
        change(binary)
        program = f"import sys; sys.path.insert(0, {folder!r}); import ortolan"
        variables = {**os.environ, "LD_LIBRARY_PATH": library_folder()}
        done = subprocess.run([sys.executable, "-c", program], env=variables, stderr=subprocess.PIPE, text=True, check=False)
    return done.returncode, done.stderr.strip().splitlines()[-1:]


class Refusals(unittest.TestCase):
    def refused(self, change, pattern):
        status, said = import_without(change)
        self.assertEqual(status, 1)
        self.assertRegex(said[0], f"^ImportError: ortolan does not load in cpython 3[0-9.a-z+]* on .*{pattern}")

    def test_a_copy_that_nothing_happened_to_loads(self):
        self.assertEqual(import_without(lambda binary: None), (0, []))

    def test_a_missing_library(self):
        def ask_for_another(binary):
            content = binary.read_bytes()
            self.assertIn(b"libortolan.so.1\0", content)
            binary.write_bytes(content.replace(b"libortolan.so.1\0", b"libortolan.so.0\0"))

        self.refused(ask_for_another, "libortolan.so.0: cannot open shared object file.*; install ortolan again$")

    def test_no_binary(self):
        self.refused(pathlib.Path.unlink, "holds no binary; build it")

    def test_another_processor(self):
        def exchange(binary):
            content = bytearray(binary.read_bytes())
            content[MACHINE] ^= 0x55
            binary.write_bytes(content)

        self.refused(exchange, "; its binaries are for another Python, processor or C library")

    def test_a_damaged_binary(self):
        self.refused(lambda binary: binary.write_bytes(b"no library"), "; its binaries are for another Python")


class Processors(unittest.TestCase):
    def test_one_without_vector_extensions_will_do(self):
        program = ("import numpy as np, ortolan, sys; session = ortolan.InferenceSession(sys.argv[1]);"
                   "picture = np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 1, 8, 8);"
                   "print(*session.run(None, {session.get_inputs()[0].name: picture})[0].ravel())")

        def numbers(variables):
            out = subprocess.run([sys.executable, "-c", program, str(DIGITS / "digits.onnx")], env={**os.environ, **variables},
                                 stdout=subprocess.PIPE, text=True, check=True).stdout
            return [float(word) for word in out.split()]

        plain = numbers({"ORTOLAN_CPU_ISA": "generic"})
        self.assertEqual(len(plain), 10)
        for one, other in zip(plain, numbers({})):
            self.assertAlmostEqual(one, other, places=5)


if __name__ == "__main__":
    main()
