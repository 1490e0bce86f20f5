// Two class loaders of one JVM, each with the jar of the class path for itself: TwoLoaders MODEL.
import java.io.File;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

public final class TwoLoaders {
  private TwoLoaders() {}

  /** How many inputs the model has, by a session of that loader's classes. */
  private static int inputs(ClassLoader loader, Path model) throws Exception {
    Class<?> type = loader.loadClass("org.ortolan.Session");
    try (AutoCloseable session = (AutoCloseable) type.getConstructor(Path.class).newInstance(model)) {
      return ((java.util.Collection<?>) type.getMethod("inputs").invoke(session)).size();
    }
  }

  public static void main(String[] arguments) throws Exception {
    URL jar = new File(System.getProperty("java.class.path").split(":")[0]).toURI().toURL();
    ClassLoader above = ClassLoader.getPlatformClassLoader();
    try (URLClassLoader first = new URLClassLoader(new URL[] {jar}, above);
        URLClassLoader second = new URLClassLoader(new URL[] {jar}, above)) {
      System.out.println("inputs: " + inputs(first, Path.of(arguments[0])) + " " + inputs(second, Path.of(arguments[0])));
    }
  }
}
