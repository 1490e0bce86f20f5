// The environment that sessions live in.
package org.ortolan;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Logs;
import org.ortolan.internal.Native;
import org.ortolan.internal.Texts;

/**
 * What sessions share: the log, plugin libraries of providers and their devices, and thread pools if asked for. Natively
 * there is one for the process, made with the first Environment and freed with the last one and its sessions: further
 * Environments are further names for it. Most programs need none: sessions take {@link #shared()}.
 */
public final class Environment extends NativeObject {
  private static final Object LOCK = new Object();
  private static int open; // environments not yet freed

  private static final class Shared {
    static final Environment INSTANCE = new Builder().build(true);
  }

  /** How an environment is to be. */
  public static final class Builder {
    private LogSeverity severity;
    private String logId = "ortolan";
    private LogListener listener;
    private boolean pools;
    private int intraOpThreads;
    private int interOpThreads;
    private boolean spinning;

    private Builder() {}

    /**
     * The severity from which on lines are logged, for the whole process from now on.
     *
     * @param severity WARNING where nothing is set
     * @return this
     */
    public Builder logSeverity(LogSeverity severity) {
      this.severity = Objects.requireNonNull(severity);
      return this;
    }

    /**
     * What the program is called in log lines, if this is the first open environment.
     *
     * @param logId the id
     * @return this
     */
    public Builder logId(String logId) {
      this.logId = Objects.requireNonNull(logId);
      return this;
    }

    /**
     * Who hears the log lines, of all environments and of the sessions without a listener of their own, while this
     * environment is open. Without any listener lines go to stderr.
     *
     * @param listener who hears them
     * @return this
     */
    public Builder logListener(LogListener listener) {
      this.listener = Objects.requireNonNull(listener);
      return this;
    }

    /**
     * Makes two thread pools for all sessions that ask for them by {@link SessionOptions#useSharedThreads()}.
     *
     * @param intraOpThreads threads within an operator; 0: as many as the machine has cores
     * @param interOpThreads threads for operators side by side, likewise
     * @param spinning whether threads without work wait busily for a while
     * @return this
     */
    public Builder sharedThreads(int intraOpThreads, int interOpThreads, boolean spinning) {
      pools = true;
      this.intraOpThreads = intraOpThreads;
      this.interOpThreads = interOpThreads;
      this.spinning = spinning;
      return this;
    }

    /**
     * Makes the environment.
     *
     * @return the environment
     * @throws IllegalStateException if it is to have thread pools and another environment is open already
     */
    public Environment build() {
      return build(false);
    }

    private Environment build(boolean forEver) {
      synchronized (LOCK) {
        if (pools && open > 0) {
          throw new IllegalStateException("the process's environment is open without these thread pools; make the one "
              + "with pools first");
        }
        LogSeverity first = severity == null ? LogSeverity.WARNING : severity;
        long address = Native.create_environment(first.ordinal(), logId, Logs.ENVIRONMENT, pools ? 1 : 0, intraOpThreads,
            interOpThreads, spinning ? 1 : 0);
        ++open;
        if (severity != null) {
          Native.set_environment_severity(address, severity.ordinal());
        }
        return new Environment(address, listener, forEver);
      }
    }
  }

  private final boolean forEver;
  private final Runnable deafen;

  private Environment(long address, LogListener listener, boolean forEver) {
    super(new Handle("environment", address, Environment::free));
    this.forEver = forEver;
    deafen = listen(listener);
    if (listener != null) {
      Handle.CLEANER.register(this, deafen);
    }
  }

  private static void free(long address) {
    synchronized (LOCK) {
      Native.release_environment(address);
      --open;
    }
  }

  /** Adds the listener, if any; the result takes it away once. */
  private static Runnable listen(LogListener listener) {
    if (listener == null) {
      return () -> {};
    }
    Logs.Listener adapted = adapt(listener);
    AtomicBoolean hears = new AtomicBoolean(true);
    Logs.addToEnvironment(adapted);
    return () -> {
      if (hears.getAndSet(false)) {
        Logs.removeFromEnvironment(adapted);
      }
    };
  }

  static Logs.Listener adapt(LogListener listener) {
    return (severity, category, logId, location, message) ->
        listener.hear(new LogLine(LogSeverity.of(severity), category, logId, location, message));
  }

  /**
   * The environment of all who name none: it logs warnings to stderr.
   *
   * @return always the same, which close() does not close
   */
  public static Environment shared() {
    return Shared.INSTANCE;
  }

  /**
   * Begins an environment of one's own.
   *
   * @return a builder
   */
  public static Builder builder() {
    return new Builder();
  }

  /** Ends the use of this environment; does nothing for the shared one. Its sessions go on. */
  @Override
  public void close() {
    if (!forEver) {
      deafen.run();
      super.close();
    }
  }

  /**
   * Changes the severity from which on lines are logged, for the whole process.
   *
   * @param severity the severity
   */
  public void setLogSeverity(LogSeverity severity) {
    handle.use(address -> Native.set_environment_severity(address, severity.ordinal()));
  }

  /**
   * Registers a plugin library of execution providers, whose devices {@link #devices()} then lists.
   *
   * @param name a name for it, by which it is unregistered
   * @param library the file
   */
  public void registerProviderLibrary(String name, Path library) {
    Objects.requireNonNull(name, "name");
    String path = Objects.requireNonNull(library, "library").toString();
    synchronized (LOCK) {
      handle.use(address -> Native.register_provider_library(address, name, path));
    }
  }

  /**
   * Unregisters a plugin library. Sessions with its providers must be closed before, and options with its devices not be
   * used any more.
   *
   * @param name its name
   */
  public void unregisterProviderLibrary(String name) {
    Objects.requireNonNull(name, "name");
    synchronized (LOCK) {
      handle.use(address -> Native.unregister_provider_library(address, name));
    }
  }

  /**
   * Adds a provider for every later session whose options name none.
   *
   * @param provider the provider
   * @param required whether sessions fail without it
   */
  public void addProvider(Provider provider, boolean required) {
    long settings = Texts.makeSettings(provider.settings());
    try {
      handle.use(address -> Native.append_environment_provider(address, provider.name(), settings, required ? 1 : 0));
    } finally {
      Native.release_settings(settings);
    }
  }

  /** Takes back what addProvider() added. */
  public void clearProviders() {
    handle.use(Native::clear_environment_providers);
  }

  /**
   * All pairs of a provider and a device it can use.
   *
   * @return the devices of the library and of registered plugins
   */
  public List<Device> devices() {
    synchronized (LOCK) {
      return handle.with(address -> {
        List<Device> devices = new ArrayList<>();
        long count = Native.device_count(address);
        for (long i = 0; i < count; ++i) {
          devices.add(new Device(this, Native.device_at(address, i)));
        }
        return List.copyOf(devices);
      });
    }
  }

  /** Whether the device is still there. */
  boolean has(Device device) {
    return devices().stream()
        .anyMatch(other -> other.address == device.address && other.provider().equals(device.provider()));
  }
}
