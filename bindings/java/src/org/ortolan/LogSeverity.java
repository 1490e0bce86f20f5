// Severities of log lines.
package org.ortolan;

/** How much a log line matters; lines below the severity that was set are not made. */
public enum LogSeverity {
  /** Every step. */
  VERBOSE,
  /** What is good to know. */
  INFO,
  /** What may be wrong. */
  WARNING,
  /** What is wrong. */
  ERROR,
  /** What ends the program. */
  FATAL;

  static LogSeverity of(int number) {
    return values()[Math.max(0, Math.min(number, values().length - 1))];
  }
}
