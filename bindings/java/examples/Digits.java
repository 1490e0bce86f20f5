// Reads handwritten digits: java Digits.java MODEL PICTURE.pgm...
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Scanner;
import org.ortolan.Outputs;
import org.ortolan.Session;
import org.ortolan.Tensor;

public final class Digits {
  /** A picture in the text form of PGM: its size and pixels, ink from 0 to 1. */
  private record Picture(int width, int height, float[] ink) {
    static Picture read(Path file) throws IOException {
      String text = Files.readString(file).replaceAll("#[^\n]*", "");
      try (Scanner words = new Scanner(text)) {
        if (!words.next().equals("P2")) {
          throw new IOException(file + " is no PGM picture in text form");
        }
        int width = words.nextInt();
        int height = words.nextInt();
        float most = words.nextInt();
        float[] ink = new float[width * height];
        for (int i = 0; i < ink.length; ++i) {
          ink[i] = words.nextInt() / most;
        }
        return new Picture(width, height, ink);
      }
    }
  }

  private static int likeliest(float[] probabilities) {
    int best = 0;
    for (int i = 1; i < probabilities.length; ++i) {
      best = probabilities[i] > probabilities[best] ? i : best;
    }
    return best;
  }

  public static void main(String[] arguments) throws IOException {
    if (arguments.length < 2) {
      System.err.println("usage: Digits MODEL PICTURE.pgm...");
      System.exit(2);
    }
    try (Session session = new Session(Path.of(arguments[0]))) {
      for (String file : Arrays.asList(arguments).subList(1, arguments.length)) {
        Picture picture = Picture.read(Path.of(file));
        try (Tensor image = Tensor.of(picture.ink(), 1, 1, picture.height(), picture.width());
            Outputs outputs = session.run(Map.of("image", image))) {
          System.out.println(file + ": " + likeliest(outputs.tensor("probabilities").floats()));
        }
      }
    }
  }
}
