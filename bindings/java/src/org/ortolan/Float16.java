// Half precision numbers.
package org.ortolan;

/** IEEE 754 half precision numbers, which Java keeps as the bits of a short. */
public final class Float16 {
  private Float16() {}

  /**
   * The number as a float, exactly.
   *
   * @param bits the half precision bits
   * @return the same number
   */
  public static float toFloat(short bits) {
    int sign = (bits & 0x8000) << 16;
    int exponent = bits >> 10 & 0x1f;
    int fraction = bits & 0x3ff;
    if (exponent == 0) {
      float magnitude = fraction * 0x1p-24f;
      return sign == 0 ? magnitude : -magnitude;
    }
    int wide = exponent == 0x1f ? 0xff : exponent + 112;
    return Float.intBitsToFloat(sign | wide << 23 | fraction << 13);
  }

  /**
   * The nearest half precision number; of two the even one, infinity when it is too large, NaN for NaN.
   *
   * @param number the number
   * @return its half precision bits
   */
  public static short fromFloat(float number) {
    int sign = Float.floatToRawIntBits(number) >>> 16 & 0x8000;
    float magnitude = Math.abs(number);
    if (magnitude != magnitude) {
      return (short) (sign | 0x7e00);
    }
    if (magnitude >= 65520f) {
      return (short) (sign | 0x7c00);
    }
    if (magnitude < 0x1p-14f) {
      return (short) (sign | (int) Math.rint(magnitude * 0x1p24f)); // subnormal: units of 2^-24
    }
    int bits = Float.floatToRawIntBits(magnitude);
    int rounded = bits + 0xfff + (bits >> 13 & 1);
    return (short) (sign | (rounded - (112 << 23)) >> 13);
  }
}
