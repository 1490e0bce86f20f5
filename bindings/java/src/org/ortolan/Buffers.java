// Checks of buffers and arrays.
package org.ortolan;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.IntBuffer;
import java.nio.LongBuffer;
import java.nio.ShortBuffer;
import java.util.Objects;
import org.ortolan.internal.Memory;
import org.ortolan.internal.MemoryRange;

/** What memory Java's buffers and arrays have. */
final class Buffers {
  private Buffers() {}

  /** The remaining elements of a direct buffer, which are exactly those of a tensor of that type and shape. */
  static MemoryRange rangeOf(Buffer buffer, ElementType type, long[] shape) {
    int bits = bitsOf(buffer);
    requireUsable(buffer);
    if (!(buffer instanceof ByteBuffer) && bits != type.bits()) {
      throw new IllegalArgumentException(type + " elements have " + type.bits() + " bits, those of the buffer " + bits);
    }
    long needed = type.bytesOf(Shapes.count(shape));
    long given = (long) buffer.remaining() * (bits / 8);
    if (needed != given) {
      throw new IllegalArgumentException(Shapes.mismatch(type, shape, needed + " bytes", given));
    }
    long address = Memory.addressOf(buffer) + (long) buffer.position() * (bits / 8);
    long alignment = Math.max(1, Math.min(8, type.bits() / 8));
    if (address % alignment != 0) {
      throw new IllegalArgumentException("the buffer's elements are not at a multiple of " + alignment + " bytes");
    }
    return new MemoryRange(buffer, address, given);
  }

  private static void requireUsable(Buffer buffer) {
    if (!Objects.requireNonNull(buffer, "buffer").isDirect()) {
      throw new IllegalArgumentException("the buffer is not direct; make it by ByteBuffer.allocateDirect(), or make a "
          + "tensor of its array");
    }
    if (orderOf(buffer) != ByteOrder.nativeOrder()) {
      throw new IllegalArgumentException("the buffer is in " + orderOf(buffer) + " order; call "
          + "order(ByteOrder.nativeOrder()) on it before it is used or viewed as another buffer");
    }
  }

  private static int bitsOf(Buffer buffer) {
    if (buffer instanceof ByteBuffer) {
      return 8;
    }
    if (buffer instanceof ShortBuffer || buffer instanceof CharBuffer) {
      return 16;
    }
    return buffer instanceof FloatBuffer || buffer instanceof IntBuffer ? 32 : 64;
  }

  private static ByteOrder orderOf(Buffer buffer) {
    if (buffer instanceof ByteBuffer bytes) {
      return bytes.order();
    }
    if (buffer instanceof ShortBuffer shorts) {
      return shorts.order();
    }
    if (buffer instanceof CharBuffer chars) {
      return chars.order();
    }
    if (buffer instanceof IntBuffer ints) {
      return ints.order();
    }
    if (buffer instanceof FloatBuffer floats) {
      return floats.order();
    }
    return buffer instanceof LongBuffer longs ? longs.order() : ((DoubleBuffer) buffer).order();
  }

  /** The bytes of a primitive array's elements. */
  static long bytesOf(Object array) {
    if (array instanceof float[] floats) {
      return 4L * floats.length;
    }
    if (array instanceof double[] doubles) {
      return 8L * doubles.length;
    }
    if (array instanceof int[] ints) {
      return 4L * ints.length;
    }
    if (array instanceof long[] longs) {
      return 8L * longs.length;
    }
    if (array instanceof short[] shorts) {
      return 2L * shorts.length;
    }
    if (array instanceof byte[] bytes) {
      return bytes.length;
    }
    throw new IllegalArgumentException(
        (array == null ? "null" : array.getClass().getSimpleName()) + " is no array of numbers");
  }

  static long requireInt(long bytes) {
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalStateException("the tensor has " + bytes + " bytes, more than a buffer can view");
    }
    return bytes;
  }
}
