// How sessions are to be.
package org.ortolan;

import java.nio.file.Path;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;
import java.util.function.LongFunction;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Logs;
import org.ortolan.internal.Native;
import org.ortolan.internal.Texts;

/**
 * How sessions are to be made. Setters return the options. Sessions take what they need: options may be changed, used
 * again and closed afterwards. Changes wait for sessions that are just being made with the options.
 */
public final class SessionOptions extends NativeObject {
  private static final String ASSIGNMENTS = "session.record_ep_graph_assignment_info";
  private static final String NO_FALLBACK = "session.disable_cpu_ep_fallback";

  private final ReadWriteLock lock = new ReentrantReadWriteLock();

  /** Default options: all optimisations, as many threads as cores, the CPU. */
  public SessionOptions() {
    super(new Handle("session options", Native.create_session_options(), Native::release_session_options));
    set(ASSIGNMENTS, "1");
  }

  private SessionOptions(Handle handle) {
    super(handle);
  }

  /**
   * A copy, which changes on its own.
   *
   * @return new options
   */
  public SessionOptions copy() {
    return read(address -> {
      Handle copy =
          new Handle("session options", Native.clone_session_options(address), Native::release_session_options);
      copy.holdAllOf(handle);
      return new SessionOptions(copy);
    });
  }

  private SessionOptions change(LongConsumer setter) {
    lock.writeLock().lock();
    try {
      handle.use(setter);
      return this;
    } finally {
      lock.writeLock().unlock();
    }
  }

  /** Calls with the address while nobody changes the options. */
  <T> T read(LongFunction<T> call) {
    lock.readLock().lock();
    try {
      return handle.with(call);
    } finally {
      lock.readLock().unlock();
    }
  }

  /**
   * How far the model is optimised.
   *
   * @param level ALL where nothing is set
   * @return this
   */
  public SessionOptions setOptimizationLevel(OptimizationLevel level) {
    return change(address -> Native.set_optimization_level(address, level.number));
  }

  /**
   * Whether nodes may run side by side.
   *
   * @param mode SEQUENTIAL where nothing is set
   * @return this
   */
  public SessionOptions setExecutionMode(ExecutionMode mode) {
    return change(address -> Native.set_execution_mode(address, mode.ordinal()));
  }

  /**
   * How many threads work on one operator.
   *
   * @param threads 0: as many as the machine has cores; 1: the thread that runs only
   * @return this
   */
  public SessionOptions setIntraOpThreads(int threads) {
    return change(address -> Native.set_intra_op_threads(address, threads));
  }

  /**
   * How many operators run side by side in {@link ExecutionMode#PARALLEL}.
   *
   * @param threads 0: as many as the machine has cores
   * @return this
   */
  public SessionOptions setInterOpThreads(int threads) {
    return change(address -> Native.set_inter_op_threads(address, threads));
  }

  /**
   * Has sessions share the thread pools of the environment, which must have some.
   *
   * @return this
   */
  public SessionOptions useSharedThreads() {
    return change(Native::disable_session_threads);
  }

  /**
   * Writes a profile of each session, in the form that Chrome's tracing reads.
   *
   * @param prefix the path of the file without its end, a date and ".json"; null for no profile
   * @return this
   */
  public SessionOptions setProfiling(Path prefix) {
    return change(address -> Native.set_profiling(address, prefix == null ? null : prefix.toString()));
  }

  /**
   * Whether memory for values is planned ahead.
   *
   * @param on true where nothing is set
   * @return this
   */
  public SessionOptions setMemoryPattern(boolean on) {
    return change(address -> Native.set_memory_pattern(address, on ? 1 : 0));
  }

  /**
   * Whether freed CPU memory is kept for later runs.
   *
   * @param on true where nothing is set
   * @return this
   */
  public SessionOptions setCpuArena(boolean on) {
    return change(address -> Native.set_cpu_arena(address, on ? 1 : 0));
  }

  /**
   * What sessions are called in log lines.
   *
   * @param logId the id
   * @return this
   */
  public SessionOptions setLogId(String logId) {
    Objects.requireNonNull(logId, "logId");
    return change(address -> Native.set_session_log_id(address, logId));
  }

  /**
   * The severity from which on sessions log lines.
   *
   * @param severity the environment's where nothing is set
   * @return this
   */
  public SessionOptions setLogSeverity(LogSeverity severity) {
    return change(address -> Native.set_session_severity(address, severity.ordinal()));
  }

  /**
   * How much VERBOSE lines say.
   *
   * @param verbosity 0 and more
   * @return this
   */
  public SessionOptions setLogVerbosity(int verbosity) {
    return change(address -> Native.set_session_verbosity(address, verbosity));
  }

  /**
   * Who hears the log lines of sessions made with the options; nobody else does.
   *
   * @param listener who hears them
   * @return this
   */
  public SessionOptions setLogListener(LogListener listener) {
    Handle registered = Logs.register(Environment.adapt(Objects.requireNonNull(listener, "listener")));
    try {
      return change(address -> {
        Native.set_session_log(address, registered.acquire());
        handle.hold("log listener", registered);
        registered.release();
      });
    } finally {
      registered.close();
    }
  }

  /**
   * Writes each session's model as it is after optimisation.
   *
   * @param path the file
   * @return this
   */
  public SessionOptions setOptimizedModelPath(Path path) {
    String file = Objects.requireNonNull(path, "path").toString();
    return change(address -> Native.set_optimized_model_path(address, file));
  }

  /**
   * Whether the same inputs must give the same bits, at whatever cost.
   *
   * @param on false where nothing is set
   * @return this
   */
  public SessionOptions setDeterministic(boolean on) {
    return change(address -> Native.set_deterministic(address, on ? 1 : 0));
  }

  /**
   * Any setting by its key, for example "session.intra_op.allow_spinning".
   *
   * @param key the key
   * @param value the value
   * @return this
   */
  public SessionOptions set(String key, String value) {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
    return change(address -> Native.add_session_setting(address, key, value));
  }

  /**
   * The setting of a key.
   *
   * @param key the key
   * @return its value, if it is set
   */
  public Optional<String> get(String key) {
    Objects.requireNonNull(key, "key");
    return read(address -> Optional.ofNullable(Native.session_setting(address, key)));
  }

  /**
   * Fixes the size of all symbolic dimensions with that denotation.
   *
   * @param denotation the denotation, for example "DATA_BATCH"
   * @param size the size
   * @return this
   */
  public SessionOptions fixDimensionByDenotation(String denotation, long size) {
    Objects.requireNonNull(denotation, "denotation");
    return change(address -> Native.add_free_dimension(address, denotation, size));
  }

  /**
   * Fixes the size of a symbolic dimension.
   *
   * @param name its name
   * @param size the size
   * @return this
   */
  public SessionOptions fixDimension(String name, long size) {
    Objects.requireNonNull(name, "name");
    return change(address -> Native.add_free_dimension_by_name(address, name, size));
  }

  /**
   * Replaces an initializer of the model. The options and their sessions keep the tensor's memory, also when the tensor
   * is closed.
   *
   * @param name the name of the initializer
   * @param tensor what it is to be
   * @return this
   */
  public SessionOptions setInitializer(String name, Tensor tensor) {
    Objects.requireNonNull(name, "name");
    return change(address -> tensor.handle.use(value -> {
      Native.add_initializer(address, name, value);
      handle.hold("initializer " + name, tensor.handle);
      handle.keep(tensor.handle.memory());
    }));
  }

  /**
   * Loads a library of custom operators, for sessions made with the options.
   *
   * @param library the file
   * @return this
   */
  public SessionOptions registerCustomOperators(Path library) {
    String file = Objects.requireNonNull(library, "library").toString();
    return change(address -> Native.register_custom_operators(address, file));
  }

  /**
   * Prefers a provider, after those that were added before. The CPU takes what no provider takes.
   *
   * @param provider the provider
   * @return this
   * @throws OrtolanException if there is no such provider
   */
  public SessionOptions addProvider(Provider provider) {
    long settings = Texts.makeSettings(provider.settings());
    try {
      return change(address -> Native.append_provider(address, provider.name(), settings));
    } finally {
      Native.release_settings(settings);
    }
  }

  /**
   * Prefers a provider if it is there: the fallback to other providers is wanted. Wrong settings are an error all the
   * same.
   *
   * @param provider the provider
   * @return whether it is there
   */
  public boolean addProviderIfPresent(Provider provider) {
    boolean present = Ortolan.availableProviders().contains(provider.name()) || isRegistered(provider.name());
    if (present) {
      addProvider(provider);
    }
    return present;
  }

  private static boolean isRegistered(String provider) {
    try (Environment environment = Environment.builder().build()) {
      return environment.devices().stream().anyMatch(device -> device.provider().equals(provider));
    }
  }

  /**
   * Whether the CPU may run what the other providers do not.
   *
   * @param allowed true where nothing is set; otherwise making a session fails where the CPU would be needed
   * @return this
   */
  public SessionOptions setCpuFallback(boolean allowed) {
    return set(NO_FALLBACK, allowed ? "0" : "1");
  }

  /**
   * Prefers a provider on these devices.
   *
   * @param environment the environment of the devices
   * @param devices devices of one provider
   * @param settings settings of the provider by key
   * @return this
   */
  public SessionOptions addDevices(Environment environment, Collection<Device> devices,
      Map<String, String> settings) {
    long made = Texts.makeSettings(settings);
    try {
      devices.forEach(Device::requirePresent);
      long[] addresses = devices.stream().mapToLong(device -> device.address).toArray();
      return change(address -> environment.handle.use(
          owner -> Native.append_provider_devices(address, owner, addresses, made)));
    } finally {
      Native.release_settings(made);
    }
  }

  /**
   * Lets sessions choose among all devices.
   *
   * @param policy the rule
   * @return this
   */
  public SessionOptions setDevicePolicy(DevicePolicy policy) {
    return change(address -> Native.set_device_policy(address, policy.ordinal()));
  }
}
