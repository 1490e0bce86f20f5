// What the library refuses.
package org.ortolan;

import java.util.Objects;
import org.ortolan.internal.Texts;

/** An error that the library reports: its kind, and as message the library's own text. */
public final class OrtolanException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kind of error. */
  private final ErrorCode code;

  /**
   * An error of that kind.
   *
   * @param code the kind
   * @param message what went wrong
   */
  public OrtolanException(ErrorCode code, String message) {
    super(message);
    this.code = Objects.requireNonNull(code, "code");
  }

  /** Called by the native library. */
  private static OrtolanException ofStatus(int code, byte[] message) {
    return new OrtolanException(ErrorCode.of(code), Texts.decode(message));
  }

  /**
   * The kind of error.
   *
   * @return never null
   */
  public ErrorCode code() {
    return code;
  }
}
