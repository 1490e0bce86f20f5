// Sessions: what they say about their models, options, profiles, bindings, and errors.
import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;
import org.ortolan.ElementType;
import org.ortolan.Environment;
import org.ortolan.ErrorCode;
import org.ortolan.ExecutionMode;
import org.ortolan.IoBinding;
import org.ortolan.MemoryInfo;
import org.ortolan.ModelMetadata;
import org.ortolan.NodeAssignment;
import org.ortolan.OptimizationLevel;
import org.ortolan.Ortolan;
import org.ortolan.OrtolanException;
import org.ortolan.Outputs;
import org.ortolan.Provider;
import org.ortolan.Session;
import org.ortolan.SessionOptions;
import org.ortolan.Tensor;
import org.ortolan.ValueKind;
import org.ortolan.ValueInfo;
import org.ortolan.ValueType;

public class SessionTest {
  @Rule public final TemporaryFolder folder = new TemporaryFolder();

  private static void assertAdds(Session session) {
    try (Tensor a = Tensor.of(new float[] {1, 2}, 2); Outputs outputs = session.run(a, a)) {
      assertArrayEquals(new float[] {2, 4}, outputs.tensor("sum").floats(), 0);
    }
  }

  @Test
  public void sayWhatTheyTakeAndGive() {
    try (Session session = Models.open("add"); Session identity = Models.open("identity_int64")) {
      ValueType vector = new ValueType.OfTensor(ValueKind.TENSOR, ElementType.FLOAT, List.of(-1L), List.of("n"));
      assertEquals(List.of(new ValueInfo("a", vector), new ValueInfo("b", vector)), session.inputs());
      assertEquals(List.of(new ValueInfo("sum", vector), new ValueInfo("scaled", vector)), session.outputs());
      assertEquals("factor", session.overridableInitializers().get(0).name());
      assertEquals(new ValueType.OfTensor(ValueKind.TENSOR, ElementType.INT64, List.of(-1L, -1L),
          List.of("rows", "columns")), identity.outputs().get(0).type());
    }
    try (Session maps = Models.open("zip_map_words"); Session sequence = Models.open("sequence_length")) {
      ValueType.OfSequence type = (ValueType.OfSequence) maps.outputs().get(0).type();
      assertEquals(ElementType.STRING, ((ValueType.OfMap) type.content()).key());
      assertEquals(ValueKind.SEQUENCE, sequence.inputs().get(0).type().kind());
    }
  }

  @Test
  public void sayWhatTheirModelsSay() {
    try (Session session = Models.open("add")) {
      assertEquals(new ModelMetadata("ortolan-tests", "add_graph", "two nodes", "org.ortolan.tests", "adds – and scales", 7,
          Map.of("author", "Ørtolan", "empty", "")), session.metadata());
    }
  }

  @Test
  public void comeFromBytes() throws IOException {
    byte[] model = Files.readAllBytes(Models.path("add"));
    ByteBuffer direct = ByteBuffer.allocateDirect(model.length + 1).position(1).put(model).position(1);
    try (Session copied = new Session(model, null); Session kept = new Session(Environment.shared(), direct, null)) {
      assertAdds(copied);
      assertAdds(kept);
    }
    Errors.fails(IllegalArgumentException.class, "the buffer is not direct",
        () -> new Session(Environment.shared(), ByteBuffer.wrap(model), null));
    Errors.fails(ErrorCode.INVALID_PROTOBUF, "the file is damaged", () -> new Session(new byte[] {1, 2, 3}, null));
    Errors.fails(OrtolanException.class, "the model is empty", () -> new Session(new byte[0], null));
  }

  @Test
  public void errorsSayWhichFile() {
    Path absent = Path.of("/no/such/möbel.onnx");
    Errors.fails(ErrorCode.NO_SUCH_FILE, "/no/such/möbel.onnx", () -> new Session(absent));
    Errors.fails(ErrorCode.INVALID_PROTOBUF, "broken.onnx", () -> Models.open("broken"));
    Errors.fails(IllegalArgumentException.class, "has a NUL character", () -> new SessionOptions().set("a\0b", "c"));
    Errors.fails(NullPointerException.class, "key", () -> new SessionOptions().set(null, "c"));
    Errors.fails(NullPointerException.class, "model", () -> new Session((Path) null));
  }

  @Test
  public void optionsHaveAllSettings() throws IOException {
    Path optimized = folder.getRoot().toPath().resolve("optimized.onnx");
    try (SessionOptions options = new SessionOptions()) {
      options.setOptimizationLevel(OptimizationLevel.BASIC).setExecutionMode(ExecutionMode.PARALLEL).setIntraOpThreads(2)
          .setInterOpThreads(2).setMemoryPattern(false).setCpuArena(false).setLogId("test").setLogVerbosity(1)
          .setDeterministic(true).setOptimizedModelPath(optimized).set("session.intra_op.allow_spinning", "0");
      assertEquals(Optional.of("0"), options.get("session.intra_op.allow_spinning"));
      assertEquals(Optional.empty(), options.get("absent"));
      try (Session session = Models.open("add", options); SessionOptions copy = options.copy()) {
        assertAdds(session);
        copy.set("session.intra_op.allow_spinning", "1");
        assertEquals(Optional.of("0"), options.get("session.intra_op.allow_spinning"));
        assertEquals(Optional.of("1"), copy.get("session.intra_op.allow_spinning"));
      }
      assertTrue(Files.size(optimized) > 0);
    }
  }

  @Test
  public void optionsFixDimensions() {
    try (SessionOptions options = new SessionOptions().fixDimension("rows", 3).fixDimensionByDenotation("BATCH", 2);
        Session session = Models.open("identity_float", options)) {
      assertEquals(List.of(3L, -1L), ((ValueType.OfTensor) session.inputs().get(0).type()).shape());
    }
  }

  @Test
  public void optionsReplaceInitializers() {
    try (Session session = withFactor(Tensor.over(directFloats(10), 1)); Tensor a = Tensor.of(new float[] {1}, 1)) {
      System.gc();
      try (Outputs outputs = session.run(a, a)) {
        assertEquals(20, outputs.tensor("scaled").floats()[0], 0);
      }
    }
  }

  private static java.nio.FloatBuffer directFloats(float number) {
    return ByteBuffer.allocateDirect(4).order(java.nio.ByteOrder.nativeOrder()).asFloatBuffer().put(0, number);
  }

  /** The options and the tensor are closed when this returns. */
  private static Session withFactor(Tensor factor) {
    try (factor; SessionOptions options = new SessionOptions().setInitializer("factor", factor)) {
      return Models.open("add", options);
    }
  }

  @Test
  public void absentProvidersAreErrorsUnlessFallbackIsWanted() {
    Provider absent = new Provider("CUDAExecutionProvider", Map.of("device_id", "0"));
    try (SessionOptions options = new SessionOptions()) {
      Errors.fails(OrtolanException.class, "CUDA", () -> options.addProvider(absent));
      Errors.fails(OrtolanException.class, "no execution provider is called 'NoSuchExecutionProvider'",
          () -> options.addProvider(new Provider("NoSuchExecutionProvider")));
      assertFalse(options.addProviderIfPresent(absent));
      assertTrue(options.addProviderIfPresent(Provider.CPU));
      try (Session session = Models.open("add", options)) {
        assertEquals(List.of("CPUExecutionProvider"), session.providers());
        assertEquals(new NodeAssignment("CPUExecutionProvider", "adder", "", "Add"), session.nodeAssignments().get(0));
      }
    }
    assertTrue(Ortolan.availableProviders().contains("CPUExecutionProvider"));
  }

  @Test
  public void customOperatorsMustBeThere() {
    try (SessionOptions options = new SessionOptions()) {
      Errors.fails(OrtolanException.class, "/no/such/library.so",
          () -> options.registerCustomOperators(Path.of("/no/such/library.so")));
    }
  }

  @Test
  public void profilesAreWritten() throws IOException {
    Path prefix = folder.getRoot().toPath().resolve("profile");
    try (SessionOptions options = new SessionOptions().setProfiling(prefix); Session session = Models.open("add", options)) {
      assertAdds(session);
      assertTrue(session.profilingStart() > 0);
      Path file = session.endProfiling().orElseThrow();
      assertTrue(file.toString(), file.toString().startsWith(prefix.toString()));
      assertTrue(Files.readString(file).contains("adder"));
      options.setProfiling(null);
      try (Session silent = Models.open("add", options)) {
        assertEquals(Optional.empty(), silent.endProfiling());
      }
    }
  }

  @Test
  public void bindingsRunWithWhatIsBound() {
    try (Session session = Models.open("add"); IoBinding binding = session.bind();
        MemoryInfo place = session.outputMemory(1)) {
      Tensor sum = bindAll(binding, place);
      binding.run();
      binding.synchronizeOutputs();
      assertArrayEquals(new float[] {4, 6}, sum.floats(), 0);
      try (Outputs outputs = binding.outputs()) {
        assertEquals(List.of("sum", "scaled"), outputs.names());
        assertArrayEquals(new float[] {12, 18}, outputs.tensor("scaled").floats(), 0);
      }
      sum.close();
      binding.run(); // the memory is still bound
      binding.clearOutputs();
      try (Outputs outputs = binding.outputs()) {
        assertEquals(0, outputs.size());
      }
      binding.clearInputs().bindOutput("sum", new MemoryInfo());
      Errors.fails(OrtolanException.class, "input 'a' is missing", binding::run);
      Errors.fails(OrtolanException.class, "cannot bind output 'absent'",
          () -> binding.bindOutput("absent", new MemoryInfo()));
    }
  }

  /** Inputs are closed when this returns; the result is the tensor of "sum". */
  private static Tensor bindAll(IoBinding binding, MemoryInfo place) {
    Tensor sum = Tensor.of(new float[2], 2);
    try (Tensor a = Tensor.of(new float[] {1, 2}, 2); Tensor b = Tensor.over(two(3, 4), 2);
        Tensor factor = Tensor.of(new float[] {3}, 1); Tensor first = Tensor.of(new float[] {0, 0}, 2)) {
      binding.bindInput("a", first).bindInput("a", a).bindInput("b", b).bindInput("factor", factor);
    }
    binding.bindOutput("sum", sum).bindOutput("scaled", place);
    binding.synchronizeInputs();
    System.gc();
    return sum;
  }

  private static java.nio.FloatBuffer two(float first, float second) {
    return ByteBuffer.allocateDirect(8).order(java.nio.ByteOrder.nativeOrder()).asFloatBuffer().put(0, first).put(1, second);
  }

  @Test
  public void memoryIsDescribed() {
    try (Session session = Models.open("add"); MemoryInfo input = session.inputMemory(0);
        MemoryInfo own = new MemoryInfo("Cpu", 0)) {
      assertEquals(own.name(), input.name());
      Errors.fails(OrtolanException.class, "no input or output of that index", () -> session.outputMemory(2));
      Errors.fails(OrtolanException.class, "memory called 'NoSuchMemory'", () -> new MemoryInfo("NoSuchMemory", 0));
    }
  }

  @Test
  public void theLibrarySaysWhatItIs() {
    assertTrue(Ortolan.version(), Ortolan.version().matches("1\\.\\d+\\.\\d+"));
    assertTrue(Ortolan.buildInfo(), Ortolan.buildInfo().toLowerCase().contains("ortolan"));
  }
}
