// How runs are to be.
package org.ortolan;

import java.util.Objects;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Native;

/** How runs are to be, and how they are cancelled. One object may serve many runs, also at once. */
public final class RunOptions extends NativeObject {
  /** Default options. */
  public RunOptions() {
    super(new Handle("run options", Native.create_run_options(), Native::release_run_options));
  }

  /**
   * What runs are called in log lines.
   *
   * @param tag the tag
   * @return this
   */
  public synchronized RunOptions setTag(String tag) {
    Objects.requireNonNull(tag, "tag");
    handle.use(address -> Native.set_run_tag(address, tag));
    return this;
  }

  /**
   * What runs are called in log lines.
   *
   * @return the tag, maybe empty
   */
  public synchronized String tag() {
    String tag = handle.with(Native::run_tag);
    return tag == null ? "" : tag;
  }

  /**
   * The severity from which on runs log lines.
   *
   * @param severity the severity
   * @return this
   */
  public synchronized RunOptions setLogSeverity(LogSeverity severity) {
    handle.use(address -> Native.set_run_severity(address, severity.ordinal()));
    return this;
  }

  /**
   * The severity from which on runs log lines.
   *
   * @return what was set
   */
  public synchronized LogSeverity logSeverity() {
    return LogSeverity.of(handle.<Integer>with(Native::run_severity));
  }

  /**
   * How much VERBOSE lines say.
   *
   * @param verbosity 0 and more
   * @return this
   */
  public synchronized RunOptions setLogVerbosity(int verbosity) {
    handle.use(address -> Native.set_run_verbosity(address, verbosity));
    return this;
  }

  /**
   * How much VERBOSE lines say.
   *
   * @return what was set
   */
  public synchronized int logVerbosity() {
    return handle.<Integer>with(Native::run_verbosity);
  }

  /**
   * Any setting by its key.
   *
   * @param key the key
   * @param value the value
   * @return this
   */
  public synchronized RunOptions set(String key, String value) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    handle.use(address -> Native.add_run_setting(address, key, value));
    return this;
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
