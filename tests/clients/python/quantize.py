"""The official quantization files on a small network: prepared, calibrated by runs, rewritten, and run."""
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quant_pre_process, quantize_dynamic, quantize_static)

STATIC = {
    "qdq": {"quant_format": QuantFormat.QDQ},
    "operators": {"quant_format": QuantFormat.QOperator},
    "per channel": {"quant_format": QuantFormat.QDQ, "per_channel": True, "weight_type": QuantType.QInt8},
    "entropy": {"quant_format": QuantFormat.QDQ, "calibrate_method": CalibrationMethod.Entropy},
    "percentile": {"quant_format": QuantFormat.QDQ, "calibrate_method": CalibrationMethod.Percentile},
}
# Scales come from the largest value that each library computed in fp32; integers are equal, so outputs differ as scales do.
FLOATS = {"rtol": 1e-5, "atol": 1e-5}
TOLERANCES = {f"{name} {what}": FLOATS for name in (*STATIC, "dynamic", "plain") for what in ("scales", "outputs")}


def network(path):
    """Two convolutions, a pool, and two products; biases, Relu and a residual between them."""
    random = np.random.default_rng(11)

    def constant(name, *shape):
        return numpy_helper.from_array((random.normal(0, 1, shape) / np.sqrt(np.prod(shape[1:]) or 1)).astype(np.float32), name)

    constants = [constant("w1", 8, 3, 3, 3), constant("b1", 8), constant("w2", 8, 8, 3, 3), constant("b2", 8),
                 constant("w3", 128, 32), constant("b3", 32), constant("w4", 32, 10)]
    nodes = [helper.make_node("Conv", ["image", "w1", "b1"], ["c1"], pads=[1] * 4), helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], pads=[1] * 4), helper.make_node("Add", ["c2", "r1"], ["s"]),
             helper.make_node("MaxPool", ["s"], ["p"], kernel_shape=[4, 4], strides=[4, 4]),
             helper.make_node("Flatten", ["p"], ["f"]), helper.make_node("Gemm", ["f", "w3", "b3"], ["g"]),
             helper.make_node("Relu", ["g"], ["r3"]), helper.make_node("MatMul", ["r3", "w4"], ["classes"])]
    graph = helper.make_graph(nodes, "small", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 16, 16])],
                              [helper.make_tensor_value_info("classes", TensorProto.FLOAT, ["n", 10])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def images(seed, count):
    return np.random.default_rng(seed).normal(0, 1, (count, 3, 16, 16)).astype(np.float32)


class Reader(CalibrationDataReader):
    """Eight batches to calibrate with."""

    def __init__(self):
        self._batches = iter([{"image": images(seed, 4)} for seed in range(8)])

    def get_next(self):
        return next(self._batches, None)


def run(path):
    return onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"]).run(None, {"image": images(99, 16)})[0]


def describe(path):
    """The operators of a quantized model, its integer constants, and its scales."""
    graph = onnx.load(path).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    integers = {name: value for name, value in tensors.items() if value.dtype in (np.int8, np.uint8)}
    scales = np.concatenate([tensors[name].reshape(-1) for name in sorted(tensors) if name.endswith("_scale")])
    return [node.op_type for node in graph.node], integers, scales


def results():
    with tempfile.TemporaryDirectory() as folder:
        plain, prepared, made = (str(pathlib.Path(folder, f"{name}.onnx")) for name in ("plain", "prepared", "made"))
        network(plain)
        quant_pre_process(plain, prepared)
        found = {"prepared": [node.op_type for node in onnx.load(prepared).graph.node], "plain outputs": run(plain)}
        quantize_dynamic(plain, made)
        found["dynamic operators"], found["dynamic integers"], _ = describe(made)
        found["dynamic outputs"] = run(made)
        for name, settings in STATIC.items():
            quantize_static(prepared, made, Reader(), **settings)
            found[f"{name} operators"], found[f"{name} integers"], found[f"{name} scales"] = describe(made)
            found[f"{name} outputs"] = run(made)
    return found


def check(found):
    """Quantized to 8 bits the network still says much the same."""
    for name in (*STATIC, "dynamic"):
        apart = np.sqrt(np.mean((found[f"{name} outputs"] - found["plain outputs"]) ** 2)) / found["plain outputs"].std()
        assert 1e-5 < apart < 0.2, (name, apart)
