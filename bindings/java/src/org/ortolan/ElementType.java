// Types of elements.
package org.ortolan;

/** What a tensor's elements are. The order is that of the native numbers. */
public enum ElementType {
  UNDEFINED(0), FLOAT(32), UINT8(8), INT8(8), UINT16(16), INT16(16), INT32(32), INT64(64),
  /** Text: any bytes natively, seen as UTF-8. */
  STRING(0), BOOL(8),
  /** IEEE half precision: see {@link Float16}. */
  FLOAT16(16), DOUBLE(64), UINT32(32), UINT64(64), COMPLEX64(64), COMPLEX128(128),
  /** The upper half of a float: see {@link BFloat16}. */
  BFLOAT16(16), FLOAT8E4M3FN(8), FLOAT8E4M3FNUZ(8), FLOAT8E5M2(8), FLOAT8E5M2FNUZ(8),
  /** Two in a byte, the first in the low bits; likewise the next three, the last two with four in a byte. */
  UINT4(4), INT4(4), FLOAT4E2M1(4), UINT2(2), INT2(2), FLOAT8E8M0(8);

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
