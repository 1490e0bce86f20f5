"""Type hints: mypy finds the package without fault, and mistakes in programs that use it: types_test.py SOURCES CACHE."""
import subprocess
import sys
import tempfile
import unittest

try:
    import mypy  # noqa: F401
except ImportError:
    print("skipped: install the package mypy")
    sys.exit(77)

CACHE, SOURCES = sys.argv.pop(), sys.argv.pop()
PROGRAM = """
import numpy as np
import ortolan as ort

options = ort.SessionOptions()
options.intra_op_num_threads = 2
session = ort.InferenceSession("model.onnx", options, providers=[("CPUExecutionProvider", {"a": 1}), "Other"])
names: list[str] = [node.name for node in session.get_inputs()]
outputs = session.run(names, {"x": np.zeros(3)})
value: ort.OrtValue = session.run_with_ort_values(None, {})[0]
"""
MISTAKE = """
options.intra_op_num_threads = "two"
session.run(None, 7)
session.get_inputs()[0].nmae
"""


class Types(unittest.TestCase):
    def check(self, *arguments):
        return subprocess.run([sys.executable, "-m", "mypy", "--strict", "--no-warn-return-any", "--cache-dir", CACHE,
                               *arguments], cwd=SOURCES, capture_output=True, text=True, check=False)

    def test_the_package(self):
        result = self.check("-p", "ortolan")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_programs(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(PROGRAM)
            file.flush()
            result = self.check(file.name)
            self.assertEqual(result.returncode, 0, result.stdout)
            file.write(MISTAKE)
            file.flush()
            result = self.check(file.name)
        faults = [line for line in result.stdout.splitlines() if ": error: " in line]
        self.assertEqual(len(faults), 3, result.stdout)


if __name__ == "__main__":
    unittest.main()
