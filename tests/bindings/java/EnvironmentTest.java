// Environments: logs, providers, plugin libraries and their devices, shared threads. Runs in a JVM of its own, where no
// environment is open before.
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertSame;
import static org.junit.Assert.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.FixMethodOrder;
import org.junit.Test;
import org.junit.runners.MethodSorters;
import org.ortolan.Device;
import org.ortolan.DevicePolicy;
import org.ortolan.ElementType;
import org.ortolan.Environment;
import org.ortolan.LogLine;
import org.ortolan.LogSeverity;
import org.ortolan.MemoryInfo;
import org.ortolan.OrtolanException;
import org.ortolan.Outputs;
import org.ortolan.Provider;
import org.ortolan.RunOptions;
import org.ortolan.Session;
import org.ortolan.SessionOptions;
import org.ortolan.Tensor;

@FixMethodOrder(MethodSorters.NAME_ASCENDING)
public class EnvironmentTest {
  private static final String PLUGIN = "ExampleKernelExecutionProvider";

  private static Session open(Environment environment, String model) {
    return new Session(environment, Models.path(model), null);
  }

  @Test
  public void linesGoToListeners() {
    List<LogLine> lines = new CopyOnWriteArrayList<>();
    try (Environment environment = Environment.builder().logSeverity(LogSeverity.VERBOSE).logId("ears")
        .logListener(lines::add).build()) {
      open(environment, "add").close();
      assertFalse(lines.isEmpty());
      assertEquals("ears", lines.get(0).logId());
      assertEquals("onnxruntime", lines.get(0).category());
      environment.setLogSeverity(LogSeverity.ERROR);
      lines.clear();
      open(environment, "add").close();
      assertEquals(List.of(), lines);
    }
  }

  @Test
  public void linesOfOneEnvironmentReachListenersOfAnother() {
    List<LogLine> lines = new CopyOnWriteArrayList<>();
    try (Environment silent = Environment.builder().build()) {
      try (Environment heard = Environment.builder().logSeverity(LogSeverity.VERBOSE).logListener(lines::add).build()) {
        open(silent, "add").close();
        assertFalse(lines.isEmpty());
        heard.setLogSeverity(LogSeverity.ERROR);
      }
      lines.clear();
      open(silent, "add").close();
      assertEquals(List.of(), lines);
    }
  }

  @Test
  public void sessionsHaveListenersOfTheirOwn() {
    List<LogLine> ours = new CopyOnWriteArrayList<>();
    List<LogLine> all = new CopyOnWriteArrayList<>();
    try (Environment environment = Environment.builder().logSeverity(LogSeverity.WARNING).logListener(all::add).build();
        Session session = openHeard(environment, ours); Tensor a = Tensor.of(new float[] {1}, 1);
        RunOptions options = new RunOptions().setLogSeverity(LogSeverity.VERBOSE)) {
      assertFalse(ours.isEmpty());
      System.gc(); // the options that named the listener are closed
      session.run(Map.of("a", a, "b", a), null, options).close();
      assertEquals(List.of(), all);
    }
  }

  private static Session openHeard(Environment environment, List<LogLine> lines) {
    try (SessionOptions options = new SessionOptions().setLogListener(lines::add).setLogSeverity(LogSeverity.VERBOSE)) {
      return new Session(environment, Models.path("add"), options);
    }
  }

  @Test
  public void listenersThatThrowAreReported() {
    List<Throwable> reported = new CopyOnWriteArrayList<>();
    Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, error) -> reported.add(error));
    try (Environment environment = Environment.builder().logSeverity(LogSeverity.VERBOSE).logListener(line -> {
      throw new ArithmeticException("thrown by a listener");
    }).build()) {
      open(environment, "add").close();
      environment.setLogSeverity(LogSeverity.WARNING);
    } finally {
      Thread.setDefaultUncaughtExceptionHandler(before);
    }
    assertEquals("thrown by a listener", reported.get(0).getMessage());
  }

  @Test
  public void poolsAreShared() {
    try (Environment pools = Environment.builder().sharedThreads(2, 1, false).build();
        SessionOptions options = new SessionOptions().useSharedThreads();
        Session session = new Session(pools, Models.path("mlp"), options);
        Tensor x = Tensor.zeros(ElementType.FLOAT, 1, 32); Outputs outputs = session.run(x)) {
      assertEquals(32, outputs.tensor("y").count());
      Errors.fails(IllegalStateException.class, "open without these thread pools",
          () -> Environment.builder().sharedThreads(1, 1, true).build());
    }
    try (Environment none = Environment.builder().build();
        SessionOptions options = new SessionOptions().useSharedThreads()) {
      Errors.fails(OrtolanException.class, "the environment has none",
          () -> new Session(none, Models.path("mlp"), options));
    }
  }

  @Test
  public void environmentsHaveProvidersForAllSessions() {
    try (Environment environment = Environment.builder().build()) {
      environment.addProvider(new Provider("NoSuchExecutionProvider"), false);
      open(environment, "add").close();
      environment.clearProviders();
      try {
        environment.addProvider(new Provider("NoSuchExecutionProvider"), true);
        Errors.fails(OrtolanException.class, "NoSuchExecutionProvider", () -> open(environment, "add"));
      } catch (OrtolanException e) {
        assertTrue(e.getMessage(), e.getMessage().contains("NoSuchExecutionProvider"));
      }
      environment.clearProviders();
      open(environment, "add").close();
    }
  }

  private static List<Device> pluginDevices(Environment environment) {
    return environment.devices().stream().filter(device -> device.provider().equals(PLUGIN)).toList();
  }

  @Test
  public void pluginsRunNodes() {
    try (Environment environment = Environment.builder().build()) {
      assertEquals(List.of(), pluginDevices(environment));
      environment.registerProviderLibrary("example", Models.plugin());
      Device device = pluginDevices(environment).get(0);
      assertFalse(device.providerVendor().isEmpty());
      assertFalse(device.hardwareVendor() == null || device.hardwareType() == null);
      try (SessionOptions options =
              new SessionOptions().addDevices(environment, List.of(device), Map.of()).setCpuFallback(true);
          Session session = new Session(environment, Models.path("add"), options)) {
        assertTrue(session.providers().toString(), session.providers().contains(PLUGIN));
      }
      try (SessionOptions options = new SessionOptions()) {
        assertTrue(options.addProviderIfPresent(new Provider(PLUGIN)));
        try (Session session = new Session(environment, Models.path("add"), options)) {
          assertTrue(session.providers().toString(), session.providers().contains(PLUGIN));
        }
      }
      try (SessionOptions options = new SessionOptions().setDevicePolicy(DevicePolicy.PREFER_CPU);
          Session session = new Session(environment, Models.path("add"), options)) {
        assertEquals(2, session.nodeAssignments().size());
      }
      copyThroughMemoryOf(environment, device);
      environment.unregisterProviderLibrary("example");
      Errors.fails(IllegalStateException.class, "its library was unregistered", () -> device.memory(false));
      Errors.fails(IllegalStateException.class, "its library was unregistered",
          () -> new SessionOptions().addDevices(environment, List.of(device), Map.of()));
      assertEquals(PLUGIN, device.provider());
      Errors.fails(OrtolanException.class, "no plugin library is registered as 'example'",
          () -> environment.unregisterProviderLibrary("example"));
    }
  }

  @Test
  public void sessionsGoOnWhenTheirPluginIsUnregistered() {
    try (Environment environment = Environment.builder().build()) {
      environment.registerProviderLibrary("example", Models.plugin());
      try (SessionOptions options = new SessionOptions().addDevices(environment, pluginDevices(environment), Map.of());
          Session session = new Session(environment, Models.path("add"), options);
          Tensor a = Tensor.of(new float[] {1}, 1)) {
        environment.unregisterProviderLibrary("example");
        try (Outputs outputs = session.run(a, a)) {
          assertEquals(4, outputs.tensor("scaled").floats()[0], 0);
        }
        new Session(environment, Models.path("add"), options).close();
      }
    }
  }

  private static void copyThroughMemoryOf(Environment environment, Device device) {
    try (MemoryInfo memory = device.memory(false).orElseThrow();
        Tensor there = Tensor.onDevice(environment, memory, ElementType.FLOAT, 2);
        Tensor here = Tensor.of(new float[] {3, 4}, 2); Tensor back = Tensor.of(new float[2], 2)) {
      here.copyTo(environment, there);
      there.copyTo(environment, back);
      assertArrayEquals(new float[] {3, 4}, back.floats(), 0);
      assertEquals(memory.name(), there.memory().name());
      if (there.memory().deviceType() != MemoryInfo.DeviceType.CPU) {
        Errors.fails(IllegalStateException.class, "in the memory of a device", there::floats);
        Errors.fails(IllegalStateException.class, "in the memory of a device", there::buffer);
        Errors.fails(IllegalStateException.class, "in the memory of a device", () -> there.copyFrom(new float[2]));
      }
    }
  }

  @Test
  public void absentPluginsAreErrors() {
    try (Environment environment = Environment.builder().build()) {
      Errors.fails(OrtolanException.class, "/no/such/plugin.so",
          () -> environment.registerProviderLibrary("absent", java.nio.file.Path.of("/no/such/plugin.so")));
    }
  }

  @Test
  public void zzzTheSharedOneStays() {
    Environment shared = Environment.shared();
    shared.close();
    assertFalse(shared.isClosed());
    assertSame(shared, Environment.shared());
  }
}
