// What a run costs from Java, as bench/bindings/overhead.c measures it in C: Overhead MODEL SECONDS.
import java.nio.file.Path;
import java.util.Arrays;
import org.ortolan.Outputs;
import org.ortolan.Session;
import org.ortolan.SessionOptions;
import org.ortolan.Tensor;

public final class Overhead {
  private static final int WIDTH = 32;
  private static final int BATCH = 1000;
  private static final int MAX_BATCHES = 1 << 16;

  private static float run(Session session, float[] input) {
    try (Tensor x = Tensor.of(input, 1, WIDTH); Outputs outputs = session.run(x)) {
      float sum = 0;
      for (float number : outputs.tensor(0).floats()) {
        sum += number;
      }
      return sum;
    }
  }

  private static double median(Session session, double seconds) {
    float[] input = new float[WIDTH];
    for (int i = 0; i < WIDTH; ++i) {
      input[i] = (float) i / WIDTH;
    }
    double[] batches = new double[MAX_BATCHES];
    int count = 0;
    float sum = 0;
    long end = System.nanoTime() + (long) (1e9 * seconds);
    while (System.nanoTime() < end && count < MAX_BATCHES) {
      long start = System.nanoTime();
      for (int i = 0; i < BATCH; ++i) {
        sum += run(session, input);
      }
      batches[count++] = 1e-3 * (System.nanoTime() - start) / BATCH;
    }
    if (Float.isNaN(sum)) {
      throw new IllegalStateException("the results are no numbers");
    }
    Arrays.sort(batches, 0, count);
    return batches[count / 2];
  }

  public static void main(String[] arguments) {
    if (arguments.length != 2) {
      System.err.println("usage: Overhead MODEL SECONDS");
      System.exit(2);
    }
    double seconds = Double.parseDouble(arguments[1]);
    try (SessionOptions options = new SessionOptions().setIntraOpThreads(1);
        Session session = new Session(Path.of(arguments[0]), options)) {
      median(session, seconds); // until the JVM has compiled what runs
      System.out.printf("median_us %.3f%n", median(session, seconds));
    }
  }
}
