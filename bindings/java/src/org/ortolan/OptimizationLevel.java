// Levels of graph optimisation.
package org.ortolan;

/** How far a session rewrites its model before it runs it. Results stay the same within rounding. */
public enum OptimizationLevel {
  NONE(0), BASIC(1), EXTENDED(2), LAYOUT(3), ALL(99);

  final int number;

  OptimizationLevel(int number) {
    this.number = number;
  }
}
