// Objects that a native call uses.
package org.ortolan;

import java.util.Arrays;
import java.util.Objects;
import org.ortolan.internal.Handle;
import org.ortolan.internal.MemoryRange;

/** Objects that are kept open while a call uses them, in order: try-with-resources around the call. */
final class InUse implements AutoCloseable {
  private Handle[] handles;
  private long[] addresses;
  private int count;
  private MemoryRange[] memory = MemoryRange.NONE;

  InUse() {
    this(4);
  }

  InUse(int expected) {
    handles = new Handle[expected];
    addresses = new long[expected];
  }

  /** The address of one more object, which stays valid until close(). */
  long add(NativeObject object) {
    return add(Objects.requireNonNull(object, "a value is null").handle);
  }

  long add(Handle handle) {
    if (count == handles.length) {
      handles = Arrays.copyOf(handles, 2 * count + 1);
      addresses = Arrays.copyOf(addresses, 2 * count + 1);
    }
    long address = handle.acquire();
    handles[count] = handle;
    addresses[count++] = address;
    memory = MemoryRange.join(memory, handle.memory());
    return address;
  }

  /** The addresses, in the order in which they were added. */
  long[] addresses() {
    return count == addresses.length ? addresses : Arrays.copyOf(addresses, count);
  }

  /** The Java memory that they point into. */
  MemoryRange[] memory() {
    return memory;
  }

  @Override
  public void close() {
    while (count > 0) {
      handles[--count].release();
    }
  }
}
