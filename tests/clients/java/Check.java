// What the tests share: models and pictures, comparisons, and the program that runs every test method.
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

final class Check {
  static final OrtEnvironment ENVIRONMENT = OrtEnvironment.getEnvironment("clients");
  static final String DIGITS = System.getenv("CLIENTS_DIGITS") + "/digits.onnx";

  interface Action {
    void run() throws Exception;
  }

  static String model(String name) {
    return System.getenv("CLIENTS_MODELS") + "/" + name + ".onnx";
  }

  /** The pixels of digit_N.pgm as a batch of one: 1 x 1 x 8 x 8, ink from 0 to 1. */
  static float[][][][] picture(int digit) throws Exception {
    String text = Files.readString(Path.of(System.getenv("CLIENTS_DIGITS"), "digit_" + digit + ".pgm"));
    String[] words = text.replaceAll("#.*", "").trim().split("\\s+");
    float[][][][] pixels = new float[1][1][8][8];
    for (int i = 0; i < 64; ++i) {
      pixels[0][0][i / 8][i % 8] = Float.parseFloat(words[4 + i]) / Float.parseFloat(words[3]);
    }
    return pixels;
  }

  static int best(float[] scores) {
    int found = 0;
    for (int i = 0; i < scores.length; ++i) if (scores[i] > scores[found]) found = i;
    return found;
  }

  static void that(boolean truth, Object message) {
    if (!truth) throw new AssertionError(message);
  }

  static void equal(Object expected, Object actual) {
    that(Objects.deepEquals(expected, actual), "expected " + show(expected) + ", got " + show(actual));
  }

  private static String show(Object value) {
    return java.util.Arrays.deepToString(new Object[] {value});
  }

  /** Expects an OrtException with that code (null: any code) and all words. */
  static void refused(OrtException.OrtErrorCode code, Action action, String... words) throws Exception {
    try {
      action.run();
    } catch (OrtException e) {
      that(code == null || e.getCode() == code, "the code is " + e.getCode() + " of: " + e.getMessage());
      for (String word : words) that(e.getMessage().contains(word), "no '" + word + "' in: " + e.getMessage());
      return;
    }
    throw new AssertionError("there is no exception");
  }

  private static int run(Class<?> tests) throws Exception {
    int failures = 0;
    for (Method method : tests.getDeclaredMethods()) {
      if (!method.getName().endsWith("Test")) continue;
      try {
        method.invoke(null);
        System.out.println("ok      " + method.getName());
      } catch (InvocationTargetException e) {
        ++failures;
        System.out.println("failed  " + method.getName());
        e.getCause().printStackTrace(System.out);
      }
    }
    return failures;
  }

  public static void main(String[] args) throws Exception {
    int failures = run(Digits.class) + run(Values.class) + run(Options.class);
    ENVIRONMENT.close();
    System.exit(failures == 0 ? 0 : 1);
  }
}
