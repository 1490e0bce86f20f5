// Kinds of errors.
package org.ortolan;

/** What kind of error the library reports. */
public enum ErrorCode {
  OK, FAIL, INVALID_ARGUMENT, NO_SUCH_FILE, NO_MODEL, ENGINE_ERROR, RUNTIME_EXCEPTION, INVALID_PROTOBUF, MODEL_LOADED,
  NOT_IMPLEMENTED, INVALID_GRAPH, EP_FAIL, MODEL_LOAD_CANCELED, MODEL_REQUIRES_COMPILATION, NOT_FOUND,
  /** A code that this version does not know. */
  UNKNOWN;

  static ErrorCode of(int number) {
    return number >= 0 && number < UNKNOWN.ordinal() ? values()[number] : UNKNOWN;
  }
}
