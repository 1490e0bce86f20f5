// A native session and its names.
package org.ortolan;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongBinaryOperator;
import org.ortolan.internal.Handle;
import org.ortolan.internal.Memory;
import org.ortolan.internal.MemoryRange;
import org.ortolan.internal.Native;

/** A new native session, which the handle owns together with the native lists of its names. */
record OpenSession(Handle handle, Names feeds, Names outputs) {
  /** Names, as the native list that runs take, in order, and by name. */
  record Names(long texts, List<String> list, Map<String, Integer> index) {
    /** Reads a native list, which stays. */
    static Names of(long texts) {
      Map<String, Integer> index = new HashMap<>();
      String[] list = new String[(int) Native.text_count(texts)];
      for (int i = 0; i < list.length; ++i) {
        list[i] = Native.text_at(texts, i);
        index.put(list[i], i);
      }
      return new Names(texts, List.of(list), index);
    }

    /** The place of a name. */
    int indexOf(String name, String what) {
      Integer found = index.get(name);
      if (found == null) {
        throw new IllegalArgumentException("the model has no " + what + " '" + name + "' among " + list);
      }
      return found;
    }
  }

  static OpenSession ofFile(Environment environment, String path, SessionOptions options) {
    return open(environment, options, (owner, settings) -> Native.create_session(owner, path, settings));
  }

  static OpenSession ofBytes(Environment environment, ByteBuffer model, SessionOptions options) {
    if (!Objects.requireNonNull(model, "model").isDirect()) {
      throw new IllegalArgumentException("the buffer is not direct; make it by ByteBuffer.allocateDirect()");
    }
    MemoryRange range = new MemoryRange(model, Memory.addressOf(model) + model.position(), model.remaining());
    OpenSession session = open(environment, options, (owner, settings) ->
        Native.create_session_from_bytes(owner, range.address(), range.length(), settings));
    session.handle.keep(new MemoryRange[] {range});
    return session;
  }

  /** {@code create} gets the addresses of the environment and of the options. */
  private static OpenSession open(Environment environment, SessionOptions given, LongBinaryOperator create) {
    if (given == null) {
      try (SessionOptions defaults = new SessionOptions()) {
        return open(environment, defaults, create);
      }
    }
    return given.read(settings -> environment.handle.with(owner -> {
      OpenSession session = own(create.applyAsLong(owner, settings));
      session.handle.hold("environment", environment.handle);
      session.handle.holdAllOf(given.handle);
      return session;
    }));
  }

  private static OpenSession own(long address) {
    long feeds = 0;
    long outputs = 0;
    try {
      feeds = Native.feed_names(address);
      outputs = Native.output_names(address);
      return own(address, Names.of(feeds), Names.of(outputs));
    } catch (RuntimeException e) {
      free(address, feeds, outputs);
      throw e;
    }
  }

  private static OpenSession own(long address, Names feeds, Names outputs) {
    long feedTexts = feeds.texts;
    long outputTexts = outputs.texts;
    return new OpenSession(new Handle("session", address, it -> free(it, feedTexts, outputTexts)), feeds, outputs);
  }

  private static void free(long address, long feeds, long outputs) {
    Native.release_session(address);
    Native.release_texts(feeds);
    Native.release_texts(outputs);
  }
}
