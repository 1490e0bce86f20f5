// Threads, sessions and the garbage collector at once: Stress [WORKER...] runs all workers, or those named, for
// ORTOLAN_STRESS_SECONDS (6), and fails when results are wrong, closing breaks anything, or the process grows in the second
// half. MALLOC_ARENA_MAX=1 keeps what malloc's arenas hold back for their threads from looking like growth.
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAdder;
import org.ortolan.Environment;
import org.ortolan.IoBinding;
import org.ortolan.OrtolanException;
import org.ortolan.Outputs;
import org.ortolan.RunOptions;
import org.ortolan.Sequence;
import org.ortolan.Session;
import org.ortolan.SessionOptions;
import org.ortolan.Tensor;
import org.ortolan.Value;
import org.ortolan.internal.Handle;

public final class Stress {
  private interface Task {
    void run(Random random) throws Exception;
  }

  private static final long ALLOWED_GROWTH = 24L << 20;
  private static final int ROUNDS = 8;
  /** The shared environment and the one session that stays. */
  private static final long EXPECTED_ALIVE = 2;
  private static final int SEED = 20261121;

  private final List<String> only;
  private final Map<String, LongAdder> done = new ConcurrentHashMap<>();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  /** Sessions that some thread closes while others run. */
  private final AtomicReference<Session> victim = new AtomicReference<>(open());

  /** With only these workers, or all if there are none. */
  private Stress(List<String> only) {
    this.only = only;
  }

  private static Session open() {
    try (SessionOptions options = new SessionOptions().setIntraOpThreads(1)) {
      return Models.open("add", options);
    }
  }

  private static void require(boolean right, String what) {
    if (!right) {
      throw new AssertionError(what);
    }
  }

  private static Tensor floats(Random random, float number) {
    float[] numbers = {number, 2 * number};
    if (random.nextBoolean()) {
      return Tensor.of(numbers, 2);
    }
    ByteBuffer bytes = ByteBuffer.allocateDirect(8).order(ByteOrder.nativeOrder());
    bytes.asFloatBuffer().put(numbers);
    return Tensor.over(bytes.asFloatBuffer(), 2);
  }

  private static void requireSum(float number, Outputs outputs) {
    float[] sum = outputs.tensor("sum").floats();
    require(sum[0] == 2 * number && sum[1] == 4 * number, "sum is " + Arrays.toString(sum) + " for " + number);
  }

  /** Objects of all kinds, closed in any order, some twice, some never. */
  private static void closeInAnyOrder(Random random) {
    Environment environment = Environment.builder().build();
    SessionOptions options = new SessionOptions().setIntraOpThreads(1).setLogListener(line -> {});
    Session session = new Session(environment, Models.path("add"), options);
    float number = random.nextInt(1000);
    Tensor a = floats(random, number);
    IoBinding binding = session.bind().bindInput("a", a).bindInput("b", a);
    RunOptions run = new RunOptions().setTag("stress");
    Outputs outputs = session.run(Map.of("a", a, "b", a), null, run);
    requireSum(number, outputs);
    FloatBuffer view = outputs.tensor("sum").floatBuffer();
    Sequence sequence = Sequence.of(List.of(a, outputs.get(1)));
    List<AutoCloseable> all = new ArrayList<>(List.of(environment, options, session, a, binding, run, outputs, sequence));
    Collections.shuffle(all, random);
    closeAll(all.subList(0, random.nextInt(all.size() + 1)));
    closeAll(all.subList(0, all.size() / 2));
    require(view.get(1) == 4 * number, "a view lost its memory");
  }

  private static void closeAll(List<AutoCloseable> objects) {
    for (AutoCloseable object : objects) {
      try {
        object.close();
      } catch (Exception e) {
        throw new AssertionError(e);
      }
    }
  }

  /** Runs on a session that may be closed at any moment. */
  private void runOnVictim(Random random) {
    float number = random.nextInt(1000);
    try (Tensor a = floats(random, number); Outputs outputs = victim.get().run(a, a)) {
      requireSum(number, outputs);
    } catch (IllegalStateException e) {
      require(e.getMessage().equals("the session is closed"), e.getMessage());
    }
  }

  private void replaceVictim(Random random) throws InterruptedException {
    victim.getAndSet(open()).close();
    Thread.sleep(1);
  }

  /** A run that another thread cancels, and whose session and inputs are closed meanwhile. */
  private static void cancel(Random random) throws InterruptedException {
    Session session = Models.open("endless");
    Tensor x = Tensor.of(new float[1], 1);
    RunOptions options = new RunOptions();
    Thread other = new Thread(() -> {
      pause(random.nextInt(5));
      session.close();
      x.close();
      options.cancel();
    });
    other.start();
    try {
      session.run(Map.of("x", x), null, options);
      throw new AssertionError("a run without end has ended");
    } catch (OrtolanException | IllegalStateException expected) {
      other.join();
    }
    options.close();
  }

  private static void pause(long milliseconds) {
    try {
      Thread.sleep(milliseconds);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Values that are never closed. */
  private static void litter(Random random) {
    try (Session session = Models.open("sequence")) {
      Outputs outputs = session.run(floats(random, 3), floats(random, 4));
      Value second = ((Sequence) outputs.get("pair")).get(1);
      Tensor.of(new String[] {"never", "closed"}, 2);
      require(((Tensor) second).floats()[0] == 4, "the second element is wrong");
    }
  }

  private static void fail(Random random) {
    try (Session session = Models.open("failing"); Tensor index = Tensor.of(new long[] {9}, 1)) {
      session.run(index);
      throw new AssertionError("an index out of range was read");
    } catch (OrtolanException expected) {
      require(expected.getMessage().contains("picker"), expected.getMessage());
    }
  }

  private static void collect(Random random) {
    System.gc();
    pause(20);
  }

  private Thread worker(String name, Task task, long end) {
    Random random = new Random(SEED + name.hashCode());
    return new Thread(() -> {
      try {
        while (System.nanoTime() < end && failure.get() == null) {
          task.run(random);
          done.computeIfAbsent(name, ignored -> new LongAdder()).increment();
        }
      } catch (Throwable e) {
        failure.compareAndSet(null, e);
      }
    }, name);
  }

  private void runAll(double seconds) throws InterruptedException {
    long end = System.nanoTime() + (long) (1e9 * seconds);
    List<Thread> workers = List.of(worker("close 1", Stress::closeInAnyOrder, end),
        worker("close 2", Stress::closeInAnyOrder, end), worker("run 1", this::runOnVictim, end),
        worker("run 2", this::runOnVictim, end), worker("replace", this::replaceVictim, end),
        worker("cancel", Stress::cancel, end), worker("litter", Stress::litter, end), worker("fail", Stress::fail, end),
        worker("collect", Stress::collect, end));
    List<Thread> wanted = workers.stream().filter(worker -> only.isEmpty() || only.contains(worker.getName())).toList();
    wanted.forEach(Thread::start);
    for (Thread worker : wanted) {
      worker.join();
    }
    for (int i = 0; i < 500 && Handle.alive() > EXPECTED_ALIVE; ++i) {
      collect(null);
    }
    if (failure.get() != null) {
      throw new AssertionError("the stress test failed", failure.get());
    }
    require(Handle.alive() == EXPECTED_ALIVE, Handle.alive() + " native objects are alive");
  }

  /** Resident memory of this process, in bytes. */
  private static long resident() throws IOException {
    return 4096 * Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[1]);
  }

  public static void main(String[] arguments) throws Exception {
    double seconds = Double.parseDouble(System.getenv().getOrDefault("ORTOLAN_STRESS_SECONDS", "6"));
    Stress stress = new Stress(List.of(arguments));
    long[] resident = new long[ROUNDS];
    for (int i = 0; i < ROUNDS; ++i) {
      stress.runAll(seconds / ROUNDS);
      resident[i] = resident();
      System.out.printf("resident %.1f MiB%n", resident[i] / 1048576.0);
    }
    System.out.println("done " + stress.done);
    long growth = resident[ROUNDS - 1] - resident[ROUNDS / 2 - 1];
    require(growth < ALLOWED_GROWTH, "the process has grown by " + (growth >> 20) + " MiB in its second half");
    System.out.println("stress: passed");
  }
}
