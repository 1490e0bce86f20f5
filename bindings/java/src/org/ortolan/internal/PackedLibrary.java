// Unpacks and loads the native libraries that the jar carries.
package org.ortolan.internal;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;

/**
 * The native libraries in the jar, under {@code org/ortolan/native/<os>-<architecture>}, where {@code sha256sums} lists
 * them. They are unpacked once: into a folder that is named after their content and that only this user may write.
 * A file there is used if it has the listed digest; any other is replaced by a whole one in one step, so that several
 * JVMs may start at once and a damaged copy does no harm.
 */
final class PackedLibrary {
  private static final String CACHE = "ortolan.native.cache";
  private static final String LIST = "sha256sums";
  private static final FileAttribute<?> PRIVATE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

  private final String resources = "/org/ortolan/native/" + platform() + "/";
  private final String library;
  /** The digests in hexadecimal, by the names of the files. */
  private final NavigableMap<String, String> digests = new TreeMap<>();

  /** That of the library with this file name, or of nothing where the jar has none for this platform. */
  PackedLibrary(String library) {
    this.library = library;
    try (InputStream list = PackedLibrary.class.getResourceAsStream(resources + LIST)) {
      if (list != null) {
        new String(list.readAllBytes(), StandardCharsets.UTF_8).lines().forEach(line -> {
          String[] words = line.split(" +");
          digests.put(words[1], words[0]);
        });
      }
    } catch (IOException e) {
      throw broken("cannot read " + resources + LIST + " of the jar: " + e, e);
    }
  }

  /** The name under which a jar has the libraries for this JVM. */
  static String platform() {
    return (System.getProperty("os.name") + "-" + System.getProperty("os.arch")).toLowerCase(Locale.ROOT);
  }

  /** Loads the library; false where the jar has none for this platform. */
  boolean load() {
    if (digests.isEmpty()) {
      return false;
    }
    List<String> refusals = new ArrayList<>();
    try {
      int user = userOf(Path.of("/proc/self"));
      for (Path place : places(user)) {
        try {
          loadFrom(unpackInto(place, user));
          return true;
        } catch (IOException | UnsatisfiedLinkError e) {
          refusals.add(place + " will not do (" + e + ")");
        }
      }
    } catch (IOException e) {
      refusals.add("who runs this JVM is unknown (" + e + ")");
    }
    throw broken("cannot load " + library + " from the jar: " + String.join("; ", refusals) + "; set -D" + CACHE
        + " to a folder where this user may write files and load them, or -Dortolan.native.path to one that has " + library, null);
  }

  private static UnsatisfiedLinkError broken(String text, Throwable cause) {
    UnsatisfiedLinkError error = new UnsatisfiedLinkError(text);
    error.initCause(cause);
    return error;
  }

  /** Where to unpack, the best first. */
  private static List<Path> places(int user) {
    if (System.getProperty(CACHE) != null) {
      return List.of(Path.of(System.getProperty(CACHE)).toAbsolutePath());
    }
    String set = System.getenv("XDG_CACHE_HOME");
    Path cache = set == null || set.isEmpty() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(set);
    Path temporary = Path.of(System.getProperty("java.io.tmpdir"), "ortolan-" + user);
    return cache.isAbsolute() ? List.of(cache.resolve("ortolan/native"), temporary) : List.of(temporary);
  }

  /** The folder below {@code place} with all files as listed. */
  private Path unpackInto(Path place, int user) throws IOException {
    Path folder = place.resolve(hexOf(sha256().digest(digests.toString().getBytes(StandardCharsets.UTF_8))).substring(0, 32));
    Files.createDirectories(folder, PRIVATE);
    requirePrivate(place, user);
    requirePrivate(folder, user);
    for (Map.Entry<String, String> file : digests.entrySet()) {
      Path path = folder.resolve(file.getKey());
      if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS) || !digestOf(path).equals(file.getValue())) {
        unpack(file.getKey(), file.getValue(), path);
      }
    }
    return folder;
  }

  private static int userOf(Path path) throws IOException {
    return (Integer) Files.getAttribute(path, "unix:uid");
  }

  /** Fails unless it is a folder of this user's that nobody else may write. */
  private static void requirePrivate(Path folder, int user) throws IOException {
    PosixFileAttributes facts = Files.readAttributes(folder, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    Set<PosixFilePermission> may = facts.permissions();
    if (!facts.isDirectory() || may.contains(PosixFilePermission.GROUP_WRITE)
        || may.contains(PosixFilePermission.OTHERS_WRITE) || userOf(folder) != user) {
      throw new FileSystemException(folder.toString(), null, "others may write there");
    }
  }

  /** Puts the file of the jar in place when it is whole. */
  private void unpack(String name, String digest, Path path) throws IOException {
    Path part = Files.createTempFile(path.getParent(), name, ".part");
    try (InputStream resource = PackedLibrary.class.getResourceAsStream(resources + name)) {
      if (resource == null) {
        throw new FileSystemException(resources + name, null, "is listed in " + LIST + " of the jar, but not there");
      }
      Files.copy(resource, part, StandardCopyOption.REPLACE_EXISTING);
      if (!digestOf(part).equals(digest)) {
        throw new FileSystemException(resources + name, null, "has another content than " + LIST + " of the jar says");
      }
      Files.move(part, path, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  /** Loads what is listed up to the library: by its name it stands behind those that it needs, and before those that
      are opened when a model asks for them. */
  private void loadFrom(Path folder) throws IOException {
    for (String file : digests.headMap(library, true).keySet()) {
      try {
        System.load(folder.resolve(file).toString());
      } catch (UnsatisfiedLinkError e) {
        if (!String.valueOf(e.getMessage()).contains("another classloader")) {
          throw e;
        }
        if (file.equals(library)) {
          loadCopy(folder.resolve(file));
        }
      }
    }
  }

  /** For another class loader's classes: a JVM loads a file for one only. What is loaded needs no name any more. */
  private static void loadCopy(Path path) throws IOException {
    Path copy = Files.createTempFile(path.getParent(), "copy", ".part");
    try {
      Files.copy(path, copy, StandardCopyOption.REPLACE_EXISTING);
      System.load(copy.toString());
    } finally {
      Files.deleteIfExists(copy);
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  private static String digestOf(Path path) throws IOException {
    try (DigestInputStream in = new DigestInputStream(Files.newInputStream(path), sha256())) {
      byte[] block = new byte[1 << 16];
      while (in.read(block) >= 0) {
        // reading is all that it takes
      }
      return hexOf(in.getMessageDigest().digest());
    }
  }

  private static String hexOf(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }
}
