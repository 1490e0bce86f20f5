// Memory that the library and Java share: arrays, direct buffers, views.
package org.ortolan.internal;

import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

/** Nothing is checked here: lengths are in bytes and must lie within both sides. */
public final class Memory {
  /** Viewed bytes beyond which a new view asks for a garbage collection first. */
  private static final long VIEW_LIMIT = 256L << 20;

  private static final AtomicLong viewed = new AtomicLong();
  private static volatile long nextCollection = VIEW_LIMIT;

  static {
    NativeLibrary.load();
  }

  private Memory() {}

  /** A new tensor of that shape with the first bytes of a primitive array, as many as it needs. */
  public static native long tensorOf(Object array, long length, long[] shape, int elementType);

  /** Copies the first bytes of a primitive array to an address. */
  public static native void copyFrom(Object array, long address, long length);

  /** Copies bytes at an address to the front of a primitive array. */
  public static native void copyTo(Object array, long address, long length);

  /** Where a direct buffer begins, whatever its position. */
  public static native long addressOf(Buffer buffer);

  private static native ByteBuffer bufferOver(long address, long length);

  /** A fresh direct buffer in native order; its address is never 0. */
  public static ByteBuffer allocate(long length) {
    return ByteBuffer.allocateDirect(Math.max(1, Math.toIntExact(length))).limit((int) length)
        .order(ByteOrder.nativeOrder());
  }

  /**
   * A buffer over memory that the handle's object owns, which stays until the buffer, and all that were made of it, are
   * garbage, even when the handle is closed before. The caller is using the handle.
   */
  public static ByteBuffer view(Handle owner, long address, long length) {
    collectIfMuchIsViewed(length);
    ByteBuffer buffer = bufferOver(address, length).order(ByteOrder.nativeOrder());
    owner.share();
    viewed.addAndGet(length);
    Handle.CLEANER.register(buffer, () -> {
      viewed.addAndGet(-length);
      owner.release();
    });
    return buffer;
  }

  /** The garbage collector does not see how much memory a view holds; so it is told, as for direct buffers. */
  private static void collectIfMuchIsViewed(long length) {
    if (viewed.get() + length > nextCollection) {
      System.gc();
      nextCollection = Math.max(VIEW_LIMIT, 2 * (viewed.get() + length));
    }
  }
}
