"""Weights as integers of 2, 4 or 8 bits in blocks with a scale each, as the operators MatMulNBits and DequantizeLinear take
them: what the official quantization files call. Every function writes into arrays that the caller made."""
import numpy as np

_float = np.float32


def _quantized(blocks, bits, symmetric, kind):
    """Integers, scales and zero points of blocks, which lie along the last axis. Values are divided by scales that are
    rounded to the type `kind`, zero points come from scales that are not. Zero is always exact."""
    levels, middle = (1 << bits) - 1, 1 << (bits - 1)
    low, high = np.minimum(blocks.min(-1), 0), np.maximum(blocks.max(-1), 0)
    largest = np.where(np.abs(high) > np.abs(low), high, low)
    scales = largest / _float(-middle) if symmetric else (high - low) / _float(levels)
    zeros = np.full(scales.shape, middle, _float)
    if not symmetric:
        zeros = np.clip(np.floor(-low / np.where(scales == 0, _float(1), scales) + _float(0.5)), 0, levels)
    scales = scales.astype(kind)
    rounded = scales.astype(_float)
    factors = np.where(rounded == 0, _float(0), 1 / np.where(rounded == 0, _float(1), rounded))
    integers = np.clip(np.floor(blocks * factors[..., None] + zeros[..., None] + _float(0.5)), 0, levels)
    return integers.astype(np.uint8), scales, zeros.astype(np.uint8)


def _packed(integers, bits, fill=0):
    """Several a byte along the last axis, the first in the low bits."""
    count = 8 // bits
    padding = [(0, 0)] * (integers.ndim - 1) + [(0, -integers.shape[-1] % count)]
    groups = np.pad(integers, padding, constant_values=fill).reshape(*integers.shape[:-1], -1, count)
    return np.bitwise_or.reduce(groups << (np.arange(count, dtype=np.uint8) * bits), -1).astype(np.uint8)


def _blocks(weights, size, rows):
    """(column, block, element) of a matrix, with zeros after its rows."""
    columns = weights[:rows].astype(_float).T
    count = -(-rows // size)
    return np.pad(columns, [(0, 0), (0, count * size - rows)]).reshape(len(columns), count, size)


def _quantize(bits, packed, weights, scales, zero_points, size, columns, rows, symmetric):
    integers, found, zeros = _quantized(_blocks(weights, size, rows), bits, symmetric, scales.dtype)
    integers.reshape(columns, -1)[:, rows:] = 0
    packed[...] = _packed(integers, bits).reshape(packed.shape)
    scales[...] = found.reshape(scales.shape)
    if not symmetric:
        fill = 1 << (bits - 1) if bits < 8 else 0
        zero_points[...] = _packed(zeros, bits, fill).reshape(zero_points.shape)


def _quantize_in_place(bits, packed, weights, scales, zero_points, size, columns, rows, symmetric):
    integers, found, zeros = _quantized(_blocks(weights, size, rows), bits, symmetric, scales.dtype)
    signed = integers.reshape(columns, -1)[:, :rows].T ^ (1 << (bits - 1) if symmetric else 0)
    packed[...] = _packed(signed.reshape(-1), bits)
    scales[...] = found.T
    if not symmetric:
        zero_points[...] = _packed(np.ascontiguousarray(zeros.T).reshape(-1), bits)
    return bool(symmetric)


def quantize_matmul_2bits(packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric):
    """For MatMulNBits, of 2 bits: packed (columns, blocks, block_size / 4), scales (columns, blocks)."""
    _quantize(2, packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric)


def quantize_matmul_4bits(packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric):
    """For MatMulNBits, of 4 bits: packed (columns, blocks, block_size / 2), scales (columns, blocks)."""
    _quantize(4, packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric)


def quantize_matmul_8bits(packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric):
    """For MatMulNBits, of 8 bits: packed (columns, blocks, block_size), scales (columns, blocks)."""
    _quantize(8, packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric)


def quantize_qdq_matmul_4bits(packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric):
    """For DequantizeLinear along the first axis, of 4 bits: the matrix as it is, scales (blocks, columns). Whether the
    integers are signed, as those of symmetric blocks are."""
    return _quantize_in_place(4, packed, weights, scales, zero_points, block_size, columns, rows, is_symmetric)
