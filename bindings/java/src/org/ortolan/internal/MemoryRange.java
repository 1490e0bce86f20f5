// Java memory that native objects point into.
package org.ortolan.internal;

import java.util.Arrays;

/** The memory of a Java object, at a fixed address; holding this keeps it. */
public record MemoryRange(Object owner, long address, long length) {
  /** No memory. */
  public static final MemoryRange[] NONE = {};

  public boolean contains(long place) {
    return place >= address && place < address + Math.max(1, length);
  }

  /** All ranges of both. */
  public static MemoryRange[] join(MemoryRange[] first, MemoryRange[] second) {
    if (first.length == 0 || second.length == 0) {
      return first.length == 0 ? second : first;
    }
    MemoryRange[] all = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }
}
