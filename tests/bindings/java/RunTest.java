// Runs: by name, by order, for some outputs, in place; and what is refused.
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;

import java.util.List;
import java.util.Map;
import org.junit.Test;
import org.ortolan.ErrorCode;
import org.ortolan.OrtolanException;
import org.ortolan.Outputs;
import org.ortolan.RunOptions;
import org.ortolan.Session;
import org.ortolan.Tensor;

public class RunTest {
  private static void assertFloats(Outputs outputs, String name, float... expected) {
    assertArrayEquals(expected, outputs.tensor(name).floats(), 0);
  }

  @Test
  public void namesGiveAllOutputs() {
    try (Session session = Models.open("add");
        Tensor a = Tensor.of(new float[] {1, 2}, 2);
        Tensor b = Tensor.of(new float[] {10, 20}, 2);
        Outputs outputs = session.run(Map.of("a", a, "b", b))) {
      assertEquals(List.of("sum", "scaled"), outputs.names());
      assertEquals(2, outputs.size());
      assertFloats(outputs, "sum", 11, 22);
      assertFloats(outputs, "scaled", 22, 44);
      assertArrayEquals(new long[] {2}, outputs.tensor(1).shape());
    }
  }

  @Test
  public void orderGivesAllOutputs() {
    try (Session session = Models.open("add");
        Tensor a = Tensor.of(new float[] {1}, 1);
        Tensor b = Tensor.of(new float[] {2}, 1);
        Outputs outputs = session.run(a, b)) {
      assertFloats(outputs, "sum", 3);
    }
  }

  @Test
  public void choosesOutputs() {
    try (Session session = Models.open("add");
        Tensor a = Tensor.of(new float[] {1}, 1);
        Tensor b = Tensor.of(new float[] {2}, 1);
        Outputs second = session.run(Map.of("b", b, "a", a), List.of("scaled"));
        Outputs swapped = session.run(Map.of("b", b, "a", a), List.of("scaled", "sum"));
        Outputs none = session.run(Map.of("b", b, "a", a), List.of())) {
      assertEquals(1, second.size());
      assertFloats(second, "scaled", 6);
      assertEquals(List.of("scaled", "sum"), swapped.names());
      assertFloats(swapped, "sum", 3);
      assertEquals(0, none.size());
    }
  }

  @Test
  public void overridesInitializers() {
    try (Session session = Models.open("add");
        Tensor a = Tensor.of(new float[] {1}, 1);
        Tensor factor = Tensor.of(new float[] {100}, 1);
        Outputs outputs = session.run(Map.of("a", a, "b", a, "factor", factor))) {
      assertFloats(outputs, "scaled", 200);
    }
  }

  @Test
  public void writesInPlace() {
    try (Session session = Models.open("add");
        Tensor a = Tensor.of(new float[] {1, 2}, 2);
        Tensor sum = Tensor.of(new float[2], 2)) {
      session.runInto(Map.of("a", a, "b", a), Map.of("sum", sum), null);
      assertArrayEquals(new float[] {2, 4}, sum.floats(), 0);
      sum.copyFrom(new float[] {5, 6});
      session.runInto(Map.of("a", sum, "b", a), Map.of("scaled", sum), null);
      assertArrayEquals(new float[] {12, 16}, sum.floats(), 0);
    }
  }

  @Test
  public void refusesUnknownNamesAndTooManyValues() {
    try (Session session = Models.open("add"); Tensor a = Tensor.of(new float[] {1}, 1)) {
      assertRefused("the model has no input 'q' among [a, b, factor]", () -> session.run(Map.of("q", a)));
      assertRefused("the model has no output 'q' among [sum, scaled]",
          () -> session.run(Map.of("a", a, "b", a), List.of("q")));
      assertRefused("4 values are too many for the inputs [a, b, factor]", () -> session.run(a, a, a, a));
      Errors.fails(NullPointerException.class, "a value is null", () -> session.run(a, null));
      try (Outputs outputs = session.run(a, a)) {
        assertRefused("there is no output 'q' among [sum, scaled]", () -> outputs.get("q"));
      }
    }
  }

  private static void assertRefused(String message, org.junit.function.ThrowingRunnable call) {
    Errors.fails(IllegalArgumentException.class, message, call);
  }

  @Test
  public void errorsOfRunsHaveCodesAndTexts() {
    try (Session session = Models.open("add"); Tensor a = Tensor.of(new float[] {1}, 1);
        Tensor wrong = Tensor.of(new double[] {1}, 1)) {
      Errors.fails(ErrorCode.INVALID_ARGUMENT, "'b'", () -> session.run(Map.of("a", a)));
      Errors.fails(ErrorCode.INVALID_ARGUMENT, "input 'b' is tensor(float), but the value given holds double",
          () -> session.run(a, wrong));
    }
    try (Session session = Models.open("failing"); Tensor index = Tensor.of(new long[] {7}, 1)) {
      Errors.fails(OrtolanException.class, "picker", () -> session.run(index));
    }
  }

  @Test
  public void cancelEndsRuns() throws InterruptedException {
    try (Session session = Models.open("endless"); Tensor x = Tensor.of(new float[] {0}, 1);
        RunOptions options = new RunOptions()) {
      Thread canceller = new Thread(() -> {
        pause(50);
        options.cancel();
      });
      canceller.start();
      Errors.fails(OrtolanException.class, "terminate is set", () -> session.run(Map.of("x", x), null, options));
      canceller.join();
      try (Session quick = Models.open("add")) {
        Errors.fails(OrtolanException.class, "terminate is set",
            () -> quick.run(Map.of("a", x, "b", x), null, options));
        options.resume();
        quick.run(Map.of("a", x, "b", x), null, options).close();
      }
    }
  }

  private static void pause(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  public void runOptionsKeepWhatTheyAreTold() {
    try (RunOptions options = new RunOptions()) {
      options.setTag("größer").setLogSeverity(org.ortolan.LogSeverity.ERROR).setLogVerbosity(3).set("a.key", "value");
      assertEquals("größer", options.tag());
      assertEquals(org.ortolan.LogSeverity.ERROR, options.logSeverity());
      assertEquals(3, options.logVerbosity());
    }
  }
}
