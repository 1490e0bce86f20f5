// What calls that must fail say.
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import org.junit.function.ThrowingRunnable;
import org.ortolan.ErrorCode;
import org.ortolan.OrtolanException;

final class Errors {
  private Errors() {}

  /** The error of a call that must fail with these words: the few that tell this error from others. */
  static <E extends Throwable> E fails(Class<E> type, String words, ThrowingRunnable call) {
    E error = assertThrows(type, call);
    assertFalse("say which words tell this error from others: " + error.getMessage(), words.isEmpty());
    assertTrue(error.toString(), error.getMessage() != null && error.getMessage().contains(words));
    return error;
  }

  /** The same of a call that must fail in the library, with that code. */
  static OrtolanException fails(ErrorCode code, String words, ThrowingRunnable call) {
    OrtolanException error = fails(OrtolanException.class, words, call);
    assertEquals(error.getMessage(), code, error.code());
    return error;
  }
}
