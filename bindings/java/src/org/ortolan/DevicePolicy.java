// Rules for choosing devices.
package org.ortolan;

/** A rule by which a session chooses among the devices of its environment. */
public enum DevicePolicy {
  /** What the library thinks best. */
  DEFAULT,
  /** The CPU where it can be. */
  PREFER_CPU,
  /** An NPU where there is one. */
  PREFER_NPU,
  /** A GPU where there is one. */
  PREFER_GPU,
  /** The fastest. */
  MAX_PERFORMANCE,
  /** The one that does most for its power. */
  MAX_EFFICIENCY,
  /** The one that needs least power. */
  MIN_OVERALL_POWER
}
