// The address of a native object, and when it may be freed.
package org.ortolan.internal;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;

/**
 * A native object that is freed when it is closed and nobody uses it any more, whichever comes last. Users are calls in
 * progress, on any thread, and other handles that hold it. A handle knows nothing of the Java object that owns it, so a
 * cleaner can close it when that object is garbage.
 */
public final class Handle implements Runnable {
  /** The one cleaner of the binding. */
  public static final Cleaner CLEANER = Cleaner.create();

  private static final LongAdder alive = new LongAdder();
  private static final int CLOSED = 1 << 31;
  private static final VarHandle STATE;

  static {
    try {
      STATE = MethodHandles.lookup().findVarHandle(Handle.class, "state", int.class);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }

  private final String what;
  private final long address;
  private final LongConsumer free;
  private volatile int state; // the number of users, and CLOSED
  private volatile MemoryRange[] memory = MemoryRange.NONE;
  private Map<String, Handle> held; // what is kept alive for this object, by its role

  /** Owns the object at the address, which {@code free} frees. {@code what} names it in messages. */
  public Handle(String what, long address, LongConsumer free) {
    this.what = what;
    this.address = address;
    this.free = free;
    alive.increment();
  }

  /** The number of objects that are not yet freed; for tests. */
  public static long alive() {
    return alive.sum();
  }

  /** The address, which stays valid until release(). Throws IllegalStateException when this is closed. */
  public long acquire() {
    int now;
    do {
      now = state;
      if (now < 0) {
        throw new IllegalStateException("the " + what + " is closed");
      }
    } while (!STATE.compareAndSet(this, now, now + 1));
    return address;
  }

  /** One more user, beside one that there is: closed handles are welcome. */
  public Handle share() {
    STATE.getAndAdd(this, 1);
    return this;
  }

  /** Ends what acquire() or share() began. */
  public void release() {
    if ((int) STATE.getAndAdd(this, -1) - 1 == CLOSED) {
      freeAll();
    }
  }

  /** Refuses users from now on. May be called any number of times. */
  public void close() {
    int before = (int) STATE.getAndBitwiseOr(this, CLOSED);
    if (before == 0) {
      freeAll();
    }
  }

  @Override
  public void run() {
    close();
  }

  public boolean isClosed() {
    return state < 0;
  }

  /** Calls with the address. */
  public <T> T with(LongFunction<T> call) {
    long valid = acquire();
    try {
      return call.apply(valid);
    } finally {
      release();
    }
  }

  /** Calls with the address. */
  public void use(LongConsumer call) {
    long valid = acquire();
    try {
      call.accept(valid);
    } finally {
      release();
    }
  }

  /** Keeps the other alive, which the caller is using, until this is freed or another, or null, gets the role. */
  public synchronized void hold(String role, Handle other) {
    if (held == null) {
      held = new HashMap<>();
    }
    Handle before = other == null ? held.remove(role) : held.put(role, other.share());
    if (before != null) {
      before.release();
    }
  }

  /** Holds all that the other holds, and its memory. */
  public void holdAllOf(Handle other) {
    synchronized (other) {
      if (other.held != null) {
        other.held.forEach(this::hold);
      }
    }
    keep(other.memory);
  }

  /** Lets go what has a role that begins so. */
  public synchronized void dropAll(String rolePrefix) {
    if (held != null) {
      for (String role : held.keySet().toArray(String[]::new)) {
        if (role.startsWith(rolePrefix)) {
          hold(role, null);
        }
      }
    }
  }

  /** Keeps Java memory until this is freed. */
  public synchronized void keep(MemoryRange[] ranges) {
    memory = MemoryRange.join(memory, ranges);
  }

  /** The Java memory that was given to keep(). */
  public MemoryRange[] memory() {
    return memory;
  }

  /** That, and the memory of what this holds. */
  public synchronized MemoryRange[] memoryOfAll() {
    MemoryRange[] all = memory;
    if (held != null) {
      for (Handle other : held.values()) {
        all = MemoryRange.join(all, other.memory);
      }
    }
    return all;
  }

  private void freeAll() {
    free.accept(address);
    alive.decrement();
    memory = MemoryRange.NONE;
    synchronized (this) {
      if (held != null) {
        held.values().forEach(Handle::release);
        held = null;
      }
    }
  }
}
