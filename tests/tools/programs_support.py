"""What tests of the programs share, started as TEST PROGRAMS REPOSITORY: calls as users make them, and small models."""
import pathlib
import subprocess
import sys

import onnx
from onnx import TensorProto, helper, numpy_helper

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
