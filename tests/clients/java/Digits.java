// The digits network as Java services use it: arrays and buffers, batches, threads, metadata.
import ai.onnxruntime.NodeInfo;
import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxModelMetadata;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtProvider;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

final class Digits {
  static int classify(OrtSession session, int digit) throws Exception {
    try (OnnxTensor image = OnnxTensor.createTensor(Check.ENVIRONMENT, Check.picture(digit));
        OrtSession.Result result = session.run(Map.of("image", image))) {
      return Check.best(((float[][]) result.get(0).getValue())[0]);
    }
  }

  static void libraryIsOrtolanTest() throws Exception {
    if (System.getenv("CLIENTS_LIBRARY").isEmpty()) return;
    String maps = Files.readString(Path.of("/proc/self/maps"));
    String file = Path.of(System.getenv("CLIENTS_FILE")).toRealPath().toString();
    Check.that(maps.contains(file), "the process has not loaded " + file);
    Check.that(!maps.matches("(?s).*/onnxruntime-java[0-9]+/libonnxruntime\\.so.*"), "the jar's library is loaded");
    Check.that(OrtEnvironment.getAvailableProviders().contains(OrtProvider.CPU), "the CPU is not there");
  }

  static void arraysTest() throws Exception {
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS)) {
      for (int digit = 0; digit < 10; ++digit) Check.equal(digit, classify(session, digit));
    }
  }

  static void directBuffersAndBatchesTest() throws Exception {
    FloatBuffer pixels = ByteBuffer.allocateDirect(4 * 640).order(ByteOrder.nativeOrder()).asFloatBuffer();
    for (int digit = 0; digit < 10; ++digit) {
      for (float[] row : Check.picture(digit)[0][0]) pixels.put(row);
    }
    pixels.rewind();
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS);
        OnnxTensor batch = OnnxTensor.createTensor(Check.ENVIRONMENT, pixels, new long[] {10, 1, 8, 8});
        OrtSession.Result result = session.run(Map.of("image", batch), Set.of("probabilities"))) {
      OnnxTensor probabilities = (OnnxTensor) result.get("probabilities").orElseThrow();
      Check.equal(new long[] {10, 10}, probabilities.getInfo().getShape());
      float[][] rows = (float[][]) probabilities.getValue();
      for (int digit = 0; digit < 10; ++digit) Check.equal(digit, Check.best(rows[digit]));
    }
  }

  static void pinnedOutputsTest() throws Exception {
    FloatBuffer scores = ByteBuffer.allocateDirect(40).order(ByteOrder.nativeOrder()).asFloatBuffer();
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS);
        OnnxTensor image = OnnxTensor.createTensor(Check.ENVIRONMENT, Check.picture(8));
        OnnxTensor output = OnnxTensor.createTensor(Check.ENVIRONMENT, scores, new long[] {1, 10})) {
      session.run(Map.of("image", image), Map.of("probabilities", output)).close();
      float[] copy = new float[10];
      scores.get(copy);
      Check.equal(8, Check.best(copy));
    }
  }

  static void sessionsFromBytesTest() throws Exception {
    byte[] bytes = Files.readAllBytes(Path.of(Check.DIGITS));
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.length);
    direct.put(bytes).rewind();
    try (OrtSession one = Check.ENVIRONMENT.createSession(bytes);
        OrtSession other = Check.ENVIRONMENT.createSession(direct)) {
      java.util.Arrays.fill(bytes, (byte) 0);
      direct.put(bytes);
      Check.equal(1, classify(one, 1));
      Check.equal(2, classify(other, 2));
    }
  }

  static void threadsTest() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(8);
    try (OrtSession shared = Check.ENVIRONMENT.createSession(Check.DIGITS)) {
      List<Future<Void>> workers = new ArrayList<>();
      for (int worker = 0; worker < 8; ++worker) {
        int first = worker;
        workers.add(pool.submit(() -> {
          try (OrtSession own = Check.ENVIRONMENT.createSession(Check.DIGITS)) {
            for (int i = 0; i < 40; ++i) {
              Check.equal((first + i) % 10, classify(shared, (first + i) % 10));
              Check.equal((first + i) % 10, classify(own, (first + i) % 10));
            }
          }
          return null;
        }));
      }
      for (Future<Void> worker : workers) worker.get();
    } finally {
      pool.shutdown();
    }
  }

  static void inputsAndOutputsTest() throws Exception {
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS)) {
      Check.equal(Set.of("image"), session.getInputNames());
      Check.equal(Set.of("probabilities"), session.getOutputNames());
      NodeInfo image = session.getInputInfo().get("image");
      TensorInfo info = (TensorInfo) image.getInfo();
      Check.equal(new long[] {-1, 1, 8, 8}, info.getShape());
      Check.equal(new String[] {"N", "", "", ""}, info.getDimensionNames());
      Check.equal(OnnxJavaType.FLOAT, info.type);
      Check.equal(1L, session.getNumOutputs());
    }
  }

  static void metadataTest() throws Exception {
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model("defaults"))) {
      OnnxModelMetadata metadata = session.getMetadata();
      Check.equal("make_models", metadata.getProducerName());
      Check.equal("defaults", metadata.getGraphName());
      Check.equal("of the graph", metadata.getGraphDescription());
      Check.equal("org.example", metadata.getDomain());
      Check.equal("Drei mal – très bien", metadata.getDescription());
      Check.equal(42L, metadata.getVersion());
      Check.equal(Map.of("language", "Ελληνικά", "empty", ""), metadata.getCustomMetadata());
    }
  }

  /** A second reference to the environment is closed before the sessions that were made with it. */
  static void environmentClosedFirstTest() throws Exception {
    OrtEnvironment environment = OrtEnvironment.getEnvironment();
    OrtSession session = environment.createSession(Check.DIGITS);
    environment.close();
    Check.equal(5, classify(session, 5));
    session.close();
  }
}
