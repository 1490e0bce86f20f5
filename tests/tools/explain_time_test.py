#!/usr/bin/python3
"""Tests of what ortolan explain --time measures and shows: explain_time_test.py PROGRAMS REPOSITORY."""
import json
import pathlib
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import numpy as np
from onnx import TensorProto, helper
from programs_support import EXAMPLE, TEST_DEVICE, call, save_model


class ExplainTime(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.model = pathlib.Path(self.folder.name, "small.onnx")
        nodes = [helper.make_node("MatMul", ["x", "w"], ["xw"], "product <of> x & w"),
                 helper.make_node("Relu", ["xw"], ["r"], "cut"),
                 helper.make_node("ReduceSum", ["r"], ["y"], "sum", keepdims=0)]
        save_model(self.model, nodes, [("x", ["rows", 8])], [("y", [])], [("w", np.ones((8, 16), np.float32))])

    def explain(self, *options):
        return call("ortolan", "explain", "--time", "-o", "0", "--runs", 4, *options, self.model)

    def test_figures(self):
        result = self.explain("--json", "--dim", "rows=4")
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual([node["operator"] for node in report["nodes"]], ["MatMul", "Relu", "ReduceSum"])
        product = report["nodes"][0]
        self.assertEqual(product["node"], "product <of> x & w")
        self.assertEqual((product["provider"], product["calls"]), ("CPU", 1))
        self.assertEqual(product["kernel"], "gemm_f32 packed 4x8x16")
        self.assertRegex(product["isa"], "generic|avx2|avx512f?")
        self.assertEqual(product["flops"], 2 * 4 * 8 * 16)
        self.assertEqual(product["bytes"], 4 * (4 * 8 + 8 * 16 + 4 * 16))
        self.assertEqual(product["inputs"], "float[4,8], float[8,16]")
        self.assertGreater(product["us"], 0)
        self.assertAlmostEqual(product["gflops_per_second"], product["flops"] / product["us"] / 1000)
        self.assertAlmostEqual(sum(node["share"] for node in report["nodes"]), 1)
        self.assertAlmostEqual(sum(node["us"] for node in report["nodes"]), report["total"]["us"])
        self.assertLess(report["run_in_nodes_us"], report["run_us"])
        self.assertEqual(report["runs"], 4)

    def test_table(self):
        lines = self.explain("-f", "rows:64", "--top", 1).stdout.splitlines()
        self.assertIn("medians of 4 runs", lines[0])
        self.assertRegex(lines[1], "a run takes [0-9.]+ µs")
        head = lines[3].split()
        self.assertEqual(head, ["node", "operator", "provider", "kernel", "isa", "calls", "µs", "share", "GFLOP/s", "GB/s"])
        self.assertTrue(lines[5].startswith("2 other nodes"), lines[5])
        self.assertRegex(lines[6], r"^total +3 +[0-9.]+ +100.0 %")
        operators = lines[lines.index("", 7) + 2:]
        self.assertEqual(sorted(line.split()[0] for line in operators), ["MatMul", "ReduceSum", "Relu", "total"])

    def test_page_and_picture_are_well_formed_and_whole(self):
        page, picture = (pathlib.Path(self.folder.name, name) for name in ("p.html", "p.svg"))
        self.assertEqual(self.explain("--html", page, "--svg", picture).returncode, 0)
        for path in (page, picture):
            tree = ElementTree.fromstring(path.read_text().removeprefix("<!DOCTYPE html>"))
            texts = [text for element in tree.iter() for text in (element.text or "",)]
            for name in ("product <of> x & w", "cut", "sum"):
                self.assertTrue(any(name in text for text in texts), (path, name))
            titles = [e for e in tree.iter() if e.tag.endswith("}title") and "kernel" in e.text]
            self.assertEqual(len(titles), 2 * 3, "a tooltip in the strip and one in the list for each node")
            self.assertFalse([e for e in tree.iter() if e.tag.endswith("script") or e.get("src") or e.get("href")])

    def test_times_of_a_device_are_its_own(self):
        page = pathlib.Path(self.folder.name, "device.html")
        result = self.explain("--json", "--dim", "rows=4", *TEST_DEVICE, "--html", page)
        self.assertEqual(result.returncode, 0, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual({node["provider"] for node in report["nodes"]}, {"TestDevice"}, "the host's part: one call")
        device = report["device"]
        self.assertEqual({launch["provider"] for launch in device["launches"]}, {"TestDevice"})
        self.assertLessEqual({"MatMul", "ReduceSum"}, {row["operator"] for row in device["operators"]})
        self.assertIn("product <of> x & w", {row["node"] for row in device["nodes"]})
        self.assertTrue(all(row["kernel"] for row in device["kernels"]))
        for rows in (device["launches"], device["nodes"], device["operators"], device["kernels"]):
            self.assertAlmostEqual(sum(row["us"] for row in rows), device["total"]["us"])
            self.assertAlmostEqual(sum(row["calls"] for row in rows), device["total"]["calls"])
            self.assertAlmostEqual(sum(row["share"] for row in rows), 1)
        self.assertGreater(device["total"]["us"], 0)
        self.assertEqual(report["providers_without_kernels"], [])
        tree = ElementTree.fromstring(page.read_text().removeprefix("<!DOCTYPE html>"))
        texts = [element.text or "" for element in tree.iter()]
        for text in ("On the host: Operators", "On the device: Operators", "Kernels on the device by time"):
            self.assertIn(text, texts)
        text = self.explain("--dim", "rows=4", "--top", 1, *TEST_DEVICE).stdout
        self.assertRegex(text, r"on the device, the kernels of a run take [0-9.]+ µs, [0-9.]+ % of the run")
        self.assertRegex(text, r"On the device:\nnode +operator +provider +kernel +launches +µs +share\n")

    def test_a_provider_without_kernel_events_is_named(self):
        save_model(self.model, [helper.make_node("Mul", ["x", "x"], ["y"], "square")], [("x", [3])], [("y", [3])])
        text = self.explain(*EXAMPLE, "-e", "ExampleKernel").stdout
        self.assertIn("ExampleKernel told the profile of no kernels, so how long its device works is not known.", text)
        self.assertNotIn("On the device", text)

    def test_nodes_in_a_loop_count_for_themselves(self):
        body = helper.make_graph(
            [helper.make_node("Identity", ["go"], ["on"], "on"), helper.make_node("Add", ["a", "x"], ["b"], "step")],
            "body", [helper.make_tensor_value_info("i", TensorProto.INT64, []),
                     helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                     helper.make_tensor_value_info("a", TensorProto.FLOAT, [3])],
            [helper.make_tensor_value_info("on", TensorProto.BOOL, []),
             helper.make_tensor_value_info("b", TensorProto.FLOAT, [3])])
        loop = helper.make_node("Loop", ["count", "", "x"], ["y"], "loop", body=body)
        save_model(self.model, [loop], [("x", [3])], [("y", [3])], [("count", np.array(5, np.int64))])
        report = json.loads(self.explain("--json").stdout)
        nodes = {node["node"]: node for node in report["nodes"]}
        self.assertEqual((nodes["loop"]["calls"], nodes["step"]["calls"]), (1, 5))
        self.assertEqual(nodes["step"]["flops"], 5 * 3)
        self.assertLess(report["run_in_nodes_us"], report["run_us"], "inner nodes are not counted twice")

    def test_wrong_uses(self):
        for options, status, text in ((["--time", "--runs", "0"], 2, "--runs must be 1 or more"),
                                      (["--svg", "x.svg"], 2, "--svg goes with --time"),
                                      (["-x", "1"], 2, "--threads goes with --time"),
                                      (["--time", "--shape", "x"], 2, "--shape must look like"),
                                      (["--time", "--shape", "x:1,2,3"], 1, "x"),
                                      (["--time", "--html", "/nowhere/x.html"], 1, "cannot write /nowhere/x.html")):
            result = call("ortolan", "explain", *options, self.model)
            self.assertEqual(result.returncode, status, (options, result.stderr))
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
