// Numbers that are the upper half of a float.
package org.ortolan;

/** bfloat16 numbers, the upper 16 bits of a float, which Java keeps as the bits of a short. */
public final class BFloat16 {
  private BFloat16() {}

  /**
   * The number as a float, exactly.
   *
   * @param bits the bfloat16 bits
   * @return the same number
   */
  public static float toFloat(short bits) {
    return Float.intBitsToFloat(bits << 16);
  }

  /**
   * The nearest bfloat16 number; of two the even one, NaN for NaN.
   *
   * @param number the number
   * @return its bfloat16 bits
   */
  public static short fromFloat(float number) {
    int bits = Float.floatToRawIntBits(number);
    if (number != number) {
      return (short) (bits >>> 16 | 0x40);
    }
    return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
  }
}
