// What models take and give.
package org.ortolan;

import org.ortolan.internal.Handle;
import org.ortolan.internal.MemoryRange;
import org.ortolan.internal.Native;

/** A value: a {@link Tensor}, a {@link Sequence}, a {@link MapValue}, or one of another kind that can only be passed on. */
public abstract class Value extends NativeObject {
  private final ValueKind kind;

  Value(Handle handle, ValueKind kind) {
    super(handle);
    this.kind = kind;
  }

  /** A handle that owns a native value. */
  static Handle own(long address) {
    return new Handle("value", address, Native::release_value);
  }

  /** The value at an address, which it owns, and which may point into that Java memory. */
  static Value take(long address, MemoryRange[] memory) {
    Handle handle = own(address);
    ValueKind kind = ValueKind.of(Native.value_kind(address));
    Value value = switch (kind) {
      case TENSOR -> new Tensor(handle, null);
      case SEQUENCE -> new Sequence(handle);
      case MAP -> new MapValue(handle);
      default -> new OtherValue(handle, kind);
    };
    if (memory.length != 0) {
      value.keepWhatItPointsInto(memory);
    }
    return value;
  }

  /** Containers are taken to point into all of it. */
  void keepWhatItPointsInto(MemoryRange[] memory) {
    handle.keep(memory);
  }

  /**
   * What this is.
   *
   * @return the kind; NONE for an optional without a value
   */
  public final ValueKind kind() {
    return kind;
  }

  /**
   * Whether there is a value: false for an optional without one.
   *
   * @return false if the kind is NONE
   */
  public final boolean isPresent() {
    return handle.with(address -> Native.value_present(address) != 0);
  }

  /**
   * The type of this.
   *
   * @return the type
   */
  public final ValueType type() {
    return handle.with(address -> TypeReader.take(Native.value_type(address)));
  }

  /** A value of another kind. */
  private static final class OtherValue extends Value {
    OtherValue(Handle handle, ValueKind kind) {
      super(handle, kind);
    }
  }
}
