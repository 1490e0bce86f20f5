// Kinds of devices that compute.
package org.ortolan;

/** What a device is. */
public enum HardwareType {
  /** A processor. */
  CPU,
  /** A graphics processor. */
  GPU,
  /** A processor for neural networks. */
  NPU;

  static HardwareType of(int number) {
    return values()[number];
  }
}
