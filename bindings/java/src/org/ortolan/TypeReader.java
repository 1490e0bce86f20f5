// Reads native type descriptions.
package org.ortolan;

import java.util.ArrayList;
import java.util.List;
import org.ortolan.internal.Native;

/** Makes types of native descriptions. */
final class TypeReader {
  private TypeReader() {}

  /** The type that a native description says, which is released. */
  static ValueType take(long type) {
    try {
      ValueKind kind = ValueKind.of(Native.type_kind(type));
      return switch (kind) {
        case TENSOR, SPARSE_TENSOR -> tensor(kind, type);
        case SEQUENCE -> new ValueType.OfSequence(take(Native.type_content(type)));
        case MAP -> new ValueType.OfMap(ElementType.of(Native.type_element(type)), take(Native.type_content(type)));
        case OPTIONAL -> new ValueType.OfOptional(take(Native.type_content(type)));
        default -> new ValueType.Other(kind);
      };
    } finally {
      Native.release_type(type);
    }
  }

  private static ValueType tensor(ValueKind kind, long type) {
    List<Long> shape = new ArrayList<>();
    List<String> symbols = new ArrayList<>();
    long rank = Native.type_rank(type);
    for (long i = 0; i < rank; ++i) {
      shape.add(Native.type_dimension(type, i));
      symbols.add(Native.type_symbol(type, i));
    }
    ElementType element = ElementType.of(Native.type_element(type));
    return new ValueType.OfTensor(kind, element, List.copyOf(shape), List.copyOf(symbols));
  }
}
