"""A small graph builder: nodes, random weights and constants of one model, and saving it."""
import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

IR_VERSION = 8
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


class Builder:
    """Collects one graph. Each method that adds a node returns the name of its first output."""

    def __init__(self, seed_text, opset):
        self.rng = np.random.default_rng(zlib.crc32(seed_text.encode()))
        self.opset = opset
        self.nodes, self.initializers, self.inputs, self.outputs, self.properties = [], [], [], [], {}
        self.constants, self.counts = {}, {}

    def unique(self, stem):
        self.counts[stem] = self.counts.get(stem, -1) + 1
        return f"{stem}_{self.counts[stem]}"

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Adds a node. With outputs > 1 the list of output names is returned."""
        name = self.unique(kind.lower())
        results = [name] if outputs == 1 else [f"{name}.{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), results, name, **attributes))
        return name if outputs == 1 else results

    def tensor(self, array, stem="weight"):
        """An initializer."""
        name = self.unique(stem)
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def constant(self, values, dtype=np.int64):
        """A small initializer, shared between uses of the same value."""
        array = np.asarray(values, dtype)
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self.constants:
            self.constants[key] = self.tensor(array, "constant")
        return self.constants[key]

    def scalar(self, value):
        return self.constant(value, np.float32)

    def normal(self, shape, deviation):
        """Random numbers for a weight: normal, mean zero."""
        return self.rng.standard_normal(shape, np.float32) * np.float32(deviation)

    def weight(self, shape, deviation):
        return self.tensor(self.normal(shape, deviation))

    def input(self, name, shape, element=FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, element, shape))
        return name

    def output(self, value, name, shape, element=FLOAT):
        """Names a value as a graph output."""
        self.nodes.append(helper.make_node("Identity", [value], [name], f"output_{name}"))
        self.outputs.append(helper.make_tensor_value_info(name, element, shape))

    def bench(self, **properties):
        """What bench/compare needs to make inputs: dims="name=value,..." and bounds="input=upper,..."."""
        self.properties.update({f"bench.{key}": value for key, value in properties.items()})

    def model(self, name):
        graph = helper.make_graph(self.nodes, name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  producer_name="generate_models.py")
        model.ir_version = IR_VERSION
        helper.set_model_props(model, self.properties)
        return model


def save(build, name, path):
    """Checks and writes a model, by way of a temporary name; gives its size in bytes."""
    data = build.model(name).SerializeToString()
    if len(data) < 1 << 30:
        onnx.checker.check_model(data)
    partial = path.with_suffix(".part")
    partial.write_bytes(data)
    partial.rename(path)
    return len(data)
