// Levels of graph optimisation.
package org.ortolan;

/** How far a session rewrites its model before it runs it. Results stay the same within rounding. */
public enum OptimizationLevel {
  /** The model is run as it is. */
  NONE(0),
  /** Rewrites that every provider understands. */
  BASIC(1),
  /** Those, and fused operators. */
  EXTENDED(2),
  /** Those, and other layouts of tensors. */
  LAYOUT(3),
  /** All that there is. */
  ALL(99);

  final int number;

  OptimizationLevel(int number) {
    this.number = number;
  }
}
