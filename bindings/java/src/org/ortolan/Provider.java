// A provider to ask for.
package org.ortolan;

import java.util.Map;
import java.util.Objects;

/**
 * An execution provider to ask for.
 *
 * @param name its name, for example "CPUExecutionProvider"
 * @param settings its settings by key
 */
public record Provider(String name, Map<String, String> settings) {
  /** The provider that is always there. */
  public static final Provider CPU = new Provider("CPUExecutionProvider");

  /**
   * A provider with a copy of the settings.
   *
   * @param name its name
   * @param settings its settings by key
   */
  public Provider {
    Objects.requireNonNull(name, "name");
    settings = Map.copyOf(settings);
  }

  /**
   * A provider with its default settings.
   *
   * @param name its name
   */
  public Provider(String name) {
    this(name, Map.of());
  }
}
