"""Weights in blocks, against loops over single numbers; the tests pass on the official package too."""
import unittest

import numpy as np
from onnxruntime.capi import _pybind_state as state


def quantize(bits, weights, size, symmetric):
    """What the function of that many bits writes: packed integers, scales, zero points."""
    rows, columns = weights.shape
    blocks, count = -(-rows // size), 8 // bits
    packed = np.zeros((columns, blocks, size // count), np.uint8)
    scales = np.zeros((columns, blocks), weights.dtype)
    zeros = np.zeros((columns, -(-blocks // count)), np.uint8)
    padded = np.pad(weights, [(0, blocks * size - rows), (0, 0)])
    getattr(state, f"quantize_matmul_{bits}bits")(packed, padded, scales, zeros, size, columns, rows, symmetric)
    return packed, scales, zeros


def unpack(packed, bits):
    """The integers of bytes, along the last axis."""
    shifts = np.arange(0, 8, bits)
    return (packed[..., None] >> shifts & (1 << bits) - 1).reshape(*packed.shape[:-1], -1)


def expected(numbers, bits, symmetric):
    """Integers, scale and zero point of one block, number by number."""
    levels = 2**bits - 1
    low, high = min(0, *numbers), max(0, *numbers)
    if symmetric:
        zero, scale = 2**(bits - 1), np.float32(high if high > -low else low) / np.float32(-2**(bits - 1))
    else:
        scale = np.float32(high - low) / np.float32(levels)
        zero = min(max(int(np.floor(np.float32(-low) / scale + np.float32(0.5))), 0), levels) if scale else 0
    factor = np.float32(1) / scale if scale else np.float32(0)
    steps = [int(np.floor(np.float32(number) * factor + np.float32(zero) + np.float32(0.5))) for number in numbers]
    return [min(max(step, 0), levels) for step in steps], scale, zero


class Blocks(unittest.TestCase):
    def check(self, bits, rows, columns, size, symmetric):
        weights = np.random.default_rng(bits + rows).normal(0, 1, (rows, columns)).astype(np.float32)
        weights[:, 0], weights[:size, 1] = abs(weights[:, 0]), 0
        packed, scales, zeros = quantize(bits, weights, size, symmetric)
        integers, points = unpack(packed, bits).reshape(columns, -1, size), unpack(zeros, bits)
        for column in range(columns):
            for block in range(scales.shape[1]):
                numbers = weights[block * size:(block + 1) * size, column]
                steps, scale, zero = expected(numbers, bits, symmetric)
                found = integers[column, block].tolist()
                self.assertEqual(found, steps + [0] * (size - len(steps)))
                self.assertEqual((scales[column, block], points[column, block]), (scale, 0 if symmetric else zero))
                apart = abs((np.array(steps) - zero) * scale - numbers)
                self.assertLessEqual(apart.max(), abs(scale) * (1 if symmetric else 0.5001))

    def test_of_every_width(self):
        for bits in (2, 4, 8):
            for symmetric in (False, True):
                self.check(bits, 64, 5, 16, symmetric)
                self.check(bits, 68, 3, 32, symmetric)

    def test_halves_keep_their_type(self):
        weights = np.linspace(-1, 1, 32, dtype=np.float16).reshape(32, 1)
        _, scales, _ = quantize(4, weights, 32, False)
        self.assertEqual((scales.dtype, scales[0, 0]), (np.float16, np.float16(2 / 15)))

    def test_in_place(self):
        weights = np.random.default_rng(7).normal(0, 1, (40, 4)).astype(np.float32)
        for symmetric in (False, True):
            packed, scales, zeros = np.zeros(80, np.uint8), np.zeros((3, 4), np.float32), np.zeros(6, np.uint8)
            signed = state.quantize_qdq_matmul_4bits(packed, weights, scales, zeros, 16, 4, 40, symmetric)
            self.assertIs(signed, symmetric)
            integers, points = unpack(packed, 4).reshape(40, 4), unpack(zeros, 4).reshape(3, 4)
            for block in range(3):
                for column in range(4):
                    steps, scale, zero = expected(weights[16 * block:16 * block + 16, column], 4, symmetric)
                    found = integers[16 * block:16 * block + 16, column] ^ (8 if symmetric else 0)
                    self.assertEqual((found.tolist(), scales[block, column]), (steps, scale))
                    self.assertEqual(points[block, column], 0 if symmetric else zero)


if __name__ == "__main__":
    unittest.main()
