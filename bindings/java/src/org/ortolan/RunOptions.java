// How runs are to be.
package org.ortolan;

import java.util.Objects;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Native;

/**
 * How runs are to be, and how they are cancelled. One object may serve many runs, also at once. Setters throw
 * {@link IllegalStateException} while a run uses the options.
 */
public final class RunOptions extends NativeObject {
  private final ReadWriteLock lock = new ReentrantReadWriteLock();

  /** Default options. */
  public RunOptions() {
    super(new Handle("run options", Native.create_run_options(), Native::release_run_options));
  }

  private RunOptions change(LongConsumer setter) {
    if (!lock.writeLock().tryLock()) {
      throw new IllegalStateException("the run options are in use by a run");
    }
    try {
      handle.use(setter);
      return this;
    } finally {
      lock.writeLock().unlock();
    }
  }

  private <T> T read(LongFunction<T> getter) {
    lock.readLock().lock();
    try {
      return handle.with(getter);
    } finally {
      lock.readLock().unlock();
    }
  }

  /** Runs with the address of the options, which nobody changes meanwhile, or with 0 for null. */
  static void use(RunOptions options, LongConsumer run) {
    if (options == null) {
      run.accept(0);
      return;
    }
    options.lock.readLock().lock();
    try {
      options.handle.use(run);
    } finally {
      options.lock.readLock().unlock();
    }
  }

  /**
   * What runs are called in log lines.
   *
   * @param tag the tag
   * @return this
   */
  public RunOptions setTag(String tag) {
    Objects.requireNonNull(tag, "tag");
    return change(address -> Native.set_run_tag(address, tag));
  }

  /**
   * What runs are called in log lines.
   *
   * @return the tag, maybe empty
   */
  public String tag() {
    String tag = read(Native::run_tag);
    return tag == null ? "" : tag;
  }

  /**
   * The severity from which on runs log lines.
   *
   * @param severity the severity
   * @return this
   */
  public RunOptions setLogSeverity(LogSeverity severity) {
    return change(address -> Native.set_run_severity(address, severity.ordinal()));
  }

  /**
   * The severity from which on runs log lines.
   *
   * @return what was set
   */
  public LogSeverity logSeverity() {
    return LogSeverity.of(this.<Integer>read(Native::run_severity));
  }

  /**
   * How much VERBOSE lines say.
   *
   * @param verbosity 0 and more
   * @return this
   */
  public RunOptions setLogVerbosity(int verbosity) {
    return change(address -> Native.set_run_verbosity(address, verbosity));
  }

  /**
   * How much VERBOSE lines say.
   *
   * @return what was set
   */
  public int logVerbosity() {
    return this.<Integer>read(Native::run_verbosity);
  }

  /**
   * Any setting by its key.
   *
   * @param key the key
   * @param value the value
   * @return this
   */
  public RunOptions set(String key, String value) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    return change(address -> Native.add_run_setting(address, key, value));
  }

  /** Ends all runs with these options soon, each with an {@link OrtolanException}, and later ones at once. Any thread. */
  public void cancel() {
    handle.use(address -> Native.set_terminate(address, 1));
  }

  /** Takes cancel() back, for later runs. */
  public void resume() {
    handle.use(address -> Native.set_terminate(address, 0));
  }
}
