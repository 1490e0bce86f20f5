// What a run gives.
package org.ortolan;

import java.util.Iterator;
import java.util.List;

/** The outputs of a run, in the order in which they were asked for. Closing it closes them all. */
public final class Outputs implements AutoCloseable, Iterable<Value> {
  private final List<String> names;
  private final Value[] values;

  Outputs(List<String> names, Value[] values) {
    this.names = names;
    this.values = values;
  }

  /**
   * The names.
   *
   * @return one for each value
   */
  public List<String> names() {
    return names;
  }

  /**
   * The number of values.
   *
   * @return the number
   */
  public int size() {
    return values.length;
  }

  /**
   * An output.
   *
   * @param index from 0
   * @return the value, which belongs to this
   */
  public Value get(int index) {
    return values[index];
  }

  /**
   * An output.
   *
   * @param name its name
   * @return the value, which belongs to this
   */
  public Value get(String name) {
    int index = names.indexOf(name);
    if (index < 0) {
      throw new IllegalArgumentException("there is no output '" + name + "' among " + names);
    }
    return values[index];
  }

  /**
   * An output that is a tensor.
   *
   * @param index from 0
   * @return the tensor, which belongs to this
   */
  public Tensor tensor(int index) {
    return asTensor(names.get(index), values[index]);
  }

  /**
   * An output that is a tensor.
   *
   * @param name its name
   * @return the tensor, which belongs to this
   */
  public Tensor tensor(String name) {
    return asTensor(name, get(name));
  }

  private static Tensor asTensor(String name, Value value) {
    if (value instanceof Tensor tensor) {
      return tensor;
    }
    throw new IllegalArgumentException("the output '" + name + "' is a " + value.kind() + ", no tensor");
  }

  @Override
  public Iterator<Value> iterator() {
    return List.of(values).iterator();
  }

  @Override
  public void close() {
    for (Value value : values) {
      value.close();
    }
  }
}
