// Log lines from the native library to Java listeners.
package org.ortolan.internal;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

/** The listeners by number. The native side knows only numbers, so a listener may go at any time. */
public final class Logs {
  /** Takes a line, on any thread. */
  @FunctionalInterface
  public interface Listener {
    void hear(int severity, String category, String logId, String location, String message);
  }

  /** The number of the environment's lines, which all its listeners hear. */
  public static final long ENVIRONMENT = 1;

  private static final Map<Long, Listener> LISTENERS = new ConcurrentHashMap<>();
  private static final List<Listener> OF_ENVIRONMENT = new CopyOnWriteArrayList<>();
  private static final AtomicLong LAST = new AtomicLong(ENVIRONMENT);

  static {
    NativeLibrary.load();
  }

  private Logs() {}

  /** A handle of a listener, whose address is its number; the listener is forgotten when the handle is freed. */
  public static Handle register(Listener listener) {
    long number = LAST.incrementAndGet();
    LISTENERS.put(number, listener);
    return new Handle("log listener", number, LISTENERS::remove);
  }

  public static synchronized void addToEnvironment(Listener listener) {
    OF_ENVIRONMENT.add(listener);
    setEnvironmentHeard(true);
  }

  public static synchronized void removeFromEnvironment(Listener listener) {
    OF_ENVIRONMENT.remove(listener);
    setEnvironmentHeard(!OF_ENVIRONMENT.isEmpty());
  }

  private static native void setEnvironmentHeard(boolean heard);

  /** Called by the native library. A listener that throws has its exception reported as one that ends a thread is. */
  private static void deliver(long number, int severity, byte[] category, byte[] id, byte[] location, byte[] message) {
    Listener one = LISTENERS.get(number);
    List<Listener> listeners = number == ENVIRONMENT ? OF_ENVIRONMENT : one == null ? List.of() : List.of(one);
    for (Listener listener : listeners) {
      try {
        listener.hear(severity, Texts.decode(category), Texts.decode(id), Texts.decode(location), Texts.decode(message));
      } catch (Throwable e) {
        Thread thread = Thread.currentThread();
        thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
      }
    }
  }
}
