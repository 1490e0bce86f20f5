// Values bound to a model's inputs and outputs.
package org.ortolan;

import java.util.List;
import java.util.Objects;
import org.ortolan.internal.Handle;
import org.ortolan.internal.MemoryRange;
import org.ortolan.internal.Native;
import org.ortolan.internal.Texts;

/**
 * Values that are bound to a session's inputs and outputs once and run with often. What is bound stays while it is bound,
 * also when it is closed. One thread at a time uses a binding; others wait.
 */
public final class IoBinding extends NativeObject {
  private final Session session;

  /** Owns the native binding. The caller is using the session. */
  IoBinding(Session session, long address) {
    super(new Handle("binding", address, Native::release_binding));
    this.session = session;
    handle.hold("session", session.handle);
  }

  /**
   * Binds an input or an overridable initializer.
   *
   * @param name its name
   * @param value its value; later changes of a tensor's elements are seen by later runs
   * @return this
   */
  public synchronized IoBinding bindInput(String name, Value value) {
    Objects.requireNonNull(name, "name");
    handle.use(address -> value.handle.use(bound -> {
      Native.bind_input(address, name, bound);
      keep("input " + name, value);
    }));
    return this;
  }

  /**
   * Has runs write an output to a tensor.
   *
   * @param name the name of the output
   * @param tensor a tensor of the right type and shape
   * @return this
   */
  public synchronized IoBinding bindOutput(String name, Tensor tensor) {
    Objects.requireNonNull(name, "name");
    tensor.requireWritable();
    handle.use(address -> tensor.handle.use(bound -> {
      Native.bind_output(address, name, bound);
      keep("output " + name, tensor);
    }));
    return this;
  }

  private void keep(String role, Value value) {
    handle.hold(role, value.handle);
  }

  /**
   * Has runs make an output in that memory.
   *
   * @param name the name of the output
   * @param memory the memory
   * @return this
   */
  public synchronized IoBinding bindOutput(String name, MemoryInfo memory) {
    Objects.requireNonNull(name, "name");
    try (InUse used = new InUse()) {
      Native.bind_output_to_memory(used.add(this), name, memory.addTo(used));
      handle.hold("output " + name, null);
    }
    return this;
  }

  /**
   * Forgets all inputs.
   *
   * @return this
   */
  public synchronized IoBinding clearInputs() {
    handle.use(Native::clear_bound_inputs);
    handle.dropAll("input ");
    return this;
  }

  /**
   * Forgets all outputs.
   *
   * @return this
   */
  public synchronized IoBinding clearOutputs() {
    handle.use(Native::clear_bound_outputs);
    handle.dropAll("output ");
    return this;
  }

  /** Waits until the inputs are where the session wants them. */
  public synchronized void synchronizeInputs() {
    handle.use(Native::synchronize_inputs);
  }

  /** Waits until the outputs are made. */
  public synchronized void synchronizeOutputs() {
    handle.use(Native::synchronize_outputs);
  }

  /** Runs the model with what is bound. */
  public void run() {
    run(null);
  }

  /**
   * Runs the model with what is bound.
   *
   * @param options how to run, or null
   */
  public synchronized void run(RunOptions options) {
    try (InUse used = new InUse()) {
      long owner = used.add(session);
      long address = used.add(this);
      RunOptions.use(options, settings -> Native.run_binding(owner, settings, address));
    }
  }

  /**
   * The outputs of the last run, in the order in which they were bound.
   *
   * @return values of their own; closing them leaves the binding as it is
   */
  public synchronized Outputs outputs() {
    return handle.with(address -> {
      List<String> names = Texts.take(Native.bound_output_names(address));
      long[] made = new long[names.size()];
      int count = (int) Native.bound_outputs(address, made);
      MemoryRange[] memory = MemoryRange.join(handle.memoryOfAll(), session.handle.memory());
      Value[] values = new Value[count];
      for (int i = 0; i < count; ++i) {
        values[i] = Value.take(made[i], memory);
      }
      return new Outputs(names.subList(0, count), values);
    });
  }
}
