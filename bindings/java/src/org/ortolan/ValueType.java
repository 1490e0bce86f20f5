// Types of values: what a model wants and gives.
package org.ortolan;

import java.util.List;

/** The type of an input, an output or a value. */
public sealed interface ValueType {
  /**
   * The kind of value.
   *
   * @return the kind
   */
  ValueKind kind();

  /**
   * A tensor, or a sparse one.
   *
   * @param kind TENSOR or SPARSE_TENSOR
   * @param element what the elements are
   * @param shape the size of each dimension, -1 where it is symbolic or unknown; empty for scalars and unknown ranks
   * @param symbols the name of each dimension, empty where it has none
   */
  record OfTensor(ValueKind kind, ElementType element, List<Long> shape, List<String> symbols) implements ValueType {}

  /**
   * A sequence.
   *
   * @param content what it holds
   */
  record OfSequence(ValueType content) implements ValueType {
    @Override
    public ValueKind kind() {
      return ValueKind.SEQUENCE;
    }
  }

  /**
   * A map.
   *
   * @param key what the keys are: INT64 or STRING
   * @param content what the values are
   */
  record OfMap(ElementType key, ValueType content) implements ValueType {
    @Override
    public ValueKind kind() {
      return ValueKind.MAP;
    }
  }

  /**
   * A value that may be missing.
   *
   * @param content what it is when it is there
   */
  record OfOptional(ValueType content) implements ValueType {
    @Override
    public ValueKind kind() {
      return ValueKind.OPTIONAL;
    }
  }

  /**
   * A type that the library says no more about.
   *
   * @param kind NONE or OPAQUE
   */
  record Other(ValueKind kind) implements ValueType {}
}
