#!/usr/bin/python3
"""Tests of the programs as users call them: programs_test.py PROGRAMS REPOSITORY."""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from xml.etree import ElementTree

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

PROGRAMS, REPOSITORY = (pathlib.Path(argument) for argument in sys.argv[1:3])
DIGITS = REPOSITORY / "tests" / "models" / "digits.onnx"
LIBRARIES = PROGRAMS.parent / "lib"
EXAMPLE = ["--plugin", f"example|{LIBRARIES / 'libonnxruntime_ep_example.so'}"]
TEST_DEVICE = ["--plugin", f"testdevice|{LIBRARIES / 'libtestdevice_plugin.so'}", "-e", "TestDevice"]


def call(program, *arguments):
    return subprocess.run([str(PROGRAMS / program), *map(str, arguments)], capture_output=True, text=True, timeout=120)


def save_model(path, nodes, inputs, outputs, weights=()):
    """Values are (name, shape) of floats."""
    ports = [[helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in side]
             for side in (inputs, outputs)]
    graph = helper.make_graph(nodes, "g", *ports, [numpy_helper.from_array(array, name) for name, array in weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 7
    onnx.save(model, str(path))


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
