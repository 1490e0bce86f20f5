"""Convolutional networks: ResNet-50, MobileNetV2 and a detector shaped like YOLOv5s."""
import numpy as np

from .builder import Builder


def convolution(build, x, channels, filters, kernel=1, stride=1, group=1, gain=2.0, bias=True, padding=None):
    """Conv whose output has about the size of its input times gain / 2."""
    fan_in = channels // group * kernel * kernel
    pad = kernel // 2 if padding is None else padding
    inputs = [x, build.weight((filters, channels // group, kernel, kernel), np.sqrt(gain / fan_in))]
    if bias:
        inputs.append(build.weight((filters,), 0.05))
    return build.op("Conv", *inputs, kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, group=group)


def batch_normalization(build, x, channels):
    bias, mean = (build.weight((channels,), 0.05) for _ in range(2))
    scale, variance = (build.tensor(1 + np.abs(build.normal((channels,), 0.05))) for _ in range(2))
    return build.op("BatchNormalization", x, scale, bias, mean, variance, epsilon=1e-5)


def classifier(build, x, features, classes=1000):
    x = build.op("Flatten", build.op("GlobalAveragePool", x), axis=1)
    weight = build.weight((classes, features), np.sqrt(1 / features))
    return build.op("Gemm", x, weight, build.weight((classes,), 0.05), transB=1)


def bottleneck(build, x, channels, width, stride):
    """ResNet-50's block: 1x1, 3x3, 1x1 with batch normalisation, and a projection where shapes change."""
    def layer(value, fan, filters, kernel=1, step=1, gain=2.0):
        value = convolution(build, value, fan, filters, kernel, step, gain=gain, bias=False)
        return batch_normalization(build, value, filters)

    y = build.op("Relu", layer(x, channels, width))
    y = build.op("Relu", layer(y, width, width, 3, stride))
    y = layer(y, width, 4 * width, gain=0.3)
    skip = layer(x, channels, 4 * width, step=stride, gain=1.5) if stride > 1 or channels != 4 * width else x
    return build.op("Relu", build.op("Add", y, skip))


def resnet50(side=224, thinner=1):
    """ResNet-50, 1x3x224x224, with BatchNormalization nodes"""
    build = Builder("resnet50", 13)
    x = build.input("image", ["batch", 3, side, side])
    channels = 64 // thinner
    x = batch_normalization(build, convolution(build, x, 3, channels, 7, 2, bias=False), channels)
    x = build.op("MaxPool", build.op("Relu", x), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        width //= thinner
        for i in range(blocks):
            x = bottleneck(build, x, channels, width, stride if i == 0 else 1)
            channels = 4 * width
    build.output(classifier(build, x, channels), "logits", ["batch", 1000])
    return build


def inverted_residual(build, x, channels, filters, stride, expand):
    """MobileNetV2's block: widen, depthwise 3x3, narrow."""
    def clipped(value):
        return build.op("Clip", value, build.scalar(0), build.scalar(6))

    hidden, y = channels * expand, x
    if expand > 1:
        y = clipped(convolution(build, y, channels, hidden))
    y = clipped(convolution(build, y, hidden, hidden, 3, stride, group=hidden))
    residual = stride == 1 and channels == filters
    y = convolution(build, y, hidden, filters, gain=0.5 if residual else 2.0)
    return build.op("Add", x, y) if residual else y


def mobilenet_v2(side=224, thinner=1):
    """MobileNetV2, 1x3x224x224"""
    build = Builder("mobilenet_v2", 13)
    x = build.input("image", ["batch", 3, side, side])
    channels, features = 32 // thinner, 1280 // thinner
    x = build.op("Clip", convolution(build, x, 3, channels, 3, 2), build.scalar(0), build.scalar(6))
    stages = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
    for expand, filters, blocks, stride in stages:
        filters //= thinner
        for i in range(blocks):
            x = inverted_residual(build, x, channels, filters, stride if i == 0 else 1, expand)
            channels = filters
    x = build.op("Clip", convolution(build, x, channels, features), build.scalar(0), build.scalar(6))
    build.output(classifier(build, x, features), "logits", ["batch", 1000])
    return build


class Detector:
    """The parts of the YOLOv5s-like network; every convolution is followed by x * sigmoid(x)."""

    CLASSES = 80
    ANCHORS = (((10, 13), (16, 30), (33, 23)), ((30, 61), (62, 45), (59, 119)), ((116, 90), (156, 198), (373, 326)))

    def __init__(self, build, thinner):
        self.build, self.thinner = build, thinner

    def layer(self, x, channels, filters, kernel=1, stride=1, padding=None):
        channels = channels if channels == 3 else channels // self.thinner
        y = convolution(self.build, x, channels, filters // self.thinner, kernel, stride, gain=2.8, padding=padding)
        return self.build.op("Mul", y, self.build.op("Sigmoid", y))

    def csp(self, x, channels, filters, repeats, shortcut=True):
        """Two branches, one through a chain of bottlenecks, joined by Concat and a 1x1 layer."""
        half = filters // 2
        main, side = self.layer(x, channels, half), self.layer(x, channels, half)
        for _ in range(repeats):
            y = self.layer(self.layer(main, half, half), half, half, 3)
            main = self.build.op("Add", main, y) if shortcut else y
        return self.layer(self.build.op("Concat", main, side, axis=1), filters, filters)

    def pyramid_pool(self, x, channels):
        x = pooled = self.layer(x, channels, channels // 2)
        parts = [x]
        for _ in range(3):
            pooled = self.build.op("MaxPool", pooled, kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4)
            parts.append(pooled)
        return self.layer(self.build.op("Concat", *parts, axis=1), 2 * channels, channels)

    def upsample(self, x):
        scales = self.build.constant([1, 1, 2, 2], np.float32)
        return self.build.op("Resize", x, "", scales, mode="nearest", nearest_mode="floor",
                             coordinate_transformation_mode="asymmetric")

    def head(self, x, channels, cells, stride, anchors):
        """Boxes, objectness and class scores of one scale: [batch, 3 * cells * cells, 5 + classes]."""
        build, fields = self.build, 5 + self.CLASSES
        x = convolution(build, x, channels // self.thinner, 3 * fields, gain=1.0)
        x = build.op("Reshape", x, build.constant([-1, 3, fields, cells, cells]))
        x = build.op("Sigmoid", build.op("Transpose", x, perm=[0, 1, 3, 4, 2]))
        center, size, scores = build.op("Split", x, build.constant([2, 2, fields - 4]), outputs=3, axis=4)
        rows, columns = np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij")
        grid = np.stack([columns, rows], -1)[None, None].astype(np.float32) - 0.5
        center = build.op("Add", build.op("Mul", center, build.scalar(2)), build.tensor(grid, "grid"))
        center = build.op("Mul", center, build.scalar(stride))
        size = build.op("Pow", build.op("Mul", size, build.scalar(2)), build.scalar(2))
        size = build.op("Mul", size, build.tensor(np.array(anchors, np.float32).reshape(1, 3, 1, 1, 2), "anchors"))
        boxes = build.op("Concat", center, size, scores, axis=4)
        return build.op("Reshape", boxes, build.constant([-1, 3 * cells * cells, fields]))


def yolo(side=320, thinner=1):
    """Detector shaped like YOLOv5s, 1x3x320x320"""
    build = Builder("yolo", 13)
    net = Detector(build, thinner)
    x = net.layer(build.input("image", ["batch", 3, side, side]), 3, 32, 6, 2, padding=2)
    x = net.csp(net.layer(x, 32, 64, 3, 2), 64, 64, 1)
    fine = x = net.csp(net.layer(x, 64, 128, 3, 2), 128, 128, 2)
    middle = x = net.csp(net.layer(x, 128, 256, 3, 2), 256, 256, 3)
    x = net.pyramid_pool(net.csp(net.layer(x, 256, 512, 3, 2), 512, 512, 1), 512)
    top = net.layer(x, 512, 256)
    x = net.csp(build.op("Concat", net.upsample(top), middle, axis=1), 512, 256, 1, False)
    narrow = net.layer(x, 256, 128)
    small = net.csp(build.op("Concat", net.upsample(narrow), fine, axis=1), 256, 128, 1, False)
    x = build.op("Concat", net.layer(small, 128, 128, 3, 2), narrow, axis=1)
    medium = net.csp(x, 256, 256, 1, False)
    x = build.op("Concat", net.layer(medium, 256, 256, 3, 2), top, axis=1)
    large = net.csp(x, 512, 512, 1, False)
    scales = [(x, channels, side // stride, stride)
              for x, channels, stride in ((small, 128, 8), (medium, 256, 16), (large, 512, 32))]
    heads = [net.head(*scale, anchors) for scale, anchors in zip(scales, Detector.ANCHORS)]
    boxes = sum(3 * cells * cells for _, _, cells, _ in scales)
    build.output(build.op("Concat", *heads, axis=1), "detections", ["batch", boxes, 85])
    return build


MODELS = {"resnet50": (resnet50, False), "mobilenet_v2": (mobilenet_v2, False), "yolo": (yolo, False)}
