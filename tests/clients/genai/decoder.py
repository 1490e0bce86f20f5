"""Language models with random weights in the layouts that onnxruntime-genai runs: a folder with a graph, its weights
beside it, and genai_config.json."""
import dataclasses
import json
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper

MICROSOFT = "com.microsoft"
ALIGNMENT = 64  # of weights in their file
LEAST_OUTSIDE = 1024  # bytes of a weight that is not in the graph's own file


@dataclasses.dataclass(frozen=True)
class Sizes:
    """What a model is made of. `bits` 4: products of 4-bit weights in blocks of `block` with a scale each, with
    `accuracy` as MatMulNBits numbers it; 32: floats."""
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    inner: int = 160
    layers: int = 2
    words: int = 320
    context: int = 256
    bits: int = 4
    rounded: bool = False  # floats that 16 bits hold, as most models are trained
    accuracy: int = 0
    block: int = 32
    zeros: bool = False  # blocks have zero points, else all are 8
    packed: bool = False  # query, key and value come from one product
    rotary_node: bool = False  # positions turn queries and keys in nodes before the attention, which else does it
    seed: int = 1

    @property
    def head(self):
        return self.hidden // self.heads


class Graph:
    """A graph in the making; weights go to the file `weights` of the folder as they are made."""

    def __init__(self, folder, sizes):
        self.folder, self.sizes = pathlib.Path(folder), sizes
        self.folder.mkdir(parents=True, exist_ok=True)
        self.random = np.random.default_rng(sizes.seed)
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.file = open(self.folder / "weights", "wb")

    def input(self, name, kind, shape):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def output(self, name, shape):
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def op(self, kind, *inputs, outputs=1, domain="", **attributes):
        """The name of the node's result; with `outputs` a list of names, "" for one that nobody wants, they are."""
        name = f"{kind}_{len(self.nodes)}"
        made = [name] if outputs == 1 else outputs
        self.nodes.append(helper.make_node(kind, list(inputs), made, name=name, domain=domain, **attributes))
        return made[0] if outputs == 1 else made

    def tensor(self, array):
        name = f"w_{len(self.initializers)}"
        made = TensorProto(name=name, data_type=helper.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], dims=array.shape)
        if array.nbytes < LEAST_OUTSIDE:
            made.raw_data = array.tobytes()
        else:
            self.file.write(bytes(-self.file.tell() % ALIGNMENT))
            made.data_location = TensorProto.EXTERNAL
            for key, value in (("location", "weights"), ("offset", self.file.tell()), ("length", array.nbytes)):
                made.external_data.add(key=key, value=str(value))
            array.tofile(self.file)
        self.initializers.append(made)
        return name

    def constant(self, value, kind=np.int64):
        return self.tensor(np.asarray(value, kind))

    def normal(self, shape, deviation, mean=0.0):
        values = self.random.standard_normal(shape, np.float32)
        return self.tensor(values * np.float32(deviation) + np.float32(mean))

    def linear(self, x, inputs, outputs, gain=1.0):
        """x times a matrix whose results are `gain` times as large as x."""
        s = self.sizes
        if s.bits == 32:
            weights = self.random.standard_normal((inputs, outputs), np.float32) * np.float32(gain / np.sqrt(inputs))
            if s.rounded:
                weights.view(np.uint32)[:] &= 0xffff0000
            return self.op("MatMul", x, self.tensor(weights))
        blocks = -(-inputs // s.block)
        codes = self.random.integers(0, 256, (outputs, blocks, s.block // 2), np.uint8)
        scales = self.random.uniform(0.5, 1.5, (outputs * blocks,)).astype(np.float32)
        scales *= np.float32(gain / (np.sqrt(inputs) * 4.8))  # 4.8: the codes' own deviation times the scales'
        operands = [x, self.tensor(codes), self.tensor(scales)]
        if s.zeros:
            nibbles = self.random.integers(7, 10, (outputs, (blocks + 1) // 2, 2), np.uint8)
            operands.append(self.tensor(nibbles[..., 0] | nibbles[..., 1] << 4))
        return self.op("MatMulNBits", *operands, domain=MICROSOFT, K=inputs, N=outputs, bits=4, block_size=s.block,
                       accuracy_level=s.accuracy)

    def save(self, type_name, inputs, outputs, shared):
        """Writes the graph and the configuration. `inputs`, `outputs`: their names as the configuration calls them;
        `shared`: keys and values may stay where they are from one step to the next."""
        self.file.close()
        graph = helper.make_graph(self.nodes, type_name, self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid("", 14), helper.make_opsetid(MICROSOFT, 1)]
        onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=7), self.folder / "model.onnx")
        s = self.sizes
        decoder = {"session_options": {"log_id": "genai", "provider_options": []}, "filename": "model.onnx",
                   "head_size": s.head, "hidden_size": s.hidden, "inputs": inputs, "outputs": outputs,
                   "num_attention_heads": s.heads, "num_hidden_layers": s.layers, "num_key_value_heads": s.kv_heads}
        model = {"type": type_name, "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0, "vocab_size": s.words,
                 "context_length": s.context, "decoder": decoder}
        search = {"max_length": s.context, "past_present_share_buffer": shared}
        text = json.dumps({"model": model, "search": search}, indent=1)
        (self.folder / "genai_config.json").write_text(text)


def rotary_tables(graph):
    s = graph.sizes
    angles = np.outer(np.arange(s.context), 1e4 ** -(np.arange(s.head // 2) * 2 / s.head)).astype(np.float32)
    return graph.tensor(np.cos(angles)), graph.tensor(np.sin(angles))


class Llama:
    """Grouped attention, root-mean-square norms, gated products: [batch, sequence] of words to logits."""

    def __init__(self, folder, sizes, shared=True):
        self.sizes, self.graph = sizes, Graph(folder, sizes)
        g = self.graph
        ids = g.input("input_ids", TensorProto.INT64, ["batch", "sequence"])
        mask = g.input("attention_mask", TensorProto.INT64, ["batch", "total"])
        inputs = {"input_ids": ids, "attention_mask": mask, "past_key_names": "past_key_values.%d.key",
                  "past_value_names": "past_key_values.%d.value"}
        if sizes.rotary_node:
            inputs["position_ids"] = g.input("position_ids", TensorProto.INT64, ["batch", "sequence"])
        self.tables = rotary_tables(g)
        self.lengths = self.sequence_lengths(mask)
        self.logits(self.layers(g.op("Gather", g.normal((sizes.words, sizes.hidden), 1), ids)))
        g.save("llama", inputs, {"logits": "logits", "present_key_names": "present.%d.key",
                                 "present_value_names": "present.%d.value"}, shared)

    def sequence_lengths(self, mask):
        """As GroupQueryAttention wants them: the last position of each sequence, and the longest one's length."""
        g = self.graph
        last = g.op("Sub", g.op("ReduceSum", mask, g.constant([1]), keepdims=0), g.constant(1))
        total = g.op("Gather", g.op("Shape", mask), g.constant(1))
        return [g.op("Cast", x, to=TensorProto.INT32) for x in (last, total)]

    def norm_weight(self):
        return self.graph.normal((self.sizes.hidden,), 0.05, 1)

    def layers(self, x):
        """The last norm's result."""
        g, s = self.graph, self.sizes
        normed = g.op("SimplifiedLayerNormalization", x, self.norm_weight(), axis=-1, epsilon=1e-5, stash_type=1)
        for layer in range(s.layers):
            normed, x = self.skip(x, self.attention(normed, layer), layer, "attention")
            normed, x = self.skip(x, self.gated(normed), layer, "gated")
        return normed

    def skip(self, x, added, layer, place):
        """Their sum's norm, and the sum."""
        names = [f"normed_{layer}_{place}", "", "", f"sum_{layer}_{place}"]
        outputs = self.graph.op("SkipSimplifiedLayerNormalization", x, added, self.norm_weight(), outputs=names,
                                domain=MICROSOFT, epsilon=1e-5)
        return outputs[0], outputs[3]

    def attention(self, x, layer):
        g, s = self.graph, self.sizes
        width = s.kv_heads * s.head
        if s.packed:
            rows = [g.linear(x, s.hidden, s.hidden + 2 * width), "", ""]
        else:
            rows = [g.linear(x, s.hidden, n) for n in (s.hidden, width, width)]
        if s.rotary_node:
            rows = [g.op("RotaryEmbedding", row, "position_ids", *self.tables, domain=MICROSOFT) if row is not rows[2]
                    else row for row in rows]
        past, present = [], []
        for part in ("key", "value"):
            past.append(g.input(f"past_key_values.{layer}.{part}", TensorProto.FLOAT,
                                ["batch", s.kv_heads, "past", s.head]))
            present.append(f"present.{layer}.{part}")
            g.output(present[-1], ["batch", s.kv_heads, "present", s.head])
        tables = [] if s.rotary_node else self.tables
        mixed = g.op("GroupQueryAttention", *rows, *past, *self.lengths, *tables, domain=MICROSOFT,
                     outputs=[f"mixed_{layer}", *present], num_heads=s.heads, kv_num_heads=s.kv_heads,
                     scale=float(s.head ** -0.5), do_rotary=int(not s.rotary_node))[0]
        return g.linear(mixed, s.hidden, s.hidden)

    def gated(self, x):
        g, s = self.graph, self.sizes
        gate, up = (g.linear(x, s.hidden, s.inner) for _ in range(2))
        gated = g.op("Mul", g.op("Mul", gate, g.op("Sigmoid", gate)), up)
        return g.linear(gated, s.inner, s.hidden)

    def logits(self, x):
        g, s = self.graph, self.sizes
        g.op("Identity", g.linear(x, s.hidden, s.words, 4), outputs=["logits"])
        g.output("logits", ["batch", "sequence", s.words])


class Gpt2:
    """Attention whose keys and values share a tensor, learned positions, layer norms."""

    def __init__(self, folder, sizes):
        self.sizes = dataclasses.replace(sizes, kv_heads=sizes.heads)
        self.graph = Graph(folder, self.sizes)
        g, s = self.graph, self.sizes
        ids, positions = (g.input(name, TensorProto.INT64, ["batch", "sequence"])
                          for name in ("input_ids", "position_ids"))
        mask = g.input("attention_mask", TensorProto.INT64, ["batch", "total"])
        self.mask = g.op("Cast", mask, to=TensorProto.INT32)
        x = g.op("Add", g.op("Gather", g.normal((s.words, s.hidden), 1), ids),
                 g.op("Gather", g.normal((s.context, s.hidden), 0.5), positions))
        g.op("Identity", g.linear(self.layers(x), s.hidden, s.words, 4), outputs=["logits"])
        g.output("logits", ["batch", "sequence", s.words])
        g.save("gpt2", {"input_ids": ids, "position_ids": positions, "attention_mask": mask, "past_names": "past_%d"},
               {"logits": "logits", "present_names": "present_%d"}, False)

    def norm_weights(self):
        return self.graph.normal((self.sizes.hidden,), 0.05, 1), self.graph.normal((self.sizes.hidden,), 0.05)

    def layers(self, x):
        g = self.graph
        normed = g.op("LayerNormalization", x, *self.norm_weights(), axis=-1, epsilon=1e-5, domain="")
        for layer in range(self.sizes.layers):
            normed, x = self.skip(x, self.attention(normed, layer), layer, "attention")
            normed, x = self.skip(x, self.inner(normed), layer, "inner")
        return normed

    def skip(self, x, added, layer, place):
        names = [f"normed_{layer}_{place}", "", "", f"sum_{layer}_{place}"]
        outputs = self.graph.op("SkipLayerNormalization", x, added, *self.norm_weights(),
                                self.graph.normal((self.sizes.hidden,), 0.05), outputs=names, domain=MICROSOFT,
                                epsilon=1e-5)
        return outputs[0], outputs[3]

    def attention(self, x, layer):
        g, s = self.graph, self.sizes
        shape = [2, "batch", s.heads, "past", s.head]
        past = g.input(f"past_{layer}", TensorProto.FLOAT, shape)
        g.output(f"present_{layer}", [*shape[:3], "total", s.head])
        weight, bias = g.normal((s.hidden, 3 * s.hidden), s.hidden ** -0.5), g.normal((3 * s.hidden,), 0.05)
        mixed = g.op("Attention", x, weight, bias, self.mask, past, outputs=[f"mixed_{layer}", f"present_{layer}"],
                     domain=MICROSOFT, num_heads=s.heads, unidirectional=1)[0]
        return g.linear(mixed, s.hidden, s.hidden)

    def inner(self, x):
        g, s = self.graph, self.sizes
        wide = g.op("FastGelu", g.linear(x, s.hidden, s.inner), g.normal((s.inner,), 0.05), domain=MICROSOFT)
        return g.linear(wide, s.inner, s.hidden)
