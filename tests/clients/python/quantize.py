"""The official quantization files on a small network: prepared, calibrated by runs, rewritten, and run."""
import pathlib
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quant_pre_process, quantize_dynamic, quantize_static)
from onnxruntime.quantization.matmul_nbits_quantizer import DefaultWeightOnlyQuantConfig, MatMulNBitsQuantizer

# Weights of 7 bits: without VNNI the official library's sums of unsigned times signed bytes of 8 bits saturate.
NARROW = {"reduce_range": True}
STATIC = {
    "qdq": {"quant_format": QuantFormat.QDQ, **NARROW},
    "operators": {"quant_format": QuantFormat.QOperator, **NARROW},
    "unsigned": {"quant_format": QuantFormat.QOperator, "activation_type": QuantType.QUInt8, "weight_type": QuantType.QUInt8},
    "per channel": {"quant_format": QuantFormat.QDQ, "per_channel": True, "weight_type": QuantType.QInt8, **NARROW},
    "entropy": {"quant_format": QuantFormat.QDQ, "calibrate_method": CalibrationMethod.Entropy, **NARROW},
    "percentile": {"quant_format": QuantFormat.QDQ, "calibrate_method": CalibrationMethod.Percentile, **NARROW},
}
BLOCKS = {f"{bits} bits{' symmetric' * symmetric}": {"bits": bits, "is_symmetric": symmetric}
          for bits in (4, 8) for symmetric in (False, True)}
BLOCKS["4 bits dequantized"] = {"bits": 4, "is_symmetric": False, "quant_format": QuantFormat.QDQ}
# Scales come from the largest value that each library computed in fp32; integers are equal, so outputs differ as scales do.
FLOATS = {"rtol": 1e-5, "atol": 1e-5}
TOLERANCES = {f"{name} {what}": FLOATS for name in (*STATIC, *BLOCKS, "dynamic", "plain", "products") for what in ("scales", "outputs")}


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


def products(path):
    """Two products with a Tanh between them, of an inner size that is no multiple of the blocks'."""
    random = np.random.default_rng(12)
    constants = [numpy_helper.from_array(random.normal(0, 0.1, shape).astype(np.float32), name)
                 for name, shape in (("w1", (100, 64)), ("w2", (64, 20)))]
    nodes = [helper.make_node("MatMul", ["x", "w1"], ["h"], name="first"), helper.make_node("Tanh", ["h"], ["t"]),
             helper.make_node("MatMul", ["t", "w2"], ["y"], name="second")]
    graph = helper.make_graph(nodes, "products", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 100])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 20])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)


def images(seed, count):
    return np.random.default_rng(seed).normal(0, 1, (count, 3, 16, 16)).astype(np.float32)


class Reader(CalibrationDataReader):
    """Eight batches to calibrate with."""

    def __init__(self):
        self._batches = iter([{"image": images(seed, 4)} for seed in range(8)])

    def get_next(self):
        return next(self._batches, None)


def run(path):
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.qdq_matmulnbits_accuracy_level", "1")  # else the official library rounds inputs
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    port, = session.get_inputs()
    return session.run(None, {port.name: images(99, 16).reshape(16, -1)[:, :100] if port.name == "x" else images(99, 16)})[0]


def describe(path):
    """The operators of a quantized model, its integer constants, and its scales."""
    graph = onnx.load(path).graph
    tensors = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    integers = {name: value for name, value in tensors.items() if value.dtype in (np.int8, np.uint8)}
    scales = np.concatenate([tensors[name].reshape(-1) for name in sorted(tensors) if name.endswith("_scale")])
    return [node.op_type for node in graph.node], integers, scales


def quantize_in_blocks(found, folder):
    """Weights alone, in blocks of 32."""
    plain, made = (str(pathlib.Path(folder, f"{name}.onnx")) for name in ("products", "blocks"))
    products(plain)
    found["products outputs"] = run(plain)
    for name, settings in BLOCKS.items():
        config = DefaultWeightOnlyQuantConfig(block_size=32, **settings)
        quantizer = MatMulNBitsQuantizer(plain, algo_config=config)
        quantizer.process()
        quantizer.model.save_model_to_file(made)
        tensors = {tensor.name: tensor for tensor in onnx.load(made).graph.initializer}
        found[f"{name} constants"] = {tensor: constant.raw_data.hex() for tensor, constant in tensors.items()}
        found[f"{name} outputs"] = run(made)


def results():
    with tempfile.TemporaryDirectory() as folder:
        plain, prepared, made = (str(pathlib.Path(folder, f"{name}.onnx")) for name in ("plain", "prepared", "made"))
        network(plain)
        quant_pre_process(plain, prepared)
        found = {"prepared": [node.op_type for node in onnx.load(prepared).graph.node], "plain outputs": run(plain)}
        quantize_dynamic(plain, made, **NARROW)
        found["dynamic operators"], found["dynamic integers"], _ = describe(made)
        found["dynamic outputs"] = run(made)
        for name, settings in STATIC.items():
            quantize_static(prepared, made, Reader(), **settings)
            found[f"{name} operators"], found[f"{name} integers"], found[f"{name} scales"] = describe(made)
            found[f"{name} outputs"] = run(made)
        quantize_in_blocks(found, folder)
    return found


def check(found):
    """Quantized, the networks still say much the same."""
    for name in (*STATIC, *BLOCKS, "dynamic"):
        plain = found["products outputs" if name in BLOCKS else "plain outputs"]
        apart = np.sqrt(np.mean((found[f"{name} outputs"] - plain) ** 2)) / plain.std()
        assert 1e-5 < apart < 0.2, (name, apart)
