// How nodes follow each other.
package org.ortolan;

/** Whether nodes that do not need each other run one after the other or at the same time. */
public enum ExecutionMode {
  /** One node after the other. */
  SEQUENTIAL,
  /** Nodes that do not need each other at the same time. */
  PARALLEL
}
