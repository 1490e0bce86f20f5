#!/usr/bin/python3
"""Tests of the programs for tests and measurements as users call them: programs_test.py PROGRAMS REPOSITORY."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from programs_support import DIGITS, PROGRAMS, REPOSITORY, call


def write_case(folder, name, offset=0.0):
    """A case y = x + 1 whose expected result is off by so much."""
    case = pathlib.Path(folder) / name
    data = case / "test_data_set_0"
    data.mkdir(parents=True)
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xy"]
    one = numpy_helper.from_array(np.ones(1, np.float32), "one")
    graph = helper.make_graph([helper.make_node("Add", ["x", "one"], ["y"])], "g", info[:1], info[1:], [one])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.save(model, str(case / "model.onnx"))
    x = np.arange(3, dtype=np.float32)
    (data / "input_0.pb").write_bytes(numpy_helper.from_array(x, "x").SerializeToString())
    (data / "output_0.pb").write_bytes(numpy_helper.from_array(x + 1 + np.float32(offset), "y").SerializeToString())
    return case


class TestRunner(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name)

    def outcomes(self, *options):
        result = call("onnx_test_runner", *options, "--json", self.root)
        return result.returncode, {c["name"]: c["outcome"] for c in json.loads(result.stdout)["cases"]}

    def test_scores(self):
        write_case(self.root, "good")
        write_case(self.root, "bad", 0.1)
        expected = {"good": "passed", "bad": "wrong result"}
        for options in ([], ["--isolate"], ["-o", "0"], ["-j", "2", "-c", "2", "-r", "3"], ["-x"]):
            with self.subTest(options=options):
                self.assertEqual(self.outcomes(*options), (1, expected))

    def test_tolerance_file(self):
        (write_case(self.root, "loose", 0.1) / "tol.txt").write_text("0.2 0 0\n")
        self.assertEqual(self.outcomes(), (0, {"loose": "passed"}))

    def test_broken_model_fails_to_load(self):
        (write_case(self.root, "broken") / "model.onnx").write_bytes(b"\x08\xff")
        self.assertEqual(self.outcomes("--isolate"), (1, {"broken": "load failed"}))

    def test_ignored_case_that_passes_fails_the_run(self):
        write_case(self.root, "good")
        write_case(self.root, "bad", 0.1)
        known = self.root / "known.txt"
        known.write_text("# known failures\nbad, off by a tenth\n")
        self.assertEqual(self.outcomes("--ignore", known), (0, {"good": "passed", "bad": "ignored"}))
        known.write_text("bad, off by a tenth\ngood, was wrong\n")
        self.assertEqual(self.outcomes("--ignore", known)[0], 1)
        known.write_text("~bad, by chance\n~good, by chance\n")
        self.assertEqual(self.outcomes("--ignore", known), (0, {"good": "passed", "bad": "ignored"}))
        known.write_text("bad\n")
        self.assertIn("gives no reason", call("onnx_test_runner", "--ignore", known, self.root).stderr)


class PerfTest(unittest.TestCase):
    def test_counts_runs(self):
        facts = json.loads(call("onnxruntime_perf_test", "-I", "-r", 7, "-c", 2, "--json", DIGITS).stdout)
        self.assertEqual(facts["runs"], 7)
        self.assertGreater(facts["p50_ms"], 0)

    def test_session_only(self):
        result = call("onnxruntime_perf_test", "-n", DIGITS)
        self.assertIn("Session creation time cost", result.stdout)
        self.assertNotIn("requests", result.stdout)


class Benchmark(unittest.TestCase):
    def test_generated_models_run(self):
        with tempfile.TemporaryDirectory() as folder:
            script = REPOSITORY / "bench" / "generate_models.py"
            names = ["mlp", "lstm", "mobilenet_v2", "resnet18_qdq"]
            subprocess.run([sys.executable, "-B", str(script), "--out", folder, *names], check=True, capture_output=True)
            for name in names:
                result = call("ortolan", "run", f"{folder}/{name}.onnx")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertNotIn("not finite", result.stdout)


class Compare(unittest.TestCase):
    def test_library_with_itself(self):
        library = PROGRAMS.parent / "lib" / "libortolan.so.1"
        result = call("compare", "--json", "--starts", 1, "--rounds", 2, "--seconds", 0.02, library, library, DIGITS)
        model = json.loads(result.stdout)["models"][0]
        self.assertNotIn("error", model)
        self.assertEqual(model["difference"]["absolute"], 0)
        self.assertEqual([run["threads"] for run in model["runs"]], [1, 2])

    def test_neighbours(self):
        library = PROGRAMS.parent / "lib" / "libortolan.so.1"
        few = ["--json", "--starts", 1, "--rounds", 1, "--seconds", 0.02, "--threads", 1]
        result = call("compare", *few, "--neighbours", 2, library, library, DIGITS)
        self.assertEqual(json.loads(result.stdout)["neighbours"], 2)
        result = call("compare", *few, "--neighbours", -1, library, library, DIGITS)
        self.assertEqual(result.returncode, 2)
        self.assertIn("--neighbours must be from 0", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
