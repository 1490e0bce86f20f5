"""Transformers in plain ONNX operators: BERT-base, the same with dynamically quantised weights, and GPT-2 small."""
import numpy as np

from .builder import INT64, Builder

WIDTH, HEADS, LAYERS, INNER = 768, 12, 12, 3072
HEAD = WIDTH // HEADS
BERT_WORDS, GPT2_WORDS = 30522, 50257


def linear(build, x, fan_in, fan_out, gain=1.0):
    """x W + b in float."""
    y = build.op("MatMul", x, build.weight((fan_in, fan_out), np.sqrt(gain / fan_in)))
    return build.op("Add", y, build.weight((fan_out,), 0.02))


def quantized_linear(build, x, fan_in, fan_out, gain=1.0):
    """x W + b with the activation quantised at run time to 8 bits and the weight stored in 8 bits."""
    deviation = np.sqrt(gain / fan_in)
    scale = 4 * deviation / 127
    weight = np.clip(np.rint(build.normal((fan_in, fan_out), deviation) / scale), -127, 127).astype(np.int8)
    value, value_scale, zero = build.op("DynamicQuantizeLinear", x, outputs=3)
    sums = build.op("MatMulInteger", value, build.tensor(weight), zero, build.constant(0, np.int8))
    factor = build.op("Mul", value_scale, build.scalar(scale))
    y = build.op("Mul", build.op("Cast", sums, to=1), factor)
    return build.op("Add", y, build.weight((fan_out,), 0.02))


def norm_parameters(build):
    return build.tensor(1 + build.normal((WIDTH,), 0.05)), build.weight((WIDTH,), 0.05)


def decomposed_norm(build, x):
    """Layer normalisation in the nine nodes that exporters wrote before opset 17."""
    centered = build.op("Sub", x, build.op("ReduceMean", x, axes=[-1]))
    variance = build.op("ReduceMean", build.op("Pow", centered, build.scalar(2)), axes=[-1])
    deviation = build.op("Sqrt", build.op("Add", variance, build.scalar(1e-12)))
    scale, bias = norm_parameters(build)
    return build.op("Add", build.op("Mul", build.op("Div", centered, deviation), scale), bias)


def erf_gelu(build, x):
    phi = build.op("Add", build.op("Erf", build.op("Div", x, build.scalar(np.sqrt(2)))), build.scalar(1))
    return build.op("Mul", build.op("Mul", x, phi), build.scalar(0.5))


def tanh_gelu(build, x):
    """GPT-2's approximation of Gelu."""
    cubic = build.op("Mul", build.op("Pow", x, build.scalar(3)), build.scalar(0.044715))
    inner = build.op("Mul", build.op("Add", x, cubic), build.scalar(np.sqrt(2 / np.pi)))
    gate = build.op("Add", build.op("Tanh", inner), build.scalar(1))
    return build.op("Mul", build.op("Mul", x, build.scalar(0.5)), gate)


def heads(build, x, perm=(0, 2, 1, 3)):
    """[batch, sequence, width] -> [batch, heads, sequence, head], or transposed by another perm."""
    return build.op("Transpose", build.op("Reshape", x, build.constant([0, 0, HEADS, HEAD])), perm=list(perm))


def joined(build, x):
    """[batch, heads, sequence, head] -> [batch, sequence, width]."""
    return build.op("Reshape", build.op("Transpose", x, perm=[0, 2, 1, 3]), build.constant([0, 0, WIDTH]))


def bert_layer(build, x, mask, dense):
    query, key, value = (dense(build, x, WIDTH, WIDTH) for _ in range(3))
    scores = build.op("MatMul", heads(build, query), heads(build, key, (0, 2, 3, 1)))
    scores = build.op("Add", build.op("Div", scores, build.scalar(np.sqrt(HEAD))), mask)
    mixed = build.op("MatMul", build.op("Softmax", scores, axis=-1), heads(build, value))
    x = decomposed_norm(build, build.op("Add", dense(build, joined(build, mixed), WIDTH, WIDTH), x))
    inner = erf_gelu(build, dense(build, x, WIDTH, INNER))
    return decomposed_norm(build, build.op("Add", dense(build, inner, INNER, WIDTH), x))


def bert(seed_text, dense):
    build = Builder(seed_text, 14)
    shape, words = ["batch", "sequence"], BERT_WORDS
    ids, mask, kinds = (build.input(n, shape, INT64) for n in ("input_ids", "attention_mask", "token_type_ids"))
    build.bench(dims="batch=1,sequence=128", bounds=f"input_ids={words},attention_mask=2,token_type_ids=2")
    x = build.op("Add", build.op("Gather", build.weight((words, WIDTH), 1), ids),
                 build.op("Gather", build.weight((2, WIDTH), 0.3), kinds))
    length = build.op("Slice", build.op("Shape", ids), build.constant([1]), build.constant([2]))
    rows = build.op("Slice", build.weight((512, WIDTH), 0.3), build.constant([0]), length, build.constant([0]))
    x = decomposed_norm(build, build.op("Add", x, rows))
    wide = build.op("Unsqueeze", build.op("Unsqueeze", mask, build.constant([1])), build.constant([2]))
    hidden = build.op("Sub", build.scalar(1), build.op("Cast", wide, to=1))
    bias = build.op("Mul", hidden, build.scalar(-10000))
    for _ in range(LAYERS):
        x = bert_layer(build, x, bias, dense)
    build.output(x, "last_hidden_state", ["batch", "sequence", WIDTH])
    first = build.op("Gather", x, build.constant(0), axis=1)
    weight = build.weight((WIDTH, WIDTH), np.sqrt(1 / WIDTH))
    pooled = build.op("Tanh", build.op("Gemm", first, weight, build.weight((WIDTH,), 0.02)))
    build.output(pooled, "pooler_output", ["batch", WIDTH])
    return build


def bert_base():
    """BERT-base, sequence 128, layer normalisation and Gelu decomposed, 438 MB"""
    return bert("bert_base", linear)


def bert_dynamic_int8():
    """BERT-base, sequence 128, dynamically quantised, 182 MB"""
    return bert("bert_dynamic_int8", quantized_linear)


def layer_norm(build, x):
    return build.op("LayerNormalization", x, *norm_parameters(build), axis=-1, epsilon=1e-5)


def affine(build, x, fan_in, fan_out, gain=1.0):
    """x W + b as one Gemm over the flattened rows, as GPT-2 exports write it."""
    rows = build.op("Reshape", x, build.constant([-1, fan_in]))
    weight = build.weight((fan_in, fan_out), np.sqrt(gain / fan_in))
    y = build.op("Gemm", rows, weight, build.weight((fan_out,), 0.02))
    lead = build.op("Slice", build.op("Shape", x), build.constant([0]), build.constant([2]))
    return build.op("Reshape", y, build.op("Concat", lead, build.constant([fan_out]), axis=0))


def gpt2_attention(build, x, layer, visible):
    """Causal attention whose keys and values continue those of earlier calls."""
    query, key, value = build.op("Split", affine(build, x, WIDTH, 3 * WIDTH), build.constant([WIDTH] * 3), outputs=3,
                                 axis=2)
    kept = []
    for part, name in ((key, "key"), (value, "value")):
        past = build.input(f"past_{layer}_{name}", ["batch", HEADS, "past", HEAD])
        kept.append(build.op("Concat", past, heads(build, part), axis=2))
        build.output(kept[-1], f"present_{layer}_{name}", ["batch", HEADS, "total", HEAD])
    scores = build.op("MatMul", heads(build, query), build.op("Transpose", kept[0], perm=[0, 1, 3, 2]))
    scores = build.op("Div", scores, build.scalar(np.sqrt(HEAD)))
    scores = build.op("Where", visible, scores, build.scalar(-10000))
    mixed = build.op("MatMul", build.op("Softmax", scores, axis=-1), kept[1])
    return affine(build, joined(build, mixed), WIDTH, WIDTH, 0.3)


def gpt2():
    """GPT-2 small with a key-value cache: decode (sequence=1,past=256) and prefill (sequence=128,past=0), 652 MB"""
    build = Builder("gpt2", 17)
    words = GPT2_WORDS
    ids = build.input("input_ids", ["batch", "sequence"], INT64)
    positions = build.input("position_ids", ["batch", "sequence"], INT64)
    build.bench(dims="batch=1,sequence=1,past=256", bounds=f"input_ids={words},position_ids=1024")
    table = build.normal((words, WIDTH), 0.6)
    x = build.op("Add", build.op("Gather", build.tensor(table), ids),
                 build.op("Gather", build.weight((1024, WIDTH), 0.3), positions))
    new = build.op("Gather", build.op("Shape", ids), build.constant(1))
    old = build.op("Gather", build.op("Shape", "past_0_key"), build.constant(2))
    total, step = build.op("Add", old, new), build.constant(1)
    rows = build.op("Unsqueeze", build.op("Range", old, total, step), build.constant([1]))
    columns = build.op("Unsqueeze", build.op("Range", build.constant(0), total, step), build.constant([0]))
    visible = build.op("LessOrEqual", columns, rows)
    for layer in range(LAYERS):
        x = build.op("Add", x, gpt2_attention(build, layer_norm(build, x), layer, visible))
        inner = tanh_gelu(build, affine(build, layer_norm(build, x), WIDTH, INNER))
        x = build.op("Add", x, affine(build, inner, INNER, WIDTH, 0.3))
    logits = build.op("MatMul", layer_norm(build, x), build.tensor(table.T * np.float32(0.06)))
    build.output(logits, "logits", ["batch", "sequence", words])
    return build


MODELS = {"bert_base": (bert_base, True), "bert_dynamic_int8": (bert_dynamic_int8, False), "gpt2": (gpt2, True)}
