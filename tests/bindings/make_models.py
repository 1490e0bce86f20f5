#!/usr/bin/env python3
"""Writes the small models that the tests of all bindings run: make_models.py FOLDER."""
import pathlib
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
DTYPES = {
    "float": TensorProto.FLOAT, "double": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16,
    "bfloat16": TensorProto.BFLOAT16, "int8": TensorProto.INT8, "uint8": TensorProto.UINT8,
    "int16": TensorProto.INT16, "uint16": TensorProto.UINT16, "int32": TensorProto.INT32,
    "uint32": TensorProto.UINT32, "int64": TensorProto.INT64, "uint64": TensorProto.UINT64,
    "bool": TensorProto.BOOL, "string": TensorProto.STRING,
}


def tensor(name, element_type, shape):
    return helper.make_tensor_value_info(name, element_type, shape)


def model(nodes, name, inputs, outputs, initializers=()):
    graph = helper.make_graph(nodes, name, inputs, outputs, list(initializers))
    return helper.make_model(graph, opset_imports=OPSET, ir_version=8, producer_name="ortolan-tests")


def identity(element_type):
    """y = x, of any shape with rank 2."""
    return model([helper.make_node("Identity", ["x"], ["y"])], "identity",
                 [tensor("x", element_type, ["rows", "columns"])], [tensor("y", element_type, ["rows", "columns"])])


def add():
    """sum = a + b, scaled = sum * factor; factor is an initializer (2) that a run may override. With metadata."""
    factor = numpy_helper.from_array(numpy.array([2], numpy.float32), "factor")
    made = model([helper.make_node("Add", ["a", "b"], ["sum"], name="adder"),
                  helper.make_node("Mul", ["sum", "factor"], ["scaled"], name="scaler")],
                 "add_graph", [tensor("a", TensorProto.FLOAT, ["n"]), tensor("b", TensorProto.FLOAT, ["n"]),
                               tensor("factor", TensorProto.FLOAT, [1])],
                 [tensor("sum", TensorProto.FLOAT, ["n"]), tensor("scaled", TensorProto.FLOAT, ["n"])], [factor])
    made.domain, made.model_version, made.doc_string = "org.ortolan.tests", 7, "adds – and scales"
    made.graph.doc_string = "two nodes"
    helper.set_model_props(made, {"author": "Ørtolan", "empty": ""})
    return made


def many(count=20):
    """y<i> = -x<i>, for more inputs and outputs than most models have."""
    return model([helper.make_node("Neg", [f"x{i}"], [f"y{i}"]) for i in range(count)], "many",
                 [tensor(f"x{i}", TensorProto.FLOAT, ["n"]) for i in range(count)],
                 [tensor(f"y{i}", TensorProto.FLOAT, ["n"]) for i in range(count)])


def sequence():
    """pair = [a, b]; second = pair[1]."""
    one = numpy_helper.from_array(numpy.array(1, numpy.int64), "one")
    return model([helper.make_node("SequenceConstruct", ["a", "b"], ["pair"]),
                  helper.make_node("SequenceAt", ["pair", "one"], ["second"])], "sequence",
                 [tensor("a", TensorProto.FLOAT, [None]), tensor("b", TensorProto.FLOAT, [None])],
                 [helper.make_tensor_sequence_value_info("pair", TensorProto.FLOAT, [None]),
                  tensor("second", TensorProto.FLOAT, [None])], [one])


def sequence_length():
    """length = the number of tensors in the sequence s."""
    return model([helper.make_node("SequenceLength", ["s"], ["length"])], "sequence_length",
                 [helper.make_tensor_sequence_value_info("s", TensorProto.FLOAT, [None])],
                 [tensor("length", TensorProto.INT64, [])])


def map_type(key_type):
    """A map from that type to numbers."""
    made = onnx.TypeProto()
    made.map_type.key_type = key_type
    made.map_type.value_type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    return made


def zip_map(key_attribute, keys, key_type):
    """maps = for each row of x a map from a key to its number."""
    maps = helper.make_value_info("maps", helper.make_sequence_type_proto(map_type(key_type)))
    node = helper.make_node("ZipMap", ["x"], ["maps"], domain="ai.onnx.ml", **{key_attribute: keys})
    return model([node], "zip_map", [tensor("x", TensorProto.FLOAT, [None, len(keys)])], [maps])


def map_to_vector():
    """vector = the numbers of the map for the words cat, dog and bird, 0 for those it lacks."""
    words = helper.make_value_info("words", map_type(TensorProto.STRING))
    node = helper.make_node("DictVectorizer", ["words"], ["vector"], domain="ai.onnx.ml",
                            string_vocabulary=["cat", "dog", "bird"])
    return model([node], "map_to_vector", [words], [tensor("vector", TensorProto.FLOAT, [1, 3])])


def optional():
    """present = whether the optional x holds a tensor."""
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, [None]))
    made = model([helper.make_node("OptionalHasElement", ["x"], ["present"])], "optional",
                 [helper.make_value_info("x", kind)], [tensor("present", TensorProto.BOOL, [])])
    return made


def optional_absent():
    """nothing = an optional without a value; y = x."""
    content = helper.make_tensor_type_proto(TensorProto.FLOAT, [None])
    return model([helper.make_node("Optional", [], ["nothing"], type=content), helper.make_node("Identity", ["x"], ["y"])],
                 "optional_absent", [tensor("x", TensorProto.FLOAT, [None])],
                 [helper.make_value_info("nothing", helper.make_optional_type_proto(content)),
                  tensor("y", TensorProto.FLOAT, [None])])


def endless():
    """A loop of 2^62 steps, for runs that are cancelled: y = x + 2^62."""
    step = helper.make_graph([helper.make_node("Add", ["before", "unit"], ["after"]),
                              helper.make_node("Identity", ["going"], ["still_going"])], "step",
                             [tensor("i", TensorProto.INT64, []), tensor("going", TensorProto.BOOL, []),
                              tensor("before", TensorProto.FLOAT, [1])],
                             [tensor("still_going", TensorProto.BOOL, []), tensor("after", TensorProto.FLOAT, [1])])
    initializers = [numpy_helper.from_array(numpy.array(1 << 62, numpy.int64), "count"),
                    numpy_helper.from_array(numpy.array(True), "always"),
                    numpy_helper.from_array(numpy.ones(1, numpy.float32), "unit")]
    return model([helper.make_node("Loop", ["count", "always", "x"], ["y"], body=step)], "endless",
                 [tensor("x", TensorProto.FLOAT, [1])], [tensor("y", TensorProto.FLOAT, [1])], initializers)


def failing():
    """Reads element `index` of three: a run fails where the index is out of range."""
    data = numpy_helper.from_array(numpy.array([1, 2, 3], numpy.float32), "data")
    return model([helper.make_node("Gather", ["data", "index"], ["y"], name="picker")], "failing",
                 [tensor("index", TensorProto.INT64, [None])], [tensor("y", TensorProto.FLOAT, [None])], [data])


def mlp(layers=10, width=32):
    """What the overhead of bindings is measured with: a network of 10 small layers, x[1, 32] to y[1, 32]."""
    random = numpy.random.default_rng(7)
    nodes, initializers, value = [], [], "x"
    for layer in range(layers):
        weights = random.standard_normal((width, width), numpy.float32) / numpy.float32(width**0.5)
        initializers += [numpy_helper.from_array(weights, f"w{layer}"),
                         numpy_helper.from_array(random.standard_normal(width, numpy.float32), f"b{layer}")]
        result = "y" if layer + 1 == layers else f"relu{layer}"
        nodes += [helper.make_node("Gemm", [value, f"w{layer}", f"b{layer}"], [f"gemm{layer}"]),
                  helper.make_node("Relu", [f"gemm{layer}"], [result])]
        value = result
    return model(nodes, "mlp", [tensor("x", TensorProto.FLOAT, [1, width])],
                 [tensor("y", TensorProto.FLOAT, [1, width])], initializers)


def external():
    """y = x * weights, which stand in the file external.bin: 0 to 255."""
    weights = numpy_helper.from_array(numpy.arange(256, dtype=numpy.float32), "weights")
    return model([helper.make_node("Mul", ["x", "weights"], ["y"], name="scaler")], "external",
                 [tensor("x", TensorProto.FLOAT, [256])], [tensor("y", TensorProto.FLOAT, [256])], [weights])


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    models = {f"identity_{name}": identity(kind) for name, kind in DTYPES.items()}
    models |= {
        "add": add(), "many": many(), "sequence": sequence(), "sequence_length": sequence_length(),
        "zip_map_words": zip_map("classlabels_strings", ["cat", "dög", "bird"], TensorProto.STRING),
        "zip_map_numbers": zip_map("classlabels_int64s", [10, 20, 30], TensorProto.INT64),
        "map_to_vector": map_to_vector(), "optional": optional(), "optional_absent": optional_absent(),
        "endless": endless(), "failing": failing(), "mlp": mlp(),
    }
    for name, made in models.items():
        onnx.save(made, folder / f"{name}.onnx")
    (folder / "external.bin").unlink(missing_ok=True)  # saving adds to it
    onnx.save(external(), str(folder / "external.onnx"), save_as_external_data=True, location="external.bin",
              size_threshold=0)
    (folder / "broken.onnx").write_bytes(b"this is not a model")


if __name__ == "__main__":
    main()
