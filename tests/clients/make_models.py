#!/usr/bin/python3
"""Writes the models that the client programs run into a folder: make_models.py FOLDER.

types.onnx       one input and one output of each element type; 2 x + 1, or the negation of a bool; strings as they are
java_types.onnx  the same without the unsigned types that Java's package cannot make
text.onnx        strings in upper case
scores.onnx      a classifier as scikit-learn's converters write it: labels, and a sequence of maps with int64 keys
words.onnx       the same with strings as keys
vocabulary.onnx  a map from strings to floats as input, its values in a fixed order as output
pieces.onnx      a sequence as output: the rows of a tensor
join.onnx        a sequence as input: its tensors one after the other
adder.onnx       left + right; with symbolic dimensions
external.onnx    a product with a matrix that external.bin holds; inline.onnx has it in the model
endless.onnx     a loop that ends after as many rounds as its input says
defaults.onnx    an initializer that is an input too, and metadata of all kinds
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NUMBERS = ["FLOAT", "DOUBLE", "FLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"]
LABELS = ["ant", "bee", "cat"]


def tensor(name, kind, shape):
    return helper.make_tensor_value_info(name, getattr(TensorProto, kind), shape)


def sequence(name, kind, shape):
    return helper.make_value_info(
        name, helper.make_sequence_type_proto(helper.make_tensor_type_proto(getattr(TensorProto, kind), shape)))


def map_type(key, value):
    made = onnx.TypeProto()
    made.map_type.key_type = getattr(TensorProto, key)
    made.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(getattr(TensorProto, value), None))
    return made


def model(name, nodes, inputs, outputs, initializers=(), **fields):
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("ai.onnx.ml", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=7, producer_name="make_models", **fields)


def types(name, numbers):
    nodes, inputs, outputs = [], [], []
    constants = [numpy_helper.from_array(np.float64(2), "two"), numpy_helper.from_array(np.float64(1), "one")]
    for kind in numbers:
        x, y = "x_" + kind.lower(), "y_" + kind.lower()
        nodes += [helper.make_node("Cast", [x], [x + "_wide"], to=TensorProto.DOUBLE),
                  helper.make_node("Mul", [x + "_wide", "two"], [x + "_twice"]),
                  helper.make_node("Add", [x + "_twice", "one"], [x + "_more"]),
                  helper.make_node("Cast", [x + "_more"], [y], to=getattr(TensorProto, kind))]
    nodes += [helper.make_node("Not", ["x_bool"], ["y_bool"]), helper.make_node("Identity", ["x_string"], ["y_string"])]
    for kind in numbers + ["BOOL", "STRING"]:
        inputs.append(tensor("x_" + kind.lower(), kind, ["N"]))
        outputs.append(tensor("y_" + kind.lower(), kind, ["N"]))
    return model(name, nodes, inputs, outputs, constants)


def text():
    node = helper.make_node("StringNormalizer", ["text"], ["upper"], case_change_action="UPPER", locale="C")
    return model("text", [node], [tensor("text", "STRING", [None])], [tensor("upper", "STRING", [None])])


def classifier(name, **labels):
    """Scores of three classes for three features: softmax of the features, so that the probabilities are known."""
    key = "STRING" if "classlabels_strings" in labels else "INT64"
    zipped = {"classlabels_int64s" if key == "INT64" else "classlabels_strings": list(labels.values())[0]}
    nodes = [helper.make_node("LinearClassifier", ["features"], ["label", "raw"], domain="ai.onnx.ml", multi_class=1,
                              post_transform="SOFTMAX", coefficients=[1., 0, 0, 0, 1, 0, 0, 0, 1], intercepts=[0.] * 3,
                              **labels),
             helper.make_node("ZipMap", ["raw"], ["scores"], domain="ai.onnx.ml", **zipped)]
    scores = helper.make_value_info("scores", helper.make_sequence_type_proto(map_type(key, "FLOAT")))
    return model(name, nodes, [tensor("features", "FLOAT", ["N", 3])], [tensor("label", key, ["N"]), scores])


def vocabulary():
    node = helper.make_node("DictVectorizer", ["counts"], ["vector"], domain="ai.onnx.ml", string_vocabulary=LABELS)
    return model("vocabulary", [node], [helper.make_value_info("counts", map_type("STRING", "FLOAT"))],
                 [tensor("vector", "FLOAT", [1, 3])])


def pieces():
    return model("pieces", [helper.make_node("SplitToSequence", ["rows"], ["pieces"], axis=0)],
                 [tensor("rows", "FLOAT", ["N", 2])], [sequence("pieces", "FLOAT", [1, 2])])


def join():
    return model("join", [helper.make_node("ConcatFromSequence", ["pieces"], ["rows"], axis=0)],
                 [sequence("pieces", "FLOAT", ["M", 2])], [tensor("rows", "FLOAT", ["N", 2])])


def adder():
    sides = [tensor("left", "FLOAT", ["batch", "width"]), tensor("right", "FLOAT", ["batch", "width"])]
    return model("adder", [helper.make_node("Add", ["left", "right"], ["sum"], "add_sides")], sides,
                 [tensor("sum", "FLOAT", ["batch", "width"])])


def product(name):
    matrix = numpy_helper.from_array(np.arange(16, dtype=np.float32).reshape(4, 4), "matrix")
    return model(name, [helper.make_node("MatMul", ["x", "matrix"], ["y"])], [tensor("x", "FLOAT", ["N", 4])],
                 [tensor("y", "FLOAT", ["N", 4])], [matrix])


def endless():
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"]), helper.make_node("Add", ["sum", "step"], ["sum_out"])],
        "round", [tensor("i", "INT64", []), tensor("go", "BOOL", []), tensor("sum", "FLOAT", [])],
        [tensor("go_on", "BOOL", []), tensor("sum_out", "FLOAT", [])])
    constants = [numpy_helper.from_array(np.array(True), "yes"), numpy_helper.from_array(np.float32(1), "step"),
                 numpy_helper.from_array(np.float32(0), "zero")]
    return model("endless", [helper.make_node("Loop", ["rounds", "yes", "zero"], ["sum"], "loop", body=body)],
                 [tensor("rounds", "INT64", [])], [tensor("sum", "FLOAT", [])], constants)


def defaults():
    nodes = [helper.make_node("Mul", ["x", "factor"], ["y"])]
    made = model("defaults", nodes, [tensor("x", "FLOAT", [2]), tensor("factor", "FLOAT", [1])],
                 [tensor("y", "FLOAT", [2])], [numpy_helper.from_array(np.array([3], np.float32), "factor")],
                 domain="org.example", model_version=42, doc_string="Drei mal – très bien")
    made.graph.doc_string = "of the graph"
    helper.set_model_props(made, {"language": "Ελληνικά", "empty": ""})
    return made


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    signed = [kind for kind in NUMBERS if kind not in ("UINT16", "UINT32", "UINT64")]
    made = [types("types", NUMBERS), types("java_types", signed), text(), vocabulary(), pieces(), join(), adder(),
            classifier("scores", classlabels_ints=[10, 20, 30]), classifier("words", classlabels_strings=LABELS),
            product("inline"), endless(), defaults()]
    for one in made:
        onnx.save(one, str(folder / f"{one.graph.name}.onnx"))
    (folder / "external.bin").unlink(missing_ok=True)
    onnx.save_model(product("external"), str(folder / "external.onnx"), save_as_external_data=True,
                    location="external.bin", size_threshold=0)


if __name__ == "__main__":
    main()
