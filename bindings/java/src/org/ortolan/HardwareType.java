// Kinds of devices that compute.
package org.ortolan;

/** What a device is. */
public enum HardwareType {
  CPU, GPU, NPU;

  static HardwareType of(int number) {
    return values()[number];
  }
}
