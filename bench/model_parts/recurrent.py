"""Small networks where the runtime's own cost per node shows: an LSTM and a chain of ten Gemm."""
import numpy as np

from .builder import Builder

STEPS, WIDTH = 100, 256


def lstm():
    """LSTM, 100 steps, 256 inputs, 256 hidden"""
    build = Builder("lstm", 14)
    x = build.input("sequence", [STEPS, 1, WIDTH])
    weight, recurrence = (build.weight((1, 4 * WIDTH, WIDTH), np.sqrt(1 / WIDTH)) for _ in range(2))
    outputs = build.op("LSTM", x, weight, recurrence, build.weight((1, 8 * WIDTH), 0.05), outputs=3, hidden_size=WIDTH)
    build.output(outputs[0], "hidden", [STEPS, 1, 1, WIDTH])
    build.output(outputs[2], "cell", [1, 1, WIDTH])
    return build


def mlp():
    """Ten layers of Gemm 64x64 and Relu, one row"""
    build = Builder("mlp", 13)
    x = build.input("x", ["batch", 64])
    for _ in range(10):
        weight = build.weight((64, 64), np.sqrt(2 / 64))
        x = build.op("Relu", build.op("Gemm", x, weight, build.weight((64,), 0.05)))
    build.output(x, "y", ["batch", 64])
    return build


MODELS = {"lstm": (lstm, False), "mlp": (mlp, False)}
