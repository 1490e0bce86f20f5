// Checks of shapes.
package org.ortolan;

import java.util.Arrays;

/** Shapes and what they need. */
final class Shapes {
  private Shapes() {}

  /** The number of elements. Throws IllegalArgumentException for negative sizes and numbers beyond a long. */
  static long count(long[] shape) {
    long count = 1;
    boolean empty = false;
    for (long size : shape) {
      if (size < 0) {
        throw new IllegalArgumentException("the shape " + Arrays.toString(shape) + " has a negative size");
      }
      empty |= size == 0;
      count = empty ? 0 : Math.multiplyHigh(count, size) == 0 ? count * size : -1;
      if (count < 0) {
        throw new IllegalArgumentException("the shape " + Arrays.toString(shape) + " has too many elements");
      }
    }
    return count;
  }

  /** Throws unless the shape has that many elements. */
  static void require(long[] shape, long elements) {
    if (count(shape) != elements) {
      throw new IllegalArgumentException(
          "the shape " + Arrays.toString(shape) + " has " + count(shape) + " elements, not " + elements);
    }
  }

  static String mismatch(ElementType type, long[] shape, String needed, long given) {
    return type + Arrays.toString(shape) + " needs " + needed + ", not " + given;
  }

  /** The type, if it is not STRING. */
  static ElementType requireFixedSize(ElementType type) {
    if (type.bits() == 0) {
      throw new IllegalArgumentException(type + " elements have no fixed size, so they have no bytes");
    }
    return type;
  }
}
