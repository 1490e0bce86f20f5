"""Single operators, for comparing kernels."""
from .builder import Builder


def matmul_512():
    """A product of two given 512x512 matrices"""
    build = Builder("matmul_512", 17)
    sides = [build.input(name, [512, 512]) for name in "ab"]
    build.output(build.op("MatMul", *sides), "y", [512, 512])
    return build


def conv_64():
    """A 3x3 convolution of 64 channels to 64, 56x56"""
    build = Builder("conv_64", 17)
    x = build.input("x", [1, 64, 56, 56])
    build.output(build.op("Conv", x, build.weight((64, 64, 3, 3), 0.05), pads=[1, 1, 1, 1]), "y", [1, 64, 56, 56])
    return build


MODELS = {"matmul_512": (matmul_512, True), "conv_64": (conv_64, True)}
