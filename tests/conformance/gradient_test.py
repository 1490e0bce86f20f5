#!/usr/bin/python3
"""Tests of Gradient nodes against differences: gradient_test.py PROGRAMS."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import onnx
from onnx import TensorProto, helper

PROGRAMS = pathlib.Path(sys.argv[1])
A, B = np.array([[0.5, 1.25, 2.0], [0.75, 1.5, 0.25]]), np.array([1.5, 0.5, 0.8])

FUNCTIONS = {
    "add_mul": ([("Add", "ab", "c"), ("Mul", "ca", "y")], lambda a, b: (a + b) * a),
    "sub_div": ([("Sub", "ab", "c"), ("Div", "cb", "y")], lambda a, b: (a - b) / b),
    "square": ([("Mul", "aa", "c"), ("Mul", "cb", "y")], lambda a, b: a * a * b),
    "exp_log": ([("Log", "a", "c"), ("Mul", "cb", "d"), ("Exp", "d", "y")], lambda a, b: a**b),
    "waves": ([("Sin", "a", "c"), ("Cos", "b", "d"), ("Mul", "cd", "y")], lambda a, b: np.sin(a) * np.cos(b)),
    "gates": ([("Tanh", "a", "c"), ("Sigmoid", "b", "d"), ("Mul", "cd", "y")],
              lambda a, b: np.tanh(a) / (1 + np.exp(-b))),
    "roots": ([("Sqrt", "a", "c"), ("Neg", "b", "d"), ("Abs", "d", "e"), ("Add", "ce", "f"), ("Relu", "f", "y")],
              lambda a, b: np.sqrt(a) + np.abs(b)),
    "only_b": ([("Identity", "b", "y")], lambda a, b: b),
}


def model_of(nodes, gradient_inputs):
    shapes = {"a": [2, 3], "b": [3], "p": [2, 3], "q": [3]}
    inputs = [helper.make_tensor_value_info(n, TensorProto.DOUBLE, s) for n, s in shapes.items()]
    made = [helper.make_node(kind, list(ins), [out]) for kind, ins, out in nodes]
    made.append(helper.make_node("Gradient", gradient_inputs, ["da", "db"], "gradient", xs=["a", "b"], y="y",
                                 domain="ai.onnx.preview.training"))
    outputs = [helper.make_tensor_value_info(n, TensorProto.DOUBLE, None) for n in ("da", "db")]
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.preview.training", 1)]
    model = helper.make_model(helper.make_graph(made, "g", inputs, outputs), opset_imports=opsets)
    model.ir_version = 7
    return model


def run(model, values):
    with tempfile.TemporaryDirectory() as folder:
        onnx.save(model, f"{folder}/m.onnx")
        arguments = []
        for name, value in values.items():
            np.save(f"{folder}/{name}.npy", value)
            arguments += ["--input", f"{name}={folder}/{name}.npy"]
        return subprocess.run([str(PROGRAMS / "ortolan"), "run", "--json", f"{folder}/m.onnx", *arguments],
                              capture_output=True, text=True, timeout=60)


def differences(function, a, b, step=1e-6):
    """The derivative of the sum of the function's elements, by central differences."""
    results = []
    for which in (0, 1):
        grad = np.zeros_like((a, b)[which])
        for index in np.ndindex(grad.shape):
            low, high = [a.copy(), b.copy()], [a.copy(), b.copy()]
            low[which][index] -= step
            high[which][index] += step
            grad[index] = (function(*high).sum() - function(*low).sum()) / (2 * step)
        results.append(grad)
    return results


class Gradient(unittest.TestCase):
    def check(self, name, gradient_inputs, point):
        nodes, function = FUNCTIONS[name]
        result = run(model_of(nodes, gradient_inputs), {"a": A, "b": B, "p": A * 0.7 + 0.1, "q": B + 0.3})
        self.assertEqual(result.returncode, 0, result.stderr)
        outputs = json.loads(result.stdout)["outputs"]
        for output, expected in zip(("da", "db"), differences(function, *point)):
            got = np.array(outputs[output]["data"]).reshape(outputs[output]["shape"])
            np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)

    def test_where_the_values_are(self):
        for name in FUNCTIONS:
            with self.subTest(name):
                self.check(name, ["a", "b"], (A, B))

    def test_at_other_values(self):
        for name in FUNCTIONS:
            with self.subTest(name):
                self.check(name, ["p", "q"], (A * 0.7 + 0.1, B + 0.3))

    def test_unknown_derivative_is_an_error(self):
        result = run(model_of([("Erf", "a", "y")], ["a", "b"]), {})
        self.assertEqual(result.returncode, 1)
        self.assertIn("node 'gradient' (Gradient): no derivative is known for", result.stderr)

    def test_unknown_name_is_an_error(self):
        result = run(model_of([("Neg", "a", "z")], ["a", "b"]), {})
        self.assertIn("there is no value 'y'", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
