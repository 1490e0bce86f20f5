// What the tests run.
import java.nio.file.Path;
import org.ortolan.Session;
import org.ortolan.SessionOptions;

final class Models {
  private Models() {}

  static Path path(String name) {
    return Path.of(System.getenv("ORTOLAN_TEST_MODELS"), name + ".onnx");
  }

  static Path plugin() {
    return Path.of(System.getenv("ORTOLAN_TEST_PLUGINS"), "libonnxruntime_ep_example.so");
  }

  static Session open(String name) {
    return new Session(path(name), null);
  }

  static Session open(String name, SessionOptions options) {
    return new Session(path(name), options);
  }
}
