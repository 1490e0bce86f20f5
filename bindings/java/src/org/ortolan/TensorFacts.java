// What a reader of a tensor must know.
package org.ortolan;

import java.util.Arrays;
import org.ortolan.internal.Native;

/** The type, the place, the size and the shape of a tensor's elements. They never change. */
record TensorFacts(ElementType type, long address, long bytes, long[] shape) {
  private static final int HEAD = 4;

  /** The facts of a native tensor. */
  static TensorFacts of(long tensor) {
    long[] facts = new long[HEAD + 4];
    int count = (int) Native.tensor_facts(tensor, facts);
    if (count > facts.length) {
      facts = new long[count];
      Native.tensor_facts(tensor, facts);
    }
    return new TensorFacts(ElementType.of((int) facts[0]), facts[1], facts[2], Arrays.copyOfRange(facts, HEAD, count));
  }

  /** This, if Java can read the elements of the native tensor. */
  TensorFacts readable(long tensor) {
    Shapes.requireFixedSize(type);
    if (Native.memory_device_type(Native.tensor_memory(tensor)) != 0) {
      throw new IllegalStateException("the tensor is in the memory of a device; copy it to one of the CPU first");
    }
    return this;
  }

  @Override
  public String toString() {
    return type + Arrays.toString(shape);
  }
}
