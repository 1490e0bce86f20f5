// Arrays of 16-bit floats.
package org.ortolan;

/** Conversions between floats and the bits of FLOAT16 and BFLOAT16 elements. */
final class Halves {
  private Halves() {}

  static short[] of(ElementType type, float[] numbers) {
    if (type != ElementType.FLOAT16 && type != ElementType.BFLOAT16) {
      throw new IllegalArgumentException(type + " elements are not made of floats");
    }
    short[] bits = new short[numbers.length];
    for (int i = 0; i < bits.length; ++i) {
      bits[i] = type == ElementType.FLOAT16 ? Float16.fromFloat(numbers[i]) : BFloat16.fromFloat(numbers[i]);
    }
    return bits;
  }

  static float[] toFloats(ElementType type, short[] bits) {
    float[] numbers = new float[bits.length];
    for (int i = 0; i < bits.length; ++i) {
      numbers[i] = type == ElementType.FLOAT16 ? Float16.toFloat(bits[i]) : BFloat16.toFloat(bits[i]);
    }
    return numbers;
  }
}
