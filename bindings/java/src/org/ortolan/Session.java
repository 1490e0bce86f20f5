// A model that is ready to run.
package org.ortolan;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.LongUnaryOperator;
import org.ortolan.internal.Memory;
import org.ortolan.internal.MemoryRange;
import org.ortolan.internal.Native;
import org.ortolan.internal.Texts;

/**
 * A model that is ready to run, on any number of threads at once.
 *
 * <p>Runs take inputs, and initializers that may be overridden, by name or in the model's order, and give the outputs that
 * are asked for, or all. Values that are passed stay the caller's. A run that is in progress when the session is closed
 * ends as it would have.
 */
public final class Session extends NativeObject {
  private static final int[] IN_ORDER = {};

  private final OpenSession.Names feeds;
  private final OpenSession.Names outputs;

  /**
   * A session of a model file, in the shared environment, with default options.
   *
   * @param model the file
   */
  public Session(Path model) {
    this(Environment.shared(), model, null);
  }

  /**
   * A session of a model file, in the shared environment.
   *
   * @param model the file
   * @param options the options, or null
   */
  public Session(Path model, SessionOptions options) {
    this(Environment.shared(), model, options);
  }

  /**
   * A session of a model file.
   *
   * @param environment the environment, which stays while the session is open
   * @param model the file
   * @param options the options, or null
   */
  public Session(Environment environment, Path model, SessionOptions options) {
    this(OpenSession.ofFile(environment, Objects.requireNonNull(model, "model").toString(), options));
  }

  /**
   * A session of a model in memory, which is copied, in the shared environment.
   *
   * @param model the bytes of the file
   * @param options the options, or null
   */
  public Session(byte[] model, SessionOptions options) {
    this(Environment.shared(), model, options);
  }

  /**
   * A session of a model in memory, which is copied.
   *
   * @param environment the environment, which stays while the session is open
   * @param model the bytes of the file
   * @param options the options, or null
   */
  public Session(Environment environment, byte[] model, SessionOptions options) {
    this(environment, Memory.allocate(model.length).put(model).flip(), options);
  }

  /**
   * A session of a model in memory.
   *
   * @param environment the environment, which stays while the session is open
   * @param model the bytes of the file, from position to limit of a direct buffer, which the session keeps
   * @param options the options, or null
   */
  public Session(Environment environment, ByteBuffer model, SessionOptions options) {
    this(OpenSession.ofBytes(environment, model, options));
  }

  private Session(OpenSession session) {
    super(session.handle());
    feeds = session.feeds();
    outputs = session.outputs();
  }

  // ---- What the model wants and gives ----

  /**
   * The inputs.
   *
   * @return names and types, in order
   */
  public List<ValueInfo> inputs() {
    return handle.with(address -> infos(Texts.take(Native.input_names(address)), i -> Native.input_type(address, i)));
  }

  /**
   * The outputs.
   *
   * @return names and types, in order
   */
  public List<ValueInfo> outputs() {
    return handle.with(address -> infos(outputs.list(), i -> Native.output_type(address, i)));
  }

  /**
   * Initializers that a run may give other values for, like inputs.
   *
   * @return names and types
   */
  public List<ValueInfo> overridableInitializers() {
    return handle.with(
        address -> infos(Texts.take(Native.overridable_names(address)), i -> Native.overridable_type(address, i)));
  }

  private static List<ValueInfo> infos(List<String> names, LongUnaryOperator typeOf) {
    List<ValueInfo> infos = new ArrayList<>();
    for (String name : names) {
      infos.add(new ValueInfo(name, TypeReader.take(typeOf.applyAsLong(infos.size()))));
    }
    return List.copyOf(infos);
  }

  /**
   * Where the session wants an input.
   *
   * @param input the place of the input, from 0
   * @return its memory
   */
  public MemoryInfo inputMemory(int input) {
    return handle.with(address -> MemoryInfo.borrowed(Native.input_memory(address, input), handle, null));
  }

  /**
   * Where the session makes an output.
   *
   * @param output the place of the output, from 0
   * @return its memory
   */
  public MemoryInfo outputMemory(int output) {
    return handle.with(address -> MemoryInfo.borrowed(Native.output_memory(address, output), handle, null));
  }

  /**
   * What the model says about itself.
   *
   * @return its metadata
   */
  public ModelMetadata metadata() {
    return handle.with(address -> ModelMetadata.take(Native.create_metadata(address)));
  }

  /**
   * Which provider runs which node, after optimisation.
   *
   * @return the nodes
   */
  public List<NodeAssignment> nodeAssignments() {
    List<String> texts = handle.with(address -> Texts.take(Native.node_assignments(address)));
    List<NodeAssignment> nodes = new ArrayList<>();
    for (int i = 0; i + 3 < texts.size(); i += 4) {
      nodes.add(new NodeAssignment(texts.get(i), texts.get(i + 1), texts.get(i + 2), texts.get(i + 3)));
    }
    return List.copyOf(nodes);
  }

  /**
   * The providers that run nodes.
   *
   * @return their names, each once
   */
  public List<String> providers() {
    return nodeAssignments().stream().map(NodeAssignment::provider).distinct().toList();
  }

  /**
   * Ends the profile that {@link SessionOptions#setProfiling} began.
   *
   * @return the file with the profile; empty if there is none
   */
  public Optional<Path> endProfiling() {
    String file = handle.with(Native::end_profiling);
    return file == null || file.isEmpty() ? Optional.empty() : Optional.of(Path.of(file));
  }

  /**
   * When the profile began.
   *
   * @return nanoseconds of a clock of the system
   */
  public long profilingStart() {
    return handle.<Long>with(Native::profiling_start_ns);
  }

  // ---- Runs ----

  /**
   * Runs the model.
   *
   * @param inputs values by the names of inputs and overridable initializers
   * @return all outputs, in order
   */
  public Outputs run(Map<String, ? extends Value> inputs) {
    return run(inputs, null, null);
  }

  /**
   * Runs the model for some of its outputs.
   *
   * @param inputs values by the names of inputs and overridable initializers
   * @param names the outputs that are wanted; null for all
   * @return these outputs, in that order
   */
  public Outputs run(Map<String, ? extends Value> inputs, List<String> names) {
    return run(inputs, names, null);
  }

  /**
   * Runs the model for some of its outputs.
   *
   * @param inputs values by the names of inputs and overridable initializers
   * @param names the outputs that are wanted; null for all
   * @param options how to run, or null
   * @return these outputs, in that order
   */
  public Outputs run(Map<String, ? extends Value> inputs, List<String> names, RunOptions options) {
    try (InUse used = new InUse(inputs.size())) {
      return run(addAll(inputs, used, feeds, "input"), used, names, options);
    }
  }

  /**
   * Runs the model with inputs in the model's order.
   *
   * @param inputs the values of the first inputs
   * @return all outputs, in order
   */
  public Outputs run(Value... inputs) {
    if (inputs.length > feeds.list().size()) {
      throw new IllegalArgumentException(inputs.length + " values are too many for the inputs " + feeds.list());
    }
    try (InUse used = new InUse(inputs.length)) {
      for (Value input : inputs) {
        used.add(input);
      }
      return run(IN_ORDER, used, null, null);
    }
  }

  /**
   * Runs the model and writes outputs to tensors that are there.
   *
   * @param inputs values by the names of inputs and overridable initializers
   * @param targets tensors of the right type and shape by the names of outputs
   * @param options how to run, or null
   */
  public void runInto(Map<String, ? extends Value> inputs, Map<String, Tensor> targets, RunOptions options) {
    targets.values().forEach(Tensor::requireWritable);
    try (InUse used = new InUse(inputs.size()); InUse written = new InUse(targets.size())) {
      int[] inputChoice = addAll(inputs, used, feeds, "input");
      int[] outputChoice = addAll(targets, written, outputs, "output");
      if (outputChoice.length != 0) {
        call(inputChoice, used, outputChoice, written.addresses(), options);
      }
    }
  }

  /** Uses all values; their places among the names. */
  private static int[] addAll(Map<String, ? extends Value> values, InUse used, OpenSession.Names names, String what) {
    int[] choice = new int[values.size()];
    int count = 0;
    for (Map.Entry<String, ? extends Value> entry : values.entrySet()) {
      choice[count++] = names.indexOf(entry.getKey(), what);
      used.add(entry.getValue());
    }
    return choice;
  }

  private Outputs run(int[] inputChoice, InUse inputs, List<String> names, RunOptions options) {
    List<String> wanted = names == null ? outputs.list() : List.copyOf(names);
    long[] made = new long[wanted.size()];
    if (names == null || made.length != 0) {
      call(inputChoice, inputs, names == null ? IN_ORDER : places(wanted), made, options);
    }
    MemoryRange[] memory = MemoryRange.join(inputs.memory(), handle.memory());
    Value[] values = new Value[made.length];
    for (int i = 0; i < made.length; ++i) {
      values[i] = Value.take(made[i], memory);
    }
    return new Outputs(wanted, values);
  }

  private int[] places(List<String> names) {
    int[] places = new int[names.size()];
    for (int i = 0; i < places.length; ++i) {
      places[i] = outputs.indexOf(names.get(i), "output");
    }
    return places;
  }

  private void call(int[] inputChoice, InUse inputs, int[] outputChoice, long[] made, RunOptions options) {
    RunOptions.use(options, settings -> handle.use(session -> Native.run_session(session, settings, feeds.texts(),
        inputChoice, inputs.addresses(), outputs.texts(), outputChoice, made)));
  }

  /**
   * Begins a binding of values to the model.
   *
   * @return a new binding, which keeps the session's memory while it is open
   */
  public IoBinding bind() {
    return handle.with(address -> new IoBinding(this, Native.create_binding(address)));
  }
}
