#!/usr/bin/python3
"""Tests of the program ortolan as users call it: ortolan_test.py PROGRAMS REPOSITORY."""
import json
import pathlib
import shutil
import struct
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from programs_support import DIGITS, EXAMPLE, LIBRARIES, REPOSITORY, TEST_DEVICE, call, save_model
from sklearn.datasets import load_digits


class OrtFormat:
    """A model in ORT format: a FlatBuffer of tables, given as {field: value}. Each part stands behind what refers to it."""

    def __init__(self, root):
        self.bytes = bytearray(b"\0\0\0\0ORTM")
        self.put(0, root)

    def append(self, count):
        self.bytes += bytes(-len(self.bytes) % 8)
        self.bytes += bytes(count)
        return len(self.bytes) - count

    def put(self, place, value):
        if isinstance(value, int):
            struct.pack_into("<q", self.bytes, place, value)
        else:
            target = self.table(value) if isinstance(value, dict) else self.vector(value)
            struct.pack_into("<I", self.bytes, place, target - place)

    def table(self, fields):
        places = [8 + 8 * i if i in fields else 0 for i in range(max(fields) + 1)]
        description = self.append(4 + 2 * len(places))
        struct.pack_into(f"<HH{len(places)}H", self.bytes, description, 4 + 2 * len(places), 8 + 8 * len(places), *places)
        table = self.append(8 + 8 * len(places))
        struct.pack_into("<i", self.bytes, table, table - description)
        for field, value in fields.items():
            self.put(table + places[field], value)
        return table

    def vector(self, items):
        if isinstance(items, (str, bytes)):
            data = items.encode() if isinstance(items, str) else items
            vector = self.append(9 + len(data)) + 4
            self.bytes[vector + 4:vector + 4 + len(data)] = data
        else:
            vector = self.append(8 + 4 * len(items)) + 4
            for i, item in enumerate(items):
                self.put(vector + 4 + 4 * i, item)
        struct.pack_into("<I", self.bytes, vector, len(items))
        return vector


class Ortolan(unittest.TestCase):
    def test_digits(self):
        for label in range(10):
            picture = REPOSITORY / "tests" / "models" / f"digit_{label}.pgm"
            result = call("ortolan", "run", "--json", DIGITS, picture)
            self.assertEqual(result.returncode, 0, result.stderr)
            output = json.loads(result.stdout)["outputs"]["probabilities"]
            self.assertEqual(output["shape"], [1, 10])
            self.assertAlmostEqual(sum(output["data"]), 1, places=4)
            self.assertEqual(int(np.argmax(output["data"])), label)

    def test_prepares(self):
        with tempfile.TemporaryDirectory() as folder:
            model, prepared = pathlib.Path(folder, "m.onnx"), pathlib.Path(folder, "m.prepared")
            nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], "product")]
            weights = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
            save_model(model, nodes, [("x", [1, 64])], [("y", [1, 32])], [("w", weights)])
            self.assertEqual(call("ortolan", "prepare", model).returncode, 0)
            first = prepared.stat()
            self.assertIn("MB", call("ortolan", "prepare", model).stdout)
            self.assertEqual(prepared.stat(), first)
            whole = call("ortolan", "prepare", "--check", prepared)
            self.assertIn("all as it was written", whole.stdout)
            x = pathlib.Path(folder, "x.npy")
            np.save(x, np.ones((1, 64), np.float32))
            for path in (model, prepared):
                output = json.loads(call("ortolan", "run", "--json", "-i", f"x={x}", path).stdout)["outputs"]["y"]
                self.assertEqual(output["data"], list(map(float, weights.sum(axis=0))))
            contents = bytearray(prepared.read_bytes())
            contents[500] ^= 1
            prepared.write_bytes(contents)
            damaged = call("ortolan", "prepare", "--check", prepared)
            self.assertEqual(damaged.returncode, 1)
            self.assertIn("make it again with 'ortolan prepare'", damaged.stderr)
            self.assertEqual(call("ortolan", "prepare", pathlib.Path(folder, "none.onnx")).returncode, 1)

    def test_accuracy_on_held_out_pictures(self):
        digits = load_digits()
        held_out = np.arange(len(digits.images)) % 5 == 4
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/x.npy", (digits.images[held_out] / 16).astype(np.float32)[:, None])
            result = call("ortolan", "run", "--json", DIGITS, "--input", f"image={folder}/x.npy")
        output = json.loads(result.stdout)["outputs"]["probabilities"]
        guess = np.array(output["data"]).reshape(output["shape"]).argmax(1)
        self.assertGreaterEqual((guess == digits.target[held_out]).mean(), 0.97)

    def test_picture_is_shown(self):
        result = call("ortolan", "run", DIGITS, REPOSITORY / "tests" / "models" / "digit_3.pgm")
        self.assertIn("digit_3.pgm: 3\n", result.stdout)
        self.assertIn("█", result.stdout)

    def test_npy_and_saved_output(self):
        with tempfile.TemporaryDirectory() as folder:
            array = np.zeros((2, 1, 8, 8), np.float32)
            np.save(f"{folder}/x.npy", array)
            result = call("ortolan", "run", DIGITS, "--input", f"image={folder}/x.npy", "--save", folder)
            self.assertIn("probabilities: float32[2,10]", result.stdout)
            saved = onnx.TensorProto.FromString(pathlib.Path(folder, "output_0.pb").read_bytes())
            self.assertEqual(numpy_helper.to_array(saved).shape, (2, 10))

    def test_inspect(self):
        facts = json.loads(call("ortolan", "inspect", "--json", DIGITS).stdout)
        self.assertEqual(facts["inputs"], [{"name": "image", "type": "float32[N,1,8,8]"}])
        self.assertEqual(facts["operators"]["Conv"], 2)
        self.assertEqual(len(facts["nodes"]), 9)

    def test_inspect_reads_ort_format(self):
        floats = {1: 1, 2: {0: 1, 1: {0: [{0: {0: 1, 1: 3}}]}}}  # float[3]
        node = {0: "negate", 5: "Neg", 8: ["x"], 9: ["y"]}
        graph = {1: [{0: "x", 2: floats}, {0: "y", 2: floats}], 2: [node], 5: ["x"], 6: ["y"]}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.ort")
            model = {0: 8, 1: [{0: "", 1: 13}], 2: "by hand", 7: graph}
            path.write_bytes(OrtFormat({1: model}).bytes)
            self.assertIn("y: float32[3]", call("ortolan", "run", path).stdout)
            result = call("ortolan", "inspect", "--json", path)
            self.assertEqual(result.returncode, 0, result.stderr)
            facts = json.loads(result.stdout)
            self.assertEqual((facts["path"], facts["producer"], facts["opsets"][""]), (str(path), "by hand", 13))
            self.assertEqual(facts["inputs"], [{"name": "x", "type": "float32[3]"}])
            self.assertEqual([(n["name"], n["operator"]) for n in facts["nodes"]], [("negate", "Neg")])
            path.write_bytes(b"\x08\0\0\0ORTM")
            broken = call("ortolan", "inspect", path)
            self.assertEqual(broken.returncode, 1)
            self.assertIn("the ORT file is damaged", broken.stderr)

    def test_explain(self):
        rows = json.loads(call("ortolan", "explain", "--json", "-o", "0", DIGITS).stdout)
        self.assertEqual({row["provider"] for row in rows}, {"CPUExecutionProvider"})
        self.assertIn("Softmax", {row["operator"] for row in rows})

    def test_nodes_without_names_are_called_after_their_first_output(self):
        def branch(operator, output):
            result = helper.make_tensor_value_info(output, TensorProto.FLOAT, [2, 2])
            return helper.make_graph([helper.make_node(operator, ["p"], [output])], operator, [], [result])
        nodes = [helper.make_node("Mul", ["x", "x"], ["p"]), helper.make_node("Sub", ["p", "x"], ["r"], "named"),
                 helper.make_node("Dropout", ["r"], ["dropped", ""]),
                 helper.make_node("If", ["c"], ["y"], then_branch=branch("Sin", "sine"), else_branch=branch("Cos", "cosine"))]
        value = helper.make_tensor_value_info
        graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [2, 2]), value("c", TensorProto.BOOL, [])],
                                  [value("dropped", TensorProto.FLOAT, [2, 2]), value("y", TensorProto.FLOAT, [2, 2])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        shown = {"Mul": "p", "Sub": "named", "Dropout": "dropped", "If": "y", "Sin": "sine", "Cos": "cosine"}
        with tempfile.TemporaryDirectory() as folder:
            path, page, time_page = (pathlib.Path(folder, name) for name in ("model.onnx", "page.html", "time.html"))
            onnx.save(model, str(path))
            rows = json.loads(call("ortolan", "explain", "--json", "-o", "0", "--html", page, path).stdout)
            self.assertEqual({row["operator"]: row["node"] for row in rows}, shown)
            drawn = page.read_text()
            for operator, name in shown.items():
                self.assertIn(f"<title>{name} ({operator}) on CPU", drawn)
            listed = [line.split() for line in call("ortolan", "inspect", "--nodes", path).stdout.splitlines()]
            self.assertEqual({line[1]: line[2] for line in listed[listed.index([]):] if len(line) > 4 and line[0].isdigit()}, shown)
            options = ["explain", "--time", "--runs", 2, "-o", "0", "--html", time_page]
            timed = json.loads(call("ortolan", *options, "--json", path).stdout)["nodes"]
            self.assertEqual({node["operator"]: node["node"] for node in timed}.items() - shown.items(), set())
            self.assertIn("<title>y (If) on CPU", time_page.read_text())

    def test_chains_name_nodes_without_names(self):
        value = helper.make_tensor_value_info
        nodes = [helper.make_node("Mul", ["x", "x"], ["p"]), helper.make_node("Sub", ["p", "x"], ["y"], "named")]
        graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [2])], [value("y", TensorProto.FLOAT, [2])])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "model.onnx")
            onnx.save(model, str(path))
            self.assertIn("Mul 'p' + Sub 'named'", call("ortolan", "explain", "--time", "--runs", 2, path).stdout)

    def test_explain_draws_what_providers_share_out(self):
        nodes = [helper.make_node("Mul", ["x", "x"], ["squares"], "square"),
                 helper.make_node("Neg", ["squares"], ["negated"], "negate"),
                 helper.make_node("Add", ["negated", "x"], ["y"], "join <x>")]
        info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [3]) for n in "xy"]
        model = helper.make_model(helper.make_graph(nodes, "g", info[:1], info[1:]),
                                  opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        with tempfile.TemporaryDirectory() as folder:
            path, page = pathlib.Path(folder, "shared.onnx"), pathlib.Path(folder, "page.html")
            onnx.save(model, str(path))
            result = call("ortolan", "explain", *EXAMPLE, "-e", "ExampleKernel", "-e", "cpu", "--html", page, path)
            self.assertEqual(result.returncode, 0, result.stderr)
            for text in ("ExampleKernelExecutionProvider: 2 of 3 nodes", "no kernel for operator 'Neg'"):
                self.assertIn(text, result.stdout)
            copies = [line.split() for line in result.stdout.split("value copied")[1].splitlines()[1:] if line.strip()]
            self.assertEqual([copy[0] for copy in copies], ["x", "squares", "negated", "y"])
            drawn = page.read_text()
            self.assertEqual(drawn.count("<rect"), 3)
            self.assertEqual(drawn.count('class="copy"'), 2, "edges between devices")
            self.assertIn("join &lt;x&gt;", drawn)
            self.assertNotIn("join <x>", drawn)
            rows = json.loads(call("ortolan", "explain", "--json", *EXAMPLE, "-e", "ExampleCompile", path).stdout)
            reasons = {row["node"]: row["reason"] for row in rows}
            silent = "ExampleCompileExecutionProvider: it did not take the node and gives no reason"
            self.assertEqual(reasons["negate"], silent)
            self.assertEqual(reasons["square"], "first of the session's providers to take it")

    def test_explain_has_the_reason_for_every_refusal(self):
        def branch(operator):
            output = helper.make_tensor_value_info(operator, TensorProto.FLOAT, [2, 2])
            return helper.make_graph([helper.make_node(operator, ["p"], [operator], operator)], operator, [], [output])
        nodes = [helper.make_node("MatMul", ["x", "x"], ["p"], "product"),
                 helper.make_node("Det", ["p"], ["det"], "det"),
                 helper.make_node("Mul", ["d", "d"], ["square"], "square"),
                 helper.make_node("Shape", ["x"], ["shape"], "shape"),
                 helper.make_node("If", ["c"], ["y"], "choice", then_branch=branch("Relu"), else_branch=branch("Det"))]
        value = helper.make_tensor_value_info
        inputs = [value("x", TensorProto.FLOAT, [2, 2]), value("d", TensorProto.DOUBLE, [3]), value("c", TensorProto.BOOL, [])]
        outputs = [value("det", TensorProto.FLOAT, []), value("square", TensorProto.DOUBLE, [3]),
                   value("shape", TensorProto.INT64, [2]), value("y", TensorProto.FLOAT, None)]
        model = helper.make_model(helper.make_graph(nodes, "g", inputs, outputs), opset_imports=[helper.make_opsetid("", 13)])
        model.ir_version = 7
        with tempfile.TemporaryDirectory() as folder:
            path, page = pathlib.Path(folder, "refused.onnx"), pathlib.Path(folder, "page.html")
            onnx.save(model, str(path))
            result = call("ortolan", "explain", "--json", "-o", "0", *TEST_DEVICE, "--html", page, path)
            self.assertEqual(result.returncode, 0, result.stderr)
            drawn = page.read_text()
        rows = json.loads(result.stdout)
        self.assertEqual({row["node"] for row in rows if row["provider"] == "TestDeviceExecutionProvider"}, {"product", "Relu"})
        reasons = {row["node"]: row["reason"] for row in rows if row["provider"] == "CPUExecutionProvider"}
        for node, reason in (("det", "there is no kernel for it"), ("Det", "there is no kernel for it"),
                             ("square", "input 0 is double; supported: float"), ("shape", "shape arithmetic stays on the CPU"),
                             ("choice", "it has a subgraph")):
            self.assertIn("TestDeviceExecutionProvider: " + reason, reasons[node])
            self.assertIn(reason, drawn)
        self.assertEqual(len(reasons), 5)
        self.assertNotIn("gives no reason", result.stdout)

    def test_api_lists_every_slot(self):
        rows = json.loads(call("ortolan", "api", "--json").stdout)
        self.assertEqual(sum(row["table"] == "OrtApi" for row in rows), 428)

    def test_operators(self):
        lines = call("ortolan", "operators", "--format", "tsv", "--domain", "ai.onnx", "trilu", "NONZERO").stdout.splitlines()
        self.assertEqual([line.split("\t")[1:3] for line in lines[1:]], [["NonZero", "9-12, 13+"], ["Trilu", "14+"]])
        self.assertIn("k: int64", lines[2])
        self.assertIn("| Trilu | 14+ | input:T, [k] |", call("ortolan", "operators", "-f", "markdown").stdout)
        self.assertIn("ai.onnx.Trilu  14+  (CPU)", call("ortolan", "operators", "trilu").stdout)
        for arguments, text in ((["nothing"], "no operator of that name"), (["-f", "x"], "must be text, tsv or markdown")):
            self.assertIn(text, call("ortolan", "operators", *arguments).stderr)

    def test_devices(self):
        known = json.loads(call("ortolan", "devices", "--json").stdout)
        self.assertIn("CPUExecutionProvider", known["providers"])
        self.assertEqual([each["provider"] for each in known["packaged"]], ["OpenCL", "Vulkan", "CUDA"])
        listed = {device["provider"] for device in known["devices"]}
        for each in known["packaged"]:
            self.assertEqual(f"{each['provider']}ExecutionProvider" in listed, each["missing"] == "", known)

    def test_devices_of_a_library_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = pathlib.Path(folder) / "libortolan.so.1"
            shutil.copy(LIBRARIES / "libortolan.so.1", alone)
            text = call("ortolan", "devices", "--library", alone).stdout
        for name in ("opencl", "vulkan", "cuda"):
            self.assertIn(f"package libortolan-{name} brings libonnxruntime_ep_{name}.so", text)

    def test_errors_say_what_to_do(self):
        for arguments, text in ((["run"], "give a model"), (["fly"], "there is no command 'fly'"),
                                (["run", DIGITS, "--input", "x=random"], "its inputs are image"),
                                (["inspect", "missing.onnx"], "cannot read missing.onnx")):
            result = call("ortolan", *arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
