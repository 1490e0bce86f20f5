// Closing: again and again, in any order, on any thread, during runs; and garbage.
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;
import org.ortolan.ElementType;
import org.ortolan.Environment;
import org.ortolan.IoBinding;
import org.ortolan.LogLine;
import org.ortolan.LogListener;
import org.ortolan.LogSeverity;
import org.ortolan.MapValue;
import org.ortolan.MemoryInfo;
import org.ortolan.OrtolanException;
import org.ortolan.Outputs;
import org.ortolan.RunOptions;
import org.ortolan.Sequence;
import org.ortolan.Session;
import org.ortolan.SessionOptions;
import org.ortolan.Tensor;

public class LifetimeTest {
  private static void assertClosed(String what, ThrowingRunnable... calls) {
    for (ThrowingRunnable call : calls) {
      Errors.fails(IllegalStateException.class, "the " + what + " is closed", call);
    }
  }

  private static Tensor one() {
    return Tensor.of(new float[] {1}, 1);
  }

  @Test
  public void closedTensorsRefuse() {
    Tensor tensor = one();
    tensor.floats();
    tensor.buffer();
    tensor.close();
    tensor.close();
    assertTrue(tensor.isClosed());
    assertEquals("closed tensor", tensor.toString());
    assertClosed("value", tensor::floats, tensor::buffer, tensor::floatBuffer, tensor::shape, tensor::elementType,
        tensor::count, tensor::byteSize, tensor::memory, tensor::type, tensor::isPresent, tensor::bytes,
        () -> tensor.copyTo(new float[1]), () -> tensor.copyFrom(new float[1]), () -> Sequence.of(List.of(tensor)));
    try (Tensor unread = one()) {
      unread.close();
      assertClosed("value", unread::floats, unread::shape, unread::count);
    }
  }

  @Test
  public void closedContainersRefuse() {
    try (Tensor keys = Tensor.of(new long[] {1}, 1); Tensor values = one()) {
      Sequence sequence = Sequence.of(List.of(values));
      MapValue map = MapValue.of(keys, values);
      sequence.close();
      map.close();
      assertClosed("value", sequence::size, () -> sequence.get(0), sequence::toList, map::keys, map::toMap);
    }
  }

  @Test
  public void closedSessionsRefuse() {
    Session session = Models.open("add");
    IoBinding binding = session.bind();
    session.close();
    session.close();
    try (Tensor a = one()) {
      assertClosed("session", session::inputs, session::outputs, session::overridableInitializers, session::metadata,
          session::nodeAssignments, session::endProfiling, session::profilingStart, session::bind, () -> session.run(a, a),
          () -> session.run(Map.of("a", a, "b", a)), () -> session.outputMemory(0),
          () -> session.runInto(Map.of("a", a, "b", a), Map.of("sum", a), null), binding::run);
      binding.bindInput("a", a); // of no use, and harmless
      binding.close();
      assertClosed("binding", () -> binding.bindInput("a", a), binding::outputs, binding::clearInputs,
          binding::synchronizeInputs, () -> binding.bindOutput("sum", a));
      Errors.fails(IllegalStateException.class, "the session is closed", binding::run);
    }
  }

  @Test
  public void descriptionsOfMemoryKeepNothing() {
    try (Session session = Models.open("add"); IoBinding binding = session.bind()) {
      Tensor tensor = one();
      MemoryInfo memory = tensor.memory();
      binding.bindOutput("sum", memory);
      tensor.close();
      assertEquals("Cpu", memory.name());
      assertClosed("value", () -> binding.bindOutput("sum", memory));
    }
  }

  @Test
  public void closedOptionsRefuse() {
    SessionOptions options = new SessionOptions();
    RunOptions run = new RunOptions();
    MemoryInfo memory = new MemoryInfo();
    options.close();
    run.close();
    memory.close();
    assertClosed("session options", () -> options.set("a", "b"), options::copy, () -> Models.open("add", options),
        () -> options.setLogListener(line -> {}), () -> options.setIntraOpThreads(1));
    assertClosed("run options", () -> run.setTag("a"), run::tag, run::cancel, run::resume, () -> run.set("a", "b"));
    try (Session session = Models.open("add"); Tensor a = one(); IoBinding binding = session.bind()) {
      assertClosed("run options", () -> session.run(Map.of("a", a, "b", a), null, run), () -> binding.run(run));
      assertClosed("memory description", () -> binding.bindOutput("sum", memory));
      a.close();
      assertClosed("value", () -> session.run(Map.of("a", a, "b", a)), () -> binding.bindInput("a", a));
    }
  }

  @Test
  public void closedEnvironmentsRefuseButTheirSessionsGoOn() {
    Environment environment = Environment.builder().build();
    Session session = new Session(environment, Models.path("add"), null);
    environment.close();
    environment.close();
    assertClosed("environment", environment::devices, () -> environment.setLogSeverity(LogSeverity.ERROR),
        () -> new Session(environment, Models.path("add"), null), environment::clearProviders,
        () -> environment.registerProviderLibrary("a", Models.plugin()));
    try (session; Tensor a = one(); Outputs outputs = session.run(a, a)) {
      assertEquals(2, outputs.tensor(0).floats()[0], 0);
    }
  }

  @Test
  public void outputsOutliveTheirSession() {
    Outputs outputs;
    try (Session session = Models.open("add"); Tensor a = one()) {
      outputs = session.run(a, a);
    }
    Tensor sum = outputs.tensor("sum");
    assertEquals(2, sum.floats()[0], 0);
    outputs.close();
    assertClosed("value", sum::floats);
  }

  @Test
  public void closingDuringARunLetsItEnd() throws InterruptedException {
    Session session = Models.open("endless");
    Tensor x = one();
    RunOptions options = new RunOptions();
    CountDownLatch running = new CountDownLatch(1);
    AtomicReference<Throwable> ended = new AtomicReference<>();
    Thread runner = new Thread(() -> {
      running.countDown();
      try {
        session.run(Map.of("x", x), null, options);
      } catch (RuntimeException e) {
        ended.set(e);
      }
    });
    runner.start();
    running.await();
    Thread.sleep(50);
    Errors.fails(IllegalStateException.class, "the run options are in use by a run", () -> options.setTag("late"));
    session.close();
    x.close();
    assertClosed("session", session::inputs);
    assertClosed("value", x::floats);
    assertTrue(runner.isAlive());
    options.cancel();
    options.close();
    runner.join();
    assertEquals(OrtolanException.class, ended.get().getClass());
  }

  @Test
  public void garbageIsFreed() throws InterruptedException {
    ByteBuffer[] buffer = {ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder())};
    WeakReference<ByteBuffer> memory = new WeakReference<>(buffer[0]);
    Tensor[] tensor = {Tensor.over(ElementType.FLOAT, buffer[0], 1)};
    buffer[0] = null;
    System.gc();
    assertFalse("a tensor keeps its buffer", memory.refersTo(null));
    assertEquals(0, tensor[0].floats()[0], 0);
    tensor[0] = null;
    for (int i = 0; i < 200 && !memory.refersTo(null); ++i) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue("a tensor that is garbage lets its buffer go", memory.refersTo(null));
  }

  @Test
  public void closeLetsBuffersGo() throws InterruptedException {
    Tensor tensor = Tensor.over(ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder()).asFloatBuffer(), 1);
    WeakReference<Object> memory = new WeakReference<>(tensor.buffer());
    tensor.close();
    for (int i = 0; i < 200 && !memory.refersTo(null); ++i) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue(memory.refersTo(null));
    assertClosed("value", tensor::buffer);
  }

  @Test
  public void bindingsKeepWhatIsBoundUntilItIsReplaced() {
    try (Session session = Models.open("add"); IoBinding binding = session.bind()) {
      float[] expected = new float[1];
      for (int i = 0; i < 100; ++i) {
        try (Tensor a = Tensor.of(new float[] {i}, 1)) {
          binding.bindInput("a", a).bindInput("b", a);
        }
        binding.bindOutput("sum", new MemoryInfo());
        binding.run();
        expected[0] = 2 * i;
        try (Outputs outputs = binding.outputs()) {
          assertArrayEquals(expected, outputs.tensor("sum").floats(), 0);
        }
      }
    }
  }

  private static final class Ear implements LogListener {
    @Override
    public void hear(LogLine line) {}
  }

  private static FloatBuffer directFloat() {
    return ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder()).asFloatBuffer();
  }

  private static void assertKept(WeakReference<?> reference) {
    for (int i = 0; i < 3; ++i) {
      System.gc();
      assertFalse("still in use", reference.refersTo(null));
    }
  }

  private static void assertLetGo(WeakReference<?> reference) throws InterruptedException {
    for (int i = 0; i < 200 && !reference.refersTo(null); ++i) {
      System.gc();
      Thread.sleep(10);
    }
    assertTrue("no longer in use", reference.refersTo(null));
  }

  /** A session whose options, with this listener and initializer, are closed. */
  private static Session openWith(LogListener listener, FloatBuffer factor) {
    try (Tensor tensor = Tensor.over(factor, 1);
        SessionOptions options = new SessionOptions().setLogListener(listener).setInitializer("factor", tensor)) {
      return Models.open("add", options);
    }
  }

  @Test
  public void sessionsKeepWhatTheirOptionsNamed() throws InterruptedException {
    LogListener[] listener = {new Ear()};
    FloatBuffer[] factor = {directFloat()};
    WeakReference<?> ear = new WeakReference<>(listener[0]);
    WeakReference<?> memory = new WeakReference<>(factor[0]);
    try (Session session = openWith(listener[0], factor[0])) {
      listener[0] = null;
      factor[0] = null;
      assertKept(ear);
      assertKept(memory);
    }
    assertLetGo(ear);
    assertLetGo(memory);
  }

  /** Calls with a tensor over the buffer that is closed afterwards. */
  private static <T> T withTensor(FloatBuffer buffer, Function<Tensor, T> call) {
    try (Tensor tensor = Tensor.over(buffer, 1)) {
      return call.apply(tensor);
    }
  }

  @Test
  public void containersKeepTheMemoryOfTheirTensors() throws InterruptedException {
    FloatBuffer[] buffer = {directFloat()};
    WeakReference<?> memory = new WeakReference<>(buffer[0]);
    Sequence sequence = withTensor(buffer[0], tensor -> Sequence.of(List.of(tensor)));
    buffer[0] = null;
    assertKept(memory);
    try (Tensor element = (Tensor) sequence.get(0)) {
      sequence.close();
      assertLetGo(memory); // elements that are taken out are copies
      assertEquals(0, element.floats()[0], 0);
    }
  }

  @Test
  public void outputsKeepTheMemoryThatTheyMayPointInto() throws InterruptedException {
    FloatBuffer[] buffer = {directFloat()};
    WeakReference<?> memory = new WeakReference<>(buffer[0]);
    try (Session pairs = Models.open("sequence"); Session sums = Models.open("add")) {
      Outputs pair = withTensor(buffer[0], tensor -> pairs.run(tensor, tensor));
      Outputs sum = withTensor(buffer[0], tensor -> sums.run(tensor, tensor));
      buffer[0] = null;
      assertKept(memory);
      pair.close();
      assertLetGo(memory); // sums are numbers of their own
      sum.close();
    }
  }
}
