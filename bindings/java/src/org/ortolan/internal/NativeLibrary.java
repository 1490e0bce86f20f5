// Finds and loads the native library of the binding.
package org.ortolan.internal;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Loads libortolan_java.so once, from the first place that has it: the file or folder of the system property
 * {@code ortolan.native.path}, the jar itself, {@code java.library.path}, and the folders where Debian puts such
 * libraries.
 */
final class NativeLibrary {
  private static final String NAME = "ortolan_java";
  /** In the order in which they are loaded. */
  private static final List<String> FILES = List.of("libortolan.so.1", System.mapLibraryName(NAME));
  private static final Map<String, String> TRIPLETS = Map.of("amd64", "x86_64-linux-gnu", "aarch64", "aarch64-linux-gnu",
      "riscv64", "riscv64-linux-gnu", "ppc64le", "powerpc64le-linux-gnu", "s390x", "s390x-linux-gnu");

  static {
    loadFirst();
  }

  private NativeLibrary() {}

  /** Returns when the library is loaded. */
  static void load() {}

  private static void loadFirst() {
    String given = System.getProperty("ortolan.native.path");
    if (given != null) {
      loadFrom(Path.of(given).toAbsolutePath());
    } else if (!new PackedLibrary(FILES.get(1)).load() && !loadFromLibraryPath() && !loadFromSystem()) {
      throw new UnsatisfiedLinkError(FILES.get(1) + " is neither in the jar, which has none for " + PackedLibrary.platform()
          + ", nor in java.library.path (" + System.getProperty("java.library.path") + ") nor in " + systemFolders()
          + "; set -Dortolan.native.path to its folder");
    }
  }

  /** A file or a folder, which may hold libortolan.so.1 too. */
  private static void loadFrom(Path given) {
    if (!Files.isDirectory(given)) {
      System.load(given.toString());
      return;
    }
    for (String file : FILES) {
      Path path = given.resolve(file);
      if (Files.exists(path) || file.equals(FILES.get(1))) {
        System.load(path.toString());
      }
    }
  }

  private static boolean loadFromLibraryPath() {
    String folders = System.getProperty("java.library.path", "");
    for (String folder : folders.split(":")) {
      if (Files.exists(Path.of(folder.isEmpty() ? "." : folder, FILES.get(1)))) {
        System.loadLibrary(NAME);
        return true;
      }
    }
    return false;
  }

  private static List<Path> systemFolders() {
    String triplet = TRIPLETS.getOrDefault(System.getProperty("os.arch"), System.getProperty("os.arch") + "-linux-gnu");
    return List.of(Path.of("/usr/lib", triplet, "jni"), Path.of("/usr/lib/jni"));
  }

  private static boolean loadFromSystem() {
    for (Path folder : systemFolders()) {
      Path path = folder.resolve(FILES.get(1));
      if (Files.exists(path)) {
        System.load(path.toString());
        return true;
      }
    }
    return false;
  }
}
