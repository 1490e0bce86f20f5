// Severities of log lines.
package org.ortolan;

/** How much a log line matters; lines below the severity that was set are not made. */
public enum LogSeverity {
  VERBOSE, INFO, WARNING, ERROR, FATAL;

  static LogSeverity of(int number) {
    return values()[Math.max(0, Math.min(number, values().length - 1))];
  }
}
