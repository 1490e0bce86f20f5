// Kinds of values.
package org.ortolan;

/** What a value or its type is. The numbers are native ones. */
public enum ValueKind {
  /** Nothing: an optional without a value. */
  NONE(0),
  /** A {@link Tensor}. */
  TENSOR(1),
  /** A {@link Sequence}. */
  SEQUENCE(2),
  /** A {@link MapValue}. */
  MAP(3),
  /** A value of a type that only its operators know. */
  OPAQUE(4),
  /** A sparse tensor. */
  SPARSE_TENSOR(5),
  /** Of types only: a value that may be missing. */
  OPTIONAL(6);

  private static final ValueKind[] ALL = values();
  private final int number;

  ValueKind(int number) {
    this.number = number;
  }

  static ValueKind of(int number) {
    ValueKind kind = ALL[number >= 0 && number < ALL.length ? number : 0];
    assert kind.number == number;
    return kind;
  }
}
