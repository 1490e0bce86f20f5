// Kinds of values.
package org.ortolan;

/** What a value or its type is. The numbers are native ones. */
public enum ValueKind {
  /** Nothing: an optional without a value. */
  NONE(0), TENSOR(1), SEQUENCE(2), MAP(3), OPAQUE(4), SPARSE_TENSOR(5), OPTIONAL(6);

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
