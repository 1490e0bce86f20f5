// A map from keys to numbers.
package org.ortolan;

import java.util.LinkedHashMap;
import java.util.Map;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Native;

/** A map whose keys are longs or texts and whose values are numbers or texts. It cannot be changed. */
public final class MapValue extends Value {
  MapValue(Handle handle) {
    super(handle, ValueKind.MAP);
  }

  /**
   * A map of these keys and values, of which it takes copies or shares: they may be closed afterwards.
   *
   * @param keys a tensor of rank 1 of INT64 or STRING
   * @param values a tensor of rank 1 of the same size
   * @return a new map
   */
  public static MapValue of(Tensor keys, Tensor values) {
    try (InUse parts = new InUse()) {
      long keyAddress = parts.add(keys);
      long valueAddress = parts.add(values);
      MapValue map = new MapValue(own(Native.create_map(keyAddress, valueAddress)));
      map.handle.keep(parts.memory());
      return map;
    }
  }

  /**
   * The keys.
   *
   * @return a tensor of its own, which the caller closes
   */
  public Tensor keys() {
    return part(0);
  }

  /**
   * The values, in the order of the keys.
   *
   * @return a tensor of its own, which the caller closes
   */
  public Tensor values() {
    return part(1);
  }

  private Tensor part(int index) {
    return handle.with(address -> (Tensor) take(Native.value_at(address, index), handle.memory()));
  }

  /**
   * The pairs.
   *
   * @return an ordered map from Long or String to Float, Double, Long, Integer or String
   */
  public Map<Object, Object> toMap() {
    try (Tensor keys = keys(); Tensor values = values()) {
      Map<Object, Object> pairs = new LinkedHashMap<>();
      Object[] numbers = values.boxed();
      Object[] names = keys.boxed();
      for (int i = 0; i < names.length; ++i) {
        pairs.put(names[i], numbers[i]);
      }
      return pairs;
    }
  }
}
