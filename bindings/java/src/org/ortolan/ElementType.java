// Types of elements.
package org.ortolan;

/** What a tensor's elements are. The order is that of the native numbers. */
public enum ElementType {
  /** No type. */
  UNDEFINED(0),
  /** float. */
  FLOAT(32),
  /** Unsigned bytes. */
  UINT8(8),
  /** byte. */
  INT8(8),
  /** Unsigned shorts. */
  UINT16(16),
  /** short. */
  INT16(16),
  /** int. */
  INT32(32),
  /** long. */
  INT64(64),
  /** Text: any bytes natively, seen as UTF-8. */
  STRING(0),
  /** boolean, a byte of 0 or 1. */
  BOOL(8),
  /** IEEE half precision: see {@link Float16}. */
  FLOAT16(16),
  /** double. */
  DOUBLE(64),
  /** Unsigned ints. */
  UINT32(32),
  /** Unsigned longs. */
  UINT64(64),
  /** Two floats. */
  COMPLEX64(64),
  /** Two doubles. */
  COMPLEX128(128),
  /** The upper half of a float: see {@link BFloat16}. */
  BFLOAT16(16),
  /** 4 bits of exponent, 3 of fraction, no infinities. */
  FLOAT8E4M3FN(8),
  /** Likewise, without a negative zero. */
  FLOAT8E4M3FNUZ(8),
  /** 5 bits of exponent, 2 of fraction. */
  FLOAT8E5M2(8),
  /** Likewise, without infinities and a negative zero. */
  FLOAT8E5M2FNUZ(8),
  /** Two in a byte, the first in the low bits. */
  UINT4(4),
  /** Two in a byte, the first in the low bits. */
  INT4(4),
  /** Two in a byte: 2 bits of exponent, 1 of fraction. */
  FLOAT4E2M1(4),
  /** Four in a byte, the first in the low bits. */
  UINT2(2),
  /** Four in a byte, the first in the low bits. */
  INT2(2),
  /** A power of two: 8 bits of exponent. */
  FLOAT8E8M0(8);

  private static final ElementType[] ALL = values();
  private final int bits;

  ElementType(int bits) {
    this.bits = bits;
  }

  /**
   * The size of an element.
   *
   * @return bits; 0 for STRING and UNDEFINED
   */
  public int bits() {
    return bits;
  }

  /** The bytes that so many elements need, packed; throws when they are too many for a long. */
  long bytesOf(long count) {
    if (bits >= 8) {
      return Math.multiplyExact(count, bits / 8);
    }
    int inByte = 8 / bits;
    return (count + inByte - 1) / inByte;
  }

  static ElementType of(int number) {
    return number > 0 && number < ALL.length ? ALL[number] : UNDEFINED;
  }
}
