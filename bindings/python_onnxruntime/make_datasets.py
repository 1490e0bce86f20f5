#!/usr/bin/python3
"""Makes the example models of onnxruntime.datasets: make_datasets.py FOLDER."""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, ValueInfoProto, checker, helper, numpy_helper
from onnx.helper import make_node, make_opsetid, make_tensor_value_info

FLOAT = TensorProto.FLOAT


def tensors(name, shape, element=FLOAT):
    return [make_tensor_value_info(name, element, shape)]


def save(folder, name, nodes, inputs, outputs, opset, constants=()):
    """A model for every release of the runtime."""
    graph = helper.make_graph(nodes, f"{name} example", inputs, outputs, constants)
    model = helper.make_model(graph, producer_name="ortolan", opset_imports=[make_opsetid(*opset)], ir_version=3)
    checker.check_model(model)
    (folder / f"{name}.onnx").write_bytes(model.SerializeToString())


def make_mul(folder):
    """Y = X times the numbers from 1 to 6, which are an input with a default, as models of IR version 3 have it."""
    factors = numpy_helper.from_array(np.arange(1, 7, dtype=np.float32).reshape(3, 2), "W")
    save(folder, "mul_1", [make_node("Mul", ["X", "W"], ["Y"])], tensors("X", [3, 2]) + tensors("W", [3, 2]),
         tensors("Y", [3, 2]), ("", 7), [factors])


def make_sigmoid(folder):
    save(folder, "sigmoid", [make_node("Sigmoid", ["x"], ["y"])], tensors("x", [3, 4, 5]), tensors("y", [3, 4, 5]), ("", 9))


def make_logreg(folder):
    """A linear classifier of three classes over two features, whose probabilities come as a list of dicts."""
    nodes = [make_node("LinearClassifier", ["float_input"], ["label", "scores"], domain="ai.onnx.ml", multi_class=1,
                       post_transform="LOGISTIC", classlabels_ints=[0, 1, 2], intercepts=[2.5, -0.5, -3.0],
                       coefficients=[-0.5, 0.25, 0.125, -0.5, 0.5, 0.25]),
             make_node("Normalizer", ["scores"], ["normal"], domain="ai.onnx.ml", norm="L1"),
             make_node("ZipMap", ["normal"], ["probabilities"], domain="ai.onnx.ml", classlabels_int64s=[0, 1, 2])]
    probabilities = ValueInfoProto(name="probabilities")
    of_row = probabilities.type.sequence_type.elem_type.map_type
    of_row.key_type = TensorProto.INT64
    of_row.value_type.tensor_type.elem_type = FLOAT
    save(folder, "logreg_iris", nodes, tensors("float_input", [3, 2]), tensors("label", [3], TensorProto.INT64) +
         [probabilities], ("ai.onnx.ml", 1))


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (make_mul, make_sigmoid, make_logreg):
        make(folder)


if __name__ == "__main__":
    main()
