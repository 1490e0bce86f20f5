// Texts and lists of texts on the border to the native library.
package org.ortolan.internal;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Texts are UTF-8 there. */
public final class Texts {
  private Texts() {}

  /** The bytes of a text, null for null. Throws IllegalArgumentException when it has a NUL, which would cut it. */
  static byte[] encode(String text) {
    if (text == null) {
      return null;
    }
    if (text.indexOf('\0') >= 0) {
      throw new IllegalArgumentException("the text '" + text.replace('\0', '␀') + "' has a NUL character");
    }
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** The text of bytes, null for null; what is not UTF-8 becomes U+FFFD. */
  public static String decode(byte[] bytes) {
    return bytes == null ? null : new String(bytes, StandardCharsets.UTF_8);
  }

  /** The texts of a native list, which is released. */
  public static List<String> take(long list) {
    try {
      List<String> texts = new ArrayList<>();
      long count = Native.text_count(list);
      for (long i = 0; i < count; ++i) {
        texts.add(Native.text_at(list, i));
      }
      return List.copyOf(texts);
    } finally {
      Native.release_texts(list);
    }
  }

  /** New native settings with these pairs; the caller releases them. */
  public static long makeSettings(Map<String, String> pairs) {
    long settings = Native.create_settings();
    try {
      pairs.forEach((key, value) -> Native.add_setting(settings, Objects.requireNonNull(key, "a key of the settings"),
          Objects.requireNonNull(value, () -> "the setting " + key)));
      return settings;
    } catch (RuntimeException e) {
      Native.release_settings(settings);
      throw e;
    }
  }

  /** The pairs of borrowed native settings, in order. */
  public static Map<String, String> readSettings(long settings) {
    Map<String, String> pairs = new LinkedHashMap<>();
    long count = settings == 0 ? 0 : Native.setting_count(settings);
    for (long i = 0; i < count; ++i) {
      pairs.put(Native.setting_key(settings, i), Native.setting_value(settings, i));
    }
    return Collections.unmodifiableMap(pairs);
  }
}
