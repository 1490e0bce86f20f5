// What all objects with native memory share.
package org.ortolan;

import java.lang.ref.Cleaner;
import org.ortolan.internal.Handle;

/** An object over a native one, which is freed on close(), or at the latest when this is garbage. */
abstract class NativeObject implements AutoCloseable {
  final Handle handle;
  private final Cleaner.Cleanable cleanable;

  NativeObject(Handle handle) {
    this.handle = handle;
    cleanable = Handle.CLEANER.register(this, handle);
  }

  /** Ends the use of this object; again and again is fine. Calls in progress end as they would have. */
  @Override
  public void close() {
    cleanable.clean();
  }

  /**
   * Whether close() was called.
   *
   * @return true from then on
   */
  public final boolean isClosed() {
    return handle.isClosed();
  }
}
