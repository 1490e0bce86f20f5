// A log line.
package org.ortolan;

/**
 * A line of the log.
 *
 * @param severity how much it matters
 * @param category which part of the library it is from
 * @param logId the id that the environment or session was given
 * @param location the place in the library
 * @param message the text
 */
public record LogLine(LogSeverity severity, String category, String logId, String location, String message) {}
