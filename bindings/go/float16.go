// Numbers of 16 bits.

package ortolan

import "math"

// Float16 is a number of IEEE 754's binary16 format: the bits of one.
type Float16 uint16

// BFloat16 is the upper half of a float32: the bits of one.
type BFloat16 uint16

const (
	float16Infinity = 0x7c00
	float16Quiet    = 0x7e00
	float32Hidden   = 1 << 23
)

// NewFloat16 is the nearest number of the format, the even one of two.
func NewFloat16(number float32) Float16 {
	bits := math.Float32bits(number)
	sign := uint32(bits>>16) & 0x8000
	exponent := int(bits>>23&0xff) - 127 + 15
	fraction := bits & (float32Hidden - 1)
	switch {
	case number != number:
		return Float16(sign | float16Quiet | fraction>>13)
	case exponent >= 31:
		return Float16(sign | float16Infinity)
	case exponent > 0:
		return Float16(sign | roundShift(uint32(exponent)<<23|fraction, 13))
	case exponent >= -10:
		return Float16(sign | roundShift(float32Hidden|fraction, uint(14-exponent)))
	}
	return Float16(sign)
}

// roundShift shifts to the right and rounds to the nearest, the even one of two.
func roundShift(number uint32, shift uint) uint32 {
	half := uint32(1) << (shift - 1)
	result, rest := number>>shift, number&(2*half-1)
	if rest > half || rest == half && result&1 == 1 {
		result++
	}
	return result
}

// Float32 is the number, exactly.
func (f Float16) Float32() float32 {
	sign, exponent, fraction := uint32(f&0x8000)<<16, uint32(f>>10&0x1f), uint32(f&0x3ff)
	switch exponent {
	case 0:
		small := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(small))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// NewBFloat16 is the nearest number of the format, the even one of two.
func NewBFloat16(number float32) BFloat16 {
	bits := math.Float32bits(number)
	if number != number {
		return BFloat16(bits>>16 | 0x40)
	}
	return BFloat16((uint64(bits) + 0x7fff + uint64(bits>>16&1)) >> 16)
}

// Float32 is the number, exactly.
func (f BFloat16) Float32() float32 { return math.Float32frombits(uint32(f) << 16) }
