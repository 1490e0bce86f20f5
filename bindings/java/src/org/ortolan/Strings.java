// The texts of string tensors.
package org.ortolan;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import org.ortolan.internal.Memory;
import org.ortolan.internal.Native;

/** Texts as the library has them: UTF-8, one after the other, and where each ends. */
final class Strings {
  private Strings() {}

  /** A new native tensor with these texts. */
  static long tensorOf(String[] texts, long[] shape) {
    byte[][] encoded = new byte[texts.length][];
    long[] ends = new long[texts.length];
    long end = 0;
    for (int i = 0; i < texts.length; ++i) {
      int index = i;
      encoded[i] = Objects.requireNonNull(texts[i], () -> "string " + index + " is null").getBytes(StandardCharsets.UTF_8);
      end += encoded[i].length;
      ends[i] = end;
    }
    ByteBuffer bytes = Memory.allocate(end);
    for (byte[] text : encoded) {
      bytes.put(text);
    }
    return Native.tensor_of_strings(Memory.addressOf(bytes), end, ends, shape);
  }

  /** The texts of a native tensor. */
  static String[] read(long tensor, int count) {
    ByteBuffer bytes = Memory.allocate(Native.strings_size(tensor));
    long[] ends = new long[count];
    Native.read_strings(tensor, Memory.addressOf(bytes), bytes.limit(), ends);
    String[] texts = new String[count];
    for (int i = 0; i < count; ++i) {
      byte[] text = new byte[(int) ends[i] - bytes.position()];
      bytes.get(text);
      texts[i] = new String(text, StandardCharsets.UTF_8);
    }
    return texts;
  }
}
