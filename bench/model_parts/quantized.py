"""ResNet-18 in 8 bits, written with QuantizeLinear and DequantizeLinear around every operator."""
import numpy as np

from .builder import Builder

RANGE = 6  # quantised activations reach this many times their root mean square


class Quantizer:
    """A float value and its size: names are of dequantised values, with the root mean square that weights give."""

    def __init__(self, build):
        self.build = build

    def activation(self, x, size):
        """Quantise to unsigned 8 bits and back."""
        build = self.build
        scale, zero = build.scalar(2 * RANGE * size / 255), build.constant(128, np.uint8)
        return build.op("DequantizeLinear", build.op("QuantizeLinear", x, scale, zero), scale, zero)

    def weight(self, shape, deviation):
        """A signed 8-bit weight with one scale per filter, dequantised."""
        build = self.build
        weight = build.normal(shape, deviation)
        scale = (np.abs(weight).reshape(shape[0], -1).max(1) / 127).astype(np.float32)
        steps = np.rint(weight / scale.reshape(-1, *[1] * (len(shape) - 1))).astype(np.int8)
        zeros = build.tensor(np.zeros(shape[0], np.int8), "zero")
        return build.op("DequantizeLinear", build.tensor(steps), build.tensor(scale, "scale"), zeros, axis=0), scale

    def bias(self, length, input_size, weight_scale):
        """A 32-bit bias at the scale of the products, as quantising tools write it."""
        build = self.build
        scale = (2 * RANGE * input_size / 255 * weight_scale).astype(np.float32)
        steps = np.rint(build.normal((length,), 0.05) / scale).astype(np.int32)
        zeros = build.tensor(np.zeros(length, np.int32), "zero")
        return build.op("DequantizeLinear", build.tensor(steps, "bias"), build.tensor(scale, "scale"), zeros, axis=0)

    def convolution(self, x, size, channels, filters, kernel, stride=1, gain=2.0, relu=True):
        """Conv, ReLU if asked, requantised; gives the value and its root mean square."""
        build = self.build
        weight, scale = self.weight((filters, channels, kernel, kernel), np.sqrt(gain / (channels * kernel**2)))
        y = build.op("Conv", x, weight, self.bias(filters, size, scale), kernel_shape=[kernel] * 2,
                     strides=[stride] * 2, pads=[kernel // 2] * 4)
        size = size * np.sqrt(gain)
        if relu:
            y, size = build.op("Relu", y), size / np.sqrt(2)
        return self.activation(y, size), size


def block(net, x, size, channels, filters, stride):
    y, inner = net.convolution(x, size, channels, filters, 3, stride)
    y, branch = net.convolution(y, inner, filters, filters, 3, gain=0.5, relu=False)
    if stride > 1 or channels != filters:
        x, size = net.convolution(x, size, channels, filters, 1, stride, gain=1.0, relu=False)
    size = float(np.hypot(size, branch))
    return net.activation(net.build.op("Relu", net.build.op("Add", y, x)), size), size


def resnet18_qdq():
    """ResNet-18 in QDQ form, 8 bits, 1x3x224x224"""
    build = Builder("resnet18_qdq", 13)
    net = Quantizer(build)
    size = 0.6
    x = net.activation(build.input("image", ["batch", 3, 224, 224]), size)
    x, size = net.convolution(x, size, 3, 64, 7, 2)
    x = net.activation(build.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4), size * 1.5)
    size, channels = size * 1.5, 64
    for filters, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
        for step in (stride, 1):
            x, size = block(net, x, size, channels, filters, step)
            channels = filters
    x = net.activation(build.op("GlobalAveragePool", x), size)
    x = net.activation(build.op("Flatten", x, axis=1), size)
    weight, scale = net.weight((1000, channels), np.sqrt(1 / channels))
    logits = build.op("Gemm", x, weight, net.bias(1000, size, scale), transB=1)
    build.output(net.activation(logits, size), "logits", ["batch", 1000])
    return build


MODELS = {"resnet18_qdq": (resnet18_qdq, False)}
