// What receives log lines.
package org.ortolan;

/** Receives log lines, on any thread, several at once too. It should return soon and may throw nothing. */
@FunctionalInterface
public interface LogListener {
  /**
   * Takes a line.
   *
   * @param line the line
   */
  void hear(LogLine line);
}
