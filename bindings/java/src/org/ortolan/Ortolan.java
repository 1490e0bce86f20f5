// The library as a whole.
package org.ortolan;

import java.util.List;
import org.ortolan.internal.Native;
import org.ortolan.internal.Texts;

/** What the native library says about itself. */
public final class Ortolan {
  private Ortolan() {}

  /**
   * The version, of the form 1.API.PATCH.
   *
   * @return the version
   */
  public static String version() {
    return Native.library_version();
  }

  /**
   * How the library was built.
   *
   * @return a line of text
   */
  public static String buildInfo() {
    return Native.library_build_info();
  }

  /**
   * The execution providers inside the library. Those of plugin libraries are seen by their
   * {@link Environment#devices() devices}.
   *
   * @return names, preferred ones first
   */
  public static List<String> availableProviders() {
    return Texts.take(Native.available_providers());
  }
}
