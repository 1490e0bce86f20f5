// The 16-bit floating-point types: bits that stand for numbers. Conversions round to nearest, ties to even.
using System;
using System.Globalization;

namespace Ortolan
{
    /// <summary>The bits of a float.</summary>
    static unsafe class FloatBits
    {
        public static uint Of(float number) => *(uint*)&number;
        public static float From(uint bits) => *(float*)&bits;
    }

    /// <summary>A 16-bit floating-point number: 1 bit of sign, 5 of exponent, 10 of mantissa.</summary>
    public struct Float16 : IEquatable<Float16>
    {
        /// <summary>The bits.</summary>
        public ushort Bits;

        /// <summary>The number with these bits.</summary>
        public static Float16 FromBits(ushort bits) => new Float16 { Bits = bits };

        /// <summary>The nearest number; too large ones become infinite.</summary>
        public static explicit operator Float16(float number)
        {
            uint bits = FloatBits.Of(number), sign = bits >> 16 & 0x8000, size = bits & 0x7fffffff;
            if (size > 0x7f800000) return FromBits((ushort)(sign | 0x7e00));           // not a number
            if (size >= 0x477ff000) return FromBits((ushort)(sign | 0x7c00));          // 65520 and more
            if (size >= 0x38800000)                                                    // normal: from 2^-14 on
                return FromBits((ushort)(sign | Halve(size - (112u << 23), 13)));
            if (size < 0x33000000) return FromBits((ushort)sign);                      // below half of 2^-24
            int shift = 126 - (int)(size >> 23);
            return FromBits((ushort)(sign | Halve(size & 0x7fffff | 0x800000, shift)));
        }

        /// <summary>The number divided by 2^shift, rounded to the nearest, ties to even.</summary>
        static uint Halve(uint number, int shift)
        {
            uint result = number >> shift, rest = number & (1u << shift) - 1, half = 1u << shift - 1;
            return rest > half || rest == half && (result & 1) != 0 ? result + 1 : result;
        }

        /// <summary>The same number.</summary>
        public static implicit operator float(Float16 number)
        {
            uint sign = (uint)(number.Bits & 0x8000) << 16, exponent = (uint)number.Bits >> 10 & 31;
            uint mantissa = number.Bits & 0x3ffu;
            if (exponent == 31) return FloatBits.From(sign | 0x7f800000 | mantissa << 13);
            if (exponent != 0) return FloatBits.From(sign | exponent + 112 << 23 | mantissa << 13);
            float size = mantissa * (1f / (1 << 24));
            return sign == 0 ? size : -size;
        }

        /// <summary>Whether the bits are the same.</summary>
        public bool Equals(Float16 other) => Bits == other.Bits;
        /// <summary>Whether the bits are the same.</summary>
        public override bool Equals(object other) => other is Float16 number && Equals(number);
        /// <summary>From the bits.</summary>
        public override int GetHashCode() => Bits;
        /// <summary>The number as text.</summary>
        public override string ToString() => ((float)this).ToString(CultureInfo.InvariantCulture);
    }

    /// <summary>The upper half of a float: 1 bit of sign, 8 of exponent, 7 of mantissa.</summary>
    public struct BFloat16 : IEquatable<BFloat16>
    {
        /// <summary>The bits.</summary>
        public ushort Bits;

        /// <summary>The number with these bits.</summary>
        public static BFloat16 FromBits(ushort bits) => new BFloat16 { Bits = bits };

        /// <summary>The nearest number.</summary>
        public static explicit operator BFloat16(float number)
        {
            uint bits = FloatBits.Of(number);
            if ((bits & 0x7fffffff) > 0x7f800000) return FromBits((ushort)(bits >> 16 | 0x40));  // not a number
            return FromBits((ushort)(bits + 0x7fff + (bits >> 16 & 1) >> 16));
        }

        /// <summary>The same number.</summary>
        public static implicit operator float(BFloat16 number) => FloatBits.From((uint)number.Bits << 16);

        /// <summary>Whether the bits are the same.</summary>
        public bool Equals(BFloat16 other) => Bits == other.Bits;
        /// <summary>Whether the bits are the same.</summary>
        public override bool Equals(object other) => other is BFloat16 number && Equals(number);
        /// <summary>From the bits.</summary>
        public override int GetHashCode() => Bits;
        /// <summary>The number as text.</summary>
        public override string ToString() => ((float)this).ToString(CultureInfo.InvariantCulture);
    }
}
