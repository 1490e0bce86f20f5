#!/usr/bin/python3
"""Trains the digits network and writes digits.onnx and the sample pictures beside this script.

Data: scikit-learn's digits (1797 pictures of 8x8 pixels, values 0..16). Every fifth picture is held out; the sample
pictures are the first held-out one of each class. Plain numpy, one fixed seed: the same numpy gives the same file.
"""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_digits

SEED = 7
EPOCHS = 60
BATCH = 64
FILTERS = (12, 24)
HERE = pathlib.Path(__file__).resolve().parent


def patches(x):
    """[N,C,H,W] -> [N,H,W,C*9]: the 3x3 neighbourhood of each pixel, zeros outside."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


def fold(columns, shape):
    """The adjoint of patches."""
    n, c, h, w = shape
    taps = columns.reshape(n, h, w, c, 3, 3)
    padded = np.zeros((n, c, h + 2, w + 2), np.float32)
    for i in range(3):
        for j in range(3):
            padded[:, :, i:i + h, j:j + w] += taps[..., i, j].transpose(0, 3, 1, 2)
    return padded[:, :, 1:-1, 1:-1]


class ConvReluPool:
    """3x3 convolution, ReLU, 2x2 max pooling."""

    def __init__(self, rng, channels, filters):
        self.weight = rng.normal(0, np.sqrt(2 / (channels * 9)), (filters, channels, 3, 3)).astype(np.float32)
        self.bias = np.zeros(filters, np.float32)

    def forward(self, x):
        self.shape, self.columns = x.shape, patches(x)
        y = self.columns @ self.weight.reshape(len(self.weight), -1).T + self.bias
        y = np.maximum(y, 0).transpose(0, 3, 1, 2)
        n, c, h, w = y.shape
        tiles = y.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h // 2, w // 2, 4)
        self.winner = tiles.argmax(-1)
        pooled = np.take_along_axis(tiles, self.winner[..., None], -1)[..., 0]
        self.positive = pooled > 0
        return pooled

    def backward(self, grad):
        n, c, h, w = grad.shape
        tiles = np.zeros((n, c, h, w, 4), np.float32)
        np.put_along_axis(tiles, self.winner[..., None], (grad * self.positive)[..., None], -1)
        full = tiles.reshape(n, c, h, w, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, h * 2, w * 2)
        flat = full.transpose(0, 2, 3, 1).reshape(-1, c)
        columns = self.columns.reshape(len(flat), -1)
        self.grads = [(flat.T @ columns).reshape(self.weight.shape), flat.sum(0)]
        return fold((flat @ self.weight.reshape(c, -1)).reshape(self.columns.shape), self.shape)


class Network:
    """Two ConvReluPool blocks and one linear layer; gives logits."""

    def __init__(self, rng):
        self.blocks = [ConvReluPool(rng, 1, FILTERS[0]), ConvReluPool(rng, FILTERS[0], FILTERS[1])]
        self.weight = rng.normal(0, 0.1, (FILTERS[1] * 4, 10)).astype(np.float32)
        self.bias = np.zeros(10, np.float32)

    def forward(self, x):
        for block in self.blocks:
            x = block.forward(x)
        self.features = x.reshape(len(x), -1)
        return self.features @ self.weight + self.bias

    def backward(self, grad):
        grads = [self.features.T @ grad, grad.sum(0)]
        grad = (grad @ self.weight.T).reshape(-1, FILTERS[1], 2, 2)
        for block in reversed(self.blocks):
            grad = block.backward(grad)
        return [g for block in self.blocks for g in block.grads] + grads

    def parameters(self):
        return [p for block in self.blocks for p in (block.weight, block.bias)] + [self.weight, self.bias]


def softmax(logits):
    e = np.exp(logits - logits.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def shifted(rng, x):
    """Each picture moved by up to one pixel: keeps so small a data set from being learnt by heart."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    offsets = rng.integers(0, 3, (len(x), 2))
    return np.stack([p[:, i:i + 8, j:j + 8] for p, (i, j) in zip(padded, offsets)])


def train(rng, images, labels):
    """Adam with a cosine-shaped learning rate on cross entropy."""
    network = Network(rng)
    parameters = network.parameters()
    first, second = ([np.zeros_like(p) for p in parameters] for _ in range(2))
    steps, step = EPOCHS * (len(images) // BATCH), 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(images))
        for start in range(0, len(order) - BATCH + 1, BATCH):
            step += 1
            chosen = order[start:start + BATCH]
            grad = softmax(network.forward(shifted(rng, images[chosen])))
            grad[np.arange(BATCH), labels[chosen]] -= 1
            rate = 0.004 * 0.5 * (1 + np.cos(np.pi * step / steps))
            for p, g, m, v in zip(parameters, network.backward(grad / BATCH), first, second):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= (rate * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)).astype(np.float32)
    return network


def to_onnx(network, accuracy):
    names = ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "linear.weight", "linear.bias"]
    nodes, value = [], "image"
    for i in (1, 2):
        nodes += [
            helper.make_node("Conv", [value, f"conv{i}.weight", f"conv{i}.bias"], [f"conv{i}"], f"conv{i}",
                             kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
            helper.make_node("Relu", [f"conv{i}"], [f"relu{i}"], f"relu{i}"),
            helper.make_node("MaxPool", [f"relu{i}"], [f"pool{i}"], f"pool{i}", kernel_shape=[2, 2], strides=[2, 2]),
        ]
        value = f"pool{i}"
    nodes += [
        helper.make_node("Flatten", [value], ["features"], "flatten", axis=1),
        helper.make_node("Gemm", ["features", "linear.weight", "linear.bias"], ["logits"], "linear"),
        helper.make_node("Softmax", ["logits"], ["probabilities"], "softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes, "digits", [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 8, 8])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(p, n) for p, n in zip(network.parameters(), names)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="train_digits.py")
    model.ir_version = 7
    model.doc_string = "Handwritten digits: a picture of 8x8 pixels, ink 0..1, to the probability of each digit."
    helper.set_model_props(model, {"labels": "0,1,2,3,4,5,6,7,8,9", "test_accuracy": f"{accuracy:.4f}"})
    onnx.checker.check_model(model)
    return model


def write_picture(path, pixels, label):
    rows = "\n".join(" ".join(f"{int(v):2d}" for v in row) for row in pixels)
    path.write_text(f"P2\n# label {label}\n8 8\n16\n{rows}\n")


def main():
    digits = load_digits()
    images = (digits.images / 16).astype(np.float32)[:, None]
    held_out = np.arange(len(images)) % 5 == 4
    rng = np.random.default_rng(SEED)
    network = train(rng, images[~held_out], digits.target[~held_out])
    guess = network.forward(images[held_out]).argmax(1)
    accuracy = float((guess == digits.target[held_out]).mean())
    print(f"held-out accuracy {accuracy:.2%} of {held_out.sum()} pictures")
    onnx.save(to_onnx(network, accuracy), str(HERE / "digits.onnx"))
    for label in range(10):
        index = int(np.flatnonzero(held_out & (digits.target == label))[0])
        write_picture(HERE / f"digit_{label}.pgm", digits.images[index], label)


if __name__ == "__main__":
    main()
