// Kinds of errors.
package org.ortolan;

/** What kind of error the library reports. */
public enum ErrorCode {
  /** No error. */
  OK,
  /** Something failed that has no code of its own. */
  FAIL,
  /** An argument is wrong. */
  INVALID_ARGUMENT,
  /** A file cannot be opened. */
  NO_SUCH_FILE,
  /** There is no model. */
  NO_MODEL,
  /** The engine failed. */
  ENGINE_ERROR,
  /** A run failed. */
  RUNTIME_EXCEPTION,
  /** A file is no model. */
  INVALID_PROTOBUF,
  /** There is a model already. */
  MODEL_LOADED,
  /** Nobody implements that. */
  NOT_IMPLEMENTED,
  /** The graph of a model is wrong. */
  INVALID_GRAPH,
  /** An execution provider failed. */
  EP_FAIL,
  /** Loading was cancelled. */
  MODEL_LOAD_CANCELED,
  /** The model must be compiled first. */
  MODEL_REQUIRES_COMPILATION,
  /** What was asked for is not there. */
  NOT_FOUND,
  /** A code that this version does not know. */
  UNKNOWN;

  static ErrorCode of(int number) {
    return number >= 0 && number < UNKNOWN.ordinal() ? values()[number] : UNKNOWN;
  }
}
