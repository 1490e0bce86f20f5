// Rules for choosing devices.
package org.ortolan;

/** A rule by which a session chooses among the devices of its environment. */
public enum DevicePolicy {
  DEFAULT, PREFER_CPU, PREFER_NPU, PREFER_GPU, MAX_PERFORMANCE, MAX_EFFICIENCY, MIN_OVERALL_POWER
}
