// A sequence of values.
package org.ortolan;

import java.util.ArrayList;
import java.util.List;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Native;

/** A sequence of values of one type. It cannot be changed. */
public final class Sequence extends Value {
  Sequence(Handle handle) {
    super(handle, ValueKind.SEQUENCE);
  }

  /**
   * A sequence of these values, at least one, which it shares: they may be closed afterwards.
   *
   * @param values values of one type
   * @return a new sequence
   */
  public static Sequence of(List<? extends Value> values) {
    try (InUse parts = new InUse()) {
      for (Value value : values) {
        parts.add(value);
      }
      Sequence sequence = new Sequence(own(Native.create_sequence(parts.addresses())));
      sequence.handle.keep(parts.memory());
      return sequence;
    }
  }

  /**
   * The number of values.
   *
   * @return the number
   */
  public int size() {
    return Math.toIntExact(handle.<Long>with(Native::value_count));
  }

  /**
   * One of the values.
   *
   * @param index from 0
   * @return a value of its own, which the caller closes
   */
  public Value get(int index) {
    if (index < 0 || index >= size()) {
      throw new IndexOutOfBoundsException("index " + index + " of a sequence of " + size() + " values");
    }
    return handle.with(address -> take(Native.value_at(address, index), handle.memory()));
  }

  /**
   * All values.
   *
   * @return values of their own, each of which the caller closes
   */
  public List<Value> toList() {
    List<Value> values = new ArrayList<>();
    int size = size();
    for (int i = 0; i < size; ++i) {
      values.add(get(i));
    }
    return values;
  }
}
