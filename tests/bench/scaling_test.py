#!/usr/bin/python3
"""Tests of bench/scaling and its program, with our library on both sides: scaling_test.py BUILD REPOSITORY."""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

BUILD, REPOSITORY = (pathlib.Path(argument) for argument in sys.argv[1:3])
sys.path.insert(0, str(REPOSITORY / "bench"))

from scaling_parts.points import Point, points_of  # pylint: disable=wrong-import-position
from scaling_parts.results import Results  # pylint: disable=wrong-import-position

DIGITS = REPOSITORY / "tests" / "models" / "digits.onnx"
LIBRARY = BUILD / "lib" / "libortolan.so.1"
SVG = "{http://www.w3.org/2000/svg}"


def call(*arguments):
    words = [str(argument) for argument in arguments]
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)


def write_products(path, layers=20, width=256):
    """A model whose runs are long beside what a caller does between two of them."""
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [64, width]) for name in ("x0", f"x{layers}")]
    weight = numpy_helper.from_array(np.eye(width, dtype=np.float32), "weight")
    nodes = [helper.make_node("MatMul", [f"x{i}", "weight"], [f"x{i + 1}"]) for i in range(layers)]
    model = helper.make_model(helper.make_graph(nodes, "products", ports[:1], ports[1:], [weight]),
                              opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.save(model, str(path))


class OnePoint(unittest.TestCase):
    def figures(self, *options, model=DIGITS):
        result = call(BUILD / "bin" / "scaling", *options, LIBRARY, model)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("\n"), 1)
        return json.loads(result.stdout)

    def test_each_caller_makes_its_runs(self):
        for sessions in ([], ["--many"]):
            self.assertEqual(self.figures("--callers", 3, "--runs", 50, *sessions)["runs"], 150)

    def test_callers_are_in_a_run_much_of_the_time(self):
        with tempfile.TemporaryDirectory() as folder:
            model = pathlib.Path(folder) / "products.onnx"
            write_products(model)
            for callers, sessions in ((1, []), (4, []), (4, ["--many"])):
                figures = self.figures("--callers", callers, "--seconds", 0.3, *sessions, model=model)
                self.assertGreaterEqual(figures["runs"] / figures["per_second"], 0.3)
                self.assertLessEqual(figures["p50_ms"], figures["p90_ms"])
                self.assertLessEqual(figures["p90_ms"], figures["p99_ms"])
                self.assertGreater(figures["cpu_ms"], 0)
                in_runs = figures["per_second"] * figures["mean_ms"] / 1000
                self.assertLess(in_runs, callers * 1.01)
                self.assertGreater(in_runs, callers * 0.2)  # others may have the processors between runs

    def test_inputs_are_told(self):
        told = self.figures("--runs", 1)["inputs"]
        self.assertEqual(told, [{"name": "image", "type": "float32", "shape": [1, 1, 8, 8]}])

    def test_wrong_numbers_are_refused(self):
        for option in ("--threads", "--callers"):
            result = call(BUILD / "bin" / "scaling", option, 0, LIBRARY, DIGITS)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"{option}: 0 is no number of", result.stderr)


class Plan(unittest.TestCase):
    def test_one_caller_meets_all_threads_and_more_callers_some(self):
        points = list(points_of("resnet50", [1, 2, 4], [1, 8], [1, 2, 16], [False, True], [2]))
        self.assertEqual(len(points), len(set(points)))
        self.assertEqual([(p.batch, p.threads) for p in points if p.callers == 1],
                         [(1, 1), (1, 2), (1, 4), (8, 1), (8, 2), (8, 4)])
        self.assertEqual([(p.batch, p.threads, p.callers, p.many) for p in points if p.callers > 1],
                         [(1, 2, 2, False), (1, 2, 16, False), (1, 2, 2, True), (1, 2, 16, True)])

    def test_models_without_a_batch_have_one(self):
        self.assertEqual({point.batch for point in points_of("lstm", [1], [1, 8], [1, 2], [False], [1])}, {1})

    def test_a_grid_has_every_combination_once(self):
        points = list(points_of("resnet50", [1, 2], [1, 8], [1, 2, 4], [False, True], [1, 2], every_batch=True))
        self.assertEqual(len(points), len(set(points)))
        self.assertEqual(len(points), 2 * 2 * (1 + 2 * 2))


class Medians(unittest.TestCase):
    def test_ratios_are_those_of_the_rounds(self):
        point = Point("m", 1, 1, 1, False)
        results = Results(["a", "b"])
        for ours, theirs in ((10, 5), (60, 20), (20, 40)):
            for side, number in (("a", ours), ("b", theirs)):
                figures = ("per_second", "mean_ms", "p50_ms", "p90_ms", "p99_ms", "cpu_ms")
                results.add(point, side, dict.fromkeys(figures, number))
        self.assertEqual(results.median(point, "a", "p50_ms"), 20)
        self.assertEqual(results.ratio(point, "b", "p50_ms"), 2)

    def test_a_round_without_figures_is_left_out(self):
        point = Point("m", 1, 1, 1, False)
        results = Results(["a", "b"])
        results.add(point, "a", {"per_second": 4})
        results.add(point, "b", None, "it failed")
        self.assertIsNone(results.median(point, "b", "per_second"))
        self.assertIsNone(results.ratio(point, "b", "per_second"))
        self.assertEqual(results.reasons, {(point, "b"): "it failed"})


class Page(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.out = pathlib.Path(self.folder.name)
        self.result = self.measure(LIBRARY, "--runs", 3, "--rounds", 2, "--threads", "1,2", "--callers", "1,2,4")

    def measure(self, official, *options):
        return call(REPOSITORY / "bench" / "scaling", DIGITS, "--ours", LIBRARY, "--official", official, "--batches", 1,
                    "--programs", BUILD / "bin", "--out", self.out, *options)

    def test_has_every_point_and_curve(self):
        self.assertEqual(self.result.returncode, 0, self.result.stderr)
        page = ElementTree.parse(self.out / "scaling.html").getroot()
        charts = {svg.findtext(f"{SVG}title"): svg for svg in page.iter(f"{SVG}svg")}
        self.assertEqual(len(charts), 3)
        sessions = [f"{side}: {kind}" for kind in ("one session", "a session each") for side in ("ortolan", "official")]
        for title, svg in charts.items():
            speed_up = "speed-up" in title
            curves = [group for group in svg.iter(f"{SVG}g") if group.get("class") == "curve"]
            self.assertEqual([curve.get("data-label") for curve in curves],
                             ["ortolan", "official"] if speed_up else sessions, title)
            for curve in curves:
                self.assertEqual(len(list(curve.iter(f"{SVG}circle"))), 2 if speed_up else 3)
        self.assertEqual(len(list(page.iter("tr"))), 1 + 2 + 4)
        self.assertFalse(list(page.iter("script")))

    def test_curves_stay_within_their_chart(self):
        page = ElementTree.parse(self.out / "scaling.html").getroot()
        for svg in page.iter(f"{SVG}svg"):
            width, height = float(svg.get("width")), float(svg.get("height"))
            for dot in svg.iter(f"{SVG}circle"):
                self.assertTrue(0 < float(dot.get("cx")) < width and 0 < float(dot.get("cy")) < height)

    def test_table_holds_medians_of_both(self):
        with open(self.out / "scaling.tsv", encoding="utf-8") as lines:
            rows = list(csv.DictReader(lines, delimiter="\t"))
        self.assertEqual(len(rows), 2 * (2 + 4))
        for row in rows:
            self.assertEqual(row["rounds"], "2")
            self.assertGreater(float(row["per_second"]), 0)
            self.assertEqual(row["per_second ortolan/official"] != "", row["library"] == "ortolan")

    def test_says_what_could_not_be_measured(self):
        result = self.measure(DIGITS, "--runs", 1, "--rounds", 1, "--threads", 1, "--callers", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        text = "".join(ElementTree.parse(self.out / "scaling.html").getroot().itertext())
        self.assertIn("Not measured", text)
        self.assertIn("1 callers, one session, official: scaling: ", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
