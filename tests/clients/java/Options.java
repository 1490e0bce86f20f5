// Options and errors: levels, modes, entries, profiles, logs, runs that are told to end, what programs get wrong.
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtException.OrtErrorCode;
import ai.onnxruntime.OrtLoggingLevel;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.TensorInfo;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

final class Options {
  interface Setting {
    void set(OrtSession.SessionOptions options) throws Exception;
  }

  private static void with(Setting setting) throws Exception {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      setting.set(options);
      try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS, options)) {
        Check.equal(6, Digits.classify(session, 6));
      }
    }
  }

  static void optionsTest() throws Exception {
    for (var level : OrtSession.SessionOptions.OptLevel.values()) with(options -> options.setOptimizationLevel(level));
    for (var mode : OrtSession.SessionOptions.ExecutionMode.values()) with(options -> options.setExecutionMode(mode));
    for (boolean on : new boolean[] {true, false}) {
      with(options -> options.addCPU(on));
      with(options -> options.setCPUArenaAllocator(on));
      with(options -> options.setMemoryPatternOptimization(on));
      with(options -> options.setDeterministicCompute(on));
    }
    with(options -> {
      options.setIntraOpNumThreads(2);
      options.setInterOpNumThreads(2);
      options.setLoggerId("clients");
      options.setSessionLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_ERROR);
      options.setSessionLogVerbosityLevel(0);
      options.addConfigEntry("session.set_denormal_as_zero", "1");
      options.setSymbolicDimensionValue("N", 1);
    });
  }

  static void fixedDimensionsTest() throws Exception {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setSymbolicDimensionValue("batch", 2);
      try (OrtSession session = Check.ENVIRONMENT.createSession(Check.model("adder"), options)) {
        Check.equal(new long[] {2, -1}, ((TensorInfo) session.getInputInfo().get("left").getInfo()).getShape());
      }
    }
  }

  static void filesThatSessionsWriteTest() throws Exception {
    Path folder = Files.createTempDirectory("clients");
    String optimised = folder.resolve("optimised.onnx").toString();
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setOptimizedModelFilePath(optimised);
      options.setOptimizationLevel(OrtSession.SessionOptions.OptLevel.BASIC_OPT);
      options.enableProfiling(folder.resolve("profile").toString());
      try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS, options)) {
        Check.equal(7, Digits.classify(session, 7));
        Check.that(session.getProfilingStartTimeInNs() > 0, "the profile has no start");
        String profile = session.endProfiling();
        Check.that(Files.readString(Path.of(profile)).contains("\"Softmax\""), profile);
        Files.delete(Path.of(profile));
      }
    }
    try (OrtSession again = Check.ENVIRONMENT.createSession(optimised)) {
      Check.equal(7, Digits.classify(again, 7));
    }
    Files.delete(Path.of(optimised));
    Files.delete(folder);
  }

  static void runOptionsTest() throws Exception {
    try (OrtSession.RunOptions options = new OrtSession.RunOptions();
        OrtSession session = Check.ENVIRONMENT.createSession(Check.model("endless"));
        OnnxTensor many = OnnxTensor.createTensor(Check.ENVIRONMENT, 1L << 40);
        OnnxTensor few = OnnxTensor.createTensor(Check.ENVIRONMENT, 4L)) {
      options.setRunTag("tag");
      Check.equal("tag", options.getRunTag());
      options.setLogVerbosityLevel(2);
      Check.equal(2, options.getLogVerbosityLevel());
      options.setLogLevel(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL);
      Check.equal(OrtLoggingLevel.ORT_LOGGING_LEVEL_FATAL, options.getLogLevel());
      options.addRunConfigEntry("memory.enable_memory_arena_shrinkage", "cpu:0");
      Thread stop = new Thread(() -> {
        try {
          Thread.sleep(50);
          options.setTerminate(true);
        } catch (Exception e) {
          e.printStackTrace();
        }
      });
      stop.start();
      Check.refused(null, () -> session.run(Map.of("rounds", many), options), "terminate");
      stop.join();
      options.setTerminate(false);
      try (OrtSession.Result result = session.run(Map.of("rounds", few), options)) {
        Check.equal(4f, result.get(0).getValue());
      }
    }
  }

  static void providersThatAreNotThereTest() throws Exception {
    try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      Check.refused(null, () -> options.addCUDA(), "CUDA");
      Check.refused(null, () -> options.addXnnpack(Map.of()), "XNNPACK");
      Check.refused(null, () -> options.addOpenVINO("CPU"));
      Check.refused(null, () -> options.addTensorrt(0));
      Check.refused(null, () -> options.addDnnl(true));
      try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS, options)) {
        Check.equal(3, Digits.classify(session, 3));
      }
    }
  }

  static void codesTest() throws Exception {
    String missing = "/nowhere/model.onnx";
    Check.refused(OrtErrorCode.ORT_NO_SUCHFILE, () -> Check.ENVIRONMENT.createSession(missing), missing);
    Check.refused(OrtErrorCode.ORT_INVALID_PROTOBUF, () -> Check.ENVIRONMENT.createSession(new byte[] {1, 2, 3}));
    try (OrtSession session = Check.ENVIRONMENT.createSession(Check.DIGITS);
        OnnxTensor small = OnnxTensor.createTensor(Check.ENVIRONMENT, new float[1][1][7][7]);
        OnnxTensor flat = OnnxTensor.createTensor(Check.ENVIRONMENT, new float[64]);
        OnnxTensor wide = OnnxTensor.createTensor(Check.ENVIRONMENT, new double[1][1][8][8])) {
      Check.refused(OrtErrorCode.ORT_INVALID_ARGUMENT, () -> session.run(Map.of("image", small)), "image", "7", "8");
      Check.refused(OrtErrorCode.ORT_INVALID_ARGUMENT, () -> session.run(Map.of("image", flat)), "image");
      Check.refused(OrtErrorCode.ORT_INVALID_ARGUMENT, () -> session.run(Map.of("image", wide)), "float", "double");
      Check.refused(null, () -> session.run(Map.of("picture", small)), "picture");
      Check.refused(null, () -> session.run(Map.of("image", small), Set.of("logits")), "logits");
      Check.equal(0, Digits.classify(session, 0));
    }
  }
}
