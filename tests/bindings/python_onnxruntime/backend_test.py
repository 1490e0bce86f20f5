"""ONNX's backend interface over the module, which onnx's own tests and converters use."""
import pathlib
import sys
import unittest
import warnings

import numpy as np
import onnxruntime
from onnxruntime.datasets import get_example

try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what the package onnx uses
        import onnx
        from onnxruntime import backend
except ModuleNotFoundError:
    print("skipped: install the package python3-onnx")
    sys.exit(77)

MUL = get_example("mul_1.onnx")
X = np.ones((3, 2), np.float32)
EXPECTED = [[1, 2], [3, 4], [5, 6]]


class Backend(unittest.TestCase):
    def test_models_of_every_form(self):
        content = pathlib.Path(MUL).read_bytes()
        for model in (MUL, content, onnx.load(MUL), onnxruntime.InferenceSession(MUL)):
            prepared = backend.prepare(model)
            self.assertIs(backend.prepare(prepared), prepared)
            for inputs in (X, [X]):
                self.assertEqual(prepared.run(inputs)[0].tolist(), EXPECTED)
            self.assertEqual(backend.run(model, X)[0].tolist(), EXPECTED)

    def test_devices(self):
        self.assertTrue(backend.supports_device("CPU") and backend.is_compatible(MUL) and backend.is_compatible(MUL, "CPU"))
        self.assertFalse(backend.supports_device("GPU") or backend.supports_device("CUDA") or backend.supports_device("cpu"))
        with self.assertRaisesRegex(RuntimeError, "^Incompatible device expected 'GPU', got 'CPU'$"):
            backend.prepare(MUL, device="GPU")

    def test_keywords(self):
        self.assertEqual(backend.run(MUL, X, intra_op_num_threads=1, colour="green")[0].tolist(), EXPECTED)
        for name in ("optimized_model_filepath", "enable_profiling", "profile_file_prefix"):
            with self.assertRaisesRegex(RuntimeError, f"'{name}' is not permitted"):
                backend.prepare(MUL, **{name: "/tmp/written"})
        with self.assertRaisesRegex(RuntimeError, "'terminate' is not permitted"):
            backend.prepare(MUL).run(X, terminate=True)

    def test_an_opset_that_is_not_released(self):
        model = onnx.load(MUL)
        model.opset_import[0].version = 999
        with self.assertRaisesRegex((unittest.SkipTest, onnx.checker.ValidationError), "opset|[Dd]omain|version"):
            backend.prepare(model)

    def test_one_input_where_there_are_two(self):
        node = onnx.helper.make_node("Add", ["a", "b"], ["c"])
        ports = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]) for name in "abc"]
        model = onnx.helper.make_model(onnx.helper.make_graph([node], "sum", ports[:2], ports[2:]),
                                       opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8)
        pair = np.ones(2, np.float32)
        self.assertEqual(backend.run(model, [pair, pair])[0].tolist(), [2, 2])
        with self.assertRaisesRegex(RuntimeError, "2 inputs"):
            backend.run(model, pair)


if __name__ == "__main__":
    unittest.main()
